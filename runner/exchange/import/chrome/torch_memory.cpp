// SPDX-License-Identifier: Apache-2.0
#include "runner/exchange/import/chrome/torch_memory.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <optional>
#include <vector>

#include <fmt/format.h>

#include "runner/exchange/import/chrome/json_splitter.h"
#include "runner/util/time_units.h"

namespace mlrun::exchange {

namespace {

constexpr int64_t kTorchYear2000Ns = 946'684'800'000'000'000, kTorchLatestNs = INT64_MAX / 4;
// In the order of PyTorch's numbers for them.
constexpr std::array<const char*, 8> kMemoryCategories = {
    "parameter", "optimizer state", "input", "temporary", "activation", "gradient", "autograd detail", "unknown"};

std::string device_name(int64_t type, int64_t number) {
  switch (type) {
    case 0: return "cpu";
    case 1: return fmt::format("cuda:{}", number);
    case 6: return fmt::format("hip:{}", number);
    case 12: return fmt::format("xpu:{}", number);
    default: return fmt::format("device type {}:{}", type, number);
  }
}

Status add_counter(TraceMaker& to, const model::Origin& origin, std::string_view name, std::string_view series,
                   int64_t value, int64_t of_events) {
  model::CounterRow row;
  row.origin = origin;
  row.name = name;
  row.series = series;
  row.category = "torch";
  row.value = static_cast<double>(value);
  return to.add(row, of_events);
}

class MemoryTimeline {
 public:
  explicit MemoryTimeline(TraceMaker& to) : to_(to) {}

  Status element(std::string_view text) {
    ++elements_;
    if (elements_ == 1) {
      first_ = text;
      return {};
    }
    if (elements_ == 2) {
      are_sums_ = text.starts_with('[') && text.find_first_not_of(" \n\r\t", 1) == text.find('[', 1);
      if (are_sums_) return sums(text);
      if (Status taken = change(first_); !taken) return taken;
    }
    return change(text);
  }
  Status finish() {
    if (elements_ == 1) {
      if (Status taken = change(first_); !taken) return taken;
    }
    if (!early_.empty())
      to_.file().leave_out("memory allocated before the recording began, at an unknown time",
                           static_cast<int64_t>(early_.size()));
    return {};
  }

 private:
  struct Change {
    size_t category = 0;
    int64_t bytes = 0;
  };

  // The elements of an array; those that are no whole numbers are 0.
  std::vector<int64_t> numbers(std::string_view array) {
    std::vector<int64_t> list;
    is_sound_ =
        members_.visit_array(array, [&](const JsonMember& element) { list.push_back(json_integer(element.text)); });
    return list;
  }
  void set_clock(int64_t ts_ns) {
    if (ts_ns < kTorchYear2000Ns) return;
    to_.file().clock = FileClock::kRealtime;
    to_.file().has_offset = true;
  }
  Status change(std::string_view text) {
    constexpr size_t kEarlyMax = size_t{1} << 20;
    const auto of = numbers(text);
    if (!is_sound_ || of.size() != 4 || of[0] > kTorchLatestNs) {
      to_.file().leave_out("an element that is not four numbers");
      return {};
    }
    const Change one{std::min<size_t>(static_cast<size_t>(std::max<int64_t>(of[3], 0)), kMemoryCategories.size() - 1),
                     of[2]};
    if (of[0] >= 0 && ts_ns_ < 0) {
      ts_ns_ = of[0];
      set_clock(ts_ns_);
      for (const Change& early : std::exchange(early_, {})) {
        if (Status added = add(ts_ns_, early); !added) return added;
      }
    }
    // Memory allocated before the recording has no time; it is counted at the first time of the file.
    if (of[0] < 0 && ts_ns_ < 0 && early_.size() < kEarlyMax) {
      early_.push_back(one);
      return {};
    }
    return add(of[0] < 0 ? std::max<int64_t>(ts_ns_, 0) : of[0], one);
  }
  Status add(int64_t ts_ns, const Change& change) {
    uint64_t& sum = sums_[change.category];
    sum += static_cast<uint64_t>(change.bytes);
    return add_counter(to_, to_.ids().origin(ts_ns, 0, 0), "memory", kMemoryCategories[change.category],
                       static_cast<int64_t>(sum), 1);
  }
  // The sizes by category at each moment; the moments are the first element, in microseconds.
  Status sums(std::string_view text) {
    const std::vector<int64_t> times = numbers(first_);
    JsonMembers rows;
    size_t at = 0;
    Status done;
    const bool is_sound = rows.visit_array(text, [&](const JsonMember& row) {
      const auto sizes = numbers(row.raw);
      const size_t i = at++;
      if (!done) return;
      if (i >= times.size() || times[i] < 0 || times[i] > kTorchLatestNs / util::kNsPerUs || sizes.size() < 2) {
        to_.file().leave_out("sizes without a time");
        return;
      }
      set_clock(times[i] * util::kNsPerUs);
      const model::Origin origin = to_.ids().origin(times[i] * util::kNsPerUs, 0, 0);
      for (size_t category = 0; category + 1 < sizes.size() && category < kMemoryCategories.size() && done;
           ++category) {
        done =
            add_counter(to_, origin, "memory", kMemoryCategories[category], sizes[category + 1], category == 0 ? 1 : 0);
      }
    });
    if (!is_sound) to_.file().leave_out("sizes after damage in their array");
    return done;
  }

