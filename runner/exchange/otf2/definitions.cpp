// SPDX-License-Identifier: Apache-2.0
#include "runner/exchange/otf2/definitions.h"

#include <array>

#include "runner/exchange/otf2/archive.h"

namespace mlrun::exchange {

namespace {

constexpr OTF2_IoParadigmRef kPosix = 0, kIsoC = 1;
constexpr OTF2_GroupRef kAllLocations = 0;

struct NamedParadigm {
  OTF2_Paradigm paradigm;
  const char* name;
  OTF2_ParadigmClass paradigm_class;
};
constexpr std::array<NamedParadigm, 4> kParadigms = {{
    {OTF2_PARADIGM_PTHREAD, "POSIX threads", OTF2_PARADIGM_CLASS_THREAD_CREATE_WAIT},
    {OTF2_PARADIGM_CUDA, "CUDA", OTF2_PARADIGM_CLASS_ACCELERATOR},
    {OTF2_PARADIGM_USER, "marks of the program", OTF2_PARADIGM_CLASS_PROCESS},
    {OTF2_PARADIGM_SAMPLING, "samples of stacks", OTF2_PARADIGM_CLASS_PROCESS},
}};

// The unit of a column, which its name ends with.
std::string unit_of_column(const std::string& column) {
  for (const char* unit : {"ns", "bytes", "percent", "ppm", "mw", "mj", "mhz"}) {
    if (column.ends_with(std::string("_") + unit)) return unit;
  }
  return column == "dur" ? "ns" : column.ends_with("_c") ? "Celsius" : "#";
}

// Writes NUL as the tables write bytes that are not UTF-8 (util/text.h).
std::string without_nul(std::string_view text) {
  std::string made;
  for (const char c : text) {
    if (c == '\0') {
      made += "\\x00";
    } else {
      made += c;
    }
  }
  return made;
}

// The keys of a map, sorted by their numbers: readers require definitions in this order, each after those that it refers to.
template <typename Key>
std::vector<const Key*> by_number(const std::map<Key, uint32_t>& numbers) {
  std::vector<const Key*> keys(numbers.size());
  for (const auto& [key, number] : numbers) keys[number] = &key;
  return keys;
}

}  // namespace

OTF2_StringRef Otf2Definitions::text(std::string_view value) {
  // OTF2's strings end at the first NUL.
  if (value.find('\0') != std::string_view::npos) return text(without_nul(value));
  const auto known = texts_.find(value);
  if (known != texts_.end()) return known->second;
  const auto made = texts_.emplace(value, OTF2_StringRef(texts_.size())).first;
  texts_in_order_.push_back(&made->first);
  return made->second;
}

OTF2_AttributeRef Otf2Definitions::attribute(const std::string& name, OTF2_Type type) {
  text(name);
  return number_in(attributes_, std::pair(name, type));
}

OTF2_RegionRef Otf2Definitions::region(std::string_view name, const Otf2RegionKind& kind) {
  return number_in(regions_, Region{text(name), kind.table, kind.role, kind.paradigm});
}

OTF2_MetricRef Otf2Definitions::metric_class(const std::string& table,
                                             const std::vector<std::pair<std::string, OTF2_Type>>& columns) {
  std::vector<uint32_t> members;
  for (const auto& [column, type] : columns) {
    const uint32_t member = number_in(members_, table + "." + column);
    if (member == member_list_.size())
      member_list_.push_back({text(table + "." + column), text(unit_of_column(column)), type});
    members.push_back(member);
  }
  return number_in(classes_, std::move(members));
}

OTF2_CallingContextRef Otf2Definitions::calling_context(OTF2_CallingContextRef parent, OTF2_RegionRef region,
                                                        std::string_view source, uint32_t line) {
  const uint32_t place =
      source.empty() ? OTF2_UNDEFINED_SOURCE_CODE_LOCATION : number_in(source_lines_, std::pair(text(source), line));
  return number_in(contexts_, Context(parent, region, place));
}

Otf2Property Otf2Definitions::property(std::string_view name, int64_t value) {
  Otf2Property made{.name = text(name), .type = OTF2_TYPE_INT64};
  made.value.int64 = value;
  return made;
}

Otf2Property Otf2Definitions::property(std::string_view name, std::string_view value) {
  Otf2Property made{.name = text(name), .type = OTF2_TYPE_STRING};
  made.value.stringRef = text(value);
  return made;
}

void Otf2Definitions::add_file(OTF2_IoFileRef file, std::string_view path, bool is_folder,
                               std::vector<Otf2Property> properties) {
  files_.push_back({file, text(path), is_folder, std::move(properties)});
}

OTF2_CommRef Otf2Definitions::arrows(std::string_view category) { return number_in(arrow_categories_, text(category)); }

uint32_t Otf2Definitions::add_group(Otf2Group group) {
  groups_.push_back(std::move(group));
  return uint32_t(groups_.size() - 1);
}

uint64_t Otf2Definitions::add_location(Otf2Location location) {
  locations_.push_back(std::move(location));
  return locations_.size() - 1;
}

// Writes all definitions, each after those that it refers to.
class Otf2Definitions::Writer {
 public:
  Writer(Otf2Definitions& all, Otf2Archive& archive)
      : all_(all), archive_(archive), to_(archive.open_definitions()), none_(all.text("")) {}

