// SPDX-License-Identifier: Apache-2.0
// Divides the driver's time: every nanosecond of the run gets an activity and a state.
#pragma once

#include <cstdint>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

#include "runner/blame/chain.h"
#include "runner/blame/pieces.h"
#include "runner/blame/timeline/timeline.h"
#include "runner/summary/answer.h"

namespace mlrun::blame {

struct Divided : Piece {
  summary::Activity activity = summary::Activity::kCompute;
};

// When and on which channels the driver received batches.
struct Batches {
  Ns first_ns = 0, last_ns = 0;   // arrival of the first and the last batch; 0: none
  std::vector<int64_t> channels;  // file ids of the pipes or sockets on which batches arrived
};

struct Division {
  int32_t driver = 0;           // if several threads drove in turn: the one that drove longest
  bool driver_seen = false;     // its Python stacks were sampled
  std::vector<Divided> pieces;  // by time, without gaps, from the start to the end of the run
  Batches batches;
  std::vector<std::pair<Ns, Ns>> savings;  // when the driver wrote checkpoints or logs; by start, none overlap
};

class Divider {
 public:
  Divider(const Timeline& timeline, Lines& lines);
  Division divide(int32_t wanted_tid);
  Chain& chain() { return chain_; }
  WaitEnds& ends() { return ends_; }

 private:
  using Stretches = std::vector<std::pair<Ns, Ns>>;
  void drive(int32_t driver, Ns a_ns, Ns b_ns, int depth);
  void own(int32_t driver, Ns a_ns, Ns b_ns, const std::vector<Ns>& cuts);
  [[nodiscard]] std::vector<Ns> cuts(int32_t driver) const;
  bool hand_over(int32_t driver, const Wait& wait, Ns a_ns, Ns b_ns, int depth, Ns& longest_ns);
  void share_unseen();
  void refine_without_samples(int32_t driver);
  void refine_with_savings(int32_t driver);
  void split_computing(int32_t driver);
  void mark_starts(int32_t driver);
  [[nodiscard]] std::unordered_set<int32_t> feeding_processes(int32_t driver) const;
  [[nodiscard]] std::vector<Ns> starts_of_workers(int32_t driver) const;
  // Changes the label of the driver's own pieces inside the stretches from `from` to `to`.
  void relabel(const Stretches& stretches, Label from, Label to);
  [[nodiscard]] Stretches receiving(int32_t driver) const;
  [[nodiscard]] Stretches savings(int32_t driver, bool logs) const;
  [[nodiscard]] Stretches savings(int32_t driver) const;  // checkpoints and logs together
  [[nodiscard]] Stretches importing(int32_t driver) const;
  [[nodiscard]] Batches find_batches(int32_t driver);
  [[nodiscard]] Ns first_from_workers(int32_t driver) const;
  void note_channels(int32_t driver, Batches& batches) const;
  [[nodiscard]] bool writes_checkpoint(int32_t thread_id, Ns a_ns, Ns b_ns);
  [[nodiscard]] bool waits_for_checkpoint(const Piece& piece);
  [[nodiscard]] bool asks_server(const Piece& piece, const Batches& batches) const;
  [[nodiscard]] summary::Activity activity_of(const Piece& piece, const Batches& batches);

  const Timeline& timeline_;
  Lines& lines_;
  WaitEnds ends_;
  StackKinds kinds_;
  Chain chain_;
  std::vector<Piece> pieces_;
  std::unordered_map<int32_t, Stretches> checkpoints_;  // by thread: when it wrote checkpoints
  int32_t driver_ = 0;
};

}  // namespace mlrun::blame
