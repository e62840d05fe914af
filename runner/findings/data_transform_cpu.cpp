// SPDX-License-Identifier: Apache-2.0
// Workers compute the samples, or copy them from memory.
#include <fmt/format.h>

#include "runner/findings/rule.h"

namespace mlrun::findings {

namespace {

int64_t bytes_sent(const blame::Timeline& timeline, int32_t thread_id) {
  int64_t bytes = 0;
  for (const auto& [file_id, messages] : timeline.messages) {
    for (const blame::Message& message : messages) bytes += message.thread_id == thread_id ? message.bytes : 0;
  }
  return bytes;
}

// A thread without stack samples that pickles large batches before sending them looks as if it computed.
bool may_pickle(const Context& context) {
  constexpr double kBytesPerNs = 1, kShare = 0.2;
  const int32_t thread_id = context.top_thread(Cause::kDataTransformCpu);
  if (thread_id == 0 || !context.timeline().thread(thread_id).samples.empty()) return false;
  const auto pickling_ns = static_cast<double>(bytes_sent(context.timeline(), thread_id)) / kBytesPerNs;
  return pickling_ns >= kShare * context.ns_of(Cause::kDataTransformCpu);
}

// Page faults are not calls: without samples of the threads' counters they look like computing.
bool may_fault(const Context& context) {
  const blame::Timeline& timeline = context.timeline();
  return !timeline.has_usage && !timeline.has_kernel_side && context.use.maps > 0;
}

// Whether a fifth of the time or more is that of reads that came from memory.
bool reads_memory(const Context& context) {
  constexpr double kShare = 0.2;
  const auto& labels = context.labels[static_cast<size_t>(Cause::kDataTransformCpu)];
  const auto reads = labels.find(blame::Label::kRead);
  return context.files == Cause::kDataTransformCpu && reads != labels.end() &&
         reads->second >= kShare * context.ns_of(Cause::kDataTransformCpu);
}

}  // namespace

Draft data_transform_cpu(const Context& context) {
  Draft draft;
  draft.claim =
      fmt::format("the training waited while its samples were computed{}", at_line(context, Cause::kDataTransformCpu));
  draft.remedy = "make that line cheaper (vectorise it, decode less, or prepare the data once)" + more_workers(context);
  if (context.machine.idle < 0)
    draft.against =
        "idle processors were not measured (machine is not in --sample): whether more workers help is not known";
  const auto add = [&](Cause cause, const char* or_what, const char* how) {
    draft.also.push_back(cause);
    draft.claim += or_what;
    draft.against += (draft.against.empty() ? "" : "; ") + std::string(how);
  };
  if (reads_memory(context)) {
    draft.claim += fmt::format(", and copied from memory ({})", reads_text(context));
    if (!context.files_also.empty())
      add(Cause::kDataDevice, " or a fast device", "--sample=threads measures whether the reads came from memory");
  }
  if (may_pickle(context))
    add(Cause::kDataSerialisation, ", or pickled to be handed over",
        "--python-stacks distinguishes pickling from computing");
  if (may_fault(context))
    add(Cause::kPageCacheMiss, ", or read from mapped files that were not in memory",
        "--sample=threads distinguishes page faults from computing");
  draft.claim += "; " + workers_text(context);
  return draft;
}

}  // namespace mlrun::findings
