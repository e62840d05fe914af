// SPDX-License-Identifier: Apache-2.0
#include "runner/summary/meters/top_files.h"

#include <algorithm>
#include <string>
#include <string_view>
#include <tuple>
#include <unordered_map>
#include <vector>

namespace mlrun::summary {
namespace {

// Sort keys are kept apart from the items, since the totals of a million files may be spilled to a file.
struct Rank {
  explicit Rank(const Totals& totals) : bytes(totals.bytes()), time_ns(totals.time_ns) {}
  int64_t bytes, time_ns;
};

// Indexes of the first `wanted` by bytes and the first `wanted` by time, in order of bytes.
template <typename Item>
std::vector<size_t> top(const std::vector<Item>& items, size_t wanted) {
  std::vector<size_t> order(items.size());
  for (size_t i = 0; i < order.size(); ++i) order[i] = i;
  const auto by_bytes = [&](size_t a, size_t b) {
    const Rank &x = items[a].rank, &y = items[b].rank;
    return std::tuple(y.bytes, y.time_ns, a) < std::tuple(x.bytes, x.time_ns, b);
  };
  const auto by_time = [&](size_t a, size_t b) {
    const Rank &x = items[a].rank, &y = items[b].rank;
    return std::tuple(y.time_ns, y.bytes, a) < std::tuple(x.time_ns, x.bytes, b);
  };
  if (items.size() > wanted) {
    const auto middle = order.begin() + std::ptrdiff_t(wanted);
    std::partial_sort(order.begin(), middle, order.end(), by_time);
    std::vector<size_t> kept(order.begin(), middle);
    std::partial_sort(order.begin(), middle, order.end(), by_bytes);
    kept.insert(kept.end(), order.begin(), middle);
    std::sort(kept.begin(), kept.end());
    kept.erase(std::unique(kept.begin(), kept.end()), kept.end());
    order = std::move(kept);
  }
  std::sort(order.begin(), order.end(), by_bytes);
  return order;
}

struct FileItem {
  int64_t key;
  Rank rank;
  const Totals* totals;
  const CacheMisses* misses;
};

struct Directory {
  int64_t first_file_id = 0;
  int64_t files = 0;
  Totals totals;
  CacheMisses misses{0, 0};
};

struct DirectoryItem {
  std::string_view path;
  Rank rank;
  const Directory* directory;
};

bool has_row(const model::FileTable& files, int64_t file_id) { return file_id > 0 && size_t(file_id) <= files.size(); }

std::string_view parent_path(std::string_view path) {
  const size_t slash = path.rfind('/');
  if (slash == std::string_view::npos) return {};
  return path.substr(0, std::max<size_t>(slash, 1));
}

// Requires: `files` has a row for the key's file_id.
std::string_view folder_of(const model::FileTable& files, const FileNames& names, int64_t key) {
  if (const std::string* name = names.name_of(key)) return parent_path(*name);
  const auto& packed = files.packed(size_t(names.file_id_of(key) - 1));
  return parent_path({packed.path, packed.path_bytes});
}

FileSummary named(const FileItem& item, const FileNames& names, const model::FileTable& files) {
  const int64_t file_id = names.file_id_of(item.key);
  FileSummary out{file_id, "file " + std::to_string(file_id), {}, {}, {}, *item.totals, *item.misses};
  if (!has_row(files, file_id)) return out;
  model::FileRow row = files[size_t(file_id - 1)];
  const std::string* name = names.name_of(item.key);
  if (name) {
    out.path = *name;
  } else if (!row.path.empty()) {
    out.path = std::move(row.path);
  }
  out.file_system = std::move(row.file_system);
  out.mount = std::move(row.mount);
  out.kind = std::move(row.kind);
  return out;
}

// A copy between two files of a folder is one call of the folder, although both files count it.
void put_directories(const FileMeter& meter, const FileNames& names, const model::FileTable& files, Summary& summary) {
  std::unordered_map<std::string_view, Directory> directories;
  for (const auto& file : meter.files()) {
    const int64_t file_id = names.file_id_of(file.file_id);
    if (!has_row(files, file_id)) continue;
    const std::string_view path = folder_of(files, names, file.file_id);
    if (path.empty()) continue;
    Directory& directory = directories[path];
    if (directory.files++ == 0) directory.first_file_id = file_id;
    directory.totals.add(file.totals);
    directory.misses.add(file.misses);
  }
  for (const auto& [pair, both] : meter.shared()) {
    const auto [from, to] = pair;
    if (!has_row(files, names.file_id_of(from)) || !has_row(files, names.file_id_of(to))) continue;
    const auto folder = folder_of(files, names, from);
    if (folder.empty() || folder != folder_of(files, names, to)) continue;
    Totals& totals = directories[folder].totals;
    totals.calls -= std::min(both.calls, totals.calls);
    totals.errors -= std::min(both.errors, totals.errors);
    totals.time_ns -= std::min(both.time_ns, totals.time_ns);
  }
  std::vector<DirectoryItem> items;
  items.reserve(directories.size());
  for (const auto& [path, directory] : directories) items.push_back({path, Rank(directory.totals), &directory});
  std::sort(items.begin(), items.end(), [](const auto& a, const auto& b) { return a.path < b.path; });
  for (const size_t i : top(items, kTopDirectories)) {
    model::FileRow row = files[size_t(items[i].directory->first_file_id - 1)];
    summary.directories.push_back({std::string(items[i].path), std::move(row.file_system), std::move(row.mount),
                                   items[i].directory->files, items[i].directory->totals, items[i].directory->misses});
  }
  summary.directories_touched = int64_t(directories.size());
}

}  // namespace

void put_top_files(const FileMeter& meter, const FileNames& names, const model::FileTable& files, bool has_page_cache,
                   Summary& summary) {
  std::vector<FileItem> items;
  items.reserve(meter.files().size());
  for (const auto& file : meter.files()) items.push_back({file.file_id, Rank(file.totals), &file.totals, &file.misses});
  for (const size_t i : top(items, kTopFiles)) summary.files.push_back(named(items[i], names, files));
  summary.files_touched = int64_t(items.size());
  if (const Totals& rest = meter.without_place(); rest.calls > 0) {
    summary.files_without_place = meter.full() ? std::max<int64_t>(0, int64_t(files.size() - items.size())) : 0;
    summary.files.push_back(
        {0, "(files without a name or a place of their own)", {}, {}, {}, rest, meter.misses_without_place()});
  }
  summary.files_touched += summary.files_without_place;
  put_directories(meter, names, files, summary);
  if (has_page_cache) return;
  for (FileSummary& file : summary.files) file.misses = {};
  for (DirectorySummary& directory : summary.directories) directory.misses = {};
}

}  // namespace mlrun::summary
