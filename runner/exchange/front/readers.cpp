// SPDX-License-Identifier: Apache-2.0
#include "runner/exchange/front/readers.h"

#include <array>
#include <filesystem>

#include "runner/exchange/import/bpftrace_text.h"
#include "runner/exchange/import/chrome/chrome.h"
#include "runner/exchange/import/input.h"
#include "runner/exchange/import/mllog_file.h"
#include "runner/exchange/import/nsys.h"
#include "runner/exchange/import/otf2_reader.h"
#include "runner/exchange/import/perf_text.h"
#include "runner/exchange/import/strace.h"
#include "runner/util/text.h"

namespace mlrun::exchange {

namespace {

constexpr size_t kProbeBytes = size_t{64} << 10;

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

bool is_sqlite(const Probe& probe) { return probe.text.starts_with("SQLite format 3"); }
bool is_perf_data(const Probe& probe) {
  return probe.text.starts_with("PERFILE2") || probe.text.starts_with("PERFFILE");
}
bool is_otf2(const Probe& probe) { return probe.text.starts_with(std::string_view("\x03\x42OTF2", 6)); }
bool is_mllog(const Probe& probe) { return probe.text.find(":::MLLOG") != std::string::npos; }
bool is_bpftrace(const Probe& probe) { return looks_like_bpftrace(probe.text); }
bool is_strace(const Probe& probe) { return looks_like_strace(probe.text); }
bool is_perf_text(const Probe& probe) { return looks_like_perf_text(probe.text); }

// The first that recognises a file reads it.
constexpr std::array<Reader, 8> kReaders = {{
    {"nsys", "Nsight Systems: nsys export --type sqlite", is_sqlite, read_nsys},
    {"perf.data", "perf record (needs the program perf)", is_perf_data, read_perf_data},
    {"otf2", "the file traces.otf2 of an archive", is_otf2, read_otf2},
    {"chrome", "Chrome's JSON, PyTorch's profiler, TensorFlow, rocprofiler, DFTracer (also gzip and zip)", is_json,
     read_chrome_file},
    {"mllog", "logs with :::MLLOG lines", is_mllog, read_mllog},
    {"bpftrace", "text with columns: bio.out, read.out, write.out, openat.out, ...", is_bpftrace, read_bpftrace},
    {"strace", "strace -f -ttt -T, with any of these options", is_strace, read_strace},
    {"perf", "the text of perf script", is_perf_text, read_perf_text},
}};

Result<std::string> head_of(const std::string& path) {
  auto input = Input::open(path);
  if (!input) return tl::make_unexpected(input.error());
  std::string head(kProbeBytes, '\0');
  size_t size = 0;
  while (size < head.size()) {
    const auto got = (*input)->read(head.data() + size, head.size() - size);
    if (!got) return tl::make_unexpected(got.error());
    if (*got == 0) break;
    size += *got;
  }
  head.resize(size);
  return head;
}

}  // namespace

std::span<const Reader> all_readers() { return kReaders; }

Result<const Reader*> find_reader(const std::string& path) {
  const auto text = head_of(path);
  if (!text) return tl::make_unexpected(text.error());
  if (text->empty()) return bad_input(path, "the file is empty", 0);
  const Probe probe{path, *text};
  for (const Reader& reader : kReaders) {
    if (reader.recognises(probe)) return &reader;
  }
  return bad_input(path, "none of the formats that mlrun import --help lists begins so", 0);
}

}  // namespace mlrun::exchange