  void write(const Machine& machine) {
    if (to_ == nullptr) return;
    // The texts that the definitions below need are made first: all texts are written before the definitions that refer to them.
    const OTF2_StringRef node = all_.text("node"), arrows = all_.text("arrows");
    if (all_.nodes_.empty()) all_.add_node(machine.host);
    const OTF2_StringRef posix = all_.text("POSIX"), posix_name = all_.text("POSIX I/O");
    const OTF2_StringRef iso_c = all_.text("ISOC"), iso_c_name = all_.text("ISO C I/O"), sampled = all_.text("samples");
    std::array<OTF2_StringRef, kParadigms.size()> paradigms{};
    for (size_t i = 0; i < kParadigms.size(); ++i) paradigms[i] = all_.text(kParadigms[i].name);
    for (const auto& [region, number] : all_.regions_) all_.text(region.table);
    check(OTF2_GlobalDefWriter_WriteClockProperties(to_, 1'000'000'000, machine.first_ns,
                                                    machine.last_ns - machine.first_ns, machine.realtime_ns));
    for (uint32_t number = 0; number < all_.texts_in_order_.size(); ++number) {
      check(OTF2_GlobalDefWriter_WriteString(to_, number, all_.texts_in_order_[number]->c_str()));
    }
    for (size_t i = 0; i < kParadigms.size(); ++i) {
      check(
          OTF2_GlobalDefWriter_WriteParadigm(to_, kParadigms[i].paradigm, paradigms[i], kParadigms[i].paradigm_class));
    }
    check(OTF2_GlobalDefWriter_WriteIoParadigm(to_, kPosix, posix, posix_name, OTF2_IO_PARADIGM_CLASS_SERIAL,
                                               OTF2_IO_PARADIGM_FLAG_OS, 0, nullptr, nullptr, nullptr));
    check(OTF2_GlobalDefWriter_WriteIoParadigm(to_, kIsoC, iso_c, iso_c_name, OTF2_IO_PARADIGM_CLASS_SERIAL,
                                               OTF2_IO_PARADIGM_FLAG_NONE, 0, nullptr, nullptr, nullptr));
    for (uint32_t number = 0; number < all_.nodes_.size(); ++number) {
      check(OTF2_GlobalDefWriter_WriteSystemTreeNode(to_, number, all_.nodes_[number], node,
                                                     OTF2_UNDEFINED_SYSTEM_TREE_NODE));
      check(OTF2_GlobalDefWriter_WriteSystemTreeNodeDomain(to_, number, OTF2_SYSTEM_TREE_DOMAIN_SHARED_MEMORY));
    }
    locations();
    communicators(arrows);
    regions();
    metrics();
    contexts(sampled);
    files();
  }

