// SPDX-License-Identifier: Apache-2.0
// Prints the samples of a perf.data with one event, as mlrun decodes them: one line each, for t741.
#include <cstdio>
#include <cstring>
#include <fstream>
#include <iterator>
#include <span>
#include <string>
#include <vector>

#include "runner/decode/perf_sample.h"

namespace {

uint64_t word_at(const std::vector<char>& data, size_t at) {
  uint64_t word = 0;
  std::memcpy(&word, data.data() + at, sizeof word);
  return word;
}

const char* op_text(mlrun::decode::MemoryOp op) {
  using mlrun::decode::MemoryOp;
  switch (op) {
    case MemoryOp::kUnknown: return "";
    case MemoryOp::kLoad: return "load";
    case MemoryOp::kStore: return "store";
    case MemoryOp::kPrefetch: return "prefetch";
    case MemoryOp::kExecute: return "execute";
  }
  return "";
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) return 2;
  std::ifstream file(argv[1], std::ios::binary);
  const std::vector<char> data{std::istreambuf_iterator<char>(file), {}};
  if (data.size() < 104) return 1;
  // struct perf_file_header: magic, size, attr_size, attrs, data.
  const uint64_t attrs = word_at(data, 24), begin = word_at(data, 40), size = word_at(data, 48);
  const uint64_t sample_type = word_at(data, attrs + 24);
  for (uint64_t at = begin; at + sizeof(perf_event_header) <= begin + size;) {
    perf_event_header header{};
    std::memcpy(&header, data.data() + at, sizeof header);
    if (header.size < sizeof header || at + header.size > data.size()) return 1;
    if (header.type == PERF_RECORD_SAMPLE) {
      const auto sample = mlrun::decode::read_sample(
          sample_type, std::span<const char>(data).subspan(at + sizeof header, header.size - sizeof header));
      if (!sample) return 1;
      const auto source = mlrun::decode::read_data_source(sample->data_source);
      std::printf("%u\t%lu\t%lu\t%s\t%s\t%s\t%d\t%s\t%s\t%s\t%d\t%lu\n", sample->tid, sample->time_ns, sample->address,
                  op_text(source.op), source.level.c_str(),
                  source.hit    ? "hit"
                  : source.miss ? "miss"
                                : "",
                  source.remote, source.snoop.c_str(), source.translation.c_str(),
                  source.translation_miss ? "miss" : "hit", source.locked, sample->weight);
    }
    at += header.size;
  }
  return 0;
}
