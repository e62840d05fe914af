// SPDX-License-Identifier: Apache-2.0
// The precompiled header of the runner (CMakeLists.txt): headers that most sources include. Each source still includes all headers that it
// uses: with -DMLRUN_UNITY=OFF it is compiled without this file.
//
// The `extern template` declarations keep the code of <nlohmann/json.hpp> and std::string from being compiled again in each source; it is
// compiled once, in headers.cpp and text.cpp. libstdc++ itself declares std::string `extern template` up to C++17 only.
#pragma once

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <iterator>
#include <limits>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <tuple>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <nlohmann/json.hpp>
#include <tl/expected.hpp>

extern template class std::basic_string<char>;
extern template class nlohmann::basic_json<>;
extern template class nlohmann::basic_json<nlohmann::ordered_map>;
extern template class nlohmann::detail::serializer<nlohmann::json>;
extern template class nlohmann::detail::serializer<nlohmann::ordered_json>;
