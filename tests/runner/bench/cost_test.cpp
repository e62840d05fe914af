// SPDX-License-Identifier: Apache-2.0
#include "runner/bench/cost.h"

#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <string_view>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

namespace mlrun::bench {
namespace {

using nlohmann::json;

// Every operation of the plan: its figure is a thousand for each letter of its name.
Measurement measured() {
  Measurement measurement;
  for (const Operation& operation : operations()) {
    const double ns = 1000.0 * double(std::string_view(operation.name).size());
    measurement.figures.push_back({&operation, {1, 1, 1, 9}, {ns, ns - 100, ns + 100, 9}});
  }
  return measurement;
}

class CostTest : public ::testing::Test {
 protected:
  CostTest() {
    std::string name = "/tmp/mlrun-cost-test-XXXXXX";
    folder_ = ::mkdtemp(name.data());
    file_ = cost_file(folder_ / "libmlrun_preload.so");
    identity_ = cost_identity("/proc/self/exe");
  }
  ~CostTest() override { std::filesystem::remove_all(folder_); }

  std::filesystem::path folder_;
  std::string file_;
  json identity_;
};

TEST_F(CostTest, EachClassHasTheFigureOfItsOperation) {
  const json cost = make_cost(measured(), identity_, "bench");
  const json& ns = cost.at("cost_per_call_ns");
  EXPECT_EQ(ns.at("alloc_listed"), 12000);
  EXPECT_EQ(ns.at("alloc_counted"), 10000);  // of alloc_live, not of alloc_some_live
  EXPECT_EQ(ns.at("call"), 5000);
  EXPECT_EQ(ns.at("open"), 10000 - 5000);  // the close is a call
  EXPECT_EQ(cost.at("interval_ns").at("open"), json({4800.0, 5200.0}));
}

TEST_F(CostTest, AUselessFigureIsLeftOut) {
  Measurement measurement = measured();
  for (Figure& figure : measurement.figures) {
    if (figure.operation->name == std::string_view("pread")) figure.added_ns = {5, -10, 10, 9};
  }
  const json cost = make_cost(measurement, identity_, "bench");
  EXPECT_FALSE(cost.at("cost_per_call_ns").contains("call"));
  EXPECT_TRUE(cost.at("cost_per_call_ns").contains("stdio"));
  EXPECT_FALSE(is_sufficient(cost));
  EXPECT_TRUE(is_sufficient(make_cost(measured(), identity_, "bench")));
}

TEST_F(CostTest, AStoredCostIsFoundAgain) {
  EXPECT_TRUE(stored_cost(file_, identity_).is_null());
  const json cost = make_cost(measured(), identity_, "bench");
  ASSERT_TRUE(store_cost(file_, cost));
  EXPECT_EQ(stored_cost(file_, identity_), cost);
}

TEST_F(CostTest, AnotherLibraryOrKernelFindsNothing) {
  ASSERT_TRUE(store_cost(file_, make_cost(measured(), identity_, "bench")));
  for (const char* key : {"host", "kernel", "cpu_model", "clock", "library"}) {
    json other = identity_;
    other[key] = "another";
    EXPECT_TRUE(stored_cost(file_, other).is_null()) << key;
  }
}

TEST_F(CostTest, ADamagedFileGivesNoCost) {
  const json cost = make_cost(measured(), identity_, "bench");
  ASSERT_TRUE(store_cost(file_, cost));
  json negative = cost, text = cost, none = cost;
  negative["cost_per_call_ns"]["call"] = -1;
  text["cost_per_call_ns"]["call"] = "much";
  none.erase("cost_per_call_ns");
  for (const std::string& content : {std::string("[{"), std::string(), cost.dump(), json{negative}.dump(),
                                     json{text}.dump(), json{none}.dump(), json{{cost}}.dump(), json{1, "a"}.dump()}) {
    std::ofstream(file_) << content;
    EXPECT_TRUE(stored_cost(file_, identity_).is_null()) << content;
  }
}

TEST_F(CostTest, MachinesThatShareTheProgramsHaveEachTheirOwn) {
  const json first = make_cost(measured(), identity_, "bench");
  ASSERT_TRUE(store_cost(file_, first));
  json other = first;
  for (int host = 0; host < 40; ++host) {
    other["host"] = std::to_string(host);
    ASSERT_TRUE(store_cost(file_, other));
  }
  EXPECT_EQ(stored_cost(file_, other), other);
  EXPECT_TRUE(stored_cost(file_, identity_).is_null());  // the list has an end
  ASSERT_TRUE(store_cost(file_, first));
  EXPECT_EQ(stored_cost(file_, identity_), first);
  EXPECT_EQ(stored_cost(file_, other), other);
}

TEST_F(CostTest, NothingIsMadeInAFolderOfAnotherUsersOrNone) {
  for (const char* folder : {"/nowhere", ::geteuid() == 0 ? "/proc/self" : "/"}) {
    const std::string file = cost_file(std::string(folder) + "/libmlrun_preload.so");
    EXPECT_FALSE(store_cost(file, make_cost(measured(), identity_, "bench")));
    EXPECT_FALSE(std::filesystem::exists(file));
  }
}

TEST_F(CostTest, AfterOneThatWasTooNoisyItIsNotMeasuredAgainAtOnce) {
  json noisy = make_cost(measured(), identity_, "quick");
  noisy["cost_per_call_ns"].erase("call");
  bool asked = false;
  const auto tell = [&](int, uint64_t) { return asked = true; };
  const Installed installed{"/nowhere", folder_ / "libmlrun_preload.so"};
  std::filesystem::copy_file("/proc/self/exe", installed.library);
  ASSERT_TRUE(store_cost(file_, noisy));
  EXPECT_TRUE(find_cost(installed, tell).is_null());
  EXPECT_FALSE(asked);
  noisy["measured_realtime_ns"] = uint64_t{1};
  ASSERT_TRUE(store_cost(file_, noisy));
  EXPECT_TRUE(find_cost(installed, tell).is_null());
  EXPECT_TRUE(asked);
}

TEST_F(CostTest, AMeasurementThatCannotStartGivesNone) {
  EXPECT_TRUE(find_cost({"/nowhere", "/nowhere"}, [](int, uint64_t) { return true; }).is_null());
}

}  // namespace
}  // namespace mlrun::bench
