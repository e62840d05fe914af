// SPDX-License-Identifier: Apache-2.0
// Of the library that is built with test points (preload/test_point.h).
#include "preload/test_point.h"

__thread volatile int mlrun_test_point;
void (*mlrun_test_point_fire)(void);
