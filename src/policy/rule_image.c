/* SPDX-License-Identifier: Apache-2.0 */
/* Rule image.digest: which image the engine says it started.  Pure code.  */
#include <string.h>

#include "policy/internal.h"

/* containerd's CRI and CRI-O; Docker and Podman say nothing.  */
static const char *const image_names[] = {
  "io.kubernetes.cri.image-name",
  "io.kubernetes.cri-o.ImageName",
};

#define DIGEST     "@sha256:"
#define DIGEST_HEX 64

static bool is_pinned (const char *name)
{
  const char *digest = strstr (name, DIGEST);

  return digest != NULL && strspn (digest + strlen (DIGEST), "0123456789abcdef") == DIGEST_HEX
         && digest[strlen (DIGEST) + DIGEST_HEX] == '\0';
}

void check_image (struct evaluation *ev)
{
  const struct oci_map *annotations = &ev->config->annotations;
  char quoted[STR_QUOTE_MAX];

  for (size_t i = 0; i < annotations->len; i++)
    for (size_t k = 0; k < ARRAY_SIZE (image_names); k++)
      {
        struct finding *f;

        if (!str_equal (annotations->keys[i], image_names[k]) || is_pinned (annotations->values[i]))
          continue;
        f = ev_report (ev, RULE_IMAGE_DIGEST, ACTION_WARN,
                       ev_printf (ev, "/annotations/%s", image_names[k]),
                       "the image %s is named by a tag, which may be another one tomorrow",
                       str_quote (annotations->values[i], quoted));
        ev_fix (ev, f, "name it by its digest: NAME@sha256:...");
      }
}
