# SPDX-License-Identifier: Apache-2.0
"""Reads an OTF2 archive by PyPI's otf2, and lists what is wrong with it: otf2-print accepts any nesting."""

from collections import Counter, defaultdict
from dataclasses import dataclass, field

import otf2
from otf2.enums import IoHandleFlag


@dataclass
class Archive:
    events: Counter = field(default_factory=Counter)  # by kind
    rows: Counter = field(default_factory=Counter)  # regions entered, by table
    wrong: list = field(default_factory=list)
    transferred: Counter = field(default_factory=Counter)  # bytes, by file and mode
    entered: list = field(default_factory=list)  # (location, time, name, attributes) of regions
    types: Counter = field(default_factory=Counter)  # of locations
    metrics: Counter = field(default_factory=Counter)  # events, by table
    messages: list = field(default_factory=list)  # (kind, time, location, peer, communicator, tag, attributes)
    locations: dict = field(default_factory=dict)  # by number
    nodes: dict = field(default_factory=dict)  # names of the locations of each system tree node


def open_io(archive, event, kind, active, begun):
    if event.handle not in active and not event.handle.io_handle_flags & IoHandleFlag.PRE_CREATED:
        archive.wrong.append(f"{kind} on a handle that is not open: {event.handle.name}")
    if kind == "IoOperationBegin":
        if event.matching_id in begun:
            archive.wrong.append(f"matching id {event.matching_id} is used twice")
        begun[event.matching_id] = event
    elif kind in ("IoOperationComplete", "IoOperationCancelled"):
        begin = begun.pop(event.matching_id, None)
        if begin is None or begin.handle is not event.handle:
            archive.wrong.append(f"{kind} without its begin")
        elif kind == "IoOperationComplete" and event.handle.file is not None:
            archive.transferred[event.handle.file.name, str(begin.mode).rpartition(".")[2]] += event.bytes_result


def definitions(archive, read):
    for name, key in (("strings", str), ("regions", lambda one: (one.name, one.description, str(one.paradigm), str(one.region_role))),
                      ("attributes", lambda one: (one.name, str(one.type)))):
        keys = [key(one) for one in getattr(read.definitions, name)]
        archive.wrong += [f"defined twice in {name}: {twice}" for twice, count in Counter(keys).items() if count > 1]
    for one in read.definitions.locations:
        archive.locations[one._ref] = one
        archive.nodes.setdefault(one.group.system_tree_parent.name, []).append(one.name)
    archive.types = Counter(str(one.type).rpartition(".")[2] for one in read.definitions.locations)
    names = Counter((one.group, one.name) for one in read.definitions.locations if str(one.type).endswith("CPU_THREAD"))
    return names


def read_archive(folder):
    archive = Archive()
    with otf2.reader.open(str(folder / "traces.otf2")) as read:
        definitions(archive, read)
        stacks, latest, active, begun, counted = defaultdict(list), {}, set(), {}, Counter()
        for location, event in read.events:
            kind = type(event).__name__
            archive.events[kind] += 1
            counted[location] += 1
            if event.time < latest.get(location, 0):
                archive.wrong.append(f"time runs backwards in {location.name}")
            latest[location] = event.time
            if kind == "Enter":
                stacks[location].append(event.region)
                archive.rows[event.region.description] += 1
                archive.entered.append((location, event.time, event.region, event.attributes or {}))
            elif kind == "Leave":
                if not stacks[location] or stacks[location].pop() is not event.region:
                    archive.wrong.append(f"{event.region.name} is left at {event.time} in {location.name} while another is open")
            elif kind == "IoCreateHandle":
                active.add(event.handle)
            elif kind == "IoDestroyHandle":
                active.discard(event.handle)
            elif kind in ("MpiSend", "MpiRecv"):
                peer = event.receiver if kind == "MpiSend" else event.sender
                archive.messages.append((kind, event.time, location._ref, peer, event.communicator.name, event.msg_tag, event.attributes or {}))
            elif kind.startswith("Io"):
                open_io(archive, event, kind, active, begun)
            elif kind == "Metric":
                archive.metrics[event.metric.members[0].name.split(".")[0]] += 1
        archive.wrong += [f"{len(open_ones)} regions of {location.name} are never left" for location, open_ones in stacks.items() if open_ones]
        archive.wrong += [f"{len(begun)} operations never end"] if begun else []
        archive.wrong += [f"{one.name} has {counted[one]} events and defines {one.number_of_events}"
                          for one in read.definitions.locations if counted[one] != one.number_of_events]
    return archive
