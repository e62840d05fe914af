// SPDX-License-Identifier: Apache-2.0
#include "runner/blame/stack_kinds.h"

#include <vector>

#include <gtest/gtest.h>

namespace mlrun::blame {
namespace {

struct Case {
  std::vector<Frame> frames;  // innermost first
  StackKind kind;
  const char* line;
};

void check(const std::vector<Case>& cases) {
  Timeline timeline;
  int32_t number = 0;
  for (const Case& one : cases) timeline.stacks[++number] = one.frames;
  StackKinds kinds(timeline);
  number = 0;
  for (const Case& one : cases) {
    EXPECT_EQ(kinds.kind(++number), one.kind) << one.line;
    EXPECT_EQ(kinds.line(number), one.line);
  }
}

TEST(StackKinds, AreKnownByFilesAndFunctions) {
  const std::vector<Case> cases = {
      {{{"step", "/home/me/train.py", 12}}, StackKind::kOwn, "train.py:12 step"},
      {{{"conv", "/v/site-packages/torch/nn/conv.py", 3}, {"step", "/home/me/train.py", 12}},
       StackKind::kOwn,
       "train.py:12 step"},
      {{{"exec_module", "<frozen importlib._bootstrap>", 5}, {"<module>", "/home/me/train.py", 1}},
       StackKind::kImport,
       "train.py:1 <module>"},
      {{{"_save", "/v/site-packages/torch/serialization.py", 9}, {"main", "/home/me/train.py", 40}},
       StackKind::kCheckpoint,
       "train.py:40 main"},
      {{{"loads", "/usr/lib/python3.11/multiprocessing/reduction.py", 9},
        {"get", "/v/torch/utils/data/dataloader.py", 8}},
       StackKind::kPickle,
       "dataloader.py:8 get"},
      {{{"_next_data", "/v/site-packages/torch/utils/data/dataloader.py", 8}, {"main", "/home/me/train.py", 4}},
       StackKind::kLoader,
       "train.py:4 main"},
      {{{"Images.__getitem__", "/home/me/data.py", 7}, {"main", "/home/me/train.py", 4}},
       StackKind::kLoader,
       "data.py:7 Images.__getitem__"},
      {{{"decode", "/home/me/data.py", 7}, {"main", "/home/me/train.py", 4}}, StackKind::kLoader, "data.py:7 decode"},
      {{{"collate", "/v/site-packages/torch/utils/data/_utils/collate.py", 5},
        {"__init__", "/usr/lib/python3.11/multiprocessing/popen_fork.py", 19},
        {"main", "/home/me/train.py", 4}},
       StackKind::kLoader,
       "collate.py:5 collate"},
      {{{"load_state_dict", "/home/me/model.py", 7}}, StackKind::kOwn, "model.py:7 load_state_dict"},
      {{{"emit", "/usr/lib/python3.11/logging/__init__.py", 7}, {"main", "/home/me/train.py", 9}},
       StackKind::kLogging,
       "train.py:9 main"},
  };
  check(cases);
}

TEST(StackKinds, OfFilesOfTensorsAreCheckpointsUnlessASampleIsLoaded) {
  const std::string torch = "/v/site-packages/torch/serialization.py";
  check({
      {{{"load", torch, 9}, {"Volumes.__getitem__", "/home/me/data.py", 7}, {"main", "/home/me/train.py", 4}},
       StackKind::kLoader,
       "data.py:7 Volumes.__getitem__"},
      {{{"load", torch, 9}, {"resume", "/home/me/train.py", 4}}, StackKind::kCheckpoint, "train.py:4 resume"},
      {{{"save", torch, 9}, {"Cache.__getitem__", "/home/me/data.py", 7}},
       StackKind::kCheckpoint,
       "data.py:7 Cache.__getitem__"},
  });
}

TEST(StackKinds, OfAllMethodsOfADataSetLoad) {
  const Frame fetch{"_MapDatasetFetcher.fetch", "/v/site-packages/torch/utils/data/_utils/fetch.py", 50};
  check({
      {{{"Captions.__getitem__", "/home/me/data.py", 7}, fetch}, StackKind::kLoader, "data.py:7 Captions.__getitem__"},
      {{{"Captions.index", "/home/me/data.py", 3}, {"main", "/home/me/train.py", 4}},
       StackKind::kLoader,
       "data.py:3 Captions.index"},
      {{{"Metric.update", "/home/me/data.py", 30}, {"main", "/home/me/train.py", 4}},
       StackKind::kOwn,
       "data.py:30 Metric.update"},
  });
}

TEST(StackKinds, MakeADataSetOrStartAProcess) {
  const Frame main{"main", "/home/me/train.py", 4};
  const Frame fork{"Popen._launch", "/usr/lib/python3.11/multiprocessing/popen_fork.py", 66};
  Timeline timeline;
  timeline.stacks[1] = {{"Captions.__init__", "/home/me/data.py", 5}, main};
  timeline.stacks[2] = {fork, main};
  timeline.stacks[3] = {{"Captions.__getitem__", "/home/me/data.py", 9},
                        {"BaseProcess._bootstrap", "/usr/lib/python3.11/multiprocessing/process.py", 314},
                        fork,
                        main};
  timeline.stacks[4] = {{"Linear.__init__", "/v/site-packages/torch/nn/modules/linear.py", 9},
                        {"Net.__init__", "/home/me/net.py", 7},
                        main};
  timeline.stacks[5] = {main};
  StackKinds kinds(timeline);
  EXPECT_TRUE(kinds.makes(1));
  EXPECT_TRUE(kinds.makes(2));
  EXPECT_FALSE(kinds.makes(3)) << "in the process that was started";
  EXPECT_FALSE(kinds.makes(4)) << "a model";
  EXPECT_FALSE(kinds.makes(5));
}

TEST(StackKinds, OfPackagesThatReadAndWriteAreKnownByFunctions) {
  const std::vector<Case> cases = {
      {{{"raw_decode", "/usr/lib/python3.11/json/decoder.py", 7}, {"rows", "/home/me/train.py", 9}},
       StackKind::kLoader,
       "train.py:9 rows"},
      {{{"iterencode", "/usr/lib/python3.11/json/encoder.py", 7},
        {"dumps", "/usr/lib/python3.11/json/__init__.py", 7},
        {"report", "/home/me/train.py", 9}},
       StackKind::kLogging,
       "train.py:9 report"},
      {{{"read", "/usr/lib/python3.11/gzip.py", 7}, {"rows", "/home/me/train.py", 9}},
       StackKind::kLoader,
       "train.py:9 rows"},
      {{{"_savez", "/v/site-packages/numpy/lib/_npyio_impl.py", 7}, {"main", "/home/me/train.py", 9}},
       StackKind::kOwn,
       "train.py:9 main"},
      // A model that decodes, and a script in a folder of data sets.
      {{{"forward", "/v/site-packages/torch/nn/modules/linear.py", 7}, {"Net.decode", "/home/me/net.py", 9}},
       StackKind::kOwn,
       "net.py:9 Net.decode"},
      {{{"step", "/data/datasets/train.py", 3}, {"<module>", "/data/datasets/train.py", 9}},
       StackKind::kOwn,
       "train.py:3 step"},
      {{{"read_csv_rows", "/v/site-packages/datasets/io.py", 3}, {"<module>", "/data/train.py", 9}},
       StackKind::kLoader,
       "train.py:9 <module>"},
  };
  check(cases);
}

TEST(StackKinds, OnNamesOfFilesAreThoseOfALineThatAsksForThem) {
  const Frame find{"find", "/home/me/data.py", 12};
  Timeline timeline;
  timeline.stacks[1] = {{"Path.stat", "/usr/lib/python3.11/pathlib.py", 1013},
                        {"Path.exists", "/usr/lib/python3.11/pathlib.py", 1235},
                        find};
  timeline.stacks[2] = {{"exists", "<frozen genericpath>", 19}, find};
  timeline.stacks[3] = {find, {"Path.exists", "/usr/lib/python3.11/pathlib.py", 1235}};
  StackKinds kinds(timeline);
  EXPECT_TRUE(kinds.is_on_names(1));
  EXPECT_TRUE(kinds.is_on_names(2));
  EXPECT_FALSE(kinds.is_on_names(3));
}

TEST(StackKinds, OfAnUnknownStackIsOwnCodeWithoutALine) {
  const Timeline timeline;
  StackKinds kinds(timeline);
  EXPECT_EQ(kinds.kind(7), StackKind::kOwn);
  EXPECT_EQ(kinds.line(7), "");
}

}  // namespace
}  // namespace mlrun::blame
