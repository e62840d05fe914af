// SPDX-License-Identifier: Apache-2.0
#include "runner/samplers/machine/net_source.h"

#include <algorithm>
#include <cstring>

#include "runner/samplers/proc/kernel_texts.h"

namespace mlrun::machine {

NetSource::NetSource(const Places& places) : dev_(places.proc + "/net/dev") {}

std::vector<std::string> NetSource::problems() const {
  if (works()) return {};
  return {"/proc/net/dev cannot be opened: no samples of network interfaces"};
}

//   eth0: 5402385938  113200 ...   16 numbers since Linux 2.2. A large number may follow the colon without a blank, and a
//   name may contain a colon (eth0:1).
void NetSource::sample(uint64_t now_ns, Batch& batch) {
  differences_.begin(now_ns);
  proc::for_each_line(dev_.read(room_), [&](std::string_view line) {
    const size_t colon = line.rfind(':'), begin = line.find_first_not_of(' ');
    if (colon == std::string_view::npos || begin >= colon) return;
    const std::string_view name = line.substr(begin, colon - begin);
    proc::Numbers numbers(line.substr(colon));
    auto values = decltype(differences_)::unknown();
    for (int64_t& value : values) {
      uint64_t number = 0;
      if (!numbers.next(number)) return;
      value = static_cast<int64_t>(number);
    }
    mlrun_net_sample sample{};
    std::memcpy(sample.name, name.data(), std::min(name.size(), sizeof sample.name));
    if (differences_.step(std::string(name), values, sample)) batch.add(MLRUN_SAMPLE_NET, sample);
  });
  differences_.end();
}

}  // namespace mlrun::machine
