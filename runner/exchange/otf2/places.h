// SPDX-License-Identifier: Apache-2.0
// The locations and groups of an archive, from the tables of processes, threads and devices: what a location is called, and what
// it belongs to.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <tuple>
#include <unordered_map>
#include <utility>

#include "runner/exchange/export.h"
#include "runner/exchange/otf2/definitions.h"
#include "runner/exchange/otf2/tracks.h"
#include "runner/util/result.h"

namespace mlrun::exchange {

class Otf2Places {
 public:
  explicit Otf2Places(Otf2Definitions& definitions) : definitions_(definitions) {}

  // Reads the tables, and defines the nodes of a merged trace and a group for each process.
  Status load(Export& job);
  // Tracks that follow are of this node.
  void begin_node(int64_t node_id) { node_id_ = node_id; }
  // The location of a track.
  Otf2Location describe(const Otf2TrackKey& key);
  // Group of a process; 0: unknown.
  uint32_t process_group(int64_t proc_id);

 private:
  struct Thread {
    int64_t proc_id = 0, tid = 0;
    std::string name = {};
    std::vector<Otf2Property> properties = {};
  };
  struct Process {
    uint32_t group;
    int64_t pid;
  };
  void load_nodes(Export& job);
  Status load_processes(Export& job);
  Status load_threads(Export& job);
  uint32_t group(const std::string& name, OTF2_LocationGroupType type = OTF2_LOCATION_GROUP_TYPE_PROCESS,
                 uint32_t creator = OTF2_UNDEFINED_LOCATION_GROUP);
  Otf2Location thread(const Otf2TrackKey& key);
  Otf2Location metric(const Otf2TrackKey& key);
  Otf2Location made(const std::string& name, OTF2_LocationType type, uint32_t group);

  Otf2Definitions& definitions_;
  std::unordered_map<int64_t, Process> processes_;
  std::unordered_map<int64_t, Thread> threads_;
  std::unordered_map<int64_t, std::string> gpus_;
  std::map<std::pair<int64_t, int64_t>, std::string> devices_;              // by node and number
  std::unordered_map<int64_t, uint32_t> nodes_;                             // by node_id
  std::map<std::tuple<uint32_t, std::string, uint32_t>, uint32_t> groups_;  // by node, name and creator
  int64_t node_id_ = 0;
};

}  // namespace mlrun::exchange
