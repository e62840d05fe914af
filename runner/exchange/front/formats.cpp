// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>

#include "runner/exchange/chrome/chrome.h"
#include "runner/exchange/fio.h"
#include "runner/exchange/format.h"
#include "runner/exchange/mlperf/mlperf_traces.h"
#include "runner/exchange/otf2/otf2.h"
#include "runner/exchange/perfetto.h"
#include "runner/exchange/pprof.h"
#include "runner/exchange/sqlite.h"

namespace mlrun::exchange {

namespace {

constexpr std::array<Format, 7> kFormats = {{
    {"perfetto", "for ui.perfetto.dev", "trace.pftrace", write_perfetto, true},
    {"chrome", "JSON for chrome://tracing, Perfetto and most others; compressed if FILE ends with .gz", "trace.json.gz",
     write_chrome, true},
    {"otf2", "for Vampir, Score-P's tools and pipit: a folder", "trace.otf2", write_otf2},
    {"sqlite", "all tables in one database", "trace.sqlite", write_sqlite},
    {"pprof", "stacks, for pprof and tools that read its profiles", "trace.pb.gz", write_pprof},
    {"mlperf-traces", "text files of mlperf-traces' scripts, mpstat, pmon, iostat: a folder", "traces",
     write_mlperf_traces},
    {"fio", "reads and writes of each thread, for fio to replay: a folder", "replay", write_fio},
}};

}  // namespace

std::span<const Format> all_formats() { return kFormats; }

const Format* find_format(const std::string& name) {
  const auto* found =
      std::find_if(kFormats.begin(), kFormats.end(), [&](const Format& format) { return name == format.name; });
  return found == kFormats.end() ? nullptr : found;
}

}  // namespace mlrun::exchange
