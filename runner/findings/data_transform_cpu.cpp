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

// Share of the time in reads that came from memory.
double share_of_copies(const Context& context) {
  const auto& labels = context.labels[static_cast<size_t>(Cause::kDataTransformCpu)];
  const auto reads = labels.find(blame::Label::kRead);
  const double all_ns = context.ns_of(Cause::kDataTransformCpu);
  if (context.files != Cause::kDataTransformCpu || reads == labels.end() || all_ns <= 0) return 0;
  return reads->second / all_ns;
}

}  // namespace

Draft data_transform_cpu(const Context& context) {
  constexpr double kNamed = 0.2, kMost = 0.5;
  const double copies = share_of_copies(context);
  const std::string line = at_line(context, Cause::kDataTransformCpu);
  Draft draft;
  draft.claim = copies > kMost ? fmt::format("the training waited while files were copied from memory{} ({})", line,
                                             reads_text(context))
                               : fmt::format("the training waited while its samples were computed{}", line);
  draft.remedy = (copies > kMost ? "copy less (map the files, read only what is used, or keep the data decoded)"
                                 : "make that line cheaper (vectorise it, decode less, or prepare the data once)") +
                 more_workers(context);
  if (context.machine.idle < 0)
    draft.against =
        "idle processors were not measured (neither machine nor cpu is in --sample): whether more workers help is not "
        "known";
  const auto add = [&](Cause cause, const char* or_what, const char* how) {
    draft.also.push_back(cause);
    draft.claim += or_what;
    draft.against += (draft.against.empty() ? "" : "; ") + std::string(how);
  };
  if (copies >= kNamed && copies <= kMost)
    draft.claim += fmt::format(", and copied from memory ({})", reads_text(context));
  if (copies >= kNamed && !context.files_also.empty())
    add(Cause::kDataDevice, " or a fast device", "--sample=threads measures whether the reads came from memory");
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
