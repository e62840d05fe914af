// SPDX-License-Identifier: Apache-2.0
// Custom mutator of libFuzzer for spools: moves, copies and drops frames and the records in them, and sets their words
// to interesting numbers or to numbers found elsewhere in the spool (so that ids match). Lengths and checksums are
// repaired afterwards; one time in 64 the bytes are mutated without repair.
#include <algorithm>
#include <array>
#include <cstring>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "runner/events/kernel_record.h"
#include "tests/fuzz/spool_pieces.h"

extern "C" size_t LLVMFuzzerMutate(uint8_t* data, size_t size, size_t max_size);

namespace {

using mlrun::testing::SpoolPiece;
using Pieces = std::vector<SpoolPiece>;
using Random = std::minstd_rand;

constexpr size_t kWord = sizeof(uint64_t);

size_t below(Random& random, size_t limit) { return limit == 0 ? 0 : random() % limit; }
SpoolPiece& any(Pieces& pieces, Random& random) { return pieces[below(random, pieces.size())]; }

uint64_t any_number(Pieces& pieces, Random& random) {
  static constexpr std::array<uint64_t, 14> kNumbers = {
      0,          1,          2,          0x7f,      0xff,       0xffff,         0x7fffffff,
      0xffffffff, 1ull << 40, 1ull << 47, INT64_MAX, 1ull << 63, UINT64_MAX - 1, UINT64_MAX};
  const SpoolPiece& other = any(pieces, random);
  if (random() % 2 == 0 || other.payload.size() < kWord) return kNumbers[below(random, kNumbers.size())];
  uint64_t number = 0;
  std::memcpy(&number, other.payload.data() + below(random, other.payload.size() / kWord) * kWord, kWord);
  return number;
}

// The first byte of each record in a data frame, by the lap rule alone.
std::vector<size_t> records_of(const SpoolPiece& piece) {
  std::vector<size_t> starts;
  for (size_t at = 0; at + MLRUN_UNIT_BYTES <= piece.payload.size(); at += MLRUN_UNIT_BYTES) {
    const auto tag = static_cast<uint8_t>(piece.payload[at]);
    if (tag != 0 && tag == static_cast<uint8_t>(piece.header.lap)) starts.push_back(at);
  }
  return starts;
}

std::string record_at(const SpoolPiece& piece, size_t at) {
  const auto units = static_cast<uint8_t>(piece.payload[at + 1]);
  return piece.payload.substr(at, size_t{units} * MLRUN_UNIT_BYTES);
}

void change_word(Pieces& pieces, Random& random) {
  SpoolPiece& piece = any(pieces, random);
  if (piece.payload.size() < kWord) return;
  const size_t at = below(random, piece.payload.size() / kWord) * kWord;
  uint64_t number = any_number(pieces, random);
  if (random() % 2 == 0) {
    std::memcpy(&number, piece.payload.data() + at, kWord);
    number ^= uint64_t{1} << random() % 64;
  }
  // A tag byte that stays leaves the record a record.
  const size_t keep = random() % 4 != 0 ? 1 : 0;
  std::memcpy(piece.payload.data() + at + keep, reinterpret_cast<const char*>(&number) + keep, kWord - keep);
}

void change_header(Pieces& pieces, Random& random) {
  mlrun_frame& header = any(pieces, random).header;
  const uint64_t number = any_number(pieces, random);
  switch (random() % 7) {
    case 0: header.type = static_cast<uint16_t>(1 + number % MLRUN_FRAME_DROPS); return;
    case 1: header.channel = number; return;
    case 2: header.seq = number; return;
    case 3: header.first = number; return;
    case 4: header.last = number; return;
    case 5: header.lost = static_cast<uint32_t>(number); return;
    default: header.lap = static_cast<uint32_t>(number & 0xff); return;
  }
}

void change_bytes(Pieces& pieces, Random& random) {
  SpoolPiece& piece = any(pieces, random);
  const size_t bytes = piece.payload.size();
  const size_t bytes_max = std::min<size_t>(bytes + 256, MLRUN_FRAME_PAYLOAD_MAX);
  piece.payload.resize(bytes_max);
  piece.payload.resize(LLVMFuzzerMutate(reinterpret_cast<uint8_t*>(piece.payload.data()), bytes, bytes_max));
}

void copy_record(Pieces& pieces, Random& random) {
  const SpoolPiece& from = any(pieces, random);
  SpoolPiece& to = any(pieces, random);
  const std::vector<size_t> starts = records_of(from), places = records_of(to);
  if (starts.empty() || places.empty()) return;
  std::string record = record_at(from, starts[below(random, starts.size())]);
  if (record.empty() || to.payload.size() + record.size() > MLRUN_FRAME_PAYLOAD_MAX) return;
  record[0] = static_cast<char>(to.header.lap);
  to.payload.insert(places[below(random, places.size())], record);
}

void drop_record(Pieces& pieces, Random& random) {
  SpoolPiece& piece = any(pieces, random);
  const std::vector<size_t> starts = records_of(piece);
  if (starts.empty()) return;
  const size_t at = starts[below(random, starts.size())];
  piece.payload.erase(at, record_at(piece, at).size());
}

// Size of each kernel-side record, in the order of mlrun_kernel_kind; trailing text is not included.
constexpr std::array<std::pair<uint16_t, size_t>, 19> kKernelKinds = {{
    {MLRUN_KERNEL_REQUEST, sizeof(mlrun_block_request)},
    {MLRUN_KERNEL_FRAGMENT, sizeof(mlrun_bio_fragment)},
    {MLRUN_KERNEL_WAIT, sizeof(mlrun_wait)},
    {MLRUN_KERNEL_LOSS, sizeof(mlrun_kernel_loss)},
    {MLRUN_KERNEL_PAGES, sizeof(mlrun_page_add)},
    {MLRUN_KERNEL_FILE_OP, sizeof(mlrun_file_op)},
    {MLRUN_KERNEL_REMOTE, sizeof(mlrun_remote)},
    {MLRUN_KERNEL_SYSCALL, sizeof(mlrun_syscall_sum)},
    {MLRUN_KERNEL_FILE_DONE, sizeof(mlrun_file_done)},
    {MLRUN_KERNEL_CUDA, sizeof(mlrun_cuda_call)},
    {MLRUN_KERNEL_CUFILE, sizeof(mlrun_cufile_call)},
    {MLRUN_KERNEL_TORCH, sizeof(mlrun_torch_memory)},
    {MLRUN_KERNEL_CUFILE_PART, sizeof(mlrun_cufile_part)},
    {MLRUN_KERNEL_TASK, sizeof(mlrun_task)},
    {MLRUN_KERNEL_PROCESS, sizeof(mlrun_process_seen) + 64},
    {MLRUN_KERNEL_FILE_SEEN, sizeof(mlrun_file_seen) + 64},
    {MLRUN_KERNEL_FILE_PATH, sizeof(mlrun_file_path) + 64},
    {MLRUN_KERNEL_FILE_NAME, sizeof(mlrun_file_name) + 64},
    {MLRUN_KERNEL_MEMORY, sizeof(mlrun_memory_seen)},
}};

// Seeds hold only records that this machine's kernel emits. The new record has the thread and time of the first one.
void add_kernel_record(Pieces& pieces, Random& random) {
  SpoolPiece& piece = any(pieces, random);
  mlrun_kernel_head head{};
  if (piece.header.type != MLRUN_FRAME_KERNEL || piece.payload.size() < sizeof head) return;
  std::memcpy(&head, piece.payload.data(), sizeof head);
  const auto [kind, bytes] = kKernelKinds[below(random, kKernelKinds.size())];
  if (piece.payload.size() + bytes > MLRUN_FRAME_PAYLOAD_MAX) return;
  head.kind = kind;
  head.bytes = static_cast<uint16_t>((bytes + kWord - 1) / kWord * kWord);
  std::string record(head.bytes, '\0');
  for (size_t at = 0; at < record.size(); at += kWord) {
    uint64_t number = random() % 2 == 0 ? head.time_ns - below(random, 100'000) : any_number(pieces, random);
    if (random() % 4 == 0) number = below(random, 20);
    std::memcpy(record.data() + at, &number, kWord);
  }
  std::memcpy(record.data(), &head, sizeof head);
  piece.payload.insert(0, record);
}

void copy_frame(Pieces& pieces, Random& random) {
  SpoolPiece copy = any(pieces, random);
  pieces.insert(pieces.begin() + static_cast<ptrdiff_t>(below(random, pieces.size() + 1)), std::move(copy));
}

void drop_frames(Pieces& pieces, Random& random) {
  const size_t first = below(random, pieces.size()),
               count = 1 + below(random, std::min<size_t>(pieces.size() - first, 8));
  if (count == pieces.size()) return;
  pieces.erase(pieces.begin() + static_cast<ptrdiff_t>(first), pieces.begin() + static_cast<ptrdiff_t>(first + count));
}

void swap_frames(Pieces& pieces, Random& random) { std::swap(any(pieces, random), any(pieces, random)); }

size_t put(const std::string& bytes, uint8_t* data, size_t max_size) {
  const size_t size = std::min(bytes.size(), max_size);
  std::memcpy(data, bytes.data(), size);
  return size;
}

}  // namespace

extern "C" size_t LLVMFuzzerCustomMutator(uint8_t* data, size_t size, size_t max_size, unsigned seed) {
  using Change = void (*)(Pieces&, Random&);
  static constexpr std::array<Change, 14> kChanges = {
      change_word,  change_word, change_word, change_word, change_word, change_word,       change_header,
      change_bytes, copy_record, drop_record, copy_frame,  swap_frames, add_kernel_record, add_kernel_record};
  Random random(seed);
  Pieces pieces = mlrun::testing::split_spool({reinterpret_cast<const char*>(data), size});
  if (pieces.empty() || random() % 64 == 0) return LLVMFuzzerMutate(data, size, max_size);
  if (random() % 16 == 0) drop_frames(pieces, random);
  for (size_t left = 1 + below(random, 4); left != 0; --left) kChanges[below(random, kChanges.size())](pieces, random);
  return put(mlrun::testing::join_spool(pieces, max_size), data, max_size);
}

// Frames of two spools, those of the second one between those of the first.
extern "C" size_t LLVMFuzzerCustomCrossOver(const uint8_t* data1, size_t size1, const uint8_t* data2, size_t size2,
                                            uint8_t* out, size_t max_out_size, unsigned seed) {
  Random random(seed);
  Pieces pieces = mlrun::testing::split_spool({reinterpret_cast<const char*>(data1), size1});
  for (SpoolPiece& piece : mlrun::testing::split_spool({reinterpret_cast<const char*>(data2), size2})) {
    if (random() % 2 == 0) continue;
    pieces.insert(pieces.begin() + static_cast<ptrdiff_t>(below(random, pieces.size() + 1)), std::move(piece));
  }
  return put(mlrun::testing::join_spool(pieces, max_out_size), out, max_out_size);
}
