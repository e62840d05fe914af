// SPDX-License-Identifier: Apache-2.0
#include "runner/util/log.h"

#include <fcntl.h>
#include <unistd.h>

#include <memory>
#include <mutex>
#include <utility>

#include <spdlog/pattern_formatter.h>
#include <spdlog/sinks/base_sink.h>
#include <spdlog/spdlog.h>

#include "runner/util/text.h"
#include "runner/util/unique_fd.h"

namespace mlrun::util {

namespace {

// Each line is one write, so that lines of mlrun and mlrun-trace do not mix. The file is opened for each line: lines are few, and
// a low limit of open files may leave mlrun few descriptors.
class LineSink : public spdlog::sinks::base_sink<std::mutex> {
 public:
  // `path`: the log file; empty: stderr.
  LineSink(std::string path, const std::string& pattern) : path_(std::move(path)) { set_pattern(pattern); }

 protected:
  void sink_it_(const spdlog::details::log_msg& message) override {
    spdlog::memory_buf_t line;
    formatter_->format(message, line);
    const UniqueFd file(path_.empty() ? -1 : ::open(path_.c_str(), kFlags, 0600));
    const int fd = path_.empty() ? STDERR_FILENO : file.get();
    if (fd >= 0) (void)!::write(fd, line.data(), line.size());
  }
  void flush_() override {}

 private:
  static constexpr int kFlags = O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC | O_NOFOLLOW;
  std::string path_;
};

struct Log {
  Log() : logger("mlrun", std::make_shared<LineSink>("", "mlrun: %v")) {
    logger.set_level(spdlog::level::debug);
    logger.sinks().front()->set_level(spdlog::level::info);
    logger.set_error_handler([](const std::string&) {});
  }
  spdlog::logger logger;
  std::string path;  // of mlrun.log; empty: there is none
};

Log& the_log() {
  static Log log;
  return log;
}

void write_line(spdlog::level::level_enum level, std::string_view text) {
  the_log().logger.log(level, "{}", printable(text));
}

}  // namespace

void say(std::string_view text) { write_line(spdlog::level::info, text); }
void say_error(std::string_view text) { write_line(spdlog::level::err, text); }
void note(std::string_view text) { write_line(spdlog::level::debug, text); }

void set_verbose() { the_log().logger.sinks().front()->set_level(spdlog::level::debug); }

void begin_log(const std::string& folder) {
  Log& log = the_log();
  log.path = folder + "/mlrun.log";
  log.logger.sinks().push_back(std::make_shared<LineSink>(log.path, "%Y-%m-%d %H:%M:%S.%e%z %P %l: %v"));
}

void take_log_back() {
  Log& log = the_log();
  if (log.path.empty()) return;
  log.logger.sinks().pop_back();
  ::unlink(log.path.c_str());
  log.path.clear();
}

}  // namespace mlrun::util
