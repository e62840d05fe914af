// SPDX-License-Identifier: Apache-2.0
// Nothing but what CMakeLists.txt has compiled beforehand, for all tests.
