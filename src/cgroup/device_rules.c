/* SPDX-License-Identifier: Apache-2.0 */
/* linux.resources.devices as data, the same for both versions.  Pure code.  config-linux.md
   "Allowed Device list"; the kernel's cgroup-v1/devices.rst.  */
#include "cgroup/internal.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/str.h"

#define MAJOR_MAX 4095
#define MINOR_MAX 1048575

static const struct
{
  char letter;
  unsigned bit;
} access_letters[] = {
  { 'r', DEVICE_READ },
  { 'w', DEVICE_WRITE },
  { 'm', DEVICE_MKNOD },
};

static int read_access (const char *access, unsigned *ret)
{
  unsigned bits = 0;

  if (access == NULL)
    {
      *ret = DEVICE_ALL_ACCESS;
      return 0;
    }
  for (const char *p = access; *p != '\0'; p++)
    {
      unsigned bit = 0;
      for (size_t i = 0; i < ARRAY_SIZE (access_letters); i++)
        if (access_letters[i].letter == *p)
          bit = access_letters[i].bit;
      if (bit == 0)
        return -EINVAL;
      bits |= bit;
    }
  *ret = bits;
  return bits == 0 ? -EINVAL : 0;
}

/* Engines send -1 for "any" as well as nothing.  */
static int read_number (bool has, int64_t value, int64_t max, int32_t *ret)
{
  if (has && value > max)
    return -ERANGE;
  *ret = !has || value < 0 ? DEVICE_ANY : (int32_t)value;
  return 0;
}

static int read_rule (const struct oci_device_cgroup *from, size_t i, struct device_rule *ret,
                      struct error *err)
{
  char quoted[STR_QUOTE_MAX];
  const char *type = from->type == NULL || from->type[0] == '\0' ? "a" : from->type;
  struct device_rule rule = { .allow = from->allow, .type = type[0] };

  if (!from->has_allow)
    return error_set (err, -EINVAL, "linux.resources.devices[%zu]: allow is missing", i);
  if (type[1] != '\0' || strchr ("abc", type[0]) == NULL)
    return error_set (err, -EINVAL, "linux.resources.devices[%zu].type: %s is none of a, b and c",
                      i, str_quote (type, quoted));
  if (read_access (from->access, &rule.access) < 0)
    return error_set (err, -EINVAL,
                      "linux.resources.devices[%zu].access: %s is not made of r, w and m", i,
                      str_quote (from->access, quoted));
  if (read_number (from->has_major, from->major, MAJOR_MAX, &rule.major) < 0
      || read_number (from->has_minor, from->minor, MINOR_MAX, &rule.minor) < 0)
    return error_set (err, -ERANGE,
                      "linux.resources.devices[%zu]: major is above %d or minor above %d", i,
                      MAJOR_MAX, MINOR_MAX);
  *ret = rule;
  return 0;
}

int device_rules_read (const struct oci_device_cgroup *rules, size_t n, struct device_rule **ret,
                       struct error *err)
{
  cleanup_free struct device_rule *list = NULL;

  if (n > DEVICE_RULES_MAX)
    return error_set (err, -E2BIG, "linux.resources.devices: more than %d rules", DEVICE_RULES_MAX);
  list = calloc (n + 1, sizeof (*list));
  if (list == NULL)
    return error_errno (err, ENOMEM, "linux.resources.devices");
  for (size_t i = 0; i < n; i++)
    {
      int r = read_rule (&rules[i], i, &list[i], err);
      if (r < 0)
        return r;
    }
  *ret = steal_ptr (&list);
  return 0;
}

