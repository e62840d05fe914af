// SPDX-License-Identifier: Apache-2.0
#include "runner/exchange/otf2/archive_reader.h"
#include "runner/util/text.h"

namespace mlrun::exchange {

void Otf2ArchiveReader::register_metrics(OTF2_GlobalDefReaderCallbacks* callbacks) {
  OTF2_GlobalDefReaderCallbacks_SetMetricMemberCallback(
      callbacks, [](void* data, OTF2_MetricMemberRef self, OTF2_StringRef name, OTF2_StringRef, OTF2_MetricType,
                    OTF2_MetricMode, OTF2_Type, OTF2_Base, int64_t, OTF2_StringRef unit) {
        of(data).members_[self] = {name, unit};
        return OTF2_CALLBACK_SUCCESS;
      });
  OTF2_GlobalDefReaderCallbacks_SetMetricClassCallback(
      callbacks, [](void* data, OTF2_MetricRef self, uint8_t count, const OTF2_MetricMemberRef* members,
                    OTF2_MetricOccurrence, OTF2_RecorderKind) {
        of(data).classes_[self].assign(members, members + count);
        return OTF2_CALLBACK_SUCCESS;
      });
  // A metric instance: one recorder's copy of a metric class.
  OTF2_GlobalDefReaderCallbacks_SetMetricInstanceCallback(
      callbacks,
      [](void* data, OTF2_MetricRef self, OTF2_MetricRef metric_class, OTF2_LocationRef, OTF2_MetricScope, uint64_t) {
        of(data).classes_[self] = std::vector(of(data).classes_[metric_class]);
        return OTF2_CALLBACK_SUCCESS;
      });
}

void Otf2ArchiveReader::register_communicators(OTF2_GlobalDefReaderCallbacks* callbacks) {
  OTF2_GlobalDefReaderCallbacks_SetGroupCallback(
      callbacks, [](void* data, OTF2_GroupRef self, OTF2_StringRef, OTF2_GroupType type, OTF2_Paradigm paradigm,
                    OTF2_GroupFlag, uint32_t count, const uint64_t* members) {
        of(data).communicators_.add_group(self, type, paradigm, {members, members + count});
        return OTF2_CALLBACK_SUCCESS;
      });
  OTF2_GlobalDefReaderCallbacks_SetCommCallback(
      callbacks, [](void* data, OTF2_CommRef self, OTF2_StringRef, OTF2_GroupRef group, OTF2_CommRef, OTF2_CommFlag) {
        of(data).communicators_.add(self, group, OTF2_UNDEFINED_GROUP);
        return OTF2_CALLBACK_SUCCESS;
      });
  OTF2_GlobalDefReaderCallbacks_SetInterCommCallback(
      callbacks, [](void* data, OTF2_CommRef self, OTF2_StringRef, OTF2_GroupRef first, OTF2_GroupRef second,
                    OTF2_CommRef, OTF2_CommFlag) {
        of(data).communicators_.add(self, first, second);
        return OTF2_CALLBACK_SUCCESS;
      });
}

void Otf2ArchiveReader::register_stacks(OTF2_GlobalDefReaderCallbacks* callbacks) {
  OTF2_GlobalDefReaderCallbacks_SetSourceCodeLocationCallback(
      callbacks, [](void* data, OTF2_SourceCodeLocationRef self, OTF2_StringRef file, uint32_t line) {
        of(data).stacks_.define_source(self, file, line);
        return OTF2_CALLBACK_SUCCESS;
      });
  OTF2_GlobalDefReaderCallbacks_SetCallingContextCallback(
      callbacks, [](void* data, OTF2_CallingContextRef self, OTF2_RegionRef region, OTF2_SourceCodeLocationRef source,
                    OTF2_CallingContextRef parent) {
        of(data).stacks_.define(self, region, source, parent);
        return OTF2_CALLBACK_SUCCESS;
      });
}

Status Otf2ArchiveReader::read_definitions(OTF2_Reader* reader) {
  OTF2_GlobalDefReader* definitions = OTF2_Reader_GetGlobalDefReader(reader);
  OTF2_GlobalDefReaderCallbacks* callbacks = OTF2_GlobalDefReaderCallbacks_New();
  OTF2_GlobalDefReaderCallbacks_SetClockPropertiesCallback(
      callbacks, [](void* data, uint64_t resolution, uint64_t offset, uint64_t, uint64_t realtime) {
        Otf2ArchiveReader& self = of(data);
        self.resolution_ = resolution;
        if (realtime != UINT64_MAX) {
          self.to_.file().realtime_offset_ns = static_cast<int64_t>(realtime) - self.time(offset);
          self.to_.file().has_offset = true;
        }
        return OTF2_CALLBACK_SUCCESS;
      });
  OTF2_GlobalDefReaderCallbacks_SetStringCallback(callbacks, [](void* data, OTF2_StringRef self, const char* string) {
    of(data).strings_[self] = util::escaped_utf8(string == nullptr ? "" : string);
    return OTF2_CALLBACK_SUCCESS;
  });
  OTF2_GlobalDefReaderCallbacks_SetLocationGroupCallback(
      callbacks, [](void* data, OTF2_LocationGroupRef self, OTF2_StringRef name, OTF2_LocationGroupType,
                    OTF2_SystemTreeNodeRef, OTF2_LocationGroupRef) {
        of(data).groups_[self] = name;
        return OTF2_CALLBACK_SUCCESS;
      });
  OTF2_GlobalDefReaderCallbacks_SetLocationCallback(
      callbacks, [](void* data, OTF2_LocationRef self, OTF2_StringRef name, OTF2_LocationType type, uint64_t events,
                    OTF2_LocationGroupRef group) {
        ReadLocation& location = of(data).locations_[self];
        location.name = of(data).text(name);
        location.group = group;
        location.type = type;
        location.events = events;
        of(data).events_ += events;
        return OTF2_CALLBACK_SUCCESS;
      });
  OTF2_GlobalDefReaderCallbacks_SetRegionCallback(
      callbacks, [](void* data, OTF2_RegionRef self, OTF2_StringRef name, OTF2_StringRef, OTF2_StringRef description,
                    OTF2_RegionRole, OTF2_Paradigm paradigm, OTF2_RegionFlag, OTF2_StringRef, uint32_t, uint32_t) {
        of(data).regions_[self] = {name, description, paradigm};
        return OTF2_CALLBACK_SUCCESS;
      });
  OTF2_GlobalDefReaderCallbacks_SetAttributeCallback(
      callbacks, [](void* data, OTF2_AttributeRef self, OTF2_StringRef name, OTF2_StringRef, OTF2_Type) {
        of(data).attributes_.define(self, name);
        return OTF2_CALLBACK_SUCCESS;
      });
  register_metrics(callbacks);
  register_communicators(callbacks);
  register_stacks(callbacks);
  OTF2_Reader_RegisterGlobalDefCallbacks(reader, definitions, callbacks, this);
  OTF2_GlobalDefReaderCallbacks_Delete(callbacks);
  uint64_t count = 0;
  if (OTF2_Reader_ReadAllGlobalDefinitions(reader, definitions, &count) != OTF2_SUCCESS)
    return fail("its definitions are damaged");
  return {};
}

void Otf2ArchiveReader::name_locations() {
  for (auto& [ref, location] : locations_) {
    location.proc_id = to_.ids().process(static_cast<int64_t>(location.group));
    to_.ids().name_process(location.proc_id, text(groups_[location.group]));
    location.thread_id = to_.ids().thread(location.proc_id, static_cast<int64_t>(ref));
    to_.ids().name_thread(location.thread_id, location.name);
  }
}

}  // namespace mlrun::exchange
