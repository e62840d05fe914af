// SPDX-License-Identifier: Apache-2.0
// The files in an archive: tar, also packed with gzip, and zip. Input::open() takes ARCHIVE/NAME as the path of one.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "runner/exchange/import/input.h"

namespace mlrun::exchange {

// The files in it as ARCHIVE/NAME, in the order of the archive; `path` itself if it is no archive.
Result<std::vector<std::string>> files_of(const std::string& path);

inline constexpr std::string_view kZipMagic = "PK\3\4";
// The first file of a zip archive, of which the end may be missing.
Result<std::unique_ptr<Input>> open_first_of_zip(const std::string& path, std::unique_ptr<FileInput> file);

// The bytes of the file `name` in the archive. A gzip file in the archive is still packed.
Result<std::unique_ptr<Input>> open_member(const std::string& archive, const std::string& name);

}  // namespace mlrun::exchange
