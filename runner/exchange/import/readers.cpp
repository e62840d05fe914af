// SPDX-License-Identifier: Apache-2.0
#include "runner/exchange/import/readers.h"

#include <array>
#include <filesystem>

#include "runner/exchange/import/chrome.h"
#include "runner/exchange/import/input.h"
#include "runner/util/text.h"

namespace mlrun::exchange {

namespace {

constexpr size_t kProbeBytes = size_t{64} << 10;

bool is_json(const Probe& probe) {
  std::string_view text = probe.text;
  if (text.starts_with("\xef\xbb\xbf")) text.remove_prefix(3);
  const size_t first = text.find_first_not_of(" \n\r\t");
  return first != std::string_view::npos && (text[first] == '{' || text[first] == '[');
}

Status read_chrome_file(const std::string& path, TraceMaker& to) {
  auto input = Input::open(path);
  if (!input) return tl::make_unexpected(input.error());
  return read_chrome(**input, path, to);
}

constexpr std::array<Reader, 1> kReaders = {{
    {"chrome", "Chrome's JSON, PyTorch's profiler, TensorFlow, rocprofiler, DFTracer (also gzip and zip)", is_json, read_chrome_file},
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
  const Probe probe{path, {}, *text};
  for (const Reader& reader : kReaders) {
    if (reader.recognises(probe)) return &reader;
  }
  return bad_input(path, "none of the formats that mlrun import --help lists begins so", 0);
}

}  // namespace mlrun::exchange
