// SPDX-License-Identifier: Apache-2.0
#include "runner/exchange/perfetto_names.h"

#include <protozero/pbf_writer.hpp>

#include "runner/exchange/perfetto_fields.h"

namespace mlrun::exchange {

namespace {

constexpr size_t kMostValues = 1 << 20, kLongestValue = 256;
constexpr int64_t kMostIds = int64_t{1} << 26;

// Whether `number` has not been written yet. Marks it as written.
bool is_first(std::vector<bool>& written, size_t number) {
  if (number >= written.size()) written.resize(number * 2 + 1);
  const bool is_new = !written[number];
  if (is_new) written[number] = true;
  return is_new;
}

}  // namespace

void PerfettoNames::clear() {
  const Stacks* stacks = stacks_;
  *this = PerfettoNames(*stacks);
}

void PerfettoNames::write(uint32_t field, uint64_t iid, std::string_view text) {
  protozero::pbf_writer data(pending_);
  protozero::pbf_writer entry(data, field);
  entry.add_uint64(perfetto::kIid, iid);
  entry.add_bytes(perfetto::kText, text.data(), text.size());
  text_bytes_ += text.size();
}

uint64_t PerfettoNames::text_of(Texts& texts, uint32_t field, std::string_view text) {
  const auto found = texts.find(text);
  if (found != texts.end()) return found->second;
  const uint64_t iid = texts.size() + 1;
  texts.emplace(text, iid);
  write(field, iid, text);
  return iid;
}

uint64_t PerfettoNames::event_name(uint32_t number, std::string_view text) {
  if (is_first(event_names_, number)) write(perfetto::kEventNames, number, text);
  return number;
}

uint64_t PerfettoNames::category(const TimelineTable& table) {
  if (is_first(categories_, table.number)) write(perfetto::kCategories, table.number + 1, table.form->table);
  return table.number + 1;
}

uint64_t PerfettoNames::annotation_name(const Argument& argument) {
  const uint64_t iid = argument.number + 1;
  if (is_first(annotation_names_, argument.number)) write(perfetto::kAnnotationNames, iid, argument.shown);
  return iid;
}

uint64_t PerfettoNames::value(const Argument& argument, std::string_view text) {
  if (argument.number >= last_values_.size()) last_values_.resize(argument.number * 2 + 1);
  Last& last = last_values_[argument.number];
  if (last.iid != 0 && last.text == text) return last.iid;
  if (text.size() > kLongestValue) return 0;
  const auto found = values_.find(text);
  if (found == values_.end() && values_.size() >= kMostValues) return 0;
  const uint64_t iid = found != values_.end() ? found->second : text_of(values_, perfetto::kStringValues, text);
  last.text = text;
  return last.iid = iid;
}

uint64_t PerfettoNames::value_of_id(const Argument& argument, int64_t id, std::string_view name) {
  if (id < 0 || id >= kMostIds) return value(argument, name);
  if (argument.number >= ids_.size()) ids_.resize(argument.number * 2 + 1);
  std::vector<uint32_t>& iids = ids_[argument.number];
  if (size_t(id) >= iids.size()) iids.resize(size_t(id) * 2 + 1);
  uint32_t& iid = iids[size_t(id)];
  if (iid == 0) iid = uint32_t(text_of(values_, perfetto::kStringValues, name));
  return iid;
}

uint64_t PerfettoNames::sample_descriptor(const TimelineTable& table, StackUnit unit) {
  const uint64_t iid = table.number + 1;
  if (!is_first(descriptors_, table.number)) return iid;
  protozero::pbf_writer data(pending_);
  protozero::pbf_writer entry(data, perfetto::kSampleDescriptors);
  entry.add_uint64(perfetto::kIid, iid);
  entry.add_string(perfetto::kDescriptorName,
                   std::string(table.form->table) + (unit == StackUnit::kTime ? ": time" : ": bytes"));
  entry.add_enum(perfetto::kDescriptorUnit,
                 unit == StackUnit::kTime ? perfetto::kSampleNanoseconds : perfetto::kSampleBytes);
  return iid;
}

uint64_t PerfettoNames::mapping(const std::string& library) {
  const auto found = mappings_.find(library);
  if (found != mappings_.end()) return found->second;
  const uint64_t path = text_of(paths_, perfetto::kMappingPaths, library);
  const uint64_t iid = mappings_.size() + 1;
  mappings_.emplace(library, iid);
  protozero::pbf_writer data(pending_);
  protozero::pbf_writer entry(data, perfetto::kMappings);
  entry.add_uint64(perfetto::kIid, iid);
  entry.add_uint64(perfetto::kPathOfMapping, path);
  return iid;
}

uint64_t PerfettoNames::frame(int32_t frame_id) {
  uint64_t& iid = frames_[frame_id];
  if (iid != 0) return iid;
  iid = frames_.size();
  const StackFrame& frame = stacks_->frame(frame_id);
  const uint64_t function =
      text_of(functions_, perfetto::kFunctions, frame.function.empty() ? frame.label : frame.function);
  const uint64_t library = mapping(frame.library);
  const uint64_t source = frame.source.empty() ? 0 : text_of(sources_, perfetto::kSourcePaths, frame.source);
  protozero::pbf_writer data(pending_);
  protozero::pbf_writer entry(data, perfetto::kFrames);
  entry.add_uint64(perfetto::kIid, iid);
  entry.add_uint64(perfetto::kFunction, function);
  entry.add_uint64(perfetto::kMapping, library);
  entry.add_uint64(perfetto::kRelativePc, uint64_t(frame.offset));
  if (source != 0) entry.add_uint64(perfetto::kSource, source);
  if (frame.line > 0) entry.add_uint32(perfetto::kLine, uint32_t(frame.line));
  return iid;
}

uint64_t PerfettoNames::callstack(int64_t stack_id) {
  const auto frames = stacks_->frames_of(stack_id);
  if (frames.empty()) return 0;
  uint64_t& iid = callstacks_[stack_id];
  if (iid != 0) return iid;
  iid = callstacks_.size();
  std::vector<uint64_t> outermost_first;
  for (size_t i = frames.size(); i-- > 0;) outermost_first.push_back(frame(frames[i]));
  protozero::pbf_writer data(pending_);
  protozero::pbf_writer entry(data, perfetto::kCallstacks);
  entry.add_uint64(perfetto::kIid, iid);
  for (const uint64_t one : outermost_first) entry.add_uint64(perfetto::kFrameOfCallstack, one);
  return iid;
}

}  // namespace mlrun::exchange
