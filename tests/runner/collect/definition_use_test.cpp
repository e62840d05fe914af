// SPDX-License-Identifier: Apache-2.0
// Tests which definitions the kept file of a window evicts, and which it re-emits on use.
#include "runner/collect/definition_use.h"

#include <array>
#include <cstring>
#include <vector>

#include <gtest/gtest.h>

#include "runner/events/call_layout.h"
#include "runner/events/record.h"

namespace mlrun::collect {
namespace {

constexpr uint32_t kParent = 1, kChild = 2;  // processes, and the channels that they write on
constexpr uint64_t kFolderName = 0x1111'2222'3333'4444, kFileName = 0x5555'6666'7777'8888;
constexpr uint32_t kFolder = 7, kFile = 8;

using Words = std::vector<uint64_t>;

Words record(uint32_t kind, uint32_t argument, size_t words) {
  Words out(words);
  out[0] = 1 | (words / 2) << 8 | uint64_t{kind} << 16 | uint64_t{argument} << 32;
  return out;
}

Words name(uint64_t id) {
  Words out = record(MLRUN_STRING, 1 | 1 << 24, 4);
  out[1] = id;
  return out;
}

Words file(uint32_t number, uint64_t name, uint32_t folder) {
  Words out = record(MLRUN_FILE, number, 8);
  out[5] = name;
  out[6] = uint64_t{folder} << 8;
  return out;
}

Words call(uint32_t function, uint32_t number) {
  Words out = record(MLRUN_CALL + function, 3, 8);
  out[6] = uint64_t{number} << 8;
  return out;
}

const char* bytes_of(const Words& words) { return reinterpret_cast<const char*>(words.data()); }
uint32_t size_of(const Words& words) { return static_cast<uint32_t>(words.size() * sizeof(uint64_t)); }

// A kept file as a list of records.
class Window {
 public:
  Window() {
    use_.note_channel(kParent, kParent);
    use_.note_channel(kChild, kChild);
    use_.begin_stretch();
  }
  void begin_stretch() { use_.begin_stretch(); }
  void note(const Words& words, uint32_t channel = kParent) {
    mlrun_frame header{};
    header.channel = channel;
    header.lap = 9;
    std::vector<char> kept;
    (void)use_.note(header, bytes_of(words), size_of(words), kept);
    for (size_t at = 0; at < kept.size();) {
      uint64_t first = 0;
      std::memcpy(&first, kept.data() + at, sizeof first);
      Words one((first >> 8 & 0xff) * 2);
      std::memcpy(one.data(), kept.data() + at, size_of(one));
      at += size_of(one);
      records_.push_back(std::move(one));
    }
  }
  // As if only the newest stretch were there.
  void evict() {
    const uint64_t oldest = use_.stretch();
    use_.note_folders(oldest);
    for (const Words& one : records_) use_.note_reference(bytes_of(one), size_of(one), oldest);
    std::erase_if(records_, [&](const Words& one) { return use_.evict(bytes_of(one), size_of(one), oldest); });
  }
  [[nodiscard]] size_t count(uint32_t kind, uint64_t id) const {
    size_t found = 0;
    for (const Words& one : records_) {
      const bool is_it = kind == MLRUN_FILE ? one[0] >> 32 == id : one[1] == id;
      found += (one[0] >> 16 & 0xffff) == kind && is_it ? 1 : 0;
    }
    return found;
  }
  [[nodiscard]] std::array<size_t, 4> definitions() const {
    return {count(MLRUN_STRING, kFolderName), count(MLRUN_FILE, kFolder), count(MLRUN_STRING, kFileName),
            count(MLRUN_FILE, kFile)};
  }
  [[nodiscard]] bool has_re_emitted() { return use_.has_re_emitted(); }

 private:
  DefinitionUse use_;
  std::vector<Words> records_;
};

constexpr std::array<size_t, 4> kAll = {1, 1, 1, 1}, kNone = {0, 0, 0, 0};

// A file opened in a folder, which is closed.
void open_in_folder(Window& window) {
  window.note(name(kFolderName));
  window.note(file(kFolder, kFolderName, 0));
  window.note(name(kFileName));
  window.note(file(kFile, kFileName, kFolder));
  window.note(call(events::func::k_close, kFolder));
}

TEST(DefinitionUse, AnOpenFileKeepsTheFolderThatItWasOpenedIn) {
  Window window;
  open_in_folder(window);
  window.begin_stretch();
  window.evict();
  EXPECT_EQ(window.definitions(), kAll);
}

TEST(DefinitionUse, AClosedOneIsEvictedAndReemittedWhenAnotherDescriptorUsesIt) {
  Window window;
  open_in_folder(window);
  window.note(call(events::func::k_close, kFile));
  window.begin_stretch();
  window.evict();
  EXPECT_EQ(window.definitions(), kNone);
  EXPECT_FALSE(window.has_re_emitted());
  window.note(call(events::func::k_write, kFile));
  EXPECT_EQ(window.definitions(), kAll);
  EXPECT_TRUE(window.has_re_emitted());
  EXPECT_FALSE(window.has_re_emitted()) << "asked before";
  window.begin_stretch();
  window.evict();
  EXPECT_EQ(window.definitions(), kAll) << "it is open again";
}

TEST(DefinitionUse, AnInheritedOneOfAnEndedParentIsReemitted) {
  Window window;
  open_in_folder(window);
  window.note(record(MLRUN_END, kParent, 10));
  window.begin_stretch();
  window.evict();
  EXPECT_EQ(window.definitions(), kNone);
  window.note(call(events::func::k_read, kFile), kChild);
  EXPECT_EQ(window.definitions(), kAll);
  window.begin_stretch();
  window.evict();
  EXPECT_EQ(window.definitions(), kAll) << "the child has not ended";
}

TEST(DefinitionUse, AFolderOfTheSecondPathIsReemitted) {
  Window window;
  open_in_folder(window);
  window.note(call(events::func::k_close, kFile));
  window.begin_stretch();
  window.evict();
  Words renames = call(events::func::k_renameat, 0);
  renames.resize(10);
  renames[0] += uint64_t{1} << 8;  // a unit more
  renames[9] = kFolder;
  window.note(renames);
  EXPECT_EQ(window.definitions(), (std::array<size_t, 4>{1, 1, 0, 0}));
}

TEST(DefinitionUse, ManyDefinitionsOfOneFileAllGo) {
  Window window;
  open_in_folder(window);
  window.note(file(kFile, kFileName, kFolder), kChild);
  EXPECT_EQ(window.count(MLRUN_FILE, kFile), 2u);
  window.note(call(events::func::k_close, kFile));
  window.begin_stretch();
  window.evict();
  EXPECT_EQ(window.definitions(), kNone);
}

}  // namespace
}  // namespace mlrun::collect
