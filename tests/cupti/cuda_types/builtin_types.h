// SPDX-License-Identifier: Apache-2.0
// Included by name from CUPTI's headers, which take nothing from it.
#pragma once
