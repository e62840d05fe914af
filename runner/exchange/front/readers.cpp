// SPDX-License-Identifier: Apache-2.0
#include "runner/exchange/front/readers.h"

#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "runner/exchange/import/bpftrace_text.h"
#include "runner/exchange/import/chrome/chrome.h"
#include "runner/exchange/import/chrome/tensorflow_memory.h"
#include "runner/exchange/import/chrome/torch_memory.h"
#include "runner/exchange/import/darshan.h"
#include "runner/exchange/import/input.h"
#include "runner/exchange/import/mllog_file.h"
#include "runner/exchange/import/nsys.h"
#include "runner/exchange/import/perf_text.h"
#include "runner/exchange/import/strace.h"
#include "runner/exchange/otf2/read_otf2.h"
#include "runner/util/text.h"

namespace mlrun::exchange {

namespace {

constexpr size_t kProbeBytes = size_t{64} << 10, kLongProbeBytes = size_t{16} << 20;

bool is_json(const Probe& probe) {
  std::string_view text = probe.text;
  if (text.starts_with("\xef\xbb\xbf")) text.remove_prefix(3);
  constexpr std::string_view kBlank = " \n\r\t";
  const size_t first = text.find_first_not_of(kBlank);
  if (first == std::string_view::npos || (text[first] != '{' && text[first] != '[')) return false;
  const size_t next = text.find_first_not_of(kBlank, first + 1);
  return next == std::string_view::npos || std::string_view("{}[]\"").find(text[next]) != std::string_view::npos;
}

Status read_chrome_file(const std::string& path, TraceMaker& to) {
  auto input = Input::open(path);
  if (!input) return tl::make_unexpected(input.error());
  return read_chrome(**input, path, to);
}

bool is_memory_timeline(const Probe& probe) { return looks_like_memory_timeline(probe.text); }
bool is_tensorflow_memory(const Probe& probe) { return looks_like_tensorflow_memory(probe.text); }
bool is_darshan(const Probe& probe) { return looks_like_darshan(probe.text); }
bool is_sqlite(const Probe& probe) { return probe.text.starts_with("SQLite format 3"); }
bool is_perf_data(const Probe& probe) {
  return probe.text.starts_with("PERFILE2") || probe.text.starts_with("PERFFILE");
}
bool is_otf2(const Probe& probe) { return probe.text.starts_with(std::string_view("\x03\x42OTF2", 6)); }
// Lines of strace that show how a program wrote its log do not count.
bool is_mllog(const Probe& probe) {
  const std::string& text = probe.text;
  for (size_t at = text.find(":::MLLOG"); at != std::string::npos; at = text.find(":::MLLOG", at + 1)) {
    const size_t begin = text.rfind('\n', at) + 1;  // 0 if there is none
    if (!looks_like_strace(text.substr(begin, std::min(text.find('\n', at), text.size()) - begin))) return true;
  }
  return false;
}
bool is_bpftrace(const Probe& probe) { return looks_like_bpftrace(probe.text); }
bool is_strace(const Probe& probe) { return looks_like_strace(probe.text); }
bool is_perf_text(const Probe& probe) { return looks_like_perf_text(probe.text); }

// The first that recognises a file reads it.
constexpr std::array<Reader, 11> kReaders = {{
    {"nsys", "Nsight Systems: nsys export --type sqlite", is_sqlite, read_nsys, true},
    {"perf.data", "perf record (needs the program perf)", is_perf_data, read_perf_data, true},
    {"darshan", "logs of Darshan, with DXT each read and write (needs the Python package darshan)", is_darshan,
     read_darshan, true},
    {"otf2", "the file traces.otf2 of an archive", is_otf2, read_otf2, true},
    {"torch", "memory timelines of PyTorch's profiler (.json, .raw.json.gz)", is_memory_timeline, read_memory_timeline},
    {"tensorflow", "TensorFlow's memory_profile.json.gz", is_tensorflow_memory, read_tensorflow_memory},
    {"chrome", "Chrome's JSON, PyTorch's profiler, TensorFlow, rocprofiler, DFTracer (also gzip and zip)", is_json,
     read_chrome_file},
    {"mllog", "logs with :::MLLOG lines", is_mllog, read_mllog},
    {"bpftrace", "text with columns: bio.out, read.out, write.out, openat.out, ...", is_bpftrace, read_bpftrace},
    {"strace", "strace -f -ttt -T, with any of these options", is_strace, read_strace},
    {"perf", "the text of perf script", is_perf_text, read_perf_text},
}};

struct Head {
  std::string text;
  bool is_packed = false;
};

Result<Head> head_of(const std::string& path, size_t limit) {
  auto input = Input::open(path);
  if (!input) return tl::make_unexpected(input.error());
  std::string head(limit, '\0');
  size_t size = 0;
  while (size < head.size()) {
    const auto got = (*input)->read(head.data() + size, head.size() - size);
    if (!got) return tl::make_unexpected(got.error());
    if (*got == 0) break;
    size += *got;
  }
  head.resize(size);
  return Head{std::move(head), (*input)->is_packed()};
}

// The name of a compression that mlrun does not unpack; nullptr: none.
const char* foreign_packing(std::string_view head) {
  if (head.starts_with("\x28\xb5\x2f\xfd")) return "zstd";
  if (head.starts_with("\xfd"
                       "7zXZ"))
    return "xz";
  return head.starts_with("BZh") ? "bzip2" : nullptr;
}

}  // namespace

std::span<const Reader> all_readers() { return kReaders; }

Result<const Reader*> find_reader(const std::string& path) {
  // A log may begin with many lines that no format has, so a second try looks at more bytes.
  for (const size_t limit : {kProbeBytes, kLongProbeBytes}) {
    auto head = head_of(path, limit);
    if (!head) return tl::make_unexpected(head.error());
    if (head->text.empty()) return bad_input(path, "the file is empty", 0);
    const char* packing = foreign_packing(head->text);
    if (packing != nullptr) return fail(fmt::format("cannot import {}: it is packed by {}; unpack it", path, packing));
    if (head->text.starts_with("\xff\xfe") || head->text.starts_with("\xfe\xff"))
      return fail(fmt::format("cannot import {}: its text is UTF-16; convert it with iconv -f UTF-16 -t UTF-8", path));
    const Probe probe{path, std::move(head->text)};
    for (const Reader& reader : kReaders) {
      if (!reader.recognises(probe)) continue;
      if (!reader.needs_file || !head->is_packed) return &reader;
      return fail(
          fmt::format("cannot import {}: its format ({}) is not read from packed files; unpack it", path, reader.name));
    }
  }
  return bad_input(path, "no known format (mlrun import --help lists them) begins", 0);
}

}  // namespace mlrun::exchange
