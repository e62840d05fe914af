// SPDX-License-Identifier: Apache-2.0
#include "runner/exchange/otf2/archive.h"

#include <cstdarg>
#include <memory>
#include <vector>

#include <fmt/format.h>

namespace mlrun::exchange {

namespace {

// A location's buffer, the least that libotf2 takes: a full one is written to its file.
constexpr uint64_t kEventChunk = OTF2_CHUNK_SIZE_MIN;
constexpr uint64_t kDefinitionChunk = OTF2_CHUNK_SIZE_DEFINITIONS_DEFAULT;

OTF2_FlushType flush_always(void* /*data*/, OTF2_FileType /*type*/, OTF2_LocationRef /*location*/, void* /*caller*/,
                            bool /*is_final*/) {
  return OTF2_FLUSH;
}

// The event buffers are flushed at times that are of no interest to readers, so no BufferFlush event is asked for.
constexpr OTF2_FlushCallbacks kFlush = {flush_always, nullptr};

// libotf2 would keep 128 MiB for each location before it writes anything. It asks here for each chunk, and writes when it gets none:
// a location has one chunk, used again after each write; definitions have as many as they need.
struct Chunks {
  std::vector<std::unique_ptr<char[]>> all;
  size_t used = 0;
};

void* allocate_chunk(void* /*data*/, OTF2_FileType type, OTF2_LocationRef /*location*/, void** of_buffer,
                     uint64_t bytes) {
  auto* chunks = static_cast<Chunks*>(*of_buffer);
  if (chunks == nullptr) *of_buffer = chunks = std::make_unique<Chunks>().release();
  if (type == OTF2_FILETYPE_EVENTS && chunks->used == 1) return nullptr;
  if (chunks->used == chunks->all.size()) chunks->all.push_back(std::unique_ptr<char[]>(new char[bytes]));
  return chunks->all[chunks->used++].get();
}

void free_chunks(void* /*data*/, OTF2_FileType /*type*/, OTF2_LocationRef /*location*/, void** of_buffer,
                 bool is_last) {
  auto* chunks = static_cast<Chunks*>(*of_buffer);
  if (chunks == nullptr) return;
  chunks->used = 0;
  if (!is_last) return;
  const std::unique_ptr<Chunks> freed(chunks);
  *of_buffer = nullptr;
}

constexpr OTF2_MemoryCallbacks kMemory = {allocate_chunk, free_chunks};

OTF2_ErrorCode keep_quiet(void* /*data*/, const char* /*file*/, uint64_t /*line*/, const char* /*function*/,
                          OTF2_ErrorCode code, const char* /*format*/, va_list /*arguments*/) {
  return code;
}

}  // namespace

Result<std::unique_ptr<Otf2Archive>> Otf2Archive::create(const std::string& path) {
  OTF2_Error_RegisterCallback(keep_quiet, nullptr);
  std::unique_ptr<Otf2Archive> made(new Otf2Archive(path));
  made->archive_ = OTF2_Archive_Open(path.c_str(), "traces", OTF2_FILEMODE_WRITE, kEventChunk, kDefinitionChunk,
                                     OTF2_SUBSTRATE_POSIX, OTF2_COMPRESSION_NONE);
  if (made->archive_ == nullptr) return fail("cannot make the OTF2 archive " + path);
  made->check(OTF2_Archive_SetFlushCallbacks(made->archive_, &kFlush, nullptr));
  made->check(OTF2_Archive_SetMemoryCallbacks(made->archive_, &kMemory, nullptr));
  made->check(OTF2_Archive_SetSerialCollectiveCallbacks(made->archive_));
  made->check(OTF2_Archive_SetCreator(made->archive_, "mlrun"));
  made->check(OTF2_Archive_OpenEvtFiles(made->archive_));
  return made;
}

// After a failure the archive is not closed: after a failed write libotf2 frees a file's buffer twice when it closes the file.
Otf2Archive::~Otf2Archive() {
  if (archive_ != nullptr && good()) OTF2_Archive_Close(archive_);
}

OTF2_EvtWriter* Otf2Archive::open_events(uint64_t location) {
  OTF2_EvtWriter* events = OTF2_Archive_GetEvtWriter(archive_, location);
  if (events == nullptr) check(OTF2_ERROR_FILE_INTERACTION);
  return events;
}

uint64_t Otf2Archive::close_events(OTF2_EvtWriter* events) {
  if (events == nullptr || !good()) return 0;
  uint64_t count = 0;
  check(OTF2_EvtWriter_GetNumberOfEvents(events, &count));
  check(OTF2_Archive_CloseEvtWriter(archive_, events));
  return count;
}

// Readers require a file of local definitions for each location; here these files are empty.
void Otf2Archive::finish_events(uint64_t locations) {
  if (!good()) return;
  check(OTF2_Archive_CloseEvtFiles(archive_));
  check(OTF2_Archive_OpenDefFiles(archive_));
  for (uint64_t location = 0; location < locations && good(); ++location) {
    OTF2_DefWriter* local = OTF2_Archive_GetDefWriter(archive_, location);
    if (local == nullptr) return check(OTF2_ERROR_FILE_INTERACTION);
    check(OTF2_Archive_CloseDefWriter(archive_, local));
  }
  if (good()) check(OTF2_Archive_CloseDefFiles(archive_));
}

OTF2_GlobalDefWriter* Otf2Archive::open_definitions() {
  if (!good()) return nullptr;
  OTF2_GlobalDefWriter* definitions = OTF2_Archive_GetGlobalDefWriter(archive_);
  if (definitions == nullptr) check(OTF2_ERROR_FILE_INTERACTION);
  return definitions;
}

Status Otf2Archive::finish() {
  if (good()) {
    check(OTF2_Archive_Close(archive_));
    archive_ = nullptr;
  }
  if (good()) return {};
  return fail(fmt::format("cannot write the OTF2 archive {}: {}", path_, OTF2_Error_GetDescription(failure_)));
}

}  // namespace mlrun::exchange
