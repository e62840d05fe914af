// SPDX-License-Identifier: Apache-2.0
#include "runner/decode/perf_sample.h"

#include <array>
#include <cstring>
#include <string_view>
#include <utility>

namespace mlrun::decode {

namespace {

// Reads the fields of a sample in the kernel's order.
class RecordFields {
 public:
  RecordFields(uint64_t sample_type, std::span<const char> body) : sample_type_(sample_type), body_(body) {}

  template <typename Value>
  Value take(uint64_t bits) {
    Value value{};
    if ((sample_type_ & bits) == 0) return value;
    if (body_.size() < sizeof(uint64_t)) {
      short_ = true;
      return value;
    }
    static_assert(sizeof value <= sizeof(uint64_t));
    std::memcpy(&value, body_.data(), sizeof value);
    body_ = body_.subspan(sizeof(uint64_t));
    return value;
  }
  [[nodiscard]] bool is_short() const { return short_; }

 private:
  uint64_t sample_type_;
  std::span<const char> body_;
  bool short_ = false;
};

using Names = std::pair<uint64_t, const char*>;

// The names of the bits that are set, as "L1 or L2".
template <size_t kCount>
std::string joined(uint64_t bits, const std::array<Names, kCount>& names) {
  std::string text;
  for (const auto& [bit, name] : names) {
    if ((bits & bit) == 0) continue;
    if (!text.empty()) text += " or ";
    text += name;
  }
  return text;
}

// PERF_MEM_LVLNUM_ of newer kernels, by number.
std::string level_of_number(uint64_t number) {
  constexpr std::array<const char*, 16> kLevels = {"",         "L1",  "L2",  "L3",    "L4",  "",    "",     "",
                                                   "uncached", "CXL", "I/O", "cache", "LFB", "RAM", "PMEM", ""};
  return kLevels[number & 15];
}

constexpr std::array<Names, 11> kOldLevels = {{{PERF_MEM_LVL_L1, "L1"},
                                               {PERF_MEM_LVL_LFB, "LFB"},
                                               {PERF_MEM_LVL_L2, "L2"},
                                               {PERF_MEM_LVL_L3, "L3"},
                                               {PERF_MEM_LVL_LOC_RAM, "RAM"},
                                               {PERF_MEM_LVL_REM_RAM1, "RAM"},
                                               {PERF_MEM_LVL_REM_RAM2, "RAM"},
                                               {PERF_MEM_LVL_REM_CCE1, "cache"},
                                               {PERF_MEM_LVL_REM_CCE2, "cache"},
                                               {PERF_MEM_LVL_IO, "I/O"},
                                               {PERF_MEM_LVL_UNC, "uncached"}}};
constexpr uint64_t kOldRemote =
    PERF_MEM_LVL_REM_RAM1 | PERF_MEM_LVL_REM_RAM2 | PERF_MEM_LVL_REM_CCE1 | PERF_MEM_LVL_REM_CCE2;
// PERF_MEM_HOPS_, which older headers lack. HOPS_0: of another core of this node.
constexpr uint64_t kHopsShift = 43, kSameNode = 1;
constexpr std::array<Names, 4> kSnoops = {{{PERF_MEM_SNOOP_NONE, "none"},
                                           {PERF_MEM_SNOOP_HIT, "hit"},
                                           {PERF_MEM_SNOOP_MISS, "miss"},
                                           {PERF_MEM_SNOOP_HITM, "hitm"}}};
constexpr std::array<Names, 2> kMoreSnoops = {{{1, "forward"}, {2, "peer"}}};  // PERF_MEM_SNOOPX_
constexpr std::array<Names, 4> kTranslations = {
    {{PERF_MEM_TLB_L1, "L1"}, {PERF_MEM_TLB_L2, "L2"}, {PERF_MEM_TLB_WK, "walker"}, {PERF_MEM_TLB_OS, "fault"}}};

MemoryOp op_of(uint64_t bits) {
  if ((bits & PERF_MEM_OP_NA) != 0) return MemoryOp::kUnknown;
  if ((bits & PERF_MEM_OP_LOAD) != 0) return MemoryOp::kLoad;
  if ((bits & PERF_MEM_OP_STORE) != 0) return MemoryOp::kStore;
  if ((bits & PERF_MEM_OP_PFETCH) != 0) return MemoryOp::kPrefetch;
  if ((bits & PERF_MEM_OP_EXEC) != 0) return MemoryOp::kExecute;
  return MemoryOp::kUnknown;
}

}  // namespace

std::optional<PerfSample> read_sample(uint64_t sample_type, std::span<const char> body) {
  // Fields between period and weight have variable lengths, which this reader does not parse.
  constexpr uint64_t kBetween = PERF_SAMPLE_READ | PERF_SAMPLE_CALLCHAIN | PERF_SAMPLE_RAW | PERF_SAMPLE_BRANCH_STACK |
                                PERF_SAMPLE_REGS_USER | PERF_SAMPLE_STACK_USER;
  if ((sample_type & kBetween) != 0) return {};
  struct Pair {
    uint32_t low, high;
  };
  RecordFields fields(sample_type, body);
  PerfSample sample;
  fields.take<uint64_t>(PERF_SAMPLE_IDENTIFIER);
  sample.ip = fields.take<uint64_t>(PERF_SAMPLE_IP);
  const Pair thread = fields.take<Pair>(PERF_SAMPLE_TID);
  sample.time_ns = fields.take<uint64_t>(PERF_SAMPLE_TIME);
  sample.address = fields.take<uint64_t>(PERF_SAMPLE_ADDR);
  fields.take<uint64_t>(PERF_SAMPLE_ID);
  fields.take<uint64_t>(PERF_SAMPLE_STREAM_ID);
  const Pair cpu = fields.take<Pair>(PERF_SAMPLE_CPU);
  sample.period = fields.take<uint64_t>(PERF_SAMPLE_PERIOD);
  const uint64_t weight = fields.take<uint64_t>(PERF_SAMPLE_WEIGHT | PERF_SAMPLE_WEIGHT_STRUCT);
  sample.data_source = fields.take<uint64_t>(PERF_SAMPLE_DATA_SRC);
  if ((sample_type & PERF_SAMPLE_REGS_INTR) == 0) {  // their number is not in the record
    for (const uint64_t bit : {PERF_SAMPLE_TRANSACTION, PERF_SAMPLE_PHYS_ADDR, PERF_SAMPLE_CGROUP})
      fields.take<uint64_t>(bit);
    sample.page_size = fields.take<uint64_t>(PERF_SAMPLE_DATA_PAGE_SIZE);
  }
  if (fields.is_short()) return {};
  sample.weight = (sample_type & PERF_SAMPLE_WEIGHT_STRUCT) != 0 ? weight & 0xffffffff : weight;
  sample.pid = thread.low;
  sample.tid = thread.high;
  if ((sample_type & PERF_SAMPLE_CPU) != 0) sample.cpu = static_cast<int32_t>(cpu.low);
  return sample;
}

DataSource read_data_source(uint64_t value) {
  perf_mem_data_src bits{};
  bits.val = value;
  DataSource source;
  source.op = op_of(bits.mem_op);
  source.level = level_of_number(bits.mem_lvl_num);
  source.remote = bits.mem_remote != 0 && (value >> kHopsShift & 7) != kSameNode;
  if (source.level.empty()) {
    source.level = joined(bits.mem_lvl, kOldLevels);
    source.remote = source.remote || (bits.mem_lvl & kOldRemote) != 0;
  }
  source.hit = (bits.mem_lvl & PERF_MEM_LVL_HIT) != 0;
  source.miss = (bits.mem_lvl & PERF_MEM_LVL_MISS) != 0;
  source.locked = (bits.mem_lock & PERF_MEM_LOCK_LOCKED) != 0;
  source.snoop = joined(bits.mem_snoop, kSnoops);
  const std::string more = joined(bits.mem_snoopx, kMoreSnoops);
  if (!more.empty()) source.snoop += (source.snoop.empty() ? "" : " or ") + more;
  source.translation = joined(bits.mem_dtlb, kTranslations);
  source.translation_miss = (bits.mem_dtlb & PERF_MEM_TLB_MISS) != 0;
  return source;
}

}  // namespace mlrun::decode
