// SPDX-License-Identifier: Apache-2.0
#include "runner/sweep/advise/advise_options.h"

#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <utility>

#include <fmt/format.h>

#include "runner/events/placement.h"
#include "runner/launch/placement.h"
#include "runner/placement/kinds.h"
#include "runner/placement/resolve.h"
#include "runner/util/id_list.h"
#include "runner/util/number.h"
#include "runner/util/text.h"
#include "runner/util/units.h"

namespace mlrun::sweep {

namespace {

namespace fs = std::filesystem;

constexpr int64_t kFewestBlocks = 8, kBlocksMax = 10'000;
constexpr const char* kApartSites = "16";  // the more rules, the fewer processes can be counted (preload/placement)

constexpr const char* kFooter =
    "Examples:\n"
    "  mlrun --access --stacks=16 --alloc-min=64K -o trace ./app     record who allocates what, for how long, and what "
    "is hot\n"
    "  mlrun advise trace --fast 1=16G -o rules.toml                 a ranking: no time is predicted\n"
    "  mlrun advise trace --fast 1=16G -o rules.toml --calibrate cal   measures what sites gain, and predicts\n"
    "  mlrun advise rules.toml --try trial                           does the prediction hold?\n"
    "  mlrun advise rules.toml -o new.toml                           the same callers in another build of ./app\n"
    "  mlrun --place rules.toml ./app                                use it\n"
    "  mlrun advise trace --apart -o apart.toml                      a rule for each of the largest call sites\n"
    "  mlrun --place apart.toml --access=cold --stacks=16 --alloc-min=64K ./app    what is hot of each\n"
    "\n"
    "At every moment the blocks of the chosen call sites fit into the fast memory: that of a node, or huge pages, "
    "which "
    "help a program with random accesses to much memory.\n"
    "\n"
    "Exit status: 0; with --try 1 if the prediction did not hold; 125 for an error.";

// Options as given; empty: not given.
struct AdviseTexts {
  std::string fast, slow, ratio, apart;
};

Status take_fast(const std::string& text, AdviseOptions& options) {
  const size_t equals = text.find('=');
  if (equals == std::string::npos || equals == 0)
    return fail(fmt::format("--fast '{}': write NODE=SIZE such as 1=16G, or huge=SIZE", text));
  const auto bytes = util::parse_size(text.substr(equals + 1));
  if (!bytes) return fail("--fast: " + bytes.error().text);
  if (*bytes == 0) return fail("--fast: the size is 0; write how much fast memory blocks may use, such as 1=16G");
  options.capacity_bytes = *bytes;
  const std::string name = text.substr(0, equals);
  options.fast = name == "huge" ? name : "node " + name;
  return {};
}

Result<std::string> other_nodes(const std::string& fast) {
  const auto chosen = launch::find_memory_nodes(fast.substr(5));
  if (!chosen) return fail("--fast: " + chosen.error().text);
  const util::IdList others = nodes_beside(*chosen);
  if (others.empty())
    return fail(
        fmt::format("--fast {}: no other node with memory that could be slow may be used here; write huge=SIZE to use "
                    "huge pages as the fast memory",
                    fast));
  return "node " + util::id_list_text(others);
}

// A node of both would hold the blocks of both.
Status check_apart(const std::string& fast, const std::string& slow) {
  const auto fast_nodes = launch::find_memory_nodes(fast.substr(5)), slow_nodes = launch::find_memory_nodes(slow);
  if (!fast_nodes) return fail("--fast: " + fast_nodes.error().text);
  if (!slow_nodes) return fail("--slow: " + slow_nodes.error().text);
  for (const uint32_t node : *slow_nodes) {
    if (std::find(fast_nodes->begin(), fast_nodes->end(), node) != fast_nodes->end())
      return fail(fmt::format("--slow {}: node {} is one of --fast, too; name other nodes", slow, node));
  }
  return {};
}

Status settle_slow(const std::string& slow, AdviseOptions& options) {
  if (options.fast == "huge") {
    if (!slow.empty())
      return fail("leave out --slow: with --fast huge=SIZE, all blocks that are not chosen get ordinary pages");
    options.slow = "default";
    return {};
  }
  if (slow.empty()) {
    auto others = other_nodes(options.fast);
    if (!others) return tl::make_unexpected(others.error());
    options.slow = *std::move(others);
  } else {
    if (const Status apart = check_apart(options.fast, slow); !apart) return apart;
    options.slow = "node " + slow;
  }
  const auto rules = placement::find_rules({{"-> " + options.fast, "-> " + options.slow}, {}, {}});
  return rules ? Status() : fail("--fast and --slow: " + rules.error().text);
}

Status check_capacity(AdviseOptions& options) {
  if (options.fast == "huge") return {};
  const auto nodes = launch::find_memory_nodes(options.fast.substr(5));
  if (!nodes) return fail("--fast: " + nodes.error().text);
  uint64_t bytes = 0;
  for (const uint32_t node : *nodes) bytes += launch::kib_of_node(node).value_or(0) * 1024;
  options.fast_bytes = bytes;
  if (bytes == 0 || options.capacity_bytes <= bytes) return {};
  return fail(fmt::format("--fast: {} has {} in all, less than the given {}", options.fast, util::size_text(bytes),
                          util::size_text(options.capacity_bytes)));
}

// Checked before the calibration, which may take hours.
Status check_output(const std::string& path) {
  std::error_code ignored;
  if (fs::exists(path, ignored)) return fail(path + " exists already; name another file");
  const fs::path folder = fs::absolute(path, ignored).parent_path();
  if (!fs::is_directory(folder, ignored)) return fail(fmt::format("{}: there is no folder {}", path, folder.string()));
  if (::access(folder.c_str(), W_OK) != 0)
    return fail(fmt::format("{}: {} cannot be written to: {}", path, folder.string(), std::strerror(errno)));
  return {};
}

// --apart chooses no memory and measures nothing.
Status settle_apart(const AdviseTexts& texts, AdviseOptions& options) {
  if (options.is_file) return fail(options.source + " is a file of rules: --apart needs a trace");
  if (!texts.fast.empty() || !texts.slow.empty() || !texts.ratio.empty() || !options.calibration.empty() ||
      !options.trial.empty())
    return fail("--apart chooses no memory: leave out --fast, --slow, --spread, --calibrate and --try");
  const auto sites = util::whole_number<uint64_t>(texts.apart);
  if (!sites || *sites == 0 || *sites > MLRUN_PLACE_RULES)
    return fail(fmt::format("--apart={}: the number of call sites must be from 1 to {}, as many as there can be rules",
                            texts.apart, int{MLRUN_PLACE_RULES}));
  options.apart_sites = *sites;
  if (options.output.empty()) return fail("name a file for the rules: -o FILE");
  return check_output(options.output);
}

// Checks that options which only a rules file or only a trace accepts go with the right one.
Status check_words(const AdviseOptions& options, const AdviseTexts& texts) {
  if (options.is_file) {
    if (!texts.fast.empty() || !options.calibration.empty() || !texts.ratio.empty())
      return fail(options.source + " is a file of rules: leave out --fast, --calibrate and --spread, or name a trace");
    if (options.trial.empty() && options.output.empty())
      return fail(fmt::format(
          "{} is a file of rules: add --try OUT to test its prediction, or -o FILE to write it for another build",
          options.source));
    return options.output.empty() ? Status() : check_output(options.output);
  }
  if (texts.fast.empty())
    return fail(
        "--fast NODE=SIZE is missing: which node is fast, and how much of its memory blocks may use; or --apart, which "
        "chooses no memory");
  if (options.output.empty()) return fail("name a file for the rules: -o FILE");
  if (!texts.ratio.empty() && options.calibration.empty())
    return fail("--spread only has an effect on measured runs: add --calibrate OUT");
  return check_output(options.output);
}

Status settle_memory(const AdviseTexts& texts, AdviseOptions& options) {
  Status status = take_fast(texts.fast, options);
  if (status) status = check_capacity(options);
  if (status) status = settle_slow(texts.slow, options);
  if (!status) return status;
  auto spread = find_spread(options.fast, options.slow, texts.ratio);
  if (!spread) return tl::make_unexpected(spread.error());
  options.spread = *std::move(spread);
  return {};
}

Status settle(const AdviseTexts& texts, AdviseOptions& options) {
  std::error_code ignored;
  if (!fs::exists(options.source, ignored)) return fail(options.source + " does not exist");
  options.is_file = fs::is_regular_file(options.source, ignored);
  if (!texts.apart.empty()) return settle_apart(texts, options);
  Status status = check_words(options, texts);
  if (status && !options.is_file) status = settle_memory(texts, options);
  return status;
}

void add_options(CLI::App& app, AdviseTexts& texts, AdviseOptions& options) {
  app.add_option("TRACE", options.source, "a trace with stacks, or a file that mlrun advise wrote")->required();
  app.add_option("--fast", texts.fast,
                 "the fast memory and its size, or huge=SIZE: huge pages, for blocks of 2 MiB and more (default: none)")
      ->option_text("NODE=SIZE");
  app.add_option("--slow", texts.slow, "nodes for all other blocks (default: all other nodes that may be used here)")
      ->option_text("NODE");
  app.add_option("--spread", texts.ratio,
                 "with --calibrate: also measure all blocks over both nodes, fast to slow in this ratio (default: that "
                 "of the bandwidths that the firmware reports)")
      ->option_text("N:M");
  app.add_flag(std::string("--apart{") + kApartSites + "}", texts.apart,
               "instead of --fast: a rule for each of the SITES call sites with the most bytes x time (16 without a "
               "value, up to 64), which gives its blocks mappings of their own and leaves the nodes to the kernel. "
               "Accessed bits (--access=cold) and sampled pages are then by call site (default: off)")
      ->option_text("[=SITES]");
  app.add_option("-o,--output", options.output, "file for the rules, a new one (default: none)")->option_text("FILE");
  app.add_option(
         "--calibrate", options.calibration,
         "run the command with all blocks on the fast memory (if they fit there), all on the slow one, and each "
         "of the largest sites alone on the fast one; predict from that. Runs that OUT has already are not made "
         "again (default: off)")
      ->option_text("OUT");
  app.add_option(
         "--try", options.trial,
         "run the command as advised, with all blocks fast (if they fit there), with all slow, and placed by the "
         "kernel's default; say whether the prediction held (default: off)")
      ->option_text("OUT");
  app.add_option("--blocks", options.blocks,
                 "for --calibrate and --try: number of repetitions; in each, every placement runs once (default: 8)")
      ->option_text("N")
      ->check(between(kFewestBlocks, kBlocksMax));
  app.add_option("--figure", options.figure, "compare wall or cpu time; FILE names its own (default: wall)")
      ->option_text("wall|cpu")
      ->check(CLI::IsMember({"wall", "cpu"}));
  app.add_flag("--quiet", options.quiet, "no status line (default: off)");
}

}  // namespace

util::IdList nodes_beside(const util::IdList& fast, const std::string& system, const std::string& proc) {
  util::IdList others = placement::allowed_nodes(system, proc);
  std::erase_if(others, [&](uint32_t node) { return std::find(fast.begin(), fast.end(), node) != fast.end(); });
  return others;
}

Result<std::optional<AdviseOptions>> parse_advise(const Arguments& arguments) {
  AdviseOptions options;
  options.blocks = kFewestBlocks;
  options.figure = "wall";
  AdviseTexts texts;
  CLI::App app("Chooses the blocks that should be in the fast memory, and writes rules for --place.", "advise");
  set_usage(app, "mlrun advise [OPTIONS] TRACE|FILE");
  app.footer(kFooter);
  add_options(app, texts, options);
  const auto parsed = parse(app, arguments);
  if (!parsed) return tl::make_unexpected(parsed.error());
  if (!*parsed) return std::optional<AdviseOptions>();
  if (const Status settled = settle(texts, options); !settled) return tl::make_unexpected(settled.error());
  std::error_code ignored;
  for (std::string* path : {&options.source, &options.output, &options.calibration, &options.trial}) {
    if (!path->empty()) *path = fs::absolute(*path, ignored).string();
  }
  return options;
}

}  // namespace mlrun::sweep
