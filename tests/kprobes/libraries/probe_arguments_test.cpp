// SPDX-License-Identifier: Apache-2.0
#include "kprobes/libraries/probe_arguments.h"

#include <asm/ptrace.h>

#include <cstddef>
#include <string_view>

#include <gtest/gtest.h>

namespace mlrun::probes {
namespace {

TEST(ProbeArguments, AreThoseOfPyTorchsOwnNotes) {
  const auto arguments = probe_arguments("-8@%rax -1@%dl -8@%r14 -8@-56(%rbp)");  // of the wheel of 2.11.0
  ASSERT_TRUE(arguments.has_value());
  ASSERT_EQ(arguments->size(), 4u);
  const size_t registers[] = {offsetof(pt_regs, rax), offsetof(pt_regs, rdx), offsetof(pt_regs, r14),
                              offsetof(pt_regs, rbp)};
  for (size_t i = 0; i < arguments->size(); i++) {
    const mlrun_probe_argument& argument = (*arguments)[i];
    EXPECT_EQ(argument.in_registers, registers[i]) << i;
    EXPECT_EQ(argument.place, i == 3 ? MLRUN_ARGUMENT_MEMORY : MLRUN_ARGUMENT_REGISTER) << i;
    EXPECT_EQ(argument.bytes, i == 1 ? 1 : 8) << i;
    EXPECT_TRUE(argument.is_signed) << i;
  }
  EXPECT_EQ((*arguments)[3].value, -56);
}

TEST(ProbeArguments, MayBeConstantsUnsignedAndWithoutADisplacement) {
  const auto arguments = probe_arguments("4@$-7 8@(%r9) 2@%r10w");
  ASSERT_TRUE(arguments.has_value());
  ASSERT_EQ(arguments->size(), 3u);
  EXPECT_EQ((*arguments)[0].place, MLRUN_ARGUMENT_CONSTANT);
  EXPECT_EQ((*arguments)[0].value, -7);
  EXPECT_FALSE((*arguments)[0].is_signed);
  EXPECT_EQ((*arguments)[1].place, MLRUN_ARGUMENT_MEMORY);
  EXPECT_EQ((*arguments)[1].value, 0);
  EXPECT_EQ((*arguments)[2].in_registers, offsetof(pt_regs, r10));
  EXPECT_EQ(probe_arguments("")->size(), 0u);
}

TEST(ProbeArguments, OfAnotherFormAreRefused) {
  for (const std::string_view text : {"8@",
                                      "@%rdi",
                                      "8%rdi",
                                      "%rdi",
                                      "3@%rdi",
                                      "16@%xmm0",
                                      "8@%xmm0",
                                      "8@%ah",
                                      "8@%",
                                      "8@$",
                                      "8@$x",
                                      "8@8(%rip)",
                                      "8@8(%rax,%rbx,4)",
                                      "8@sym+4(%rip)",
                                      "8@-56(%rbp",
                                      "8@(%rbp)x",
                                      "8@99999999999999999999(%rbp)",
                                      "-8@%rdi x",
                                      "8@%rdi 8@%rdi 8@%rdi 8@%rdi 8@%rdi",
                                      "-99999999999999999999@%rdi",
                                      "8@8@%rdi"}) {
    EXPECT_FALSE(probe_arguments(text).has_value()) << text;
  }
}

}  // namespace
}  // namespace mlrun::probes
