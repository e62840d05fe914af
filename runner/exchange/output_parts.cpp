// SPDX-License-Identifier: Apache-2.0
#include "runner/exchange/output_parts.h"

#include <filesystem>
#include <system_error>
#include <utility>

#include <fmt/format.h>

namespace mlrun::exchange {

OutputParts::OutputParts(Export& job, std::string extension, bool compresses)
    : job_(&job), extension_(std::move(extension)), compresses_(compresses) {}

std::string OutputParts::name(int number) const {
  return fmt::format("{}/part-{:03}{}", job_->output(), number, extension_);
}

bool OutputParts::is_full(uint64_t usual) const {
  return file_->size() >= (job_->split_bytes() != 0 ? job_->split_bytes() : usual);
}

Status OutputParts::make_folder() {
  namespace fs = std::filesystem;
  std::error_code error;
  const std::string aside = job_->output() + ".first";
  fs::rename(job_->output(), aside, error);
  if (!error) fs::create_directory(job_->output(), error);
  if (!error) fs::rename(aside, name(1), error);
  if (error) return fail(fmt::format("cannot create the folder {}: {}", job_->output(), error.message()));
  return {};
}

Status OutputParts::begin() {
  if (file_) {
    if (auto closed = file_->close(); !closed) return closed;
  }
  if (++number_ == 2) {
    if (auto made = make_folder(); !made) return made;
  }
  auto file = OutputFile::create(number_ == 1 ? job_->output() : name(number_), compresses_);
  if (!file) return tl::make_unexpected(file.error());
  file_.emplace(*std::move(file));
  return {};
}

Status OutputParts::close() {
  if (number_ > 1) job_->account().note(fmt::format("{} files in a folder, each complete by itself", number_));
  return file_->close();
}

}  // namespace mlrun::exchange
