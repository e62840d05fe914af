// SPDX-License-Identifier: Apache-2.0
#include "runner/samplers/python/loop_reader.h"

#include <algorithm>
#include <memory>

#include <fmt/format.h>

#include "runner/samplers/python/layout.h"
#include "runner/util/text.h"

namespace mlrun::python {

namespace {

constexpr size_t kDepthMax = 10, kNodesMax = 200, kLoopsMax = 12, kSlotsMax = 40, kItemsMax = 4, kValuesMax = 30;
constexpr size_t kReadsKept = 200;  // after this many reads, objects that were not iterators are checked again
constexpr uint64_t kAddressMax = uint64_t{1} << 47, kAligned = 7;

// Offsets of members in CPython 3.11, in bytes from the beginning of an object.
constexpr uint64_t kRangeIndex = 16, kRangeLength = 40, kEnumerateInner = 24, kListIndex = 16, kListOf = 24;
constexpr uint64_t kZipTuple = 24, kMapTuple = 16, kSize = 16, kItems = 24;
constexpr uint64_t kGeneratorState = 75, kGeneratorFrame = 80, kFrameCode = 32, kFrameSlots = 72;
constexpr uint64_t kTypeName = 24, kTypeFlags = 168, kTypeNext = 224, kDictValues = 40;
constexpr uint64_t kHeapType = 1 << 9, kManagedDict = 1 << 4;
// Pointers before an instance: to its attribute values, or else to its dictionary.
constexpr uint64_t kValuesBefore = 32, kDictBefore = 24;

bool is_address(uint64_t value) { return value >= 4096 && value < kAddressMax && (value & kAligned) == 0; }

uint64_t key_of(uint64_t slot, uint64_t object) { return slot * 0x9e3779b97f4a7c15 ^ object; }

template <typename T>
T member(const std::array<char, 96>& head, uint64_t offset) {
  return value_at<T>(head.data() + 32, offset);
}

}  // namespace

void LoopReader::read_slots(const Frame& frame, const std::string& before, std::vector<Node>& nodes) {
  std::array<uint64_t, kSlotsMax> slots{};
  const size_t count = std::min<size_t>(kSlotsMax, frame.code->slots);
  if (count == 0 || !memory_.read(frame.slots, slots.data(), count * sizeof slots[0])) return;
  const std::string_view file = util::base_name(frame.code->file);
  for (size_t i = 0; i < count; ++i) {
    if (!is_address(slots[i]) || others_.contains(key_of(frame.slots + 8 * i, slots[i]))) continue;
    nodes.push_back({frame.slots + 8 * i, slots[i], fmt::format("{}{}:{}:{}", before, file, frame.code->first_line, i),
                     frame.is_generator});
  }
}

// Reads the heads of all objects in one system call, or one by one if some cannot be read.
void LoopReader::read_heads(const std::vector<Node>& nodes, std::vector<std::optional<Head>>& heads) {
  heads.assign(nodes.size(), Head{});
  std::vector<RemotePiece> pieces;
  for (size_t i = 0; i < nodes.size(); ++i) pieces.push_back({nodes[i].object - kBefore, heads[i]->data(), kHeadBytes});
  if (memory_.read(pieces)) return;
  for (size_t i = 0; i < nodes.size(); ++i) {
    if (!memory_.read(pieces[i].address, pieces[i].to, pieces[i].bytes)) heads[i].reset();
  }
}

void LoopReader::add(const Node& node, const char* kind, int64_t position, int64_t total) {
  if (count_ >= kLoopsMax || position < 0 || total < position) return;
  ++count_;
  if (!text_.empty()) text_ += "; ";
  text_ += fmt::format("{} {}@{:x} {}/{}{}", node.place, kind, node.object, position, total, node.runs ? "!" : "");
}

void LoopReader::visit_list(const Node& node, const Head& head) {
  const auto of = member<uint64_t>(head, kListOf);
  if (!is_address(of)) return;  // the iterator is exhausted
  const auto size = memory_.get<int64_t>(of + kSize);
  if (size) add(node, "list", member<int64_t>(head, kListIndex), *size);
}

void LoopReader::visit_generator(const Node& node, std::vector<Node>& next) {
  const auto state = memory_.get<int8_t>(node.object + kGeneratorState);
  if (!state || *state > 0) return;
  const uint64_t frame = node.object + kGeneratorFrame;
  const auto code = memory_.get<uint64_t>(frame + kFrameCode);
  std::vector<std::shared_ptr<const Code>> codes;
  if (!code || !codes_.find(memory_, {*code}, codes)) return;
  read_slots({frame + kFrameSlots, codes.front().get(), node.runs || *state == 0}, node.place + ">", next);
}

void LoopReader::visit_tuple(const Node& node, uint64_t tuple, std::vector<Node>& next) {
  const auto size = memory_.get<uint64_t>(tuple + kSize);
  std::array<uint64_t, kItemsMax> items{};
  const size_t count = std::min<uint64_t>(kItemsMax, size.value_or(0));
  if (count == 0 || !memory_.read(tuple + kItems, items.data(), count * sizeof items[0])) return;
  for (size_t i = 0; i < count; ++i) {
    if (is_address(items[i]))
      next.push_back({tuple + kItems + 8 * i, items[i], fmt::format("{}>{}", node.place, i), node.runs});
  }
}

const LoopReader::Type& LoopReader::type_at(uint64_t address) {
  if (const auto known = known_types_.find(address); known != known_types_.end()) return known->second;
  Type& type = known_types_[address];
  uint64_t name = 0, flags = 0, has_next = 0;
  const RemotePiece pieces[] = {{address + kTypeName, &name, sizeof name},
                                {address + kTypeFlags, &flags, sizeof flags},
                                {address + kTypeNext, &has_next, sizeof has_next}};
  std::array<char, 48> text{};
  if (!memory_.read(pieces)) return type;
  constexpr uint64_t kWritten = kHeapType | kManagedDict;
  if ((flags & kWritten) != kWritten || !memory_.read(name, text.data(), text.size() - 1)) return type;
  for (const char* letter = text.data(); (*letter >= '0' && *letter <= 'z') && *letter != ';' && *letter != '@';
       ++letter)
    type.name += *letter;
  // In a DataLoader over an iterable dataset, the *DatasetFetcher object holds the iterator, so it is followed too.
  type.has_next = has_next != 0 || type.name.ends_with("DatasetFetcher");
  return type;
}

// Visits the attributes of an instance, in the order in which its class first saw their names.
bool LoopReader::visit_instance(const Node& node, const Head& head, std::vector<Node>& next) {
  const Type& type = type_at(member<uint64_t>(head, kTypeAt));
  if (!type.has_next) return false;
  auto values = value_at<uint64_t>(head.data(), kBefore - kValuesBefore);
  const auto dict = value_at<uint64_t>(head.data(), kBefore - kDictBefore);
  if (values == 0 && is_address(dict)) values = memory_.get<uint64_t>(dict + kDictValues).value_or(0);
  if (!is_address(values)) return true;
  const auto size = memory_.get<uint8_t>(values - 2);
  std::array<uint64_t, kValuesMax> all{};
  // The DataLoader's iterator itself is reported, too: a shuffled sampler's generator disappears with its last item, one batch before the loader.
  if (type.name.ends_with("DataLoaderIter")) add(node, "loader", 0, 0);
  const size_t count = std::min<size_t>(kValuesMax, size.value_or(0));
  if (count == 0 || !memory_.read(values, all.data(), count * sizeof all[0])) return true;
  for (size_t i = 0; i < count; ++i) {
    if (!is_address(all[i]) || others_.contains(key_of(values + 8 * i, all[i]))) continue;
    next.push_back({values + 8 * i, all[i], fmt::format("{}>{}.{}", node.place, type.name, i), node.runs});
  }
  return true;
}

void LoopReader::visit(const Node& node, const Head& head, std::vector<Node>& next) {
  // Slots may have addresses of freed objects. Their contents remain for a while, but the reference count is then invalid.
  constexpr int64_t kReferencesMax = 1 << 20;
  const auto references = member<int64_t>(head, 0);
  if (references <= 0 || references > kReferencesMax) return;
  const auto type = member<uint64_t>(head, kTypeAt);
  if (type == types_.range) {
    add(node, "range", member<int64_t>(head, kRangeIndex), member<int64_t>(head, kRangeLength));
  } else if (type == types_.list || type == types_.tuple) {
    visit_list(node, head);
  } else if (type == types_.enumerate) {
    const auto inner = member<uint64_t>(head, kEnumerateInner);
    if (is_address(inner)) next.push_back({node.object + kEnumerateInner, inner, node.place + ">e", node.runs});
  } else if (type == types_.generator) {
    visit_generator(node, next);
  } else if (type == types_.zip || type == types_.map) {
    const auto tuple = member<uint64_t>(head, type == types_.zip ? kZipTuple : kMapTuple);
    if (is_address(tuple)) visit_tuple(node, tuple, next);
  } else if (!is_address(type) || !visit_instance(node, head, next)) {
    others_.insert(key_of(node.slot, node.object));
  }
}

std::string LoopReader::read(const std::vector<Frame>& frames) {
  if (reads_++ % kReadsKept == 0) {
    others_.clear();
    known_types_.clear();
  }
  visited_.clear();
  text_.clear();
  count_ = 0;
  std::vector<Node> nodes, next;
  for (const Frame& frame : frames) read_slots(frame, "", nodes);
  std::vector<std::optional<Head>> heads;
  for (size_t depth = 0; depth < kDepthMax && !nodes.empty(); ++depth) {
    std::erase_if(nodes, [&](const Node& node) { return !visited_.insert(node.object).second; });
    if (nodes.size() > kNodesMax) nodes.resize(kNodesMax);
    read_heads(nodes, heads);
    next.clear();
    for (size_t i = 0; i < nodes.size(); ++i) {
      if (heads[i]) {
        visit(nodes[i], *heads[i], next);
      } else {
        others_.insert(key_of(nodes[i].slot, nodes[i].object));
      }
    }
    std::swap(nodes, next);
  }
  return text_;
}

}  // namespace mlrun::python
