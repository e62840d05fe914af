/* SPDX-License-Identifier: Apache-2.0 */
/* What the victim of the stack tests is made of. */
#pragma once

/* Behind a call: keeps the compiler from leaving the function by a jump. */
#define KEEP_FRAME ({ __asm__ volatile("" ::: "memory"); })

#ifdef __cplusplus
extern "C" {
#endif
void leaf(int tag);
void through_library(void (*call)(int), int tag);
void through_exception(void (*call)(int), int tag);
void through_strange_code(void (*call)(int));
#ifdef __cplusplus
}
#endif
