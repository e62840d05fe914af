// SPDX-License-Identifier: Apache-2.0
// One file in the Chrome trace format (chrome.h).
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "runner/exchange/import/chrome/chrome_event.h"
#include "runner/exchange/import/chrome/chrome_gpu.h"
#include "runner/exchange/import/chrome/chrome_ranges.h"
#include "runner/exchange/import/chrome/chrome_stacks.h"
#include "runner/exchange/import/chrome/dftracer.h"
#include "runner/exchange/import/chrome/json_splitter.h"
#include "runner/exchange/import/chrome/torch_memory.h"
#include "runner/exchange/import/json_members.h"
#include "runner/exchange/import/trace_maker.h"

namespace mlrun::exchange {

class ChromeReader {
 public:
  ChromeReader(TraceMaker& to, std::string path);

  Status element(std::string_view text, int64_t offset);
  // The next three are called by JsonSplitter, which says when.
  Result<size_t> object(std::string_view bytes);
  Status member(int depth, std::string_view key, std::string_view value);
  JsonSplitter::Reads reads(int depth, std::string_view key, char first);
  // Fails if there was no event at all.
  Status finish(const JsonSplitter& splitter);

 private:
  Status take(ChromeEvent& event);
  Status complete(ChromeEvent& event, const model::Origin& origin);
  Status instant(const ChromeEvent& event, const model::Origin& origin);
  Status counter(const ChromeEvent& event, const model::Origin& origin);
  Status flow(const ChromeEvent& event, const model::Origin& origin);
  Status async_point(const ChromeEvent& event, const model::Origin& origin);
  Status metadata(const ChromeEvent& event, int32_t proc_id);
  Status other(const ChromeEvent& event, const model::Origin& origin);
  Status system(const ChromeEvent& event);
  Status sample(const ChromeEvent& event, const model::Origin& origin);
  // For an event whose table has no column for stacks.
  Status add_stack(const ChromeEvent& event, const model::Origin& origin);
  Status add_arrow(ChromeEvent& event, const model::Origin& origin);
  int64_t flow_id(std::string_view id, bool& is_text);
  void read_members();
  void read_rank();

  TraceMaker& to_;
  std::string path_;
  uint32_t join_;
  ChromeEventParser parser_;
  ChromeEvent event_;
  JsonMembers members_;
  ChromeRanges ranges_;
  ChromeGpu gpu_;
  Dftracer dftracer_;
  TorchMemory torch_memory_;
  ChromeStacks stacks_;
  std::map<std::string, std::string> document_;  // members of the top-level object
  size_t members_bytes_ = 0;
  std::unordered_map<std::string, int64_t> text_ids_;
  enum class Part : uint8_t { kEvents, kFrames, kSystem };
  Part part_ = Part::kEvents;  // the part of the document that is being read
  int64_t elements_ = 0;
  bool has_phases_ = false;
  int32_t profiled_proc_ = 0;  // the process that PyTorch's profiler profiled
};

}  // namespace mlrun::exchange