 private:
  void check(OTF2_ErrorCode code) { archive_.check(code); }
  // The communicator of a group. It is numbered after the communicators of arrows, whose numbers the events already contain.
  [[nodiscard]] OTF2_CommRef of_group(uint32_t group) const {
    return OTF2_CommRef(all_.arrow_categories_.size()) + group;
  }

  void locations() {
    for (uint32_t number = 0; number < all_.groups_.size(); ++number) {
      const Otf2Group& group = all_.groups_[number];
      check(OTF2_GlobalDefWriter_WriteLocationGroup(to_, number, group.name, group.type, group.node, group.creator));
      for (const Otf2Property& it : group.properties) {
        check(OTF2_GlobalDefWriter_WriteLocationGroupProperty(to_, number, it.name, it.type, it.value));
      }
    }
    std::vector<uint64_t> threads;
    groups_threads_.resize(all_.groups_.size());
    for (uint64_t number = 0; number < all_.locations_.size(); ++number) {
      const Otf2Location& location = all_.locations_[number];
      check(OTF2_GlobalDefWriter_WriteLocation(to_, number, location.name, location.type, location.events,
                                               location.group));
      for (const Otf2Property& it : location.properties) {
        check(OTF2_GlobalDefWriter_WriteLocationProperty(to_, number, it.name, it.type, it.value));
      }
      if (location.type != OTF2_LOCATION_TYPE_CPU_THREAD) continue;
      groups_threads_[location.group].push_back(threads.size());  // members are places in the group of all
      threads.push_back(number);
    }
    check(OTF2_GlobalDefWriter_WriteGroup(to_, kAllLocations, none_, OTF2_GROUP_TYPE_COMM_LOCATIONS,
                                          OTF2_PARADIGM_PTHREAD, OTF2_GROUP_FLAG_NONE, uint32_t(threads.size()),
                                          threads.data()));
    // A communicator for each process, which its descriptors belong to.
    for (uint32_t number = 0; number < groups_threads_.size(); ++number) {
      const auto& members = groups_threads_[number];
      check(OTF2_GlobalDefWriter_WriteGroup(to_, kAllLocations + 1 + number, all_.groups_[number].name,
                                            OTF2_GROUP_TYPE_COMM_GROUP, OTF2_PARADIGM_PTHREAD, OTF2_GROUP_FLAG_NONE,
                                            uint32_t(members.size()), members.data()));
      check(OTF2_GlobalDefWriter_WriteComm(to_, of_group(number), all_.groups_[number].name, kAllLocations + 1 + number,
                                           OTF2_UNDEFINED_COMM, OTF2_COMM_FLAG_NONE));
    }
  }

  // A communicator for each category of arrows. It has all locations; the rank of a location is its number.
  void communicators(OTF2_StringRef arrows) {
    if (all_.arrow_categories_.empty()) return;
    check(OTF2_GlobalDefWriter_WriteParadigm(to_, OTF2_PARADIGM_MPI, arrows, OTF2_PARADIGM_CLASS_PROCESS));
    const auto first = kAllLocations + 1 + OTF2_GroupRef(all_.groups_.size());
    std::vector<uint64_t> numbers(all_.locations_.size());
    for (uint64_t number = 0; number < numbers.size(); ++number) numbers[number] = number;
    for (const OTF2_GroupType type : {OTF2_GROUP_TYPE_COMM_LOCATIONS, OTF2_GROUP_TYPE_COMM_GROUP}) {
      check(OTF2_GlobalDefWriter_WriteGroup(to_, first + (type == OTF2_GROUP_TYPE_COMM_GROUP ? 1 : 0), arrows, type,
                                            OTF2_PARADIGM_MPI, OTF2_GROUP_FLAG_NONE, uint32_t(numbers.size()),
                                            numbers.data()));
    }
    uint32_t number = 0;
    for (const OTF2_StringRef* category : by_number(all_.arrow_categories_)) {
      check(OTF2_GlobalDefWriter_WriteComm(to_, number++, *category, first + 1, OTF2_UNDEFINED_COMM,
                                           OTF2_COMM_FLAG_NONE));
    }
  }

