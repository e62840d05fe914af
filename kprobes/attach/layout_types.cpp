// SPDX-License-Identifier: Apache-2.0
#include "kprobes/attach/layout_types.h"

#include <bpf/btf.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <map>
#include <string>
#include <string_view>
#include <type_traits>
#include <unordered_set>
#include <utility>

#include "kprobes/attach/type_names.h"

namespace mlrun::probes {

namespace {

constexpr std::string_view kFlavor = "___";  // begins a suffix, which libbpf ignores when it compares names of types

bool is_layout(uint32_t kind) {
  return kind == BTF_KIND_STRUCT || kind == BTF_KIND_UNION || kind == BTF_KIND_ENUM || kind == BTF_KIND_ENUM64;
}

std::string_view essential(std::string_view name) { return name.substr(0, name.find(kFlavor)); }

std::unordered_set<std::string_view> names_in(const btf* types) {
  std::unordered_set<std::string_view> names;
  for (uint32_t id = 1; id < ::btf__type_cnt(types); id++) {
    const btf_type* type = ::btf__type_by_id(types, id);
    const std::string_view name = essential(name_at(types, type->name_off));
    if (is_layout(::btf_kind(type)) && !name.empty()) names.insert(name);
  }
  return names;
}

class Writer {
 public:
  explicit Writer(const btf* base) : base_(base), strings_(1, '\0') {}

  // Adds the types of one BTF whose names are in `names`, except for names that an earlier BTF had.
  void add_named(const btf* types, uint32_t first, const std::unordered_set<std::string_view>& names) {
    std::unordered_set<std::string_view> found;
    for (uint32_t id = first; id < ::btf__type_cnt(types); id++) {
      const btf_type* type = ::btf__type_by_id(types, id);
      if (!is_layout(::btf_kind(type))) continue;
      const std::string_view name = name_at(types, type->name_off);
      if (name.empty()) continue;
      const auto known = names.find(essential(name));
      if (known == names.end() || found_.contains(*known)) continue;
      found.insert(*known);
      (void)number_of(types, id);
    }
    found_.merge(found);
  }

  [[nodiscard]] std::string finish() {
    while (written_ < order_.size()) {
      const auto [types, id] = order_[written_++];
      write(types, ::btf__type_by_id(types, id));
    }
    btf_header header{};
    header.magic = BTF_MAGIC;
    header.version = BTF_VERSION;
    header.hdr_len = sizeof header;
    header.type_len = static_cast<uint32_t>(body_.size());
    header.str_off = header.type_len;
    header.str_len = static_cast<uint32_t>(strings_.size());
    std::string bytes(reinterpret_cast<const char*>(&header), sizeof header);
    return bytes + body_ + strings_;
  }

 private:
  // The id of a type in the BTF that is written. A new type is queued, and written by finish().
  uint32_t number_of(const btf* types, uint32_t id) {
    if (id == 0) return 0;
    if (id < ::btf__type_cnt(base_)) types = base_;
    const auto [known, is_new] = numbers_.try_emplace({types, id}, static_cast<uint32_t>(numbers_.size() + 1));
    if (is_new) order_.emplace_back(types, id);
    return known->second;
  }

  uint32_t string_of(const btf* types, uint32_t offset) {
    if (offset == 0) return 0;
    const auto at = static_cast<uint32_t>(strings_.size());
    strings_ += name_at(types, offset);
    strings_ += '\0';
    return at;
  }

  template <typename Entry>
  void put(const Entry& entry) {
    body_.append(reinterpret_cast<const char*>(&entry), sizeof entry);
  }

  template <typename Entry>
  void put_named(const btf* types, const btf_type* type) {
    const auto* entries = reinterpret_cast<const Entry*>(type + 1);
    for (uint32_t i = 0; i < ::btf_vlen(type); i++) {
      Entry entry = entries[i];
      entry.name_off = string_of(types, entry.name_off);
      if constexpr (std::is_same_v<Entry, btf_member>) entry.type = number_of(types, entry.type);
      put(entry);
    }
  }

  void write(const btf* types, const btf_type* type) {
    btf_type copy = *type;
    copy.name_off = string_of(types, type->name_off);
    const uint32_t kind = ::btf_kind(type);
    const bool names_another = kind == BTF_KIND_TYPEDEF || kind == BTF_KIND_CONST || kind == BTF_KIND_VOLATILE ||
                               kind == BTF_KIND_RESTRICT || kind == BTF_KIND_TYPE_TAG;
    if (kind == BTF_KIND_PTR) copy.type = 0;
    if (names_another) copy.type = number_of(types, type->type);
    put(copy);
    if (kind == BTF_KIND_INT) put(*reinterpret_cast<const uint32_t*>(type + 1));
    if (kind == BTF_KIND_STRUCT || kind == BTF_KIND_UNION) put_named<btf_member>(types, type);
    if (kind == BTF_KIND_ENUM) put_named<struct btf_enum>(types, type);
    if (kind == BTF_KIND_ENUM64) put_named<struct btf_enum64>(types, type);
    if (kind != BTF_KIND_ARRAY) return;
    struct btf_array array = *::btf_array(type);
    array.type = number_of(types, array.type);
    array.index_type = number_of(types, array.index_type);
    put(array);
  }

  const btf* base_;
  std::map<std::pair<const btf*, uint32_t>, uint32_t> numbers_;
  std::vector<std::pair<const btf*, uint32_t>> order_;
  size_t written_ = 0;
  std::string body_, strings_;
  std::unordered_set<std::string_view> found_;
};

}  // namespace

Status write_layout_types(const btf* named, const std::vector<const btf*>& kernel, int file) {
  const auto names = names_in(named);
  Writer writer(kernel.front());
  for (const btf* types : kernel) {
    writer.add_named(types, types == kernel.front() ? 1 : ::btf__type_cnt(kernel.front()), names);
  }
  const std::string bytes = writer.finish();
  if (::write(file, bytes.data(), bytes.size()) == static_cast<ssize_t>(bytes.size())) return {};
  return fail_errno("write the kernel's BTF types to a file in memory", errno);
}

}  // namespace mlrun::probes
