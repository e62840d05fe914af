// SPDX-License-Identifier: Apache-2.0
// Empty source of the precompiled headers of all tests (CMakeLists.txt).