const char *device_rule_line (const struct device_rule *rule, char buf[DEVICE_LINE_MAX])
{
  char major[16] = "*", minor[16] = "*", access[4] = "";
  size_t n = 0;

  if (rule->major != DEVICE_ANY)
    snprintf (major, sizeof (major), "%d", rule->major);
  if (rule->minor != DEVICE_ANY)
    snprintf (minor, sizeof (minor), "%d", rule->minor);
  for (size_t i = 0; i < ARRAY_SIZE (access_letters); i++)
    if (rule->access & access_letters[i].bit)
      access[n++] = access_letters[i].letter;
  snprintf (buf, DEVICE_LINE_MAX, "%c %s:%s %s", rule->type, major, minor, access);
  return buf;
}

/* ---- flattening for v1 */

static bool covers (int32_t wide, int32_t narrow) { return wide == DEVICE_ANY || wide == narrow; }

static bool rule_covers (const struct device_rule *wide, const struct device_rule *narrow)
{
  return covers (wide->major, narrow->major) && covers (wide->minor, narrow->minor);
}

static bool rules_meet (const struct device_rule *a, const struct device_rule *b)
{
  return a->type == b->type && (a->access & b->access) != 0
         && (covers (a->major, b->major) || covers (b->major, a->major))
         && (covers (a->minor, b->minor) || covers (b->minor, a->minor));
}

/* A rule against the default becomes an exception, merged with one for the same numbers.  */
static void add_exception (struct device_exceptions *e, const struct device_rule *rule)
{
  for (size_t i = 0; i < e->len; i++)
    {
      struct device_rule *x = &e->list[i];
      if (x->type == rule->type && x->major == rule->major && x->minor == rule->minor)
        {
          x->access |= rule->access;
          return;
        }
    }
  e->list[e->len++] = *rule;
}

/* A rule with the default takes away from the exceptions.  */
static int narrow_exceptions (struct device_exceptions *e, const struct device_rule *rule,
                              struct error *err)
{
  char line[DEVICE_LINE_MAX], earlier[DEVICE_LINE_MAX];
  size_t kept = 0;

  for (size_t i = 0; i < e->len; i++)
    {
      struct device_rule x = e->list[i];
      if (rules_meet (rule, &x))
        {
          if (!rule_covers (rule, &x))
            return error_set (err, -EOPNOTSUPP,
                              "linux.resources.devices: cgroup v1 can't take \"%s\" out of the "
                              "earlier \"%s\"",
                              device_rule_line (rule, line), device_rule_line (&x, earlier));
          x.access &= ~rule->access;
        }
      if (x.access != 0)
        e->list[kept++] = x;
    }
  e->len = kept;
  return 0;
}

static bool is_everything (const struct device_rule *rule)
{
  return rule->type == 'a' && rule->major == DEVICE_ANY && rule->minor == DEVICE_ANY
         && rule->access == DEVICE_ALL_ACCESS;
}

static int flatten_one (struct device_exceptions *e, const struct device_rule *rule,
                        struct error *err)
{
  static const char types[] = { 'b', 'c' };

  if (is_everything (rule))
    {
      e->default_allow = rule->allow;
      e->len = 0;
      return 0;
    }
  for (size_t i = 0; i < ARRAY_SIZE (types); i++)
    {
      struct device_rule one = *rule;
      if (rule->type != 'a' && rule->type != types[i])
        continue;
      one.type = types[i];
      if (one.allow != e->default_allow)
        add_exception (e, &one);
      else
        {
          int r = narrow_exceptions (e, &one, err);
          if (r < 0)
            return r;
        }
    }
  return 0;
}

int device_rules_flatten (const struct device_rule *rules, size_t n, struct device_exceptions *ret,
                          struct error *err)
{
  struct device_exceptions e = { .list = calloc (2 * n + 1, sizeof (*e.list)) };

  if (e.list == NULL)
    return error_errno (err, ENOMEM, "linux.resources.devices");
  for (size_t i = 0; i < n; i++)
    {
      int r = flatten_one (&e, &rules[i], err);
      if (r < 0)
        {
          free (e.list);
          return r;
        }
    }
  *ret = e;
  return 0;
}
