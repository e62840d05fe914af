# SPDX-License-Identifier: Apache-2.0
"""Reads a file of Perfetto's format by its published descriptors (PyPI perfetto), as its importer does: packets sorted by
time, those of equal time in the order of the file."""

from collections import Counter, defaultdict
from dataclasses import dataclass, field


@dataclass
class Slice:
    table: str
    name: str
    ts: int
    end: int
    track: int
    depth: int
    args: dict
    flows_out: tuple
    flows_in: tuple


@dataclass
class File:
    tracks: dict = field(default_factory=dict)  # by number
    slices: list = field(default_factory=list)
    counters: list = field(default_factory=list)  # name of the track, time, value
    samples: list = field(default_factory=list)   # tid, time, functions from the outermost on, weight, name
    sample_threads: set = field(default_factory=set)  # (pid, tid)
    clocks: list = field(default_factory=list)
    faults: list = field(default_factory=list)
    kinds: Counter = field(default_factory=Counter)

    def path(self, track):
        """Names from the top on, lanes as the track that they belong to."""
        descriptor = self.tracks[track]
        own = descriptor.process.process_name or descriptor.thread.thread_name or descriptor.name
        return (*self.path(descriptor.parent_uuid), own) if descriptor.parent_uuid else (own,)


class Reader:
    def __init__(self, path):
        from google.protobuf import unknown_fields
        from perfetto.protos.perfetto.trace import perfetto_trace_pb2 as descriptors

        self.kinds = descriptors.TrackEvent
        self.texts = defaultdict(dict)
        self.file = File()
        trace = descriptors.Trace()
        trace.ParseFromString(path.read_bytes())
        events = []
        for packet in trace.packet:
            self.file.kinds[packet.WhichOneof("data") or "-"] += 1
            if len(unknown_fields.UnknownFieldSet(packet)) or len(unknown_fields.UnknownFieldSet(packet.track_event)):
                self.file.faults.append(f"unknown field: {packet}")
            for name, entries in packet.interned_data.ListFields():
                self.texts[name.name].update((entry.iid, entry) for entry in entries)
            if packet.HasField("track_descriptor"):
                self.file.tracks[packet.track_descriptor.uuid] = packet.track_descriptor
            elif packet.HasField("clock_snapshot"):
                self.file.clocks.append({clock.clock_id: clock.timestamp for clock in packet.clock_snapshot.clocks})
            elif packet.HasField("track_event") or packet.HasField("stack_sample"):
                events.append((packet.timestamp, len(events), packet))
        self.open = defaultdict(list)
        for ts, _, packet in sorted(events, key=lambda event: event[:2]):
            (self.sample if packet.HasField("stack_sample") else self.event)(ts, packet)
        self.file.faults += [f"never ended: {one}" for of in self.open.values() for one in of]

    def event(self, ts, packet):
        event, kinds = packet.track_event, self.kinds
        if event.track_uuid not in self.file.tracks:
            self.file.faults.append(f"no such track: {event.track_uuid}")
        if event.type == kinds.TYPE_COUNTER:
            self.file.counters.append((self.file.path(event.track_uuid), ts, event.counter_value))
        elif event.type == kinds.TYPE_SLICE_END:
            if not self.open[event.track_uuid]:
                self.file.faults.append(f"end without begin at {ts}")
                return
            self.open[event.track_uuid].pop().end = ts
        else:
            is_point = event.type == kinds.TYPE_INSTANT
            args = {self.texts["debug_annotation_names"][one.name_iid].name: self.value(one) for one in event.debug_annotations}
            found = Slice(self.texts["event_categories"][event.category_iids[0]].name, self.texts["event_names"][event.name_iid].name, ts,
                          ts if is_point else None, event.track_uuid, len(self.open[event.track_uuid]), args, tuple(event.flow_ids),
                          tuple(event.terminating_flow_ids))
            self.file.slices.append(found)
            if not is_point:
                self.open[event.track_uuid].append(found)

    def value(self, annotation):
        which = annotation.WhichOneof("value")
        if which == "string_value_iid":
            return self.texts["debug_annotation_string_values"][annotation.string_value_iid].str.decode()
        return getattr(annotation, which)

    def sample(self, ts, packet):
        sample = packet.stack_sample
        stack = self.texts["callstacks"][sample.callstack_iid].frame_ids if sample.callstack_iid else ()  # 0: it has none
        frames = [self.texts["frames"][one] for one in stack]
        names = [self.texts["function_names"][frame.function_name_id].str.decode() for frame in frames]
        name = self.texts["stack_sample_counter_descriptors"][sample.primary_descriptor_iid].name
        self.file.sample_threads.add((sample.task_context.pid, sample.task_context.tid))
        self.file.samples.append((sample.task_context.tid, ts, names, sample.primary_weight, name))


def read(path):
    return Reader(path).file
