// SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only
// All BPF programs as one object. The loader decides which of them are loaded.
#include "kprobes/bpf/cuda.h"
#include "kprobes/bpf/cufile.h"
#include "kprobes/bpf/file_op.h"
#include "kprobes/bpf/file_path.h"
#include "kprobes/bpf/file_syscalls.h"
#include "kprobes/bpf/other_rights.h"
#include "kprobes/bpf/page_cache.h"
#include "kprobes/bpf/remote.h"
#include "kprobes/bpf/request.h"
#include "kprobes/bpf/syscalls.h"
#include "kprobes/bpf/task_events.h"
#include "kprobes/bpf/torch.h"
#include "kprobes/bpf/wait.h"

char LICENSE[] SEC("license") = "GPL";
