// SPDX-License-Identifier: Apache-2.0
#include "runner/exchange/front/import.h"

#include <sys/stat.h>

#include <cerrno>
#include <cstdio>
#include <filesystem>
#include <set>
#include <system_error>
#include <utility>

#include <fmt/format.h>

#include "runner/exchange/front/readers.h"
#include "runner/exchange/import/archive.h"
#include "runner/exchange/scratch_folder.h"
#include "runner/exchange/sqlite_restore.h"
#include "runner/options/cli.h"
#include "runner/util/log.h"
#include "runner/util/text.h"

namespace mlrun::exchange {

namespace {

namespace fs = std::filesystem;

std::string import_footer() {
  std::string text =
      "Examples:\n"
      "  mlrun import trace.json.gz -o TRACE\n"
      "  mlrun import read.out write.out openat.out bio.out -o TRACE\n"
      "  mlrun import ranks.tar.gz -o TRACE              all files in it; ranks.tar.gz/NAME is one of them\n"
      "\n"
      "The format is recognised by the content:\n";
  for (const Reader& reader : all_readers()) text += fmt::format("  {:<10} {}\n", reader.name, reader.summary);
  text += "  mlrun      a database of mlrun export --to sqlite: restores its trace\n";
  return text +
         "\nTRACE is like a trace that mlrun records: report, show, plot and export work on it. Events that it cannot "
         "hold are counted "
         "by reason.";
}

void say_what_was_read(const FileAccount& file) {
  int64_t left_out = 0;
  for (const auto& [reason, count] : file.left_out) left_out += count;
  util::say(fmt::format("{}: {}, {} events, {} kept", file.path, file.format, file.events, file.events - left_out));
  for (const auto& [reason, count] : file.left_out) util::say(fmt::format("  left out: {}: {}", reason, count));
  for (const auto& [what, count] : file.remarks) util::say(fmt::format("  {}: {}", what, count));
}

Status read_file(const std::string& path, TraceMaker& maker) {
  const auto reader = find_reader(path);
  if (!reader) return tl::make_unexpected(reader.error());
  maker.begin_file(path, (*reader)->name);
  return (*reader)->read(path, maker);
}

// A path that is given twice; nullptr: there is none.
const std::string* named_twice(const std::vector<std::string>& files) {
  std::set<std::string> seen;
  for (const std::string& file : files) {
    std::error_code error;
    const fs::path path = fs::weakly_canonical(file, error);
    if (!seen.insert(error ? file : path.string()).second) return &file;
  }
  return nullptr;
}

Status make_trace(const std::vector<std::string>& files, const std::string& folder,
                  const std::vector<std::string>& command, bool shows_progress) {
  if (files.size() == 1 && is_own_database(files.front())) return restore_trace(files.front(), folder);
  auto maker = TraceMaker::create(folder, shows_progress);
  if (!maker) return tl::make_unexpected(maker.error());
  std::vector<std::string> all;
  for (const std::string& path : files) {
    const auto found = files_of(path);
    if (!found) return tl::make_unexpected(found.error());
    all.insert(all.end(), found->begin(), found->end());
  }
  if (const std::string* twice = named_twice(all); twice != nullptr)
    return fail("cannot import " + *twice + ": it is named twice, which would double its events; name it once");
  for (const std::string& path : all) {
    (*maker)->progress().begin(0.9 / static_cast<double>(all.size()), 0);
    if (Status read = read_file(path, **maker); !read) return read;
  }
  if (Status finished = (*maker)->finish(command); !finished) return finished;
  if (shows_progress) (*maker)->for_each_file(say_what_was_read);
  return {};
}

}  // namespace

Status import_files(const std::vector<std::string>& files, const std::string& folder,
                    const std::vector<std::string>& command, bool shows_progress) {
  fs::path output(folder);
  if (!output.has_filename()) output = output.parent_path();  // "TRACE/"
  std::error_code error;
  if (fs::exists(fs::symlink_status(output, error))) return fail(folder + " exists already; name a new folder with -o");
  const auto scratch = ScratchFolder::make(output.string() + ".part-");
  if (!scratch) return tl::make_unexpected(scratch.error());
  const std::string made = (fs::path((*scratch)->path()) / output.filename()).string();
  if (::mkdir(made.c_str(), 0755) != 0) return fail_errno("create the folder " + folder, errno);
  Status done = make_trace(files, made, command, shows_progress);
  if (done && ::rename(made.c_str(), output.c_str()) != 0) done = fail_errno("create the folder " + folder, errno);
  if (!done) return tl::make_unexpected(renamed(std::move(done).error(), made, folder));
  return done;
}

Result<int> import(const Arguments& arguments) {
  std::vector<std::string> files;
  std::string folder;
  bool quiet = false;
  CLI::App app("Makes a trace of what another tool has recorded.", "import");
  set_usage(app, "mlrun import [OPTIONS] FILE... -o TRACE");
  app.footer(import_footer());
  app.add_option("FILE", files, "a file that the other tool wrote; several files of one run become one trace")
      ->required();
  app.add_option("-o,--output", folder, "folder of the new trace")->required()->type_name("TRACE");
  app.add_flag("--quiet", quiet, "print nothing but errors (default: off)");
  const auto parsed = parse(app, arguments);
  if (!parsed) return tl::make_unexpected(parsed.error());
  if (!*parsed) return 0;
  std::vector<std::string> command = {"mlrun", "import"};
  command.insert(command.end(), files.begin(), files.end());
  if (Status done = import_files(files, folder, command, !quiet); !done) return tl::make_unexpected(done.error());
  return 0;
}

}  // namespace mlrun::exchange
