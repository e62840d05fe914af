// SPDX-License-Identifier: Apache-2.0
#include "preload/placement/sites.h"

void sites_begin(void) {}
bool site_matches(struct call_site *site, const struct stack_start *caller, uint32_t kind, const char *text) {
  (void)site, (void)caller, (void)kind, (void)text;
  return false;
}
