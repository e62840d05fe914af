// SPDX-License-Identifier: Apache-2.0
#include "runner/sweep/advise/other_build.h"

#include <charconv>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string_view>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "runner/symbols/symbol_file.h"
#include "runner/util/text.h"

namespace mlrun::sweep {

namespace {

constexpr size_t kIdDigitsKept = 16;  // hexadecimal digits of a build id in a signature

// From a frame's recorded place to the frame in the present file; an empty place: its function was not found, or
// that file has no build id.
using NewFrames = std::map<std::string, FrameName>;

std::string id_bytes(std::string_view digits) {
  std::string bytes;
  for (size_t i = 0; i + 1 < digits.size(); i += 2) {
    uint8_t byte = 0;
    std::from_chars(digits.data() + i, digits.data() + i + 2, byte, 16);
    bytes += static_cast<char>(byte);
  }
  return bytes;
}

// nullopt: the file is the recorded one.
std::optional<NewFrames> new_frames(const std::string& id, const std::vector<const FrameName*>& frames) {
  symbols::SymbolFile file(util::unescaped_utf8(frames.front()->library), id_bytes(id), 0);
  if (file.identity() == symbols::Identity::kSame) return {};
  std::set<std::string> names;
  for (const FrameName* frame : frames) names.insert(frame->function);
  const std::string now = file.build_id().substr(0, kIdDigitsKept);
  const auto ranges = file.find_functions(names);
  NewFrames found;
  for (const FrameName* frame : frames) {
    FrameName& made = found[frame->place] = {"", frame->function, frame->library};
    const auto range = ranges.find(frame->function);
    // Frames are return addresses: after a call that ends the function, one past its last byte.
    if (!now.empty() && range != ranges.end())
      made.place = fmt::format("{}+{:x}-{:x}", now, range->second.start + 1, range->second.end);
  }
  return found;
}

}  // namespace

OtherBuilds find_in_other_builds(Advice& advice) {
  std::map<std::string, std::vector<const FrameName*>> by_id;
  for (const FrameName& frame : advice.frames) by_id[frame.place.substr(0, frame.place.find('+'))].push_back(&frame);
  OtherBuilds result;
  NewFrames changed;
  std::set<std::string> changed_ids;
  for (const auto& [id, frames] : by_id) {
    auto found = new_frames(id, frames);
    if (!found) continue;
    result.files.push_back(frames.front()->library);
    changed_ids.insert(id);
    changed.merge(*found);
  }
  for (std::string& signature : advice.signatures) {
    std::vector<std::string> places;
    bool is_changed = false;
    for (const std::string_view frame : util::split(signature, ",")) {
      if (changed_ids.count(std::string(frame.substr(0, frame.find('+')))) == 0) {
        places.emplace_back(frame);
        continue;
      }
      is_changed = true;
      const auto now = changed.find(std::string(frame));
      if (now == changed.end() || now->second.place.empty()) break;
      places.push_back(now->second.place);
    }
    if (!is_changed) continue;
    (places.empty() ? result.lost : result.by_name)++;
    if (!places.empty()) signature = fmt::format("{}", fmt::join(places, ","));
  }
  for (FrameName& frame : advice.frames) {
    const auto now = changed.find(frame.place);
    if (now != changed.end() && !now->second.place.empty()) frame = now->second;
  }
  return result;
}

}  // namespace mlrun::sweep
