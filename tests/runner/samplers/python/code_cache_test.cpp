// SPDX-License-Identifier: Apache-2.0
// Tests with code objects made by hand in this process, which takes the role of the sampled one.
#include "runner/samplers/python/code_cache.h"

#include <unistd.h>

#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include <gtest/gtest.h>

namespace mlrun {
namespace {

constexpr uint64_t kCodeType = 0x1111, kTextType = 0x2222, kBytesType = 0x3333;

class Object {
 public:
  explicit Object(size_t bytes, uint64_t type) : bytes_(bytes) { put(8, type); }
  template <typename T>
  Object& put(size_t at, T value) {
    std::memcpy(&bytes_.at(at), &value, sizeof value);
    return *this;
  }
  [[nodiscard]] uint64_t address() const { return reinterpret_cast<uint64_t>(bytes_.data()); }

 private:
  std::vector<char> bytes_;
};

class CodeCache : public ::testing::Test {
 protected:
  CodeCache() : layout_(*python::layout_of(0x030c01f0, 0, memory_)) {}

  template <typename Unit>
  uint64_t text(const std::vector<Unit>& units) {
    Object& object = keep(layout_.text_other + units.size() * sizeof(Unit), kTextType);
    object.put(layout_.text_length, uint64_t{units.size()});
    object.put(layout_.text_state, static_cast<uint32_t>(sizeof(Unit) << 2 | 1 << 5));
    for (size_t i = 0; i < units.size(); ++i) object.put(layout_.text_other + i * sizeof(Unit), units[i]);
    return object.address();
  }
  uint64_t ascii(const std::string& chars) {
    Object& object = keep(layout_.text_ascii + chars.size(), kTextType);
    object.put(layout_.text_length, uint64_t{chars.size()});
    object.put(layout_.text_state, uint32_t{1 << 2 | 1 << 5 | 1 << 6});
    for (size_t i = 0; i < chars.size(); ++i) object.put(layout_.text_ascii + i, chars[i]);
    return object.address();
  }
  uint64_t lines() {
    Object& object = keep(layout_.bytes_data + 2, kBytesType);
    object.put(layout_.size, uint64_t{2}).put(layout_.bytes_data, uint16_t{0x00f0});
    return object.address();
  }
  Object& code(uint64_t file, uint64_t function) {
    Object& object = keep(layout_.code_instructions + 4, kCodeType);
    object.put(layout_.size, uint64_t{2}).put(layout_.code_file, file).put(layout_.code_function, function);
    object.put(layout_.code_lines, lines()).put(layout_.code_first_line, int32_t{5});
    return object;
  }
  Object& keep(size_t bytes, uint64_t type) {
    objects_.push_back(std::make_unique<Object>(bytes, type));
    return *objects_.back();
  }
  // Null: refused.
  const python::Code* find(uint64_t address) {
    return cache_.find(memory_, {address}, codes_) ? codes_.front().get() : nullptr;
  }

  python::RemoteMemory memory_{static_cast<uint32_t>(::getpid())};
  python::Layout layout_;
  python::CodeCache cache_{layout_, {kCodeType, kTextType, kBytesType}};
  std::vector<std::unique_ptr<Object>> objects_;
  std::vector<std::shared_ptr<const python::Code>> codes_;
};

TEST_F(CodeCache, TextsOfEveryWidthBecomeUtf8) {
  const Object& object = code(text<uint16_t>({0x65e5, 'a', 0xdce9}), text<uint32_t>({0x1f600, 'b'}));
  const python::Code* found = find(object.address());
  ASSERT_TRUE(found);
  EXPECT_EQ(found->file, "日a\xe9");  // a byte that is not UTF-8
  EXPECT_EQ(found->function, "😀b");
  const python::Code* latin = find(code(text<uint8_t>({'c', 0xe9}), ascii("f")).address());
  ASSERT_TRUE(latin);
  EXPECT_EQ(latin->file, "cé");
  EXPECT_EQ(latin->first_line, 5);
  EXPECT_EQ(latin->instruction_bytes, 4u);
}

TEST_F(CodeCache, AnAddressThatIsUsedAgainIsReadAgain) {
  Object& object = code(ascii("a.py"), ascii("f"));
  ASSERT_EQ(find(object.address())->function, "f");
  object.put(layout_.code_function, ascii("g"));
  EXPECT_EQ(find(object.address())->function, "g");
  object.put(layout_.code_version, uint32_t{9}).put(layout_.code_first_line, int32_t{6});
  EXPECT_EQ(find(object.address())->first_line, 6);
}

TEST_F(CodeCache, AnObjectThatIsNotCodeIsRefused) {
  EXPECT_FALSE(find(0));
  EXPECT_FALSE(find(UINT64_MAX - 4));
  EXPECT_FALSE(find(keep(512, kTextType).address()));
  EXPECT_FALSE(find(code(0x10, ascii("f")).address()));
  EXPECT_FALSE(find(code(lines(), ascii("f")).address()));
  Object& endless = code(ascii("a.py"), ascii("f"));
  endless.put(layout_.size, uint64_t{1} << 40);
  EXPECT_FALSE(find(endless.address()));
  const uint64_t odd = text<uint16_t>({'x'});
  std::memset(reinterpret_cast<char*>(odd) + layout_.text_state, 0xff, 4);
  EXPECT_FALSE(find(code(odd, ascii("f")).address()));
}

}  // namespace
}  // namespace mlrun
