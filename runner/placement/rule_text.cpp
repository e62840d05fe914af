// SPDX-License-Identifier: Apache-2.0
#include "runner/placement/rule_text.h"

#include <algorithm>
#include <array>
#include <string_view>

#include <fmt/format.h>

#include "runner/placement/kinds.h"
#include "runner/util/memory_kinds.h"
#include "runner/util/number.h"
#include "runner/util/text.h"

namespace mlrun::placement {

namespace {

constexpr size_t kBuildIdLeast = 8;  // hexadecimal digits
constexpr const char* kDigits = "0123456789abcdef";
constexpr uint64_t kLeastBlock = 4096, kUsualBlock = 64 << 10, kUsualMapping = 1 << 20;
constexpr uint64_t kLeastRegion = 16 << 20;  // memkind's own limit

// Puts blanks around signs that separate words, so that size>=1M->node 1 is read like size >= 1M -> node 1.
std::vector<std::string> words_of(std::string_view text) {
  std::string spaced;
  for (size_t i = 0; i < text.size(); i++) {
    const std::string_view two = text.substr(i, 2);
    if (two == "->" || two == ">=" || two == "<=" || two == "..") {
      spaced += ' ';
      spaced += two;
      spaced += ' ';
      i++;
    } else if (text[i] == '<' || text[i] == '>') {
      spaced += ' ';
      spaced += text[i];
      spaced += ' ';
    } else {
      spaced += text[i];
    }
  }
  std::vector<std::string> words;
  for (const std::string_view word : util::split(spaced, " \t")) words.emplace_back(word);
  return words;
}

class Reader {
 public:
  explicit Reader(const std::string& text) : words_(words_of(text)) { rule_.text = text; }

  Result<Rule> read() {
    Status status;
    while (status && !at_end() && words_[at_] != "->") status = read_condition();
    if (status && !take("->")) status = fail("'->' and a target are missing at the end");
    if (status) status = read_target();
    while (status && !at_end()) status = read_addition();
    if (status) status = settle();
    if (!status) return tl::make_unexpected(status.error());
    return rule_;
  }

 private:
  [[nodiscard]] bool at_end() const { return at_ == words_.size(); }
  bool take(std::string_view word) {
    if (at_end() || words_[at_] != word) return false;
    at_++;
    return true;
  }
  // The next word. `what`: its meaning, for the error if it is missing.
  Result<std::string> next(const char* what) {
    if (at_end() || words_[at_] == "->") return fail(fmt::format("{} is missing", what));
    return words_[at_++];
  }

  Status read_condition() {
    if (take("and")) {
      const bool joins = at_ > 1 && !at_end() && words_[at_] != "->" && words_[at_] != "and";
      return joins ? Status() : fail("'and' needs a condition before and after it");
    }
    if (take("mmap")) {
      rule_.calls = MLRUN_PLACE_MMAP;
      return {};
    }
    if (take("size")) return read_size();
    if (take("main")) return set_role(MLRUN_PLACE_MAIN, {});
    if (take("worker")) return set_role(MLRUN_PLACE_WORKER, {});
    if (take("command"))
      return with_text("the name of a program",
                       [&](std::string text) { return set_role(MLRUN_PLACE_COMMAND, std::move(text)); });
    if (take("library"))
      return with_text("the name of a library",
                       [&](std::string text) { return set_site(MLRUN_PLACE_LIBRARY, std::move(text)); });
    if (take("function"))
      return with_text("the name of a function",
                       [&](std::string text) { return set_site(MLRUN_PLACE_FUNCTION, std::move(text)); });
    if (take("site"))
      return with_text("a signature",
                       [&](std::string text) { return set_site(MLRUN_PLACE_SIGNATURE, std::move(text)); });
    return fail(
        fmt::format("'{}' is no condition; there are size, mmap size, library, function, site, main, worker, command",
                    words_[at_]));
  }

  template <typename Set>
  Status with_text(const char* what, Set set) {
    auto text = next(what);
    return text ? set(*std::move(text)) : Status(tl::make_unexpected(text.error()));
  }

  Status set_role(mlrun_place_role role, std::string text) {
    if (rule_.role != MLRUN_PLACE_ANY_ROLE)
      return fail("two conditions on the process (main, worker, command); a rule can have one");
    rule_.role = role;
    rule_.role_text = std::move(text);
    return {};
  }

  Status set_site(mlrun_place_site site, std::string text) {
    if (rule_.site != MLRUN_PLACE_ANY_SITE)
      return fail("two conditions on the caller (library, function, site); a rule can have one");
    rule_.site = site;
    rule_.site_text = std::move(text);
    return site == MLRUN_PLACE_SIGNATURE ? check_signature() : Status();
  }

