// SPDX-License-Identifier: Apache-2.0
// What most sources of the runner include, compiled before them (CMakeLists.txt). A source still names what it uses: with -DMLRUN_UNITY=OFF each
// is compiled without this.
//
// Declared here and defined once, in headers.cpp and text.cpp: code of <nlohmann/json.hpp> and <string> that would be compiled again for each
// source that calls it. libstdc++ declares std::string so up to C++17 only.
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
