// SPDX-License-Identifier: Apache-2.0
#include "runner/exchange/front/convert_verb.h"

#include <algorithm>
#include <filesystem>
#include <system_error>

#include <fmt/format.h>

#include "runner/exchange/export.h"
#include "runner/exchange/front/import.h"
#include "runner/exchange/otf2/otf2.h"
#include "runner/exchange/scratch_folder.h"
#include "runner/options/cli.h"
#include "runner/util/text.h"

namespace mlrun::exchange {

namespace {

namespace fs = std::filesystem;

constexpr const char* kConvertFooter =
    "Examples:\n"
    "  mlrun convert worker0.pt.trace.json.gz -o archive\n"
    "  mlrun convert -c -i profile/ -o archive\n"
    "\n"
    "Does the same as mlrun import and then mlrun export --to otf2. FILE may be a folder with one *.trace.json or "
    "*.trace.json.gz.";

// The file itself, or the only trace in a folder.
Result<std::string> find_input(const std::string& input) {
  std::error_code error;
  if (!fs::is_directory(input, error)) return input;
  std::vector<std::string> found;
  for (fs::recursive_directory_iterator at(input, error), end; !error && at != end; at.increment(error)) {
    const std::string path = at->path().string();
    if (path.ends_with(".trace.json") || path.ends_with(".trace.json.gz")) found.push_back(path);
  }
  if (error) return fail("cannot read " + input + ": " + error.message());
  if (found.size() == 1) return found.front();
  return fail(fmt::format("{} has {} files *.trace.json or *.trace.json.gz; give the one to convert as FILE", input,
                          found.size()));
}

// Removes an archive. Fails if the folder has other files than those of an archive.
Status remove_archive(const std::string& folder) {
  std::error_code error;
  if (!fs::exists(folder, error)) return {};
  for (fs::directory_iterator at(folder, error), end; !error && at != end; at.increment(error)) {
    const std::string name = at->path().filename().string();
    if (name != "traces" && name != "traces.def" && name != "traces.otf2") {
      return fail(folder + " has " + util::printable(name) +
                  ", which is not part of an OTF2 archive, so --clean removes nothing; name another folder with -o");
    }
  }
  if (!error) fs::remove_all(folder, error);
  return error ? Status(fail("cannot remove " + folder + ": " + error.message())) : Status();
}

Status convert(const std::string& input, const std::string& output) {
  const auto scratch = ScratchFolder::make(output + ".import-");
  if (!scratch) return tl::make_unexpected(scratch.error());
  ExportOptions options;
  options.trace_folder = (*scratch)->path() + "/trace";
  options.output = output;
  if (Status read = import_files({input}, options.trace_folder, {"mlrun", "convert", input}, true); !read) return read;
  auto job = Export::open(std::move(options));
  if (!job) return tl::make_unexpected(job.error());
  Status done = write_otf2(**job);
  if (done) done = (*job)->commit();
  if (!done) return tl::make_unexpected((*job)->with_asked_name(done.error()));
  fmt::print("{}: {} rows\n{}", util::printable(output), (*job)->account().rows_written(), (*job)->account().text());
  return {};
}

}  // namespace

Result<int> convert_verb(const std::vector<std::string>& arguments) {
  std::string input, named, output;
  bool cleans = false;
  CLI::App app("Converts a trace of another tool to OTF2.", "convert");
  set_usage(app, "mlrun convert [OPTIONS] FILE -o DIR");
  app.footer(kConvertFooter);
  auto* file = app.add_option("FILE", input, "a file that the other tool wrote");
  app.add_option("-i,--input", named, "the file, instead of the argument FILE")->type_name("FILE")->excludes(file);
  app.add_option("-o,--output", output, "folder of the archive: DIR/traces.otf2")->required()->type_name("DIR");
  app.add_flag("-c,--clean", cleans, "remove an archive that exists at DIR first (default: off)");
  const auto parsed = parse(app, arguments);
  if (!parsed) return tl::make_unexpected(parsed.error());
  if (!*parsed) return 0;
  if (input.empty()) input = named;
  if (input.empty()) return fail("convert needs a FILE; mlrun convert --help shows how");
  const auto found = find_input(input);
  if (!found) return tl::make_unexpected(found.error());
  while (output.size() > 1 && output.ends_with('/')) output.pop_back();
  if (cleans) {
    if (Status removed = remove_archive(output); !removed) return tl::make_unexpected(removed.error());
  }
  std::error_code ignored;
  if (fs::exists(output, ignored))  // checked before a long import
    return fail(output + " exists; remove it by --clean, or choose another name with -o");
  if (Status done = convert(*found, output); !done) return tl::make_unexpected(done.error());
  return 0;
}

}  // namespace mlrun::exchange
