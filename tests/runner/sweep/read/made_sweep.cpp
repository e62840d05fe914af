// SPDX-License-Identifier: Apache-2.0
#include "tests/runner/sweep/read/made_sweep.h"

#include "runner/report/text/text_style.h"

namespace mlrun::sweep {

Sweep made_sweep(const MadeOf& of, const WallOf& wall_s) {
  Sweep sweep;
  sweep.folder = "results";
  sweep.order = of.order;
  for (const std::string& name : of.configurations) {
    Configuration& made = sweep.configurations.emplace_back();
    made.name = name;
    made.is_dry = name == "dry";
  }
  for (const std::string& key : of.workloads) sweep.workloads.emplace_back().key = key;
  int32_t position = 0;
  for (int32_t block = 1; block <= of.blocks; ++block) {
    for (uint32_t c = 0; c < of.configurations.size(); ++c) {
      for (uint32_t w = 0; w < of.workloads.size(); ++w) {
        RunRow& run = sweep.runs.emplace_back();
        run.id = ++position;
        run.planned.block = block;
        run.planned.position = position;
        run.planned.configuration = c;
        run.planned.workload = w;
        run.planned.folder = "w" + std::to_string(w) + "." + of.configurations[c] + "." + std::to_string(block);
        run.state = RunState::kDone;
        run.exit_status = 0;
        const double wall = wall_s(c, w, block);
        run.figures = {{"wall_s", wall}, {"user_s", wall / 2}, {"sys_s", wall / 10}};
      }
    }
  }
  return sweep;
}

double noise(uint32_t configuration, uint32_t workload, int32_t block) {
  const uint32_t mixed = (uint32_t(block) * 7919 + configuration * 104'729 + workload * 1299'709) % 101;
  return 1 + (double(mixed) - 50) / 10'000;
}

std::string lines_wider_than(const std::string& text, size_t width) {
  std::string wide;
  for (size_t at = 0; at < text.size();) {
    const size_t end = std::min(text.find('\n', at), text.size());
    const std::string line = text.substr(at, end - at);
    if (report::text_width(line) > width) wide += line + "\n";
    at = end + 1;
  }
  return wide;
}

std::string beyond_ascii(const std::string& text) {
  std::string found;
  for (const char byte : text) {
    if (static_cast<unsigned char>(byte) >= 0x80) found += byte;
  }
  return found;
}

}  // namespace mlrun::sweep
