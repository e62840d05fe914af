// SPDX-License-Identifier: Apache-2.0
#include "runner/session/source_version.h"

#include <algorithm>
#include <filesystem>
#include <string_view>
#include <vector>

#include <nlohmann/json.hpp>

#include "runner/util/file_io.h"
#include "runner/util/text.h"

namespace mlrun::session {

namespace {

namespace fs = std::filesystem;

constexpr size_t kLineBytes = 4096, kRefsBytes = 1 << 24;
constexpr int kRefsInARow = 5;  // Git's own limit
constexpr std::string_view kRef = "ref: ", kBranch = "refs/heads/";

// Regular files only: reading a pipe of that name would block.
std::string text_of(const fs::path& path, size_t limit_bytes) {
  std::error_code ignored;
  return fs::is_regular_file(path, ignored) ? util::read_text(path.string(), limit_bytes) : std::string();
}

std::string first_line(const fs::path& path) {
  const std::string text = text_of(path, kLineBytes);
  return text.substr(0, text.find('\n'));
}

// The path after the keyword of a line, relative to `folder`.
fs::path pointed_to(const fs::path& folder, std::string_view line, std::string_view keyword) {
  return line.starts_with(keyword) ? folder / line.substr(keyword.size()) : fs::path();
}

// The .git of a work tree: a folder, or a file that names one (git worktree, submodules).
fs::path git_folder(const fs::path& tree) {
  std::error_code ignored;
  const fs::path git = tree / ".git";
  return fs::is_directory(git, ignored) ? git : pointed_to(tree, first_line(git), "gitdir: ");
}

bool is_commit(std::string_view text) {
  constexpr size_t kSha1 = 40, kSha256 = 64;
  return (text.size() == kSha1 || text.size() == kSha256) &&
         std::all_of(text.begin(), text.end(), [](char c) { return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f'); });
}

bool stays_inside(std::string_view ref) { return ref.starts_with("refs/") && ref.find("..") == std::string_view::npos; }

// "COMMIT REF" in each line.
std::string packed(const fs::path& folder, std::string_view ref) {
  const std::string text = text_of(folder / "packed-refs", kRefsBytes);
  for (const std::string_view line : util::split(text, "\n")) {
    const size_t blank = line.find(' ');
    if (blank != std::string_view::npos && line.substr(blank + 1) == ref) return std::string(line.substr(0, blank));
  }
  return {};
}

}  // namespace

nlohmann::json source_version(const std::string& folder) {
  fs::path tree = fs::path(folder).lexically_normal(), git = git_folder(tree);
  while (git.empty() && tree.has_relative_path()) {
    tree = tree.parent_path();
    git = git_folder(tree);
  }
  if (git.empty()) return nullptr;
  const std::string common = first_line(git / "commondir");
  const fs::path shared = common.empty() ? git : git / common;
  std::string value = first_line(git / "HEAD");
  nlohmann::json branch;
  for (int i = 0; i < kRefsInARow && value.starts_with(kRef); i++) {
    const std::string ref = value.substr(kRef.size());
    if (!stays_inside(ref)) return nullptr;
    if (i == 0 && ref.starts_with(kBranch)) branch = util::escaped_utf8(ref.substr(kBranch.size()));
    value = first_line(shared / ref);
    if (value.empty()) value = packed(shared, ref);
  }
  if (!is_commit(value)) return nullptr;
  return {{"root", util::escaped_utf8(tree.string())}, {"commit", value}, {"branch", branch}};
}

}  // namespace mlrun::session
