// SPDX-License-Identifier: Apache-2.0
#include "runner/samplers/access/precise_events.h"

#include <algorithm>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "runner/samplers/machine/uncore_events.h"
#include "runner/util/file_io.h"
#include "runner/util/text.h"

namespace mlrun::access {

namespace {

constexpr const char* kThreshold = "30";  // cycles; faster loads are not sampled

AccessEvent precise_event(std::string name, mlrun_access_kind kind, const PreciseWish& wish) {
  AccessEvent event{sampled_event(), std::move(name), kind};
  event.attr.freq = 1;
  event.attr.sample_freq = static_cast<uint64_t>(wish.hz < 1 ? 1 : wish.hz);
  event.attr.precise_ip = 2;
  return event;
}

AccessEvent raw_event(const char* option, uint64_t number, mlrun_access_kind kind, const PreciseWish& wish) {
  AccessEvent event = precise_event(fmt::format("{} {:#x}", option, number), kind, wish);
  event.attr.type = PERF_TYPE_RAW;
  event.attr.config = number;
  return event;
}

// Builds the event from the unit's description, such as "event=0xcd,umask=0x1,ldlat=3".
std::optional<AccessEvent> named_event(const std::string& unit, const char* name, mlrun_access_kind kind,
                                       const PreciseWish& wish) {
  const std::string terms = util::read_line(unit + "/events/" + name);
  if (terms.empty()) return {};
  AccessEvent event = precise_event(name, kind, wish);
  event.attr.type = static_cast<uint32_t>(machine::number_of_term(util::read_line(unit + "/type")));
  machine::EventWords words;
  for (const std::string_view term : util::split(terms, ",")) {
    const size_t equals = term.find('=');
    const std::string key(term.substr(0, equals));
    const std::string_view given = equals == std::string_view::npos ? "1" : term.substr(equals + 1);
    if (!machine::put_bits(util::read_line(unit + "/format/" + key),
                           machine::number_of_term(key == "ldlat" ? kThreshold : given), words))
      return {};
  }
  event.attr.config = words.config;
  event.attr.config1 = words.config1;
  event.cpus = util::read_id_list(unit + "/cpus");
  return event;
}

// Since Sapphire Rapids and Alder Lake the kernel opens mem-loads only in a group that mem-loads-aux leads. The leader takes no samples.
std::optional<perf_event_attr> leader_of_loads(const std::string& unit, const PreciseWish& wish) {
  const auto event = named_event(unit, "mem-loads-aux", MLRUN_ACCESS_LOAD, wish);
  if (!event) return {};
  perf_event_attr leader = event->attr;
  leader.freq = 0;
  leader.sample_freq = 0;
  leader.sample_type = 0;
  leader.precise_ip = 0;
  return leader;
}

}  // namespace

std::vector<AccessEvent> find_precise_events(const std::string& devices, const PreciseWish& wish, std::string& why) {
  std::vector<AccessEvent> events;
  if (wish.read_event) events.push_back(raw_event("--access-read-event", *wish.read_event, MLRUN_ACCESS_LOAD, wish));
  if (wish.write_event)
    events.push_back(raw_event("--access-write-event", *wish.write_event, MLRUN_ACCESS_STORE, wish));
  if (!events.empty()) return events;
  for (const char* unit : {"/cpu", "/cpu_core"}) {  // cpu_core: the larger processors of a hybrid
    for (const auto& [name, kind] :
         {std::pair{"mem-loads", MLRUN_ACCESS_LOAD}, std::pair{"mem-stores", MLRUN_ACCESS_STORE}}) {
      auto event = named_event(devices + unit, name, kind, wish);
      if (!event) continue;
      if (kind == MLRUN_ACCESS_LOAD) event->leader = leader_of_loads(devices + unit, wish);
      events.push_back(*std::move(event));
    }
    if (!events.empty()) return events;
  }
  const std::string ibs = util::read_line(devices + "/ibs_op/type");
  if (ibs.empty()) {
    why = "this processor has neither mem-loads nor IBS, or a virtual machine hides them";
    return {};
  }
  AccessEvent event = precise_event("ibs_op", MLRUN_ACCESS_LOAD, wish);
  event.attr.type = static_cast<uint32_t>(machine::number_of_term(ibs));
  event.attr.precise_ip = 0;
  // cnt_ctl: counts operations, not cycles (most processors since 2011). Only then does a sample represent as many of them as its period says.
  machine::EventWords words;
  event.counts_accesses = machine::put_bits(util::read_line(devices + "/ibs_op/format/cnt_ctl"), 1, words);
  event.attr.config = words.config;
  // IBS cannot exclude the kernel; EventRung drops its addresses.
  event.attr.exclude_kernel = event.attr.exclude_hv = 0;
  event.if_invalid = "events of a process by IBS need Linux 6.2";  // earlier, IBS had events of whole processors alone
  return {std::move(event)};
}

std::string unscaled_events(const std::vector<AccessEvent>& events) {
  for (const AccessEvent& event : events) {
    if (!event.counts_accesses)
      return fmt::format("each sample of {} counts as one access: here it counts cycles, not operations", event.name);
  }
  return {};
}

std::string unseen_processors(const std::vector<AccessEvent>& events, const util::IdList& online) {
  util::IdList unseen = online;
  for (const AccessEvent& event : events) {
    if (event.cpus.empty()) return {};
    std::erase_if(unseen, [&](uint32_t cpu) { return std::binary_search(event.cpus.begin(), event.cpus.end(), cpu); });
  }
  if (events.empty() || unseen.empty()) return {};
  return fmt::format("accesses on processors {} are not seen: they have other events", util::id_list_text(unseen));
}

}  // namespace mlrun::access