  // BUILDID+0x123,...;BUILDID+0x456,... An offset may be a range, 123-456: any address of a function.
  [[nodiscard]] Status check_signature() const {
    for (const std::string_view signature : util::split(rule_.site_text, ";")) {
      const auto frames = util::split(signature, ",");
      for (const std::string_view frame : frames) {
        if (!is_frame(frame))
          return fail(fmt::format("'{}' is no frame of a signature; write it like 1f2e3d4c+0x7a10", frame));
      }
      if (frames.size() > MLRUN_PLACE_FRAMES) {
        return fail(
            fmt::format("the signature has {} frames; {} are the most", frames.size(), int{MLRUN_PLACE_FRAMES}));
      }
    }
    return {};
  }

  static bool is_frame(std::string_view frame) {
    const size_t plus = frame.find('+');
    std::string_view offset = plus == std::string_view::npos ? "" : frame.substr(plus + 1);
    if (offset.starts_with("0x")) offset.remove_prefix(2);
    const size_t dash = offset.find('-');
    const auto offset_in = [](std::string_view text) {
      const bool has_digits_only = text.find_first_not_of(kDigits) == std::string_view::npos;
      return has_digits_only ? util::whole_number<uint64_t>(text, 16) : std::nullopt;
    };
    const auto first = offset_in(offset.substr(0, dash));
    const auto last = dash == std::string_view::npos ? UINT64_MAX : offset_in(offset.substr(dash + 1));
    return plus != std::string_view::npos && plus >= kBuildIdLeast &&
           frame.substr(0, plus).find_first_not_of(kDigits) == std::string_view::npos && first && last &&
           *first <= *last;
  }

  Status read_size() {
    for (const std::string_view sign : {">=", "<=", ">", "<"}) {
      if (!take(sign)) continue;
      const auto bytes = read_bytes();
      if (!bytes) return tl::make_unexpected(bytes.error());
      if (sign == ">=" || sign == ">") has_least_ = true;
      if (sign == ">=") rule_.min_bytes = std::max(rule_.min_bytes, *bytes);
      if (sign == ">" && *bytes == UINT64_MAX) return fail("no size is above that");
      if (sign == ">") rule_.min_bytes = std::max(rule_.min_bytes, *bytes + 1);
      if (sign == "<=") rule_.max_bytes = std::min(rule_.max_bytes, *bytes);
      if (sign == "<" && *bytes == 0) return fail("no size is below 0");
      if (sign == "<") rule_.max_bytes = std::min(rule_.max_bytes, *bytes - 1);
      return {};
    }
    const auto low = read_bytes();
    if (!low) return tl::make_unexpected(low.error());
    if (!take(".."))
      return fail(fmt::format("write an upper limit, size {}..SIZE, or size >= {}", words_[at_ - 1], words_[at_ - 1]));
    const auto high = read_bytes();
    if (!high) return tl::make_unexpected(high.error());
    has_least_ = true;
    rule_.min_bytes = std::max(rule_.min_bytes, *low);
    rule_.max_bytes = std::min(rule_.max_bytes, *high);
    return {};
  }

  Result<uint64_t> read_bytes() {
    const auto word = next("a size");
    if (!word) return tl::make_unexpected(word.error());
    return util::parse_size(*word);
  }

  Status read_target() {
    if (take("default")) return {};
    if (take("huge")) {
      rule_.target = Target::kHuge;
      rule_.huge = true;
      return {};
    }
    if (take("pmem")) {
      rule_.target = Target::kPmem;
      return {};
    }
    if (take("node")) return read_where(Target::kNodes, "the number of a node");
    if (take("interleave")) return read_where(Target::kInterleave, "a list of nodes");
    if (take("near")) {
      if (!take("gpu")) return fail("'gpu N' is missing after 'near'");
      return read_where(Target::kNearGpu, "the number of a GPU");
    }
    const auto word = next("a target");
    if (!word) return tl::make_unexpected(word.error());
    if (is_kind(*word)) {
      rule_.target = Target::kKind;
      rule_.where = *word;
      return {};
    }
    if (word->find(':') != std::string::npos) return read_ratio(*word);
    return fail(fmt::format(
        "'{}' is no target; there are node N, interleave N,M, 3:1 node N,M, huge, default, near gpu N, pmem, {}", *word,
        util::memory_kind_names()));
  }

