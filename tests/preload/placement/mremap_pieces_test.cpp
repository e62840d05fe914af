// SPDX-License-Identifier: Apache-2.0
// mremap of memory that is several mappings of the kernel. They are made by an advice here, which needs no NUMA.
#include <sys/mman.h>
#include <sys/resource.h>

#include <cerrno>
#include <cstddef>
#include <cstring>
#include <fstream>

#include <gtest/gtest.h>

extern "C" {
#include "preload/placement/mremap_pieces.h"
#include "preload/placement/pages.h"
}

namespace mlrun::preload_test {
namespace {

constexpr size_t kPage = 4096, kPages = 60, kRoom = 256;

// Pieces of 7 pages, each page filled with its number, in front of addresses where nothing is mapped.
class MremapPieces : public testing::Test {
 protected:
  MremapPieces() : at_(map(nullptr, kRoom * kPage, 0)) {
    munmap(at_ + kPages * kPage, (kRoom - kPages) * kPage);
    for (size_t i = 0; i < kPages; i++) memset(at_ + i * kPage, static_cast<int>(i), kPage);
    for (size_t i = 0; i < kPages; i += 14) madvise(at_ + i * kPage, 7 * kPage, MADV_DONTDUMP);
    EXPECT_EQ(mremap(at_, kPages * kPage, 2 * kPages * kPage, MREMAP_MAYMOVE), MAP_FAILED);
    EXPECT_EQ(errno, EFAULT);
  }

  static char* map(void* at, size_t bytes, int flags) {
    return static_cast<char*>(mmap(at, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | flags, -1, 0));
  }

  static bool is_filled(const char* at) {
    for (size_t i = 0; i < kPages * kPage; i++)
      if (at[i] != static_cast<char>(i / kPage)) return false;
    return true;
  }

  static bool is_mapped(char* at) { return msync(at, kPage, MS_ASYNC) == 0; }

  char* resized(size_t pages, int flags, char* wanted = nullptr) {
    return static_cast<char*>(mremap_pieces(at_, kPages * kPage, pages * kPage, flags, wanted));
  }

  // In pages.
  static long address_space() {
    long pages = 0;
    std::ifstream("/proc/self/statm") >> pages;
    return pages;
  }

  void take_room_behind() { ASSERT_EQ(map(at_ + kPages * kPage, kPage, MAP_FIXED), at_ + kPages * kPage); }

