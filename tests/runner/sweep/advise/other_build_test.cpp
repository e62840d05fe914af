// SPDX-License-Identifier: Apache-2.0
// Signatures of this program itself, as if another build of it had been recorded.
#include "runner/sweep/advise/other_build.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <gtest/gtest.h>

#include "runner/sweep/advise/apart.h"
#include "runner/symbols/symbol_file.h"

namespace mlrun::sweep {

[[gnu::noinline]] int caller_in_both_builds(int value) { return value * 3 + 1; }

namespace {

constexpr const char* kOtherBuild = "0123456789abcdef";
constexpr const char* kCallerInBoth = "mlrun::sweep::caller_in_both_builds(int)";

std::string this_build() { return symbols::SymbolFile("/proc/self/exe", "", 0).build_id().substr(0, 16); }

FrameName frame_of(const std::string& build, int offset, const std::string& function) {
  return {fmt::format("{}+{:x}", build, offset), function, "/proc/self/exe"};
}

// Adds a chosen site with these frames, innermost first.
void add_chosen(Advice& advice, const std::string& label, const std::vector<FrameName>& frames) {
  std::vector<std::string> places;
  for (const FrameName& frame : frames) places.push_back(frame.place);
  advice.signatures.push_back(fmt::format("{}", fmt::join(places, ",")));
  advice.labels.push_back(label);
  advice.frames.insert(advice.frames.end(), frames.begin(), frames.end());
  advice.prediction = Prediction{-0.1, -0.2, -0.05, 1, 2, 8};
}

TEST(OtherBuild, ASignatureOfWhichOnlyUnchangedLibrariesWouldBeLeftIsLost) {
  Advice advice;
  add_chosen(advice, "new",
             {frame_of(this_build(), 0x10, "operator new(unsigned long)"), frame_of(kOtherBuild, 0x20, "gone()"),
              frame_of(this_build(), 0x30, "main")});
  const OtherBuilds others = find_in_other_builds(advice);
  EXPECT_EQ(others.lost, 1u);
  EXPECT_EQ(others.by_name, 0u);
  EXPECT_TRUE(advice.signatures.empty()) << advice.signatures.front();
  EXPECT_TRUE(advice.labels.empty());
  EXPECT_TRUE(advice.frames.empty()) << "no file of the recorded build remains";
  EXPECT_FALSE(advice.prediction) << "it was one for the recorded build";
}

TEST(OtherBuild, ASignatureEndsBeforeAMissingFunction) {
  EXPECT_EQ(caller_in_both_builds(1), 4);
  Advice advice;
  add_chosen(advice, "lost", {frame_of(kOtherBuild, 0x20, "gone()")});
  add_chosen(advice, "kept",
             {frame_of(this_build(), 0x10, "malloc"), frame_of(kOtherBuild, 0x40, kCallerInBoth),
              frame_of(kOtherBuild, 0x20, "gone()"), frame_of(this_build(), 0x30, "main")});
  const OtherBuilds others = find_in_other_builds(advice);
  EXPECT_EQ(others.files, (std::vector<std::string>{"/proc/self/exe"}));
  EXPECT_EQ(others.lost, 1u);
  EXPECT_EQ(others.by_name, 1u);
  EXPECT_EQ(others.cut, 1u);
  EXPECT_NE(builds_text(others, 2).find("1 of them end before a function that is not found"), std::string::npos);
  EXPECT_EQ(advice.labels, (std::vector<std::string>{"kept"}));
  ASSERT_EQ(advice.signatures.size(), 1u);
  const std::string before = this_build() + "+10," + this_build() + "+";
  EXPECT_TRUE(advice.signatures[0].starts_with(before)) << advice.signatures[0];
  EXPECT_NE(advice.signatures[0].find('-'), std::string::npos) << "any address in the function";
  ASSERT_EQ(advice.frames.size(), 2u);
  for (const FrameName& frame : advice.frames) EXPECT_TRUE(frame.place.starts_with(this_build())) << frame.place;
}

TEST(OtherBuild, TwoCallsInOneFunctionAreOneSiteThere) {
  ApartSites apart;
  for (const int offset : {0x20, 0x40}) {
    Site site;
    const FrameName frame = frame_of(kOtherBuild, offset, kCallerInBoth);
    site.signature = frame.place;
    site.label = fmt::format("call at {:x}", offset);
    site.frames = {frame};
    apart.add(site);
  }
  const OtherBuilds others = find_in_other_builds(apart);
  EXPECT_EQ(others.by_name, 2u);
  EXPECT_EQ(others.cut, 0u);
  EXPECT_EQ(sort_out_alike(apart), (std::vector<std::string>{"call at 40"}));
  EXPECT_EQ(apart.signatures.size(), 1u);
}

TEST(OtherBuild, AChangedFileWithoutNamesOfFunctionsIsNoticed) {
  Advice advice;
  add_chosen(advice, "?", {frame_of(kOtherBuild, 0x20, "")});
  const OtherBuilds others = find_in_other_builds(advice);
  EXPECT_EQ(others.files.size(), 1u);
  EXPECT_EQ(others.lost, 1u);
}

TEST(OtherBuild, NothingChangesForTheRecordedBuild) {
  Advice advice;
  add_chosen(advice, "same", {frame_of(this_build(), 0x10, "malloc"), frame_of(this_build(), 0x20, "")});
  const std::string signature = advice.signatures[0];
  const OtherBuilds others = find_in_other_builds(advice);
  EXPECT_TRUE(others.files.empty());
  EXPECT_EQ(others.lost + others.by_name, 0u);
  EXPECT_EQ(advice.signatures, (std::vector<std::string>{signature}));
  EXPECT_EQ(advice.frames.size(), 2u);
  EXPECT_TRUE(advice.prediction);
}

}  // namespace
}  // namespace mlrun::sweep
