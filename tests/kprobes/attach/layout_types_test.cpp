// SPDX-License-Identifier: Apache-2.0
#include "kprobes/attach/layout_types.h"

#include <bpf/btf.h>
#include <sys/mman.h>
#include <unistd.h>

#include <memory>
#include <string>

#include <gtest/gtest.h>

#include "runner/util/unique_fd.h"

namespace mlrun::probes {
namespace {

struct Free {
  void operator()(btf* types) const { ::btf__free(types); }
};
using Types = std::unique_ptr<btf, Free>;

int number_of(const Types& types, const char* name, uint32_t kind) {
  return ::btf__find_by_name_kind(types.get(), name, kind);
}

// struct wanted { unsigned flag : 3, rest : 29; union { unsigned a; struct unwanted *b; }; struct part parts[2]; };
Types kernel_types() {
  Types types(::btf__new_empty());
  btf* all = types.get();
  const int number = ::btf__add_int(all, "unsigned int", 4, 0);
  const int unwanted = ::btf__add_struct(all, "unwanted", 4);
  ::btf__add_field(all, "x", number, 0, 0);
  const int pointer = ::btf__add_ptr(all, unwanted);
  const int either = ::btf__add_union(all, nullptr, 8);
  ::btf__add_field(all, "a", number, 0, 0);
  ::btf__add_field(all, "b", pointer, 0, 0);
  const int part = ::btf__add_struct(all, "part", 8);
  ::btf__add_field(all, "low", number, 0, 0);
  ::btf__add_field(all, "high", number, 32, 0);
  const int parts = ::btf__add_array(all, number, part, 2);
  ::btf__add_struct(all, "wanted", 32);
  ::btf__add_field(all, "flag", number, 0, 3);
  ::btf__add_field(all, "rest", number, 3, 29);
  ::btf__add_field(all, nullptr, either, 64, 0);
  ::btf__add_field(all, "parts", parts, 128, 0);
  ::btf__add_enum(all, "choice", 4);
  ::btf__add_enum_value(all, "first", 1);
  ::btf__add_enum_value(all, "second", 70);
  ::btf__add_enum64(all, "wide", 8, false);
  ::btf__add_enum64_value(all, "far", 0x123456789a);
  return types;
}

Types named_types() {
  Types types(::btf__new_empty());
  const int number = ::btf__add_int(types.get(), "unsigned int", 4, 0);
  ::btf__add_struct(types.get(), "wanted___newer", 4);
  ::btf__add_field(types.get(), "flag", number, 0, 0);
  ::btf__add_struct(types.get(), "in_no_kernel", 4);
  ::btf__add_field(types.get(), "x", number, 0, 0);
  ::btf__add_enum(types.get(), "choice", 4);
  ::btf__add_enum_value(types.get(), "first", 0);
  ::btf__add_enum64(types.get(), "wide", 8, false);
  ::btf__add_enum64_value(types.get(), "far", 0);
  return types;
}

class LayoutTypes : public ::testing::Test {
 protected:
  void SetUp() override {
    const util::UniqueFd file(::memfd_create("types", MFD_CLOEXEC));
    const auto written = write_layout_types(named_.get(), {kernel_.get()}, file.get());
    ASSERT_TRUE(written) << written.error().text;
    written_.reset(::btf__parse(("/proc/self/fd/" + std::to_string(file.get())).c_str(), nullptr));
    ASSERT_TRUE(written_);
  }
  const btf_type* type(const char* name, uint32_t kind) const {
    return ::btf__type_by_id(written_.get(), static_cast<uint32_t>(number_of(written_, name, kind)));
  }
  std::string name_at(uint32_t offset) const { return ::btf__name_by_offset(written_.get(), offset); }

  Types kernel_ = kernel_types(), named_ = named_types(), written_;
};

TEST_F(LayoutTypes, MembersHaveTheKernelsOffsets) {
  const btf_type* wanted = type("wanted", BTF_KIND_STRUCT);
  ASSERT_NE(wanted, nullptr);
  EXPECT_EQ(wanted->size, 32u);
  ASSERT_EQ(::btf_vlen(wanted), 4u);
  EXPECT_EQ(name_at(::btf_members(wanted)[0].name_off), "flag");
  EXPECT_EQ(::btf_member_bitfield_size(wanted, 0), 3u);
  EXPECT_EQ(::btf_member_bit_offset(wanted, 1), 3u);
  EXPECT_EQ(::btf_member_bitfield_size(wanted, 1), 29u);
  EXPECT_EQ(name_at(::btf_members(wanted)[2].name_off), "");
  EXPECT_EQ(::btf_member_bit_offset(wanted, 2), 64u);
  const btf_type* either = ::btf__type_by_id(written_.get(), ::btf_members(wanted)[2].type);
  ASSERT_TRUE(::btf_is_union(either));
  EXPECT_EQ(either->size, 8u);
  EXPECT_EQ(::btf_member_bit_offset(wanted, 3), 128u);
  EXPECT_EQ(::btf__resolve_size(written_.get(), ::btf_members(wanted)[3].type), 16);
}

TEST_F(LayoutTypes, TypesReachedOnlyByPointersAreLeftOut) {
  EXPECT_GT(number_of(written_, "part", BTF_KIND_STRUCT), 0);
  EXPECT_LT(number_of(written_, "unwanted", BTF_KIND_STRUCT), 0);
  EXPECT_LT(number_of(written_, "in_no_kernel", BTF_KIND_STRUCT), 0);
}

TEST_F(LayoutTypes, EnumerationsHaveTheKernelsValues) {
  const btf_type* choice = type("choice", BTF_KIND_ENUM);
  ASSERT_NE(choice, nullptr);
  ASSERT_EQ(::btf_vlen(choice), 2u);
  EXPECT_EQ(name_at(::btf_enum(choice)[1].name_off), "second");
  EXPECT_EQ(::btf_enum(choice)[1].val, 70);
  const btf_type* wide = type("wide", BTF_KIND_ENUM64);
  ASSERT_NE(wide, nullptr);
  EXPECT_EQ(::btf_enum64_value(::btf_enum64(wide)), 0x123456789au);
}

}  // namespace
}  // namespace mlrun::probes
