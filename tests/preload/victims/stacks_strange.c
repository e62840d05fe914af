// SPDX-License-Identifier: Apache-2.0
// Callers that cannot be unwound: code made at run time, code without unwind information, and code with wrong
// information.
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>

#include "tests/preload/victims/stacks.h"

void undescribed(void (*call)(int), int tag);
void lies_far(void (*call)(int), int tag);
void lies_by_rbp(void (*call)(int), int tag);

// Each calls call(tag) with a word of its own on the stack.
#define CALLER(name, begin, lie, end)                    \
  ".globl " name "\n" name ":\n" begin "push %rbp\n" lie \
  "mov %rdi, %rax\n mov %esi, %edi\n call *%rax\n pop %rbp\n ret\n" end
__asm__(".text\n" CALLER("undescribed", "", "", "")
            CALLER("lies_far", ".cfi_startproc\n", ".cfi_def_cfa_offset 6000000\n", ".cfi_endproc\n")
                CALLER("lies_by_rbp", ".cfi_startproc\n",
                       ".cfi_def_cfa %rbp, 16\n .cfi_offset %rbp, -16\n mov $0xdead0, %ebp\n", ".cfi_endproc\n"));

void through_strange_code(void (*call)(int)) {
  // push %rbp; mov %rdi, %rax; mov %esi, %edi; call *%rax; pop %rbp; ret
  static const uint8_t code[] = {0x55, 0x48, 0x89, 0xf8, 0x89, 0xf7, 0xff, 0xd0, 0x5d, 0xc3};
  void *made = mmap(0, 4096, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  memcpy(made, code, sizeof code);
  ((void (*)(void (*)(int), int))made)(call, 20), KEEP_FRAME;
  undescribed(call, 21), KEEP_FRAME;
  lies_far(call, 22), KEEP_FRAME;
  lies_by_rbp(call, 23), KEEP_FRAME;
}
