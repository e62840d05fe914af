// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "runner/options/listen_address.h"
#include "runner/options/options.h"

namespace mlrun::monitor {
namespace {

TEST(ListenAddress, IsOfThisMachineUnlessAnAddressIsGiven) {
  const std::pair<const char*, const char*> cases[] = {{"", "127.0.0.1:2112"},
                                                       {"9400", "127.0.0.1:9400"},
                                                       {"0.0.0.0:9400", "0.0.0.0:9400"},
                                                       {"[::1]:9400", "[::1]:9400"},
                                                       {"node-1:0", "node-1:0"}};
  for (const auto& [text, wanted] : cases) {
    const auto address = parse_listen(text);
    ASSERT_TRUE(address) << text;
    EXPECT_EQ(address->text(), wanted);
  }
  for (const char* text : {"x", "65536", "-1", ":9400", "[]:1", "::1:9400", "1.2.3.4:", "9400 ", "[::1]"}) {
    EXPECT_FALSE(parse_listen(text)) << text;
  }
}

TEST(MonitorOptions, AreCheckedAndHaveDefaults) {
  const auto plain = parse_monitor({});
  ASSERT_TRUE(plain && *plain);
  EXPECT_EQ((*plain)->interval_ns, 2'000'000'000u);
  EXPECT_EQ((*plain)->duration_ns, 0u);
  EXPECT_FALSE((*plain)->listen || (*plain)->quiet || (*plain)->label_args);
  const auto given = parse_monitor({"--listen", "--quiet", "--interval", "500ms", "--duration=3", "--hostname=n"});
  ASSERT_TRUE(given && *given);
  EXPECT_EQ((*given)->interval_ns, 500'000'000u);
  EXPECT_EQ((*given)->duration_ns, 3'000'000'000u);
  EXPECT_EQ((*given)->listen->text(), "127.0.0.1:2112");
  EXPECT_EQ((*given)->hostname, "n");
  for (const Arguments& arguments : {Arguments{"--quiet"}, Arguments{"--interval=99ms"}, Arguments{"--interval=2h"},
                                     Arguments{"--duration=0"}, Arguments{"--listen=x"}, Arguments{"python"}}) {
    EXPECT_FALSE(parse_monitor(arguments)) << arguments.front();
  }
}

}  // namespace
}  // namespace mlrun::monitor
