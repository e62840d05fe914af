// SPDX-License-Identifier: Apache-2.0
// The formats that are imported: one file pair a format, and one line in the table of readers.cpp. A format is recognised by the
// content of a file.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "runner/exchange/import/trace_maker.h"
#include "runner/util/result.h"

namespace mlrun::exchange {

// The beginning of a file, unpacked.
struct Probe {
  std::string path, text;
};

struct Reader {
  const char* name;
  const char* summary;  // for the help
  bool (*recognises)(const Probe& probe);
  // Adds all of the file to the trace, and counts each event in to.file(). Fails with the byte where it is damaged.
  Status (*read)(const std::string& path, TraceMaker& to);
  bool needs_file = false;  // only unpacked, not in an archive, since a library opens it
};

[[nodiscard]] std::span<const Reader> all_readers();
// Fails if no reader knows the content.
Result<const Reader*> find_reader(const std::string& path);

}  // namespace mlrun::exchange
