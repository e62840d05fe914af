// SPDX-License-Identifier: Apache-2.0
#include "runner/summary/meters/file_trees.h"

#include <algorithm>
#include <iterator>
#include <map>
#include <memory>
#include <string>
#include <unordered_map>
#include <utility>

namespace mlrun::summary {

namespace {

constexpr double kMost = 0.8;    // share of the time
constexpr size_t kFewParts = 3;  // if so few parts have most of the time, they get rows of their own
constexpr std::string_view kImportEnds[] = {".py", ".pyc", ".so", ".pyd", ".pth", "__pycache__", "pyvenv.cfg"};
constexpr std::string_view kImportParts[] = {"/site-packages", "/dist-packages", ".so.", "/lib/python3",
                                             "/__pycache__/"};

// A folder, with the files directly in it.
struct Folder {
  FileTree own;         // without paths
  std::string slowest;  // path of the file with most of the time
  int64_t slowest_ns = 0;
};

struct Node {
  std::map<std::string_view, std::unique_ptr<Node>> folders;
  const Folder* own = nullptr;
  std::string path;
  FileTree all;  // sum over the folder and everything below it
};

FileTree tree_of(const FileMeter::File& file) {
  FileTree tree;
  const bool failed = file.totals.calls > 0 && file.totals.errors == file.totals.calls;
  tree.files = failed ? 0 : 1;
  tree.missing = failed ? 1 : 0;
  tree.totals = file.totals;
  tree.end_checks = file.end_checks;
  tree.sequential_bytes = file.sequential_bytes;
  tree.random_bytes = file.random_bytes;
  tree.followed_bytes = file.read.bytes_added();
  tree.distinct_bytes = file.read.distinct_bytes();
  return tree;
}

FileTree sum_up(Node& node) {
  node.all = node.own != nullptr ? node.own->own : FileTree{};
  node.all.folders = node.all.files > 0 ? 1 : 0;
  for (auto& [name, folder] : node.folders) node.all.add(sum_up(*folder));
  return node.all;
}

bool is_most(int64_t part_ns, int64_t all_ns) { return double(part_ns) >= kMost * double(all_ns); }

// Adds rows for one folder: the folder itself, or its parts if a few of them have most of the time.
void divide(const Node& node, std::vector<FileTree>& rows) {
  const auto put = [&](FileTree tree, const char* kind, const std::string& path) {
    if (tree.totals.calls == 0) return;
    tree.kind = kind;
    tree.path = path;
    rows.push_back(std::move(tree));
  };
  std::vector<int64_t> parts;
  for (const auto& [name, folder] : node.folders) parts.push_back(folder->all.totals.time_ns);
  const int64_t own_ns = node.own != nullptr ? node.own->own.totals.time_ns : 0;
  if (node.own != nullptr) parts.push_back(own_ns);
  std::sort(parts.rbegin(), parts.rend());
  int64_t few_ns = 0;
  for (size_t i = 0; i < parts.size() && i < kFewParts; ++i) few_ns += parts[i];
  const bool is_divided = node.path.empty() || is_most(few_ns, node.all.totals.time_ns);
  if (!is_divided && !node.folders.empty()) return put(node.all, "folder", node.path);
  for (const auto& [name, folder] : node.folders) divide(*folder, rows);
  if (node.own == nullptr) return;
  FileTree own = node.own->own;
  own.folders = own.files > 0 ? 1 : 0;
  const bool one_file = own.files + own.missing == 1 && is_most(node.own->slowest_ns, own_ns);
  put(std::move(own), one_file ? "file" : "folder", one_file ? node.own->slowest : node.path);
}

class Trees {
 public:
  // Listing a folder counts for the folder, but not as a file.
  void add(std::string_view path, FileTree tree, bool is_folder) {
    if (is_folder) tree.files = 0;
    if (path.empty() || path.front() != '/') return rest_.add(tree);
    if (is_import(path)) return imports_.add(tree);
    Folder& folder = folders_[std::string(is_folder ? path : path.substr(0, path.rfind('/')))];
    folder.own.add(tree);
    if (is_folder || (!folder.slowest.empty() && tree.totals.time_ns <= folder.slowest_ns)) return;
    folder.slowest = path;
    folder.slowest_ns = tree.totals.time_ns;
  }
  void add_rest(const Totals& totals) { rest_.totals.add(totals); }

  std::vector<FileTree> finish() {
    Node root;
    for (const auto& [path, folder] : folders_) place(root, path).own = &folder;
    sum_up(root);
    std::vector<FileTree> rows;
    divide(root, rows);
    std::stable_sort(rows.begin(), rows.end(),
                     [](const FileTree& a, const FileTree& b) { return a.totals.time_ns > b.totals.time_ns; });
    for (size_t i = kTreesMost; i < rows.size(); ++i) rest_.add(rows[i]);
    if (rows.size() > kTreesMost) rows.resize(kTreesMost);
    imports_.kind = "imports";
    rest_.kind = "rest";
    for (FileTree* last : {&imports_, &rest_}) {
      if (last->totals.calls > 0) rows.push_back(std::move(*last));
    }
    return rows;
  }

 private:
  static Node& place(Node& root, std::string_view path) {
    Node* node = &root;
    for (size_t begin = 1; begin <= path.size();) {
      const size_t end = std::min(path.find('/', begin), path.size());
      auto& next = node->folders[path.substr(begin, end - begin)];
      if (!next) {
        next = std::make_unique<Node>();
        next->path = path.substr(0, end);
      }
      node = next.get();
      begin = end + 1;
    }
    return *node;
  }

  std::map<std::string, Folder> folders_;  // by path
  FileTree imports_, rest_;
};

}  // namespace

bool is_import(std::string_view path) {
  const auto ends = [&](std::string_view end) { return path.ends_with(end); };
  const auto has = [&](std::string_view part) { return path.find(part) != std::string_view::npos; };
  return std::any_of(std::begin(kImportEnds), std::end(kImportEnds), ends) ||
         std::any_of(std::begin(kImportParts), std::end(kImportParts), has);
}

std::vector<FileTree> file_trees(const FileMeter& meter, const FileNames& names, const model::FileTable& files) {
  Trees trees;
  for (const auto& file : meter.files()) {
    const FileTree tree = tree_of(file);
    const int64_t file_id = names.file_id_of(file.file_id);
    if (file_id <= 0 || size_t(file_id) > files.size()) {
      trees.add({}, tree, false);
      continue;
    }
    const bool is_folder = files.kind(size_t(file_id - 1)) == model::FileKind::kDirectory;
    const auto& packed = files.packed(size_t(file_id - 1));
    const std::string* name = names.name_of(file.file_id);
    trees.add(name != nullptr ? std::string_view(*name) : std::string_view(packed.path, packed.path_bytes), tree,
              is_folder);
  }
  trees.add_rest(meter.without_place());
  return trees.finish();
}

}  // namespace mlrun::summary
