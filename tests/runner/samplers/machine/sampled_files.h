// SPDX-License-Identifier: Apache-2.0
// Folders with files of /proc and /sys, and the rows that a source gives for them.
#pragma once

#include <unistd.h>

#include <cstring>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "runner/samplers/machine/source.h"

namespace mlrun::machine {

class SampledFiles : public ::testing::Test {
 public:
  SampledFiles() : top_(::testing::TempDir() + "sampled_files_" + std::to_string(::getpid())) {
    std::filesystem::create_directories(top_ / "proc");
    std::filesystem::create_directories(top_ / "sys");
    places_.proc = top_ / "proc";
    places_.sys = top_ / "sys";
  }
  ~SampledFiles() override { std::filesystem::remove_all(top_); }
  SampledFiles(const SampledFiles&) = delete;
  SampledFiles& operator=(const SampledFiles&) = delete;

 protected:
  void put(const std::string& name, const std::string& text) const {
    std::filesystem::create_directories((top_ / name).parent_path());
    std::ofstream(top_ / name) << text;
  }

  // The rows of the next sample, each a second after the one before.
  template <typename Row>
  std::vector<Row> sample(Source& source, mlrun_sample_table table) {
    Batch batch;
    source.sample(now_ns_ += 1'000'000'000, batch);
    return rows_of<Row>(batch, table);
  }
  template <typename Row>
  static std::vector<Row> rows_of(const Batch& batch, mlrun_sample_table table) {
    std::vector<Row> rows;
    for (const Batch::Table& one : batch.tables()) {
      if (one.table != table) continue;
      EXPECT_EQ(one.row_bytes, sizeof(Row));
      rows.resize(one.rows.size() / sizeof(Row));
      std::memcpy(rows.data(), one.rows.data(), one.rows.size());
    }
    return rows;
  }

  std::filesystem::path top_;
  Places places_;
  uint64_t now_ns_ = 1'000'000'000;
};

}  // namespace mlrun::machine
