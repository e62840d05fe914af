// SPDX-License-Identifier: Apache-2.0
#include "runner/util/id_list.h"

#include <gtest/gtest.h>

namespace mlrun::util {
namespace {

TEST(IdList, IsReadAndWrittenAsTheKernelDoes) {
  EXPECT_EQ(*parse_id_list("0-3,8"), (IdList{0, 1, 2, 3, 8}));
  EXPECT_EQ(*parse_id_list("8,0-1,1,7-8"), (IdList{0, 1, 7, 8}));
  EXPECT_EQ(id_list_text(*parse_id_list("8,0-1,1,7-8,10")), "0-1,7-8,10");
  EXPECT_EQ(id_list_text({}), "");
  for (const char* bad :
       {"", ",", "0,", "1-0", "0-", "-1", "0x1", " 0", "0 ", "8192", "0-8192", "0:2", "1-2-3", "99999999999"}) {
    EXPECT_FALSE(parse_id_list(bad)) << bad;
  }
  EXPECT_TRUE(read_id_list("/no/such/file").empty());
}

}  // namespace
}  // namespace mlrun::util