  TraceMaker& to_;
  JsonMembers members_;
  int64_t elements_ = 0, ts_ns_ = -1;
  bool is_sound_ = true, are_sums_ = false;
  std::string first_;
  std::vector<Change> early_;
  std::array<uint64_t, kMemoryCategories.size()> sums_{};
};

}  // namespace

Status TorchMemory::add(const ChromeEvent& event, const model::Origin& origin, const std::string& rest, bool& taken) {
  taken = false;
  std::optional<int64_t> bytes, device, type, address, allocated, reserved;
  std::string more = rest;
  const bool is_sound = members_.visit_padded(event.args, [&](const JsonMember& member) {
    const auto key = member.key;
    std::optional<int64_t>* place = key == "Bytes"             ? &bytes
                                    : key == "Addr"            ? &address
                                    : key == "Device Id"       ? &device
                                    : key == "Device Type"     ? &type
                                    : key == "Total Allocated" ? &allocated
                                    : key == "Total Reserved"  ? &reserved
                                                               : nullptr;
    if (place == nullptr) {
      add_json_member(more, key, member.raw);
    } else {
      *place = json_integer(member.text, INT64_MIN);
    }
  });
  if (!is_sound || !bytes || !type || !device || *bytes == INT64_MIN) return {};
  const std::string name = "memory " + device_name(*type, *device);
  for (const auto& [series, value] : {std::pair{"allocated", allocated}, std::pair{"reserved", reserved}}) {
    if (!value || *value < 0) continue;
    if (Status added = add_counter(to_, origin, name, series, *value, 0); !added) return added;
  }
  const bool is_gpu = *type == 1 || *type == 6 || *type == 12;
  if (!is_gpu || !address || *address == INT64_MIN || *device < 0 || *device > INT32_MAX || origin.proc_id == 0)
    return {};
  taken = true;
  model::TorchMemoryRow row;
  row.origin = origin;
  row.is_release = *bytes < 0;
  row.address = static_cast<uint64_t>(*address);
  row.bytes = row.is_release ? -*bytes : *bytes;
  row.device = static_cast<int32_t>(*device);
  if (Status added = to_.add(row); !added || more.empty()) return added;
  const std::string args = "{" + more + "}";
  model::OtherEventRow other;
  other.origin = origin;
  other.kind = "torch_memory";
  other.category = event.category;
  other.args = args;
  return to_.add(other, 0);
}

bool looks_like_memory_timeline(std::string_view text) {
  size_t at = 0;
  for (const char bracket : {'[', '['}) {
    at = text.find_first_not_of(" \n\r\t", at);
    if (at == std::string_view::npos || text[at] != bracket) return false;
    ++at;
  }
  at = text.find_first_not_of(" \n\r\t", at);
  return at != std::string_view::npos && (text[at] == '-' || (text[at] >= '0' && text[at] <= '9'));
}

Status read_memory_timeline(const std::string& path, TraceMaker& to) {
  auto input = Input::open(path);
  if (!input) return tl::make_unexpected(input.error());
  MemoryTimeline timeline(to);
  JsonSplitter splitter(**input, path);
  JsonSplitter::Visitor visitor;
  visitor.element = [&](std::string_view text, int64_t) { return timeline.element(text); };
  visitor.progress = [&](int64_t at) {
    to.progress().reached(static_cast<size_t>(at), static_cast<size_t>((*input)->file_size()));
  };
  if (Status read = splitter.run(visitor); !read) return read;
  if (Status done = timeline.finish(); !done) return done;
  if (splitter.has_partial_event()) to.file().leave_out("the last event: the file ends within it");
  if (splitter.is_cut()) to.file().remarks[kCutRemark] = 1;
  return {};
}

}  // namespace mlrun::exchange
