// SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only
// Requests to the servers of remote file systems, from their start by a traced thread to the answer. The events belong
// to kernel modules (9pnet, sunrpc, fuse); the requests of a module that is loaded later in the run are not recorded.
#pragma once

#include "kprobes/bpf/thread_state.h"

const __u64 kUnknownTime = ~0ull;

// A tag is reused once its answer has arrived.
struct remote_key {
  __u64 address, tag;  // 9p: of the client, and the request's tag; NFS and FUSE: of the request, and 0
};
struct remote_begin {
  __u64 begin_ns, operation, inode, pid_tid;
  __u64 sent, received;  // bytes, known with the answer
  __u32 device, code;
  char name[MLRUN_KERNEL_COMM];
};
// Requests without an answer yet. A request that a signal interrupted gets none: its entry stays until the kernel
// reuses its tag or address, which it does soon.
struct {
  __uint(type, BPF_MAP_TYPE_HASH);
  __uint(max_entries, 16384);
  __type(key, struct remote_key);
  __type(value, struct remote_begin);
} remote_requests SEC(".maps");

static __always_inline int begin_remote(struct remote_key key, __u32 code, const char *name) {
  struct task_struct *task = bpf_get_current_task_btf();
  if (!is_observed(task)) {
    bpf_map_delete_elem(&remote_requests, &key);  // of an interrupted request, whose key an untraced process reuses
    return 0;
  }
  struct remote_begin begin = {};
  begin.pid_tid = current_pid_tid();
  begin.code = code;
  begin.sent = begin.received = kUnknownTime;
  if (name) bpf_probe_read_kernel_str(begin.name, sizeof begin.name, name);
  struct thread_state *thread = thread_of(task);
  if (thread && thread->depth) {
    begin.operation = outermost_operation(thread);
    begin.inode = thread->operations[0].inode;
    begin.device = thread->operations[0].device;
  }
  begin.begin_ns = now_ns();
  if (bpf_map_update_elem(&remote_requests, &key, &begin, BPF_ANY))
    count_loss(MLRUN_KERNEL_REMOTE, MLRUN_KERNEL_LOSS_MAP);
  return 0;
}

// Reads this request's share of the sums that the kernel shows in /proc/PID/mountstats.
static __always_inline void look_at_rpc(struct mlrun_remote *record, struct rpc_task *task) {
  struct rpc_clnt *client = BPF_CORE_READ(task, tk_client);
  bpf_probe_read_kernel_str(record->program, sizeof record->program, BPF_CORE_READ(client, cl_program, name));
  record->version = BPF_CORE_READ(client, cl_vers);
  bpf_probe_read_kernel_str(record->server, sizeof record->server, BPF_CORE_READ(task, tk_xprt, address_strings[0]));
  struct rpc_rqst *request = BPF_CORE_READ(task, tk_rqstp);
  if (!request) return;  // it ended before it was sent
  record->sent = BPF_CORE_READ(request, rq_xmit_bytes_sent);
  record->received = BPF_CORE_READ(request, rq_reply_bytes_recvd);
  record->transmissions = BPF_CORE_READ(request, rq_ntrans);
  __s64 sent_ns = BPF_CORE_READ(request, rq_xtime);
  if (!sent_ns) return;
  record->queue_ns = sent_ns - BPF_CORE_READ(task, tk_start);
  record->rtt_ns = BPF_CORE_READ(request, rq_rtt);
}

static __always_inline void fill_remote(struct mlrun_remote *record, const struct remote_begin *begin, __u64 end_ns,
                                        __u32 protocol, __s32 error) {
  record->head = make_head(MLRUN_KERNEL_REMOTE, sizeof *record, end_ns, begin->pid_tid);
  record->begin_ns = begin->begin_ns;
  record->operation = begin->operation;
  record->inode = begin->inode;
  record->device = begin->device;
  record->protocol = protocol;
  record->code = begin->code;
  record->error = error < 0 ? error : 0;
  __builtin_memcpy(record->name, begin->name, sizeof record->name);
  record->sent = begin->sent;
  record->received = begin->received;
  record->queue_ns = record->rtt_ns = kUnknownTime;
  record->transmissions = record->version = 0;
  __builtin_memset(record->program, 0, sizeof record->program);
  __builtin_memset(record->server, 0, sizeof record->server);
}

