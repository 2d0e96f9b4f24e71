/* SPDX-License-Identifier: Apache-2.0 */
/* Questions that several rules ask of the configuration.  Pure code.  */
#include "policy/internal.h"
#include "spec/names.h"

const struct oci_namespace *namespace_entry (const struct oci_config *config, const char *type)
{
  if (config->linux == NULL)
    return NULL;
  for (size_t i = 0; i < config->linux->namespaces_len; i++)
    if (str_equal (config->linux->namespaces[i].type, type))
      return &config->linux->namespaces[i];
  return NULL;
}

uint32_t config_host_uid (const struct oci_config *config, uint32_t id)
{
  if (namespace_entry (config, "user") == NULL)
    return id;
  return id_mapping_outside (config->linux->uid_mappings, config->linux->uid_mappings_len, id);
}

uint32_t config_host_gid (const struct oci_config *config, uint32_t id)
{
  if (namespace_entry (config, "user") == NULL)
    return id;
  return id_mapping_outside (config->linux->gid_mappings, config->linux->gid_mappings_len, id);
}

bool strings_contain (char *const *items, size_t len, const char *item)
{
  for (size_t i = 0; i < len; i++)
    if (str_equal (items[i], item))
      return true;
  return false;
}

void config_hook_lists (const struct oci_config *config, struct hook_list lists[HOOK_LISTS])
{
  static struct oci_hooks none;
  struct oci_hooks *h = config->hooks == NULL ? &none : config->hooks;

  lists[0] = (struct hook_list){ "prestart", h->prestart, h->prestart_len };
  lists[1] = (struct hook_list){ "createRuntime", h->create_runtime, h->create_runtime_len };
  lists[2] = (struct hook_list){ "createContainer", h->create_container, h->create_container_len };
  lists[3] = (struct hook_list){ "startContainer", h->start_container, h->start_container_len };
  lists[4] = (struct hook_list){ "poststart", h->poststart, h->poststart_len };
  lists[5] = (struct hook_list){ "poststop", h->poststop, h->poststop_len };
}
