// SPDX-License-Identifier: Apache-2.0
#include "runner/launch/environment.h"

#include <string>
#include <vector>

#include <gtest/gtest.h>

namespace mlrun::launch {
namespace {

TEST(PreloadValue, OursIsFirstAndTheOthersStay) {
  EXPECT_EQ(preload_value("", "/x/libmlrun_preload.so", ""), "/x/libmlrun_preload.so");
  EXPECT_EQ(preload_value("/a.so /b.so:c.so", "/x/libmlrun_preload.so", ""), "/x/libmlrun_preload.so:/a.so:/b.so:c.so");
}

TEST(PreloadValue, ASanitizersRuntimeStaysBeforeUs) {
  EXPECT_EQ(preload_value("/a.so:/usr/lib/libasan.so.8", "/x/libmlrun_preload.so", ""),
            "/usr/lib/libasan.so.8:/x/libmlrun_preload.so:/a.so");
  EXPECT_EQ(preload_value("/a.so:libtsan.so.2", "/x/ours.so", ""), "libtsan.so.2:/x/ours.so:/a.so");
}

TEST(PreloadValue, TheSanitizerRuntimePrecedesOurLibrary) {
  EXPECT_EQ(preload_value("/a.so", "/x/ours.so", "libasan.so.8"), "libasan.so.8::/x/ours.so:/a.so");
  EXPECT_EQ(preload_value("/own/libasan.so.8", "/x/ours.so", "libasan.so.8"), "/own/libasan.so.8:/x/ours.so");
  EXPECT_EQ(preload_value("libtsan.so.2::/y/libmlrun_preload.so:/a.so", "/x/ours.so", ""), "/x/ours.so:/a.so");
}

TEST(PreloadValue, AnotherCopyOfOursGoes) {
  EXPECT_EQ(preload_value("/old/libmlrun_preload.so:/a.so", "/x/libmlrun_preload.so", ""),
            "/x/libmlrun_preload.so:/a.so");
}

TEST(Environment, HasBothVariablesOnceAndTheRestUnchanged) {
  char a[] = "A=1", odd[] = "no equals sign", session[] = "MLRUN_SESSION=old", preload[] = "LD_PRELOAD=/a.so";
  char* before[] = {a, session, odd, preload, nullptr};
  const auto after = traced_environment(before, "/x/libmlrun_preload.so", "new", {});
  EXPECT_EQ(after, (std::vector<std::string>{"A=1", "no equals sign", "LD_PRELOAD=/x/libmlrun_preload.so:/a.so",
                                             "NVTX_INJECTION64_PATH=/x/libmlrun_preload.so", "MLRUN_SESSION=new"}));
}

TEST(Environment, HasTheLibraryForGpuWorkUnlessCudaLoadsAnother) {
  const std::string ours = "/x/libmlrun_preload.so", gpu = "/x/libmlrun_cupti.so";
  char old[] = "CUDA_INJECTION64_PATH=/old/libmlrun_cupti.so", preload[] = "LD_PRELOAD=/old/libmlrun_cupti.so:/a.so";
  char* nested[] = {old, preload, nullptr};
  EXPECT_EQ(traced_environment(nested, ours, "s", {}, gpu),
            (std::vector<std::string>{"LD_PRELOAD=" + ours + ":" + gpu + ":/a.so", "NVTX_INJECTION64_PATH=" + ours,
                                      "CUDA_INJECTION64_PATH=" + gpu, "MLRUN_SESSION=s"}));
  EXPECT_EQ(other_cuda_injection(nested), "");
  char theirs[] = "CUDA_INJECTION64_PATH=/opt/nsight/inject.so";
  char* other[] = {theirs, nullptr};
  EXPECT_EQ(traced_environment(other, ours, "s", {}, gpu),
            (std::vector<std::string>{theirs, "LD_PRELOAD=" + ours + ":" + gpu, "NVTX_INJECTION64_PATH=" + ours,
                                      "MLRUN_SESSION=s"}));
  EXPECT_EQ(other_cuda_injection(other), "/opt/nsight/inject.so");
}

TEST(Environment, SecretsAreNotShown) {
  char token[] = "HF_TOKEN=x", kept[] = "MY_TOKEN=x", proxy[] = "HTTPS_PROXY=http://u:x@h", plain[] = "HOME=/root",
       bytes[] = "N=\xff";
  char* all[] = {token, kept, proxy, plain, bytes, nullptr};
  auto shown = shown_environment(all, {"MY_TOKEN"});
  EXPECT_EQ(shown["HF_TOKEN"], "***");
  EXPECT_EQ(shown["MY_TOKEN"], "x");
  EXPECT_EQ(shown["HTTPS_PROXY"], "http://***:***@h");
  EXPECT_EQ(shown["HOME"], "/root");
  EXPECT_EQ(shown["N"], "\\xff");
}

}  // namespace
}  // namespace mlrun::launch
