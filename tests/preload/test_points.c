// SPDX-License-Identifier: Apache-2.0
// Definitions for the library that is built with test points (preload/base/test_point.h).
#include "preload/base/test_point.h"

__thread volatile int mlrun_test_point;
void (*mlrun_test_point_fire)(void);
