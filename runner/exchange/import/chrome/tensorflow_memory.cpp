// SPDX-License-Identifier: Apache-2.0
#include "runner/exchange/import/chrome/tensorflow_memory.h"

#include <functional>
#include <unordered_set>

#include "runner/exchange/import/chrome/chrome_event.h"
#include "runner/exchange/import/chrome/json_splitter.h"
#include "runner/exchange/import/json_members.h"
#include "runner/util/json_at.h"
#include "runner/util/number.h"
#include "runner/util/text.h"

namespace mlrun::exchange {

namespace {

constexpr std::string_view kAllocators = "memoryProfilePerAllocator";

class TensorflowMemory {
 public:
  explicit TensorflowMemory(TraceMaker& to) : to_(to) {}

  JsonSplitter::Reads reads(int depth, std::string_view key, char first) {
    using enum JsonSplitter::Reads;
    if (depth == 0) return first == '{' && key == kAllocators ? kMembers : kWhole;
    if (depth == 1) begin_allocator(key);
    if (depth == 1) return first == '{' ? kMembers : kWhole;
    // Sampled snapshots repeat some of memoryProfileSnapshots, or are the only ones in files of newer versions.
    is_sampled_ = key == "sampledTimelineSnapshots";
    return first == '[' && (is_sampled_ || key == "memoryProfileSnapshots") ? kElements : kWhole;
  }

  Status element(std::string_view text) {
    std::string_view time, stats, activity;
    const bool is_sound = snapshot_.visit_padded(text, [&](const JsonMember& member) {
      if (member.key == "timeOffsetPs") time = member.text;
      if (member.key == "aggregationStats") stats = member.raw;
      if (member.key == "activityMetadata") activity = member.raw;
    });
    constexpr int64_t kPsPerNs = 1000;
    const int64_t ps = json_integer(time, -1);
    if (!is_sound || ps < 0) {
      to_.file().leave_out("a snapshot without a time");
      return {};
    }
    if (is_known(text)) {
      to_.file().leave_out("a snapshot that the file has twice");
      return {};
    }
    const model::Origin origin = to_.ids().origin((ps + kPsPerNs / 2) / kPsPerNs, 0, 0);
    bool has_rows = false;
    Status done = add_sizes(stats, origin, has_rows);
    if (done) done = add_activity(activity, origin, has_rows);
    if (!has_rows) to_.file().leave_out("a snapshot without sizes and operation");
    return done;
  }

  Status member(int depth, std::string_view key, std::string_view value) {
    constexpr size_t kBytesMax = size_t{16} << 20;
    bytes_ += key.size() + value.size();
    if (value.empty() || bytes_ > kBytesMax) {
      ++to_.file().remarks["a member that is too large (limit 1 MiB, 16 MiB in all), left out"];
      return {};
    }
    const std::string name = util::escaped_utf8(key);
    auto& place = depth == 0   ? to_.file().metadata[name]
                  : depth == 1 ? allocators_[name][""]
                               : allocators_[util::escaped_utf8(allocator_)][name];
    place = util::parse_json(mended_json(value, false));
    if (place.is_discarded()) place = mended_json(value, false);
    return {};
  }

  void finish() {
    if (!allocators_.empty()) to_.file().metadata[std::string(kAllocators)] = std::move(allocators_);
  }

 private:
  void begin_allocator(std::string_view name) {
    allocator_ = name;
    counter_ = "memory " + util::escaped_utf8(name);
    known_.clear();
  }

  bool is_known(std::string_view text) {
    constexpr size_t kKnownMax = 1'000'000;
    const size_t hash = std::hash<std::string_view>()(text);
    if (is_sampled_) return known_.contains(hash);
    if (known_.size() < kKnownMax) known_.insert(hash);
    return false;
  }

  Status add_sizes(std::string_view stats, const model::Origin& origin, bool& has_rows) {
    Status done;
    members_.visit(stats, [&](const JsonMember& member) {
      model::CounterRow row;
      const auto value = util::real_number(member.text);
      if (!value || !done) return;
      row.value = *value;
      row.origin = origin;
      row.name = counter_;
      row.series = member.key;
      row.category = "tensorflow";
      done = to_.add(row, has_rows ? 0 : 1);
      has_rows = true;
    });
    return done;
  }

  Status add_activity(std::string_view activity, const model::Origin& origin, bool& has_rows) {
    std::string name, rest;
    members_.visit(activity, [&](const JsonMember& member) {
      if (member.key == "tfOpName") {
        name = member.text;
      } else {
        add_json_member(rest, member.key, member.raw);
      }
    });
    if (rest.empty() && name.empty()) return {};
    const std::string args = "{" + rest + "}", allocator = util::escaped_utf8(allocator_);
    model::OtherEventRow row;
    row.origin = origin;
    row.kind = "memory";
    row.name = name;
    row.category = allocator;
    row.args = args;
    Status done = to_.add(row, has_rows ? 0 : 1);
    has_rows = true;
    return done;
  }

  TraceMaker& to_;
  JsonMembers snapshot_, members_;
  std::string allocator_, counter_;
  bool is_sampled_ = false;
  std::unordered_set<size_t> known_;  // snapshots of this allocator, by their text
  size_t bytes_ = 0;
  nlohmann::json allocators_ = nlohmann::json::object();  // their members that are no snapshots
};

}  // namespace

bool looks_like_tensorflow_memory(std::string_view text) {
  constexpr std::string_view kBlank = " \n\r\t";
  const size_t open = text.find_first_not_of(kBlank);
  if (open == std::string_view::npos || text[open] != '{') return false;
  const size_t key = text.find_first_not_of(kBlank, open + 1);
  return key != std::string_view::npos && text[key] == '"' && text.substr(key + 1).starts_with(kAllocators);
}

Status read_tensorflow_memory(const std::string& path, TraceMaker& to) {
  auto input = Input::open(path);
  if (!input) return tl::make_unexpected(input.error());
  TensorflowMemory memory(to);
  JsonSplitter splitter(**input, path);
  JsonSplitter::Visitor visitor;
  visitor.reads = [&](int depth, std::string_view key, char first) { return memory.reads(depth, key, first); };
  visitor.element = [&](std::string_view text, int64_t) { return memory.element(text); };
  visitor.member = [&](int depth, std::string_view key, std::string_view value) {
    return memory.member(depth, key, value);
  };
  visitor.progress = [&](int64_t at) {
    to.progress().reached(static_cast<size_t>(at), static_cast<size_t>((*input)->file_size()));
  };
  if (Status read = splitter.run(visitor); !read) return read;
  memory.finish();
  if (splitter.has_partial_event()) to.file().leave_out("the last snapshot: the file ends within it");
  if (splitter.is_cut()) to.file().remarks[kCutRemark] = 1;
  return {};
}

}  // namespace mlrun::exchange
