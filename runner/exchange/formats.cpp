// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>

#include "runner/exchange/chrome.h"
#include "runner/exchange/format.h"
#include "runner/exchange/perfetto.h"

namespace mlrun::exchange {

namespace {

constexpr std::array<Format, 2> kFormats = {{
    {"perfetto", "for ui.perfetto.dev", "trace.pftrace", write_perfetto},
    {"chrome", "JSON for chrome://tracing, Perfetto and most others; compressed if FILE ends with .gz", "trace.json.gz",
     write_chrome},
}};

}  // namespace

std::span<const Format> all_formats() { return kFormats; }

const Format* find_format(const std::string& name) {
  const auto* found =
      std::find_if(kFormats.begin(), kFormats.end(), [&](const Format& format) { return name == format.name; });
  return found == kFormats.end() ? nullptr : found;
}

}  // namespace mlrun::exchange
