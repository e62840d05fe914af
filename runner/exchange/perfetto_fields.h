// SPDX-License-Identifier: Apache-2.0
// Numbers of the fields of Perfetto's messages that are written (protos/perfetto/trace in its repository).
#pragma once

#include <cstdint>

namespace mlrun::exchange::perfetto {

enum Packet : uint32_t {
  kClockSnapshot = 6,
  kTimestamp = 8,
  kSequenceId = 10,
  kTrackEvent = 11,
  kInternedData = 12,
  kSequenceFlags = 13,
  kDefaults = 59,
  kTrackDescriptor = 60,
  kFirstPacketOnSequence = 87,
  kStackSample = 135,
};
enum SequenceFlag : uint32_t { kStateCleared = 1, kNeedsState = 2 };
enum DefaultsField : uint32_t { kTimestampClock = 58 };
enum Clock : uint32_t { kRealtime = 1, kMonotonic = 3 };
enum ClockSnapshotField : uint32_t { kClocks = 1, kPrimaryClock = 2, kClockId = 1, kClockTime = 2 };

enum Event : uint32_t {
  kCategory = 3,
  kAnnotation = 4,
  kType = 9,
  kName = 10,
  kTrack = 11,
  kCounterValue = 30,
  kRealCounterValue = 44,
  kFlow = 47,
  kLastFlow = 48,
};
enum EventType : uint32_t { kBegin = 1, kEnd = 2, kPoint = 3, kCounter = 4 };
enum AnnotationField : uint32_t {
  kNameId = 1,
  kBoolean = 2,
  kInteger = 4,
  kReal = 5,
  kString = 6,
  kPointer = 7,
  kStringId = 17,
};

enum Interned : uint32_t {
  kCategories = 1,
  kEventNames = 2,
  kAnnotationNames = 3,
  kFunctions = 5,
  kFrames = 6,
  kCallstacks = 7,
  kMappingPaths = 17,
  kSourcePaths = 18,
  kMappings = 19,
  kStringValues = 29,
  kSampleDescriptors = 50,
};
enum InternedField : uint32_t { kIid = 1, kText = 2, kFrameOfCallstack = 2, kPathOfMapping = 7 };
enum FrameField : uint32_t { kFunction = 2, kMapping = 3, kRelativePc = 4, kSource = 5, kLine = 6 };

enum TrackField : uint32_t { kUuid = 1, kTrackName = 2, kProcess = 3, kThread = 4, kParent = 5, kCounterOfTrack = 8 };
enum ProcessField : uint32_t { kPidOfProcess = 1, kProcessName = 6 };
enum ThreadField : uint32_t { kPidOfThread = 1, kTid = 2, kThreadName = 5 };
enum CounterField : uint32_t { kUnit = 3 };
enum Unit : uint32_t { kNanoseconds = 1, kCount = 2, kBytes = 3 };

enum SampleField : uint32_t { kTask = 1, kSampleCallstack = 6, kDescriptorId = 10, kWeight = 11 };
enum TaskField : uint32_t { kPidOfTask = 2, kTidOfTask = 3 };
enum DescriptorField : uint32_t { kDescriptorName = 2, kDescriptorUnit = 3 };
enum SampleUnit : uint32_t { kSampleNanoseconds = 1, kSampleBytes = 5 };

}  // namespace mlrun::exchange::perfetto
