// SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only
// The least that pairs of probes can cost on the functions that a cached read of ext4 goes through: its own, and the general one, which
// is probed as well where a file system is mounted that has none of its own.
#include "kprobes/bpf/kernel.h"

SEC("fentry/ext4_file_read_iter")
int on_entry(__u64 *context) { return 0; }

SEC("fexit/ext4_file_read_iter")
int on_exit(__u64 *context) { return 0; }

SEC("fentry/generic_file_read_iter")
int on_general_entry(__u64 *context) { return 0; }

SEC("fexit/generic_file_read_iter")
int on_general_exit(__u64 *context) { return 0; }

char LICENSE[] SEC("license") = "GPL";
