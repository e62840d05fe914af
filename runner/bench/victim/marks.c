// SPDX-License-Identifier: Apache-2.0
// Loop of ranges made by mlrun_mark.h, as a program makes them. If untraced, a range costs two checks of a pointer.
#include "loops.h"
#include "preload/include/mlrun_mark.h"

static void ranges(long iterations) {
  for (long i = 0; i < iterations; i++) {
    mlrun_mark_push("a step");
    mlrun_mark_pop();
  }
}

const struct loop mark_loops[] = {{"mark_range", ranges}, {0}};
