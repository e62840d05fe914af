// SPDX-License-Identifier: Apache-2.0
#include "runner/samplers/access/page_bits.h"

#include <fcntl.h>
#include <linux/mempolicy.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <string_view>

#include <fmt/format.h>

#include "runner/util/clock.h"
#include "runner/util/file_io.h"
#include "runner/util/proc_lines.h"
#include "runner/util/text.h"
#include "runner/util/unique_fd.h"

namespace mlrun::access {

namespace {

constexpr uint64_t kPageBytes = 4096;
constexpr size_t kSmapsMax = 256 << 20;
constexpr int kMadvCold = 20;
constexpr uint64_t kSoftDirtyBit = uint64_t{1} << 55;

// Takes the bytes from a line of smaps, such as "Referenced:   12 kB", if the line begins with `name`.
bool take_field(std::string_view line, std::string_view name, uint64_t& bytes) {
  if (!line.starts_with(name)) return false;
  line.remove_prefix(std::min(line.find_first_not_of(' ', name.size()), line.size()));
  uint64_t kib = 0;
  std::from_chars(line.data(), line.data() + line.size(), kib);
  bytes = kib * 1024;
  return true;
}

// Whether page bits of the mapping are read: private, writable, without a file; not stacks. placement/process_memory.cpp counts more as the
// process's own: explicit huge pages, which clear_refs and the fields of smaps read here skip, and private mappings of /dev/zero, which are rare.
bool has_page_bits(const util::MapsLine& line) {
  const bool is_writable = line.rights.size() == 4 && line.rights[1] == 'w' && line.rights[3] == 'p';
  return is_writable && line.inode == 0 &&
         (line.path.empty() || line.path == "[heap]" || line.path.starts_with("[anon"));
}

template <typename Call>
int timed(uint64_t& longest_ns, Call call) {
  const uint64_t began_ns = util::monotonic_ns();
  const int error = call() < 0 ? errno : 0;
  longest_ns = std::max(longest_ns, util::monotonic_ns() - began_ns);
  return error;
}

}  // namespace

std::vector<Mapping> parse_mappings(const std::string& text) {
  std::vector<Mapping> mappings;
  bool wanted = false;
  for (const std::string_view line : util::split(text, "\n")) {
    constexpr std::string_view kFlags = "VmFlags:";
    if (const auto head = util::maps_line(line)) {
      wanted = has_page_bits(*head);
      if (wanted) mappings.push_back({.start = head->start, .end = head->end});
    } else if (wanted && line.starts_with(kFlags)) {
      const auto flags = util::split(line.substr(kFlags.size()), " ");
      mappings.back().is_all_dirty = std::find(flags.begin(), flags.end(), "sd") != flags.end();
    } else if (wanted) {
      Mapping& last = mappings.back();
      uint64_t shared = 0;
      const bool is_taken =
          take_field(line, "Rss:", last.resident_bytes) || take_field(line, "Referenced:", last.referenced_bytes) ||
          take_field(line, "AnonHugePages:", last.huge_bytes) || take_field(line, "Locked:", last.locked_bytes);
      if (!is_taken && (take_field(line, "Shared_Clean:", shared) || take_field(line, "Shared_Dirty:", shared)))
        last.shared_bytes += shared;
    }
  }
  return mappings;
}

std::vector<Mapping> read_smaps(pid_t pid, uint64_t& longest_ns) {
  const util::UniqueFd file(::open(fmt::format("/proc/{}/smaps", pid).c_str(), O_RDONLY | O_CLOEXEC));
  if (!file.valid()) return {};
  // Small reads: in one read the kernel returns as many mappings as fit, and holds the lock of the mappings all the time.
  std::string text;
  std::array<char, 1024> piece{};
  while (text.size() < kSmapsMax) {
    ssize_t got = 0;
    const int error = timed(longest_ns, [&] { return got = ::read(file.get(), piece.data(), piece.size()); });
    if (error != 0 || got == 0) break;
    text.append(piece.data(), static_cast<size_t>(got));
  }
  return parse_mappings(text);
}

std::vector<Mapping> read_maps(pid_t pid) {
  return parse_mappings(util::read_text(fmt::format("/proc/{}/maps", pid), kSmapsMax));
}

uint64_t resident_pages(pid_t pid) {
  const std::string text = util::read_text(fmt::format("/proc/{}/statm", pid), 4096);
  const auto words = util::split(text, " ");
  uint64_t pages = 0;
  if (words.size() > 1) std::from_chars(words[1].data(), words[1].data() + words[1].size(), pages);
  return pages;
}

uint64_t huge_bytes(pid_t pid) {
  uint64_t bytes = 0;
  const std::string text = util::read_text(fmt::format("/proc/{}/smaps_rollup", pid), 65536);
  for (const std::string_view line : util::split(text, "\n")) {
    if (take_field(line, "AnonHugePages:", bytes)) break;
  }
  return bytes;
}

int clear_refs(pid_t pid, Refs what, uint64_t& longest_ns) {
  const util::UniqueFd file(::open(fmt::format("/proc/{}/clear_refs", pid).c_str(), O_WRONLY | O_CLOEXEC));
  if (!file.valid()) return errno;
  const char digit = static_cast<char>('0' + static_cast<int>(what));
  return timed(longest_ns, [&] { return ::write(file.get(), &digit, 1); });
}

void sort_new_pages_in() {
  void* no_pages = nullptr;
  int node = 0, status = 0;
  ::syscall(SYS_move_pages, 0, 0, &no_pages, &node, &status, MPOL_MF_MOVE);
}

int make_cold(pid_t pid, uint64_t start, uint64_t end, uint64_t& longest_ns) {
  const util::UniqueFd process(static_cast<int>(::syscall(SYS_pidfd_open, pid, 0)));
  if (!process.valid()) return errno;
  struct Range {
    uint64_t start, bytes;
  };
  static_assert(sizeof(Range) == sizeof(iovec));  // an iovec with an address of the other process
  const Range range{start, end - start};
  const int error =
      timed(longest_ns, [&] { return ::syscall(SYS_process_madvise, process.get(), &range, 1, kMadvCold, 0); });
  return error == EINVAL || error == ENOMEM ? 0 : error;  // locked; unmapped meanwhile
}

WrittenRuns written_runs(pid_t pid, const Mapping& mapping) {
  WrittenRuns written;
  std::vector<Run>& runs = written.runs;
  written.known_until = mapping.start;
  const util::UniqueFd file(::open(fmt::format("/proc/{}/pagemap", pid).c_str(), O_RDONLY | O_CLOEXEC));
  if (!file.valid()) {
    written.error = errno;
    return written;
  }
  std::vector<uint64_t> pages(8192);
  uint64_t page = mapping.start / kPageBytes;
  const uint64_t end = mapping.end / kPageBytes;
  while (page < end) {
    const size_t count = std::min<uint64_t>(pages.size(), end - page);
    const ssize_t got = ::pread(file.get(), pages.data(), count * 8, static_cast<off_t>(page * 8));
    if (got < 0) written.error = errno;
    if (got < 8) break;
    for (size_t i = 0; i < static_cast<size_t>(got) / 8; i++, page++) {
      if ((pages[i] & kSoftDirtyBit) == 0 || (pages[i] >> 62) == 0)
        continue;  // neither present nor swapped: never written
      if (!runs.empty() && runs.back().start + runs.back().bytes == page * kPageBytes) {
        runs.back().bytes += kPageBytes;
      } else {
        runs.push_back({page * kPageBytes, kPageBytes});
      }
    }
  }
  written.known_until = page * kPageBytes;
  return written;
}

std::vector<DirtyPart> dirty_parts(const Mapping& mapping, const std::vector<Mapping>& before) {
  std::vector<DirtyPart> parts;
  uint64_t at = mapping.start;
  const auto add = [&](uint64_t end, bool is_known) {
    if (end > at) parts.push_back({{.start = at, .end = end}, is_known});
    at = std::max(at, end);
  };
  const auto ends_before = [](const Mapping& old, uint64_t address) { return old.end <= address; };
  auto old = std::lower_bound(before.begin(), before.end(), mapping.start, ends_before);
  for (; mapping.is_all_dirty && old != before.end() && old->start < mapping.end; ++old) {
    add(old->start, true);
    add(std::min(old->end, mapping.end), false);
  }
  add(mapping.end, true);
  return parts;
}

}  // namespace mlrun::access
