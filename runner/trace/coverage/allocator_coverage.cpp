// SPDX-License-Identifier: Apache-2.0
#include "runner/trace/coverage/allocator_coverage.h"

#include <algorithm>
#include <filesystem>
#include <map>
#include <set>
#include <string>
#include <system_error>
#include <utility>

#include "runner/symbols/allocator_symbols.h"
#include "runner/util/saturating.h"
#include "runner/util/text.h"
#include "runner/util/units.h"

namespace mlrun::trace {

namespace {

// An allocator that mapped fewer bytes counts as unused: the two in pyarrow's libarrow together map
// 10 MiB when they are loaded.
constexpr int64_t kUsedBytesMin = 16 << 20;

// The real path: the dynamic linker reports the path by which it found a library, which may lead through symbolic links.
std::string place_of(const std::string& path) {
  std::error_code failed;
  const auto place = std::filesystem::canonical(util::unescaped_utf8(path), failed);
  return failed ? path : place.string();
}

class AllocatorCoverage {
 public:
  AllocatorCoverage(SpoolIndex& index, const model::TraceInfo& info, const MappingCallers& callers)
      : index_(index), info_(info), callers_(callers) {
    for (const Channel& channel : index.channels().all()) proc_ids_[channel.about.process] = channel.origin.proc_id;
    for (const auto& [number, proc_id] : proc_ids_) numbers_.emplace(proc_id, number);
  }

  std::vector<model::CoverageRow> rows() && {
    add_those_in_front();
    add_operators();
    add_parts_of_libraries();
    return std::move(rows_);
  }

 private:
  using Images = std::map<std::pair<int32_t, std::string>, int64_t>;  // by process and file of the allocator

  const symbols::AllocatorSymbols& symbols_of(const std::string& path) {
    const auto [known, is_new] = symbols_.try_emplace(path);
    if (is_new) known->second = symbols::read_allocator_symbols(util::unescaped_utf8(path));
    return known->second;
  }

  // In the program itself, in a sanitizer's runtime, or in a library that LD_PRELOAD names before mlrun's.
  void add_those_in_front() {
    Images unseen;
    for (const model::ImageRow& image : info_.images) {
      if (image.malloc_in_front) ++unseen[{image.proc_id, image.allocator}];
    }
    for (const auto& [key, images] : unseen) {
      const std::string place = key.second.empty() ? "an unknown file" : key.second;
      rows_.push_back(
          {key.first, "allocations",
           "the allocator in " + place +
               " is in front of mlrun's hooks, which do not see its calls; one in LD_PRELOAD belongs behind "
               "mlrun's library, or into the environment of mlrun itself",
           0, images});
    }
  }

  // Whether the program or a library of the process calls operator new. An allocator that defines it does so in every
  // program, but C programs never call it.
  bool calls_new(uint32_t process, const std::string& exe, const std::string& allocator) {
    if (symbols_of(exe).calls_new) return true;
    const auto libraries = index_.modules().libraries_of(process);
    return std::any_of(libraries.begin(), libraries.end(), [&](int64_t library) {
      const std::string path = index_.modules().path(library);
      return place_of(path) != place_of(allocator) && symbols_of(path).calls_new;
    });
  }

  void add_operators() {
    Images unseen;
    for (const auto& [number, facts] : index_.notes().processes()) {
      const auto proc_id = proc_ids_.find(number);
      for (const decode::ProcessEvent& record : facts.records) {
        const std::string exe = util::escaped_utf8(index_.strings().text(record.exe)),
                          allocator = util::escaped_utf8(index_.strings().text(record.allocator));
        const bool is_unseen = record.own_new && !record.malloc_in_front && calls_new(number, exe, allocator);
        if (is_unseen) ++unseen[{proc_id == proc_ids_.end() ? 0 : proc_id->second, allocator}];
      }
    }
    for (const auto& [key, images] : unseen) {
      rows_.push_back(
          {key.first, "allocations by operator new",
           "the allocator in " + key.second + " has its own operator new, whose calls mlrun's hooks do not see", 0,
           images});
    }
  }

  void add_parts_of_libraries() {
    std::set<std::string> hooked;  // hooked allocators, and programs already reported
    for (const model::ImageRow& image : info_.images) hooked.insert(place_of(image.allocator));
    for (const std::string& library : index_.modules().libraries()) {
      if (hooked.contains(place_of(library))) continue;
      std::string names;
      for (const std::string& name : symbols_of(library).own) names += (names.empty() ? "" : ", ") + name;
      if (names.empty()) continue;
      const int64_t mapped = mapped_by(library);
      const bool is_known = !callers_.bytes().empty();  // empty with --summary-only, or if file calls were not recorded
      const bool is_used = !is_known || mapped >= kUsedBytesMin;
      const std::string use = !is_known ? ""
                              : is_used ? "; it mapped " + util::bytes_text(mapped)
                                        : "; nothing shows that it was used";
      rows_.push_back({0, "allocations",
                       "by the allocator (" + names + ") that is linked into " + library +
                           ": mlrun's hooks do not see its calls" + use,
                       -1, -1, is_used ? model::kUnseen : model::kRemark});
    }
  }

  // Bytes of anonymous memory that the library's code mapped, in all processes.
  int64_t mapped_by(const std::string& library) {
    int64_t sum = 0;
    for (const auto& of_caller : callers_.bytes()) {
      const auto& caller = of_caller.first;
      const auto& bytes = of_caller.second;
      const auto [first, last] = numbers_.equal_range(caller.first);
      const bool is_its = std::any_of(first, last, [&](const auto& of_process) {
        const Site site = index_.modules().find(of_process.second, caller.second);
        return index_.modules().path(site.library) == library;
      });
      if (is_its) util::add_to(sum, bytes);
    }
    return sum;
  }

  SpoolIndex& index_;
  const model::TraceInfo& info_;
  const MappingCallers& callers_;
  std::map<uint32_t, int32_t> proc_ids_;      // by the process number in the channels
  std::multimap<int32_t, uint32_t> numbers_;  // process numbers by proc_id
  std::map<std::string, symbols::AllocatorSymbols> symbols_;
  std::vector<model::CoverageRow> rows_;
};

}  // namespace

std::vector<model::CoverageRow> allocator_coverage(SpoolIndex& index, const model::TraceInfo& info,
                                                   const MappingCallers& callers) {
  return AllocatorCoverage(index, info, callers).rows();
}

}  // namespace mlrun::trace