static __always_inline int end_remote(struct remote_key key, __u32 protocol, __s32 error) {
  struct remote_begin *begin = bpf_map_lookup_elem(&remote_requests, &key);
  if (!begin) return 0;
  __u64 end_ns = now_ns();
  struct mlrun_remote *record = RESERVE(mlrun_remote, MLRUN_KERNEL_REMOTE);
  if (record) {
    fill_remote(record, begin, end_ns, protocol, error);
    if (protocol == MLRUN_REMOTE_RPC) look_at_rpc(record, (void *)key.address);
    submit(record);
  }
  bpf_map_delete_elem(&remote_requests, &key);
  return 0;
}

static __always_inline struct remote_key key_of(void *address, int tag) {
  struct remote_key key = {(__u64)address, (__u32)tag};
  return key;
}

SEC("tp_btf/9p_client_req")
int BPF_PROG(on_9p_begin, void *client, __s8 type, int tag) { return begin_remote(key_of(client, tag), (__u8)type, 0); }

// Sizes of a 9p request and its answer; this event precedes on_9p_end. Each message begins with its length in bytes: in
// a request, the kernel fills it in when it sends the request. Data outside of the buffer (zero copy) is not counted.
SEC("tp_btf/9p_protocol_dump")
int BPF_PROG(on_9p_message, void *client, struct p9_fcall *message) {
  enum { kAnswer = 1 };  // an answer has an odd message type
  if (!message || !(BPF_CORE_READ(message, id) & kAnswer)) return 0;
  struct remote_key key = key_of(client, BPF_CORE_READ(message, tag));
  struct remote_begin *begin = bpf_map_lookup_elem(&remote_requests, &key);
  if (!begin) return 0;
  __u64 address = 0;  // as a number: the verifier allows no access before the start of a typed structure
  bpf_probe_read_kernel(&address, sizeof address, &ctx[1]);
  struct p9_req_t *request = (void *)(address - bpf_core_field_offset(struct p9_req_t, rc));
  __u32 sent = 0;
  if (bpf_probe_read_kernel(&sent, sizeof sent, BPF_CORE_READ(request, tc.sdata))) return 0;
  begin->sent = sent;
  begin->received = BPF_CORE_READ(message, size);
  return 0;
}

SEC("tp_btf/9p_client_res")
int BPF_PROG(on_9p_end, void *client, __s8 type, int tag, int error) {
  return end_remote(key_of(client, tag), MLRUN_REMOTE_9P, error);
}

SEC("tp_btf/rpc_task_begin")
int BPF_PROG(on_rpc_begin, struct rpc_task *task) {
  if (!task) return 0;  // the verifier of newer kernels requires the check
  const struct rpc_procinfo *procedure = BPF_CORE_READ(task, tk_msg.rpc_proc);
  return begin_remote(key_of(task, 0), BPF_CORE_READ(procedure, p_proc), BPF_CORE_READ(procedure, p_name));
}

SEC("tp_btf/rpc_task_end")
int BPF_PROG(on_rpc_end, struct rpc_task *task) {
  if (!task) return 0;
  return end_remote(key_of(task, 0), MLRUN_REMOTE_RPC, BPF_CORE_READ(task, tk_status));
}

SEC("tp_btf/fuse_request_send")
int BPF_PROG(on_fuse_begin, struct fuse_req *request) {
  return begin_remote(key_of(request, 0), BPF_CORE_READ(request, in.h.opcode), 0);
}

SEC("tp_btf/fuse_request_end")
int BPF_PROG(on_fuse_end, struct fuse_req *request) {
  struct remote_key key = key_of(request, 0);
  struct remote_begin *begin = bpf_map_lookup_elem(&remote_requests, &key);
  if (!begin) return 0;
  begin->sent = BPF_CORE_READ(request, in.h.len);
  begin->received = BPF_CORE_READ(request, out.h.len);
  return end_remote(key, MLRUN_REMOTE_FUSE, BPF_CORE_READ(request, out.h.error));
}