  void regions() {
    uint32_t number = 0;
    for (const auto* key : by_number(all_.attributes_)) {
      check(OTF2_GlobalDefWriter_WriteAttribute(to_, number++, all_.text(key->first), none_, key->second));
    }
    number = 0;
    for (const Region* region : by_number(all_.regions_)) {
      check(OTF2_GlobalDefWriter_WriteRegion(to_, number++, region->name, region->name, all_.text(region->table),
                                             region->role, region->paradigm, OTF2_REGION_FLAG_NONE, none_, 0, 0));
    }
  }

  void metrics() {
    for (uint32_t number = 0; number < all_.member_list_.size(); ++number) {
      const Member& member = all_.member_list_[number];
      check(OTF2_GlobalDefWriter_WriteMetricMember(to_, number, member.name, none_, OTF2_METRIC_TYPE_OTHER,
                                                   OTF2_METRIC_ABSOLUTE_LAST, member.type, OTF2_BASE_DECIMAL, 0,
                                                   member.unit));
    }
    uint32_t class_number = 0;
    for (const auto* members : by_number(all_.classes_)) {
      check(OTF2_GlobalDefWriter_WriteMetricClass(to_, class_number++, uint8_t(members->size()), members->data(),
                                                  OTF2_METRIC_ASYNCHRONOUS, OTF2_RECORDER_KIND_ABSTRACT));
    }
  }

  void contexts(OTF2_StringRef sampled) {
    uint32_t number = 0;
    for (const auto* place : by_number(all_.source_lines_)) {
      check(OTF2_GlobalDefWriter_WriteSourceCodeLocation(to_, number++, place->first, place->second));
    }
    number = 0;
    for (const Context* context : by_number(all_.contexts_)) {
      const auto [parent, region, place] = *context;
      check(OTF2_GlobalDefWriter_WriteCallingContext(to_, number++, region, place, parent));
    }
    // Samples without a known stack refer to it, too. Their period differs from row to row: it is an attribute of each.
    check(OTF2_GlobalDefWriter_WriteInterruptGenerator(to_, 0, sampled, OTF2_INTERRUPT_GENERATOR_MODE_TIME,
                                                       OTF2_BASE_DECIMAL, -3, 50));
  }

  void files() {
    for (const File& file : all_.files_) {
      check(file.is_folder ? OTF2_GlobalDefWriter_WriteIoDirectory(to_, file.number, file.path, 0)
                           : OTF2_GlobalDefWriter_WriteIoRegularFile(to_, file.number, file.path, 0));
      for (const Otf2Property& it : file.properties) {
        check(OTF2_GlobalDefWriter_WriteIoFileProperty(to_, file.number, it.name, it.type, it.value));
      }
    }
    for (uint32_t number = 0; number < all_.handles_.size(); ++number) {
      const Otf2Handle& handle = all_.handles_[number];
      check(OTF2_GlobalDefWriter_WriteIoHandle(
          to_, number, handle.name, handle.file, handle.is_stdio ? kIsoC : kPosix,
          handle.existed ? OTF2_IO_HANDLE_FLAG_PRE_CREATED : OTF2_IO_HANDLE_FLAG_NONE, of_group(handle.group),
          OTF2_UNDEFINED_IO_HANDLE));
      if (!handle.existed) continue;
      check(OTF2_GlobalDefWriter_WriteIoPreCreatedHandleState(to_, number, OTF2_IO_ACCESS_MODE_READ_WRITE,
                                                              OTF2_IO_STATUS_FLAG_NONE));
    }
  }

  Otf2Definitions& all_;
  Otf2Archive& archive_;
  OTF2_GlobalDefWriter* to_;
  OTF2_StringRef none_;
  std::vector<std::vector<uint64_t>> groups_threads_;  // by group, places in the group of all locations
};

void Otf2Definitions::write(const Machine& machine, Otf2Archive& archive) { Writer(*this, archive).write(machine); }

}  // namespace mlrun::exchange
