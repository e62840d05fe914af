// SPDX-License-Identifier: Apache-2.0
// The members of a document in Chrome's format beside its events: clock, GPUs, rank, metadata.
#include <nlohmann/json.hpp>

#include "runner/exchange/import/chrome/chrome.h"
#include "runner/exchange/import/chrome/chrome_reader.h"
#include "runner/util/json_at.h"
#include "runner/util/text.h"

namespace mlrun::exchange {

namespace {

constexpr int64_t kYear2000Ns = 946'684'800'000'000'000, kBaseTimeMax = INT64_MAX / 4;
constexpr size_t kMembersBytesMax = size_t{16} << 20;

}  // namespace

JsonSplitter::Reads ChromeReader::reads(int depth, std::string_view key, char first) {
  using enum JsonSplitter::Reads;
  if (depth == 0) {
    part_ = key == "stackFrames" ? Part::kFrames : key == "systemTraceEvents" ? Part::kSystem : Part::kEvents;
    if (first == '[' && (key == "traceEvents" || key == "samples")) return kElements;
    return first == '{' && part_ != Part::kEvents ? kMembers : kWhole;
  }
  return part_ == Part::kSystem && first == '[' && key == "events" ? kElements : kWhole;
}

Status ChromeReader::member(int depth, std::string_view key, std::string_view value) {
  if (depth == 1 && part_ == Part::kFrames) return stacks_.learn(key, value);
  members_bytes_ += key.size() + value.size();
  if (value.empty() || members_bytes_ > kMembersBytesMax) {
    ++to_.file().remarks["a member of the document that is too large (limit 1 MiB, 16 MiB in all), left out: " +
                         util::escaped_utf8(key.substr(0, 100))];
  } else {
    document_[(depth == 0 ? "" : "systemTraceEvents ") + std::string(key)] = value;
  }
  return {};
}

void ChromeReader::read_members() {
  FileAccount& file = to_.file();
  for (const auto& [key, value] : document_) {
    nlohmann::json& metadata = file.metadata[util::escaped_utf8(key)];
    metadata = util::parse_json(mended_json(value, false));
    if (metadata.is_discarded()) metadata = mended_json(value, false);
  }
  if (const int64_t base = json_integer(document_["baseTimeNanoseconds"], -1); base >= 0 && base < kBaseTimeMax) {
    file.realtime_offset_ns = base;
    file.has_offset = true;
  } else if (to_.first_ns() > kYear2000Ns && to_.first_ns() != INT64_MAX) {
    file.clock = FileClock::kRealtime;
    file.has_offset = true;
  }
  if (file.metadata.contains("deviceProperties") && file.metadata["deviceProperties"].is_array()) {
    for (const auto& device : file.metadata["deviceProperties"]) {
      if (!device.is_object() || !device.contains("id") || !device["id"].is_number_integer()) continue;
      const std::string name =
          device.contains("name") && device["name"].is_string() ? device["name"].get<std::string>() : "";
      to_.ids().gpu(device["id"].get<int64_t>(), name);
    }
  }
}

// The rank of the profiled process in its training, as PyTorch's profiler writes it.
void ChromeReader::read_rank() {
  const auto& metadata = to_.file().metadata;
  const auto found = metadata.find("distributedInfo");
  if (profiled_proc_ == 0 || found == metadata.end() || !found->is_object()) return;
  const auto number = [&](const char* key) -> int64_t {
    const auto value = found->find(key);
    const bool is_number = value != found->end() && value->is_number_integer();
    const int64_t whole = is_number ? value->get<int64_t>() : -1;
    return whole <= INT32_MAX ? whole : -1;
  };
  if (const int64_t rank = number("rank"); rank >= 0) to_.ids().set_rank(profiled_proc_, rank, number("world_size"));
}

Status ChromeReader::finish(const JsonSplitter& splitter) {
  if (splitter.has_partial_event()) to_.file().leave_out("the last event: the file ends within it");
  if (splitter.is_cut()) to_.file().remarks[kCutRemark] = 1;
  if (!splitter.has_events()) return bad_input(path_, "a JSON object without traceEvents", 0);
  if (!has_phases_ && (elements_ != 0 || splitter.has_partial_event()))
    return bad_input(path_, "JSON that has no event of a trace", 0);
  if (Status done = ranges_.finish(); !done) return done;
  stacks_.settle();
  read_members();
  read_rank();
  return {};
}

Status read_chrome(Input& input, const std::string& path, TraceMaker& to) {
  ChromeReader reader(to, path);
  JsonSplitter splitter(input, path);
  JsonSplitter::Visitor visitor;
  visitor.element = [&](std::string_view text, int64_t offset) { return reader.element(text, offset); };
  visitor.object = [&](std::string_view bytes) { return reader.object(bytes); };
  visitor.member = [&](int depth, std::string_view key, std::string_view value) {
    return reader.member(depth, key, value);
  };
  visitor.reads = [&](int depth, std::string_view key, char first) { return reader.reads(depth, key, first); };
  int64_t shown = 0;
  visitor.progress = [&](int64_t at) {
    if (at == shown) return;
    shown = at;
    to.progress().reached(static_cast<size_t>(at), static_cast<size_t>(input.file_size()));
  };
  if (Status read = splitter.run(visitor); !read) return read;
  return reader.finish(splitter);
}

}  // namespace mlrun::exchange
