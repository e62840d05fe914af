// SPDX-License-Identifier: Apache-2.0
#include "runner/sweep/plan/shell_words.h"

#include <cctype>
#include <cstring>
#include <optional>

#include <fmt/format.h>

namespace mlrun::sweep {

namespace {

bool is_blank(char byte) { return std::strchr(" \t\r\n", byte) != nullptr && byte != '\0'; }
bool is_operator(char byte) { return std::strchr("|&;<>", byte) != nullptr && byte != '\0'; }

class Splitter {
 public:
  explicit Splitter(std::string_view text) : text_(text) {}

  Result<Words> split() {
    for (; at_ < text_.size() && error_.empty(); at_++) {
      if (quote_ != 0) {
        take_quoted();
      } else {
        take_plain();
      }
    }
    if (error_.empty() && quote_ != 0) error_ = fmt::format("the quote {} is not closed", quote_);
    if (error_.empty()) end_word();
    if (!error_.empty()) return fail(error_);
    return std::move(words_);
  }

 private:
  void take_plain() {
    const char byte = text_[at_];
    if (is_blank(byte)) return end_word();
    if (byte == '\'' || byte == '"') {
      begin_word();
      quote_ = byte;
    } else if (byte == '\\' && at_ + 1 < text_.size()) {
      if (text_[++at_] != '\n') put(text_[at_]);
    } else {
      check_expansion();
      if (is_operator(byte)) note_operator();
      if (byte == '~' && !word_ && (at_ + 1 == text_.size() || is_blank(text_[at_ + 1]) || text_[at_ + 1] == '/')) {
        error_ = "~ is not expanded, since no shell runs: write the path";
      }
      put(byte);
    }
  }

  void take_quoted() {
    const char byte = text_[at_];
    if (byte == quote_) {
      quote_ = 0;
    } else if (quote_ == '"' && byte == '\\' && at_ + 1 < text_.size() && std::strchr("\"\\$`\n", text_[at_ + 1])) {
      if (text_[++at_] != '\n') put(text_[at_]);
    } else {
      if (quote_ == '"') check_expansion();
      put(byte);
    }
  }

  // `$NAME`, `${`, `$(` and backquotes.
  void check_expansion() {
    const char byte = text_[at_], next = at_ + 1 < text_.size() ? text_[at_ + 1] : '\0';
    const bool expands = byte == '$' && (std::isalpha(static_cast<unsigned char>(next)) != 0 || next == '_' ||
                                         next == '{' || next == '(');
    if (!expands && byte != '`') return;
    error_ = fmt::format(
        "{} is not expanded, since no shell runs: write the value, put it into single quotes, or use sh -c '...'",
        byte == '`' ? "`...`" : std::string("$") + next);
  }

  // "2>" and "|" are operators wherever they begin a word; within one, as in an address of the web, they are not.
  void note_operator() {
    if (!word_ || word_->find_first_not_of("0123456789") == std::string::npos) begins_with_operator_ = !is_quoted_;
    ends_with_operator_at_ = at_;
  }

  void begin_word() {
    if (!word_) word_.emplace();
    is_quoted_ = true;
  }

  void put(char byte) {
    if (!word_) word_.emplace();
    word_->push_back(byte);
  }

  void end_word() {
    if (!word_) return;
    if (begins_with_operator_ || (ends_with_operator_at_ && *ends_with_operator_at_ + 1 == at_)) {
      error_ = fmt::format("{} is not interpreted, since no shell runs: quote it, or use sh -c '...'", *word_);
    }
    words_.push_back(*std::move(word_));
    word_.reset();
    is_quoted_ = begins_with_operator_ = false;
    ends_with_operator_at_.reset();
  }

  std::string_view text_;
  size_t at_ = 0;
  char quote_ = 0;
  std::optional<std::string> word_;
  bool is_quoted_ = false;             // a part of the word was quoted
  bool begins_with_operator_ = false;  // outside quotes
  std::optional<size_t> ends_with_operator_at_;
  Words words_;
  std::string error_;
};

}  // namespace

Result<Words> shell_words(std::string_view text) { return Splitter(text).split(); }

}  // namespace mlrun::sweep