  Status read_where(Target target, const char* what) {
    rule_.target = target;
    auto word = next(what);
    if (!word) return tl::make_unexpected(word.error());
    rule_.where = *std::move(word);
    return {};
  }

  Status read_ratio(const std::string& text) {
    const auto parts = util::split(text, ":");
    const bool has_empty_part = parts.size() != 1 + static_cast<size_t>(std::count(text.begin(), text.end(), ':'));
    for (const std::string_view part : parts) {
      const auto share = util::whole_number<uint32_t>(part).value_or(0);
      if (share == 0 || share > 1000)
        return fail(fmt::format("'{}' is no ratio; write it like 3:1, with numbers from 1 to 1000", text));
      rule_.shares.push_back(share);
    }
    if (has_empty_part || rule_.shares.size() < 2 || rule_.shares.size() > MLRUN_PLACE_SHARES)
      return fail(fmt::format("'{}' is no ratio of 2 to {} nodes", text, int{MLRUN_PLACE_SHARES}));
    if (!take("node") && !take("nodes")) return fail(fmt::format("'node N,M' is missing after the ratio '{}'", text));
    return read_where(Target::kRatio, "a list of nodes");
  }

  Status read_addition() {
    if (take("strict")) {
      rule_.strict = true;
      return {};
    }
    if (take("huge")) {
      rule_.huge = true;
      return {};
    }
    if (take("heap")) {
      if (!take("memkind"))
        return fail("only 'memkind' can follow 'heap'; leave out both words to use mlrun's own heap");
      rule_.memkind = true;
      return {};
    }
    if (take("budget")) {
      if (rule_.budget_bytes != 0) return fail("two budgets; a rule can have one");
      const auto bytes = read_bytes();
      if (!bytes) return tl::make_unexpected(bytes.error());
      if (*bytes < kLeastBlock) return fail(fmt::format("a budget below {} bytes places nothing", kLeastBlock));
      rule_.budget_bytes = *bytes;
      return {};
    }
    return fail(fmt::format("'{}' is not understood after a target; there are strict, huge, budget SIZE, heap memkind",
                            words_[at_]));
  }

  Status settle() {
    const bool maps = rule_.calls == MLRUN_PLACE_MMAP;
    const uint64_t usual = maps ? kUsualMapping : kUsualBlock;
    if (!has_least_) rule_.min_bytes = rule_.max_bytes > usual ? usual : kLeastBlock;
    if (rule_.min_bytes > rule_.max_bytes) return fail("no size fits: the lower limit is above the upper one");
    if (rule_.min_bytes < kLeastBlock)
      return fail(fmt::format(
          "memory is placed in pages of {} bytes: smaller blocks stay with the program's allocator; write size >= {}",
          kLeastBlock, kLeastBlock));
    const bool in_file = rule_.target == Target::kPmem;
    const bool anywhere = in_file || rule_.target == Target::kDefault || rule_.target == Target::kHuge;
    if (rule_.strict && anywhere) return fail("'strict' binds to nodes, and this target names none");
    if (rule_.strict && rule_.target == Target::kInterleave)
      return fail(
          "'strict' has no effect on interleave: the kernel takes other nodes once these are full; write a ratio, such "
          "as 1:1 node N,M strict");
    if (maps && rule_.budget_bytes != 0)
      return fail("a budget limits blocks, not mappings; leave it out of a rule with mmap");
    if (in_file && maps) return fail("only blocks can have the target pmem; leave out mmap");
    if (in_file && rule_.huge) return fail("leave out 'huge': the file system chooses the page size of pmem");
    return rule_.memkind ? check_memkind_rule() : Status();
  }

  [[nodiscard]] Status check_memkind_rule() const {
    if (rule_.calls == MLRUN_PLACE_MMAP)
      return fail("memkind is a heap of blocks, not mappings; leave it out of a rule with mmap");
    if (rule_.target == Target::kPmem || rule_.target == Target::kRatio)
      return fail("memkind cannot have the target pmem or a ratio: its region is bound as a whole");
    if (rule_.budget_bytes < kLeastRegion)
      return fail("memkind has one region of a fixed size: write budget SIZE, 16M or more");
    return {};
  }

  std::vector<std::string> words_;
  size_t at_ = 0;
  bool has_least_ = false;  // a lower limit of sizes is given
  Rule rule_;
};

}  // namespace

bool is_rule_text(const std::string& argument) { return argument.find("->") != std::string::npos; }

Result<Rule> parse_rule(const std::string& text) {
  auto rule = Reader(text).read();
  if (!rule) return fail(fmt::format("'{}': {}", text, rule.error().text));
  return rule;
}

}  // namespace mlrun::placement
