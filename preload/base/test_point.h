// SPDX-License-Identifier: Apache-2.0
// Places inside the recorder where a test raises a signal. The product has none: only the test's own build of this
// library is compiled with MLRUN_TEST_POINTS.
#pragma once

#include "preload/base/compiler.h"

#ifdef MLRUN_TEST_POINTS
extern EXPORT __thread volatile int mlrun_test_point;  // the place that fires next in this thread, 0: none
extern EXPORT void (*mlrun_test_point_fire)(void);     // called there, once
INLINE void test_point(int place) {
  if (mlrun_test_point != place) return;
  mlrun_test_point = 0;
  mlrun_test_point_fire();
}
#else
INLINE void test_point(int place) { (void)place; }
#endif
