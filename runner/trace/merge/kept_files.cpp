// SPDX-License-Identifier: Apache-2.0
#include "runner/trace/merge/kept_files.h"

#include <sys/stat.h>

#include <filesystem>
#include <optional>
#include <system_error>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "runner/events/session.h"
#include "runner/util/crc32c.h"
#include "runner/util/file_io.h"
#include "runner/util/json_at.h"
#include "runner/util/time_units.h"

namespace mlrun::trace {

namespace {

namespace fs = std::filesystem;
using nlohmann::json;

struct Checked {
  uint64_t bytes = 0;
  uint32_t crc = 0;
};

constexpr uintmax_t kJournalBytesMax = uintmax_t{64} << 20;

bool is_regular(const std::string& path) {
  std::error_code error;
  return fs::is_regular_file(fs::symlink_status(path, error));
}

// Size and checksum of a file; nullopt on a read error.
std::optional<Checked> check(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::vector<char> buffer(size_t{1} << 20);
  Checked checked;
  while (file) {
    file.read(buffer.data(), static_cast<std::streamsize>(buffer.size()));
    const auto got = static_cast<size_t>(file.gcount());
    checked.crc = util::crc32c(checked.crc, buffer.data(), got);
    checked.bytes += got;
  }
  if (!file.eof()) return std::nullopt;
  return checked;
}

}  // namespace

std::string table_file_path(const std::string& tables_folder, const std::string& table, size_t number) {
  return fmt::format("{}/{}/part-{:05}.parquet", tables_folder, table, number);
}

std::string KeptFiles::made_of(const std::string& trace_folder, const std::vector<std::string>& others,
                               uint64_t rows_per_slice) {
  std::vector<std::string> files = others;
  for (const char* name : {MLRUN_SESSION_FILE, MLRUN_SPOOL_FILE, MLRUN_KEPT_FILE, MLRUN_SUMS_FILE, MLRUN_KERNEL_FILE}) {
    files.push_back(trace_folder + "/" + name);
  }
  json inputs = {{"files", json::array()}, {"rows_per_slice", rows_per_slice}};
  for (const std::string& path : files) {
    struct stat status {};
    json& file = inputs["files"].emplace_back(json::array({fs::path(path).filename().string()}));
    if (::stat(path.c_str(), &status) != 0) continue;
    file.push_back(status.st_size);
    file.push_back(status.st_mtim.tv_sec * util::kNsPerS + status.st_mtim.tv_nsec);
  }
  const auto program = check("/proc/self/exe");
  if (!program) return {};
  inputs["program"] = {program->bytes, program->crc};
  return util::json_text(inputs);
}

std::string KeptFiles::made_of(const std::string& files, const model::TraceInfo& info) {
  if (files.empty()) return {};
  uint32_t crc = 0;
  const auto add = [&](const std::string& text) { crc = util::crc32c(crc, text.c_str(), text.size() + 1); };
  const auto add_number = [&](int64_t number) { crc = util::crc32c(crc, &number, sizeof number); };
  for (const model::FileRow& file : info.files) {
    for (const std::string* text : {&file.path, &file.raw_path, &file.file_system, &file.mount, &file.kind}) add(*text);
    add_number(file.dev);
    add_number(file.ino);
  }
  for (const model::NameRow& name : info.names) add(name.text);
  for (const model::MarkRow& mark : info.marks) {
    add(mark.name);
    add_number(mark.origin.ts_ns);
    add_number(mark.dur_ns);
  }
  return fmt::format("{},\"found\":[{},{},{},{}]}}", files.substr(0, files.size() - 1), info.files.size(),
                     info.names.size(), info.marks.size(), crc);
}

// The journal line of a slice, which lists its files in all tables. Empty if the slice has no file, or one cannot be read.
std::string KeptFiles::describe(size_t slice) const {
  json files = json::object();
  for (const std::string& table : tables_) {
    const std::string path = table_file_path(tables_folder(), table, slice);
    std::error_code error;
    if (!fs::exists(fs::symlink_status(path, error))) continue;
    const auto checked = is_regular(path) ? check(path) : std::nullopt;
    if (!checked) return {};
    files[table] = {checked->bytes, checked->crc};
  }
  return files.empty() ? std::string() : util::json_text(json{{"slice", slice}, {"files", files}});
}

// Whether the staging folder has the form that a merge leaves: its folders and its journal exist and are no symbolic links.
bool KeptFiles::is_ours() const {
  std::error_code error;
  const auto is_folder = [&](const std::string& path) { return fs::is_directory(fs::symlink_status(path, error)); };
  bool ours = is_folder(folder_) && is_folder(tables_folder()) && is_regular(journal()) &&
              fs::file_size(journal(), error) <= kJournalBytesMax;
  for (const std::string& table : tables_) ours = ours && is_folder(tables_folder() + "/" + table);
  return ours;
}

// Fills kept_ with the intact slices. Returns the new journal: the line of the inputs and the lines of these slices.
std::string KeptFiles::find_whole(const std::string& made_of) {
  std::string lines = made_of + "\n";
  if (made_of.empty() || !is_ours()) return lines;
  std::ifstream file(journal());
  std::string text;
  std::set<size_t> seen;
  if (!std::getline(file, text) || text != made_of) return lines;
  while (std::getline(file, text)) {
    const json value = util::parse_json(text);
    if (!value.is_object() || !value.contains("slice") || !value["slice"].is_number_unsigned()) continue;
    const size_t slice = value["slice"];
    if (!seen.insert(slice).second) continue;
    if (text != describe(slice)) continue;
    kept_.insert(slice);
    lines += text + "\n";
  }
  return lines;
}

// Removes all files but those of kept slices and the journal: they would become table files of the trace.
Status KeptFiles::remove_others() const {
  std::set<std::string> wanted = {journal(), tables_folder()};
  for (const std::string& table : tables_) {
    wanted.insert(tables_folder() + "/" + table);
    for (const size_t slice : kept_) wanted.insert(table_file_path(tables_folder(), table, slice));
  }
  std::vector<fs::path> others;
  std::error_code error;
  for (fs::recursive_directory_iterator at(folder_, error), end; !error && at != end; at.increment(error)) {
    if (wanted.contains(at->path().string())) continue;
    others.push_back(at->path());
    at.disable_recursion_pending();
  }
  for (const fs::path& path : others) {
    if (!error) fs::remove_all(path, error);
  }
  if (error) return fail("cannot remove files of an earlier merge in " + folder_ + ": " + error.message());
  return {};
}

Status KeptFiles::open(const std::string& made_of) {
  const std::string lines = find_whole(made_of);
  std::error_code error;
  if (kept_.empty()) fs::remove_all(folder_, error);
  if (error) return fail("cannot remove " + folder_ + ": " + error.message());
  if (!kept_.empty()) {
    if (auto removed = remove_others(); !removed) return removed;
  }
  for (const std::string& table : tables_) {
    if (Status made = util::make_folders(tables_folder() + "/" + table); !made) return made;
  }
  if (made_of.empty()) return {};
  constexpr mode_t kMode = 0644;
  if (auto written = util::write_atomically(journal(), lines, kMode); !written) return written;
  journal_file_.open(journal(), std::ios::app);
  return {};
}

void KeptFiles::add(size_t slice) {
  if (!journal_file_.is_open()) return;
  const std::string text = describe(slice);
  if (text.empty()) return;
  const std::lock_guard lock(mutex_);
  journal_file_ << text + "\n" << std::flush;
}

}  // namespace mlrun::trace