  char* at_;
};

TEST_F(MremapPieces, AreToldFromOneMapping) {
  EXPECT_FALSE(pages_are_one_mapping(at_, kPages * kPage));
  EXPECT_TRUE(pages_are_one_mapping(at_, 7 * kPage));
  EXPECT_FALSE(pages_are_one_mapping(at_ + kPages * kPage, kPage)) << "nothing is mapped there";
}

TEST_F(MremapPieces, GrowWhereTheyAre) {
  EXPECT_EQ(resized(2 * kPages, 0), at_);
  EXPECT_TRUE(is_filled(at_));
  EXPECT_EQ(at_[(2 * kPages - 1) * kPage], 0);
}

TEST_F(MremapPieces, MoveWhereThereIsRoom) {
  take_room_behind();
  at_[kPages * kPage] = 77;
  char* const there = resized(2 * kPages, MREMAP_MAYMOVE);
  ASSERT_NE(there, MAP_FAILED);
  EXPECT_TRUE(is_filled(there));
  memset(there + kPages * kPage, 1, kPages * kPage);
  EXPECT_FALSE(is_mapped(at_));
  EXPECT_FALSE(is_mapped(at_ + (kPages - 1) * kPage));
  EXPECT_EQ(at_[kPages * kPage], 77);
}

TEST_F(MremapPieces, MoveToAFixedAddress) {
  char* const wanted = map(nullptr, kRoom * kPage, 0);
  memset(wanted, 99, kRoom * kPage);
  EXPECT_EQ(resized(kPages, MREMAP_MAYMOVE | MREMAP_FIXED, wanted), wanted);
  EXPECT_TRUE(is_filled(wanted));
  EXPECT_EQ(wanted[kPages * kPage], 99);
  EXPECT_FALSE(is_mapped(at_));
}

TEST_F(MremapPieces, AreLeftToAKernelThatMovesSeveral) {
  char* const wanted = map(nullptr, kRoom * kPage, 0);
  const long before = address_space();
  mremap_pieces_open();
  EXPECT_EQ(address_space(), before);
  EXPECT_EQ(mremap(at_, kPages * kPage, kPages * kPage, MREMAP_MAYMOVE | MREMAP_FIXED, wanted) == wanted,
            kernel_moves_several);
}

// It looks at the mappings before it unmaps what is there.
TEST_F(MremapPieces, AreRefusedWithoutHarmByAKernelThatMovesSeveral) {
  mremap_pieces_open();
  if (!kernel_moves_several) return;
  char* const wanted = map(nullptr, kRoom * kPage, 0);
  for (const size_t pages : {kPages / 2, 2 * kPages}) {
    EXPECT_EQ(mremap(at_, kPages * kPage, pages * kPage, MREMAP_MAYMOVE | MREMAP_FIXED, wanted), MAP_FAILED);
    EXPECT_EQ(errno, EFAULT);
  }
  EXPECT_TRUE(is_mapped(wanted));
  EXPECT_TRUE(is_filled(at_));
}

TEST_F(MremapPieces, BecomeSmallerAtAFixedAddress) {
  char* const wanted = map(nullptr, kRoom * kPage, 0);
  memset(wanted, 99, kRoom * kPage);
  EXPECT_EQ(resized(30, MREMAP_MAYMOVE | MREMAP_FIXED, wanted), wanted);
  EXPECT_EQ(wanted[0], 0);
  EXPECT_EQ(wanted[30 * kPage - 1], 29);
  EXPECT_EQ(wanted[30 * kPage], 99);
  EXPECT_FALSE(is_mapped(at_));
  EXPECT_FALSE(is_mapped(at_ + 29 * kPage));
  EXPECT_FALSE(is_mapped(at_ + (kPages - 1) * kPage));
}

TEST_F(MremapPieces, LeaveWhatTheKernelHasToAnswer) {
  char* const wanted = map(nullptr, kRoom * kPage, 0);
  memset(wanted, 99, kRoom * kPage);
  constexpr int kFixed = MREMAP_MAYMOVE | MREMAP_FIXED;
  EXPECT_EQ(resized(5, kFixed, wanted), nullptr);  // one piece
  EXPECT_EQ(resized(kPages, kFixed, wanted + 1), nullptr);
  EXPECT_EQ(resized(kPages, kFixed, at_ + kPage), nullptr);
  EXPECT_EQ(resized(kPages, MREMAP_FIXED, wanted), nullptr);
  EXPECT_EQ(resized(0, kFixed, wanted), nullptr);
  munmap(at_ + 21 * kPage, kPage);
  EXPECT_EQ(resized(kPages, kFixed, wanted), nullptr);
  EXPECT_EQ(wanted[0], 99);
  EXPECT_EQ(wanted[kRoom * kPage - 1], 99);
  EXPECT_EQ(at_[59 * kPage], 59);
}

// The kernel counts writable memory against the limit, and memory that cannot be accessed not.
TEST_F(MremapPieces, LeaveNoAddressesTakenWhereTheyCannotBeMoved) {
  take_room_behind();
  rlimit limit{};
  ASSERT_EQ(getrlimit(RLIMIT_DATA, &limit), 0);
  const rlimit least{.rlim_cur = kPage, .rlim_max = limit.rlim_max};
  const long before = address_space();
  ASSERT_EQ(setrlimit(RLIMIT_DATA, &least), 0);
  char* const got = resized(2 * kPages, MREMAP_MAYMOVE);
  const int error = errno;
  ASSERT_EQ(setrlimit(RLIMIT_DATA, &limit), 0);
  ASSERT_EQ(got, MAP_FAILED);
  EXPECT_EQ(error, EFAULT);
  EXPECT_LE(address_space() - before, 7);  // pages of the piece that could not be moved
  EXPECT_TRUE(is_filled(at_));
}

TEST_F(MremapPieces, AreNotMovedUnlessAskedTo) {
  take_room_behind();
  EXPECT_EQ(resized(2 * kPages, 0), MAP_FAILED);
  EXPECT_EQ(errno, ENOMEM);
  EXPECT_TRUE(is_filled(at_));
}

TEST_F(MremapPieces, StayWhereAHoleIsBetweenThem) {
  munmap(at_ + 21 * kPage, kPage);
  EXPECT_EQ(resized(2 * kPages, MREMAP_MAYMOVE), nullptr);
  EXPECT_FALSE(is_mapped(at_ + 21 * kPage));
  EXPECT_EQ(at_[20 * kPage], 20);
  EXPECT_EQ(at_[59 * kPage], 59);
}

}  // namespace
}  // namespace mlrun::preload_test
