// SPDX-License-Identifier: Apache-2.0
#include "preload/core/filter_answers.h"

#include <errno.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <stdint.h>

#include "preload/base/readable.h"
#include "preload/core/program_memory.h"

// Whether the instruction may return a verdict by which a call gets success or ENOENT without the kernel. For which calls
// the filter reaches it is not considered.
static bool may_answer(const struct sock_filter *step) {
  if (BPF_CLASS(step->code) != BPF_RET) return false;
  if (BPF_RVAL(step->code) != BPF_K) return true;
  uint32_t error = step->k & SECCOMP_RET_DATA;
  switch (step->k & SECCOMP_RET_ACTION_FULL) {
    case SECCOMP_RET_ALLOW:
    case SECCOMP_RET_LOG:
    case SECCOMP_RET_KILL_THREAD:
    case SECCOMP_RET_KILL_PROCESS: return false;
    case SECCOMP_RET_ERRNO: return error == 0 || error == ENOENT;
  }
  return true;  // a signal handler, a tracer or a supervisor answers
}

// Evaluates the filter for one call: classic BPF jumps only forwards.
struct machine {
  uint32_t a, x, memory[BPF_MEMWORDS];
  size_t at;     // index of the next instruction
  bool is_lost;  // the result depends on values unknown here: the address argument, or the instruction pointer
  bool is_over;  // the filter has returned: `a` is the result
};

// A word of struct seccomp_data for the call of is_readable_word().
static uint32_t word_of_probe(struct machine *m, uint32_t offset) {
  enum { kArguments = offsetof(struct seccomp_data, args) };
  switch (offset) {
    case offsetof(struct seccomp_data, nr): return SYS_rt_sigprocmask;
    case offsetof(struct seccomp_data, arch): return AUDIT_ARCH_X86_64;
    case kArguments: return kNoSuchOperation;
    case kArguments + 24: return 8;
    case kArguments + 4:
    case kArguments + 16:
    case kArguments + 20:
    case kArguments + 28: return 0;
  }
  m->is_lost = true;
  return 0;
}

static uint32_t load(struct machine *m, const struct sock_filter *step) {
  switch (BPF_MODE(step->code)) {
    case BPF_ABS: return word_of_probe(m, step->k);
    case BPF_IMM: return step->k;
    case BPF_LEN: return sizeof(struct seccomp_data);
    case BPF_MEM: return m->memory[step->k % BPF_MEMWORDS];
  }
  m->is_lost = true;
  return 0;
}

static uint32_t compute(struct machine *m, const struct sock_filter *step) {
  uint32_t by = BPF_SRC(step->code) == BPF_X ? m->x : step->k;
  switch (BPF_OP(step->code)) {
    case BPF_ADD: return m->a + by;
    case BPF_SUB: return m->a - by;
    case BPF_MUL: return m->a * by;
    case BPF_DIV: return by ? m->a / by : 0;
    case BPF_OR: return m->a | by;
    case BPF_AND: return m->a & by;
    case BPF_XOR: return m->a ^ by;
    case BPF_LSH: return by < 32 ? m->a << by : 0;
    case BPF_RSH: return by < 32 ? m->a >> by : 0;
    case BPF_NEG: return -m->a;
  }
  m->is_lost = true;
  return 0;
}

static size_t jump(const struct machine *m, const struct sock_filter *step) {
  uint32_t by = BPF_SRC(step->code) == BPF_X ? m->x : step->k;
  bool holds = false;
  switch (BPF_OP(step->code)) {
    case BPF_JA: return step->k;
    case BPF_JEQ: holds = m->a == by; break;
    case BPF_JGT: holds = m->a > by; break;
    case BPF_JGE: holds = m->a >= by; break;
    case BPF_JSET: holds = m->a & by; break;
  }
  return holds ? step->jt : step->jf;
}

static void take_step(struct machine *m, const struct sock_filter *step) {
  m->at++;
  switch (BPF_CLASS(step->code)) {
    case BPF_LD: m->a = load(m, step); break;
    case BPF_LDX: m->x = load(m, step); break;
    case BPF_ST: m->memory[step->k % BPF_MEMWORDS] = m->a; break;
    case BPF_STX: m->memory[step->k % BPF_MEMWORDS] = m->x; break;
    case BPF_ALU: m->a = compute(m, step); break;
    case BPF_JMP: m->at += jump(m, step); break;
    case BPF_MISC:
      *(BPF_MISCOP(step->code) == BPF_TAX ? &m->x : &m->a) = BPF_MISCOP(step->code) == BPF_TAX ? m->a : m->x;
      break;
    case BPF_RET:
      if (BPF_RVAL(step->code) == BPF_K) m->a = step->k;
      m->is_over = true;
  }
}

struct filter_verdict judge_filter(const void *program) {
  struct filter_verdict verdict = {0};
  struct machine probe = {0};
  struct sock_fprog filter;
  struct sock_filter step;
  if (!read_from_program(&filter, program, sizeof filter, false)) return kWorstVerdict;
  for (size_t i = 0; i < filter.len; i++) {
    if (!read_from_program(&step, filter.filter + i, sizeof step, false)) return kWorstVerdict;
    verdict.may_answer |= may_answer(&step);
    if (i == probe.at && !probe.is_over && !probe.is_lost) take_step(&probe, &step);
  }
  verdict.allows_probe = probe.is_over && !probe.is_lost && (probe.a & SECCOMP_RET_ACTION_FULL) == SECCOMP_RET_ALLOW;
  return verdict;
}
