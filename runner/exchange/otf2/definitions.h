// SPDX-License-Identifier: Apache-2.0
// The definitions that events refer to by number. Each is made once, however often it is asked for, and numbers count from 0.
// They are written at the end, when all are known.
#pragma once

#include <otf2/otf2.h>

#include <compare>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <tuple>
#include <unordered_map>
#include <vector>

namespace mlrun::exchange {

class Otf2Archive;

// What a region is, besides its name.
struct Otf2RegionKind {
  const char* table = "";  // the description: readers tell by it which table a region's rows are from
  OTF2_RegionRole role = OTF2_REGION_ROLE_FUNCTION;
  OTF2_Paradigm paradigm = OTF2_PARADIGM_UNKNOWN;
};

struct Otf2Property {
  OTF2_StringRef name = 0;
  OTF2_Type type = OTF2_TYPE_NONE;
  OTF2_AttributeValue value = {};
};

struct Otf2Handle {
  OTF2_StringRef name = 0;
  OTF2_IoFileRef file = OTF2_UNDEFINED_IO_FILE;
  bool is_stdio = false;
  bool existed = false;  // it was open when the trace began, or in the process's parent
  uint32_t group = 0;
};

struct Otf2Group {
  OTF2_StringRef name = 0;
  uint32_t node = 0;  // of add_node()
  OTF2_LocationGroupType type = OTF2_LOCATION_GROUP_TYPE_PROCESS;
  uint32_t creator = OTF2_UNDEFINED_LOCATION_GROUP;
  std::vector<Otf2Property> properties = {};
};

struct Otf2Location {
  OTF2_StringRef name = 0;
  OTF2_LocationType type = OTF2_LOCATION_TYPE_CPU_THREAD;
  uint32_t group = 0;
  uint64_t events = 0;
  std::vector<Otf2Property> properties = {};
};

class Otf2Definitions {
 public:
  OTF2_StringRef text(std::string_view value);
  OTF2_AttributeRef attribute(const std::string& name, OTF2_Type type);
  OTF2_RegionRef region(std::string_view name, const Otf2RegionKind& kind);
  // A class whose members are columns of a table.
  OTF2_MetricRef metric_class(const std::string& table, const std::vector<std::pair<std::string, OTF2_Type>>& columns);
  // A function called by another calling context (OTF2_UNDEFINED_CALLING_CONTEXT: none).
  OTF2_CallingContextRef calling_context(OTF2_CallingContextRef parent, OTF2_RegionRef region, std::string_view source,
                                         uint32_t line);
  Otf2Property property(std::string_view name, int64_t value);
  Otf2Property property(std::string_view name, std::string_view value);
  // Files are numbered by the trace: their number is file_id - 1.
  void add_file(OTF2_IoFileRef file, std::string_view path, bool is_folder, std::vector<Otf2Property> properties);
  void add_handle(Otf2Handle handle) { handles_.push_back(handle); }
  // A machine. Without any, there is one with the name of the host.
  uint32_t add_node(std::string_view name) {
    nodes_.push_back(text(name));
    return uint32_t(nodes_.size() - 1);
  }
  uint32_t add_group(Otf2Group group);
  // Arrows of a category are messages of a communicator, in which the rank of a location is its number.
  OTF2_CommRef arrows(std::string_view category);
  uint64_t add_location(Otf2Location location);

  [[nodiscard]] size_t handles() const { return handles_.size(); }
  [[nodiscard]] std::vector<Otf2Location>& locations() { return locations_; }

  struct Machine {
    std::string host;
    uint64_t first_ns = 0, last_ns = 0, realtime_ns = OTF2_UNDEFINED_TIMESTAMP;  // first_ns as UTC
  };
  void write(const Machine& machine, Otf2Archive& archive);

 private:
  class Writer;
  struct Region {
    OTF2_StringRef name;
    std::string table;
    OTF2_RegionRole role;
    OTF2_Paradigm paradigm;
    auto operator<=>(const Region&) const = default;
  };
  struct Member {
    OTF2_StringRef name, unit;
    OTF2_Type type;
  };
  struct File {
    OTF2_IoFileRef number;
    OTF2_StringRef path;
    bool is_folder;
    std::vector<Otf2Property> properties;
  };
  struct Hash {
    using is_transparent = void;  // NOLINT(readability-identifier-naming): the standard names it
    size_t operator()(std::string_view text) const { return std::hash<std::string_view>()(text); }
  };
  using Context = std::tuple<OTF2_CallingContextRef, OTF2_RegionRef, uint32_t>;  // parent, function, source line
  template <typename Key>
  static uint32_t number_in(std::map<Key, uint32_t>& known, Key key) {
    return known.try_emplace(std::move(key), uint32_t(known.size())).first->second;
  }

  std::unordered_map<std::string, OTF2_StringRef, Hash, std::equal_to<>> texts_;
  std::vector<const std::string*> texts_in_order_;
  std::map<std::pair<std::string, OTF2_Type>, uint32_t> attributes_;
  std::map<Region, uint32_t> regions_;
  std::map<std::string, uint32_t> members_;
  std::vector<Member> member_list_;
  std::map<std::vector<uint32_t>, uint32_t> classes_;
  std::map<Context, uint32_t> contexts_;
  std::map<std::pair<OTF2_StringRef, uint32_t>, uint32_t> source_lines_;
  std::vector<File> files_;
  std::vector<Otf2Handle> handles_;
  std::vector<OTF2_StringRef> nodes_;
  std::map<OTF2_StringRef, uint32_t> arrow_categories_;
  std::vector<Otf2Group> groups_;
  std::vector<Otf2Location> locations_;
};

}  // namespace mlrun::exchange
