// SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only
// The kernel's types, then libbpf's helpers, which need them.
#pragma once
// clang-format off
#include "kprobes/bpf/vmlinux.h"
#include <bpf/bpf_helpers.h>
#include <bpf/bpf_core_read.h>
#include <bpf/bpf_tracing.h>
// clang-format on
