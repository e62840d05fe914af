// SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only
// The minimum cost of a pair of probes on the function that a read of ext4 calls.
#include "kprobes/bpf/kernel.h"

SEC("fentry/ext4_file_read_iter")
int on_entry(__u64 *context) { return 0; }

SEC("fexit/ext4_file_read_iter")
int on_exit(__u64 *context) { return 0; }

char LICENSE[] SEC("license") = "GPL";
