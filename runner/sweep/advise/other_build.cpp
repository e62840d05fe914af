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
  for (const FrameName* frame : frames) {
    if (!frame->function.empty()) names.insert(frame->function);
  }
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

// A signature in the present files: its frames up to the first one that is not found.
struct Renewed {
  std::vector<std::string> places;
  bool is_changed = false;    // some frame is in a changed file
  bool is_recognised = true;  // no frame is in a changed file, or the innermost of these was found
  bool is_cut = false;
};

// What precedes the innermost frame in a changed file is code of others, such as libstdc++'s operator new: by itself it is a signature of
// all that calls it, and not of this site.
Renewed renewed(const std::string& signature, const std::set<std::string>& changed_ids, const NewFrames& changed) {
  Renewed result;
  for (const std::string_view frame : util::split(signature, ",")) {
    if (!changed_ids.contains(std::string(frame.substr(0, frame.find('+'))))) {
      result.places.emplace_back(frame);
      continue;
    }
    const auto now = changed.find(std::string(frame));
    const bool is_found = now != changed.end() && !now->second.place.empty();
    if (!result.is_changed) result.is_recognised = is_found;
    result.is_changed = true;
    result.is_cut = !is_found;
    if (result.is_cut) break;
    result.places.push_back(now->second.place);
  }
  return result;
}

// Keeps the frames of the present signatures, each as it is now. A file that no signature names any more is left out.
void renew_frames(NamedSites& sites, const NewFrames& changed) {
  std::set<std::string> named;
  for (const std::string& signature : sites.signatures) {
    for (const std::string_view place : util::split(signature, ",")) named.emplace(place);
  }
  for (FrameName& frame : sites.frames) {
    const auto now = changed.find(frame.place);
    if (now != changed.end()) frame = now->second;
  }
  std::erase_if(sites.frames, [&](const FrameName& frame) { return !named.contains(frame.place); });
}

}  // namespace

OtherBuilds find_in_other_builds(NamedSites& sites) {
  std::map<std::string, std::vector<const FrameName*>> by_id;
  for (const FrameName& frame : sites.frames) by_id[frame.place.substr(0, frame.place.find('+'))].push_back(&frame);
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
  std::vector<std::string> signatures, labels;
  for (size_t i = 0; i < sites.signatures.size(); i++) {
    const Renewed now = renewed(sites.signatures[i], changed_ids, changed);
    if (now.is_changed) (now.is_recognised ? result.by_name : result.lost)++;
    if (!now.is_recognised) continue;
    result.cut += now.is_cut ? 1 : 0;
    signatures.push_back(fmt::format("{}", fmt::join(now.places, ",")));
    labels.push_back(sites.labels[i]);
  }
  sites.signatures = std::move(signatures);
  sites.labels = std::move(labels);
  renew_frames(sites, changed);
  return result;
}

OtherBuilds find_in_other_builds(Advice& advice) {
  OtherBuilds others = find_in_other_builds(static_cast<NamedSites&>(advice));
  if (!others.files.empty()) advice.prediction.reset();
  return others;
}

std::string builds_text(const OtherBuilds& others, size_t sites) {
  std::string text;
  for (const std::string& path : others.files)
    text += "not the build that was recorded: " + util::printable(path) + "\n";
  text += fmt::format("of {} sites {} are recognised by the names of functions, {} are not found\n", sites,
                      others.by_name, others.lost);
  if (others.cut > 0)
    text += fmt::format("{} of them end before a function that is not found: all callers that begin like them count\n",
                        others.cut);
  return text;
}

}  // namespace mlrun::sweep
