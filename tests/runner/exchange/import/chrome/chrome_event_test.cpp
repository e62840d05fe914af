// SPDX-License-Identifier: Apache-2.0
// What is read of plain JSON without simdjson is what simdjson reads, whatever the bytes are.
#include "runner/exchange/import/chrome/chrome_event.h"

#include <optional>
#include <random>
#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "runner/exchange/import/json_members.h"
#include "runner/exchange/import/plain_json.h"

namespace mlrun::exchange {
namespace {

constexpr size_t kPadding = 64;

std::string padded(std::string_view text, char padding = '\0') {
  return std::string(text) + std::string(kPadding, padding);
}

std::string fields_of(const ChromeEvent& event) {
  std::string all;
  const auto add = [&](std::string_view field) { all.append(field).append("|"); };
  const auto number = [](const std::optional<int64_t>& value) { return value ? std::to_string(*value) : "none"; };
  for (const std::string& field : {std::string(1, event.phase), number(event.ts_ns), number(event.dur_ns),
                                   std::to_string(event.has_ts), std::to_string(event.id_is_local), event.other})
    add(field);
  for (const std::string_view field :
       {event.pid, event.tid, event.name, event.category, event.scope, event.binding, event.instant_scope, event.id,
        event.args, event.stack_frame, event.stack, event.weight, event.bind_id, event.flow_in, event.flow_out})
    add(field);
  return all;
}

bool has_odd_word(std::string text) {
  for (char& c : text) c = static_cast<char>(c | 0x20);
  return text.find("nan") != std::string::npos || text.find("inf") != std::string::npos;
}

// How many bytes were read as plain JSON.
size_t expect_same(const std::string& text, const std::string& behind = "") {
  const std::string bytes = padded(text + behind, '"');
  ChromeEvent plain;
  const size_t size =
      ChromeEventParser::parse_plain(std::string_view(bytes).substr(0, text.size() + behind.size()), plain);
  if (size == 0) return 0;
  EXPECT_LE(size, text.size() + behind.size());
  const std::string element = padded(text.substr(0, size));
  ChromeEventParser parser;
  ChromeEvent event;
  const auto outcome = parser.parse(std::string_view(element).substr(0, size), event);
  if (outcome != ChromeEventParser::Outcome::kEvent) {
    // What looks like a number that JSON lacks is mended there, even in a text; damage within arguments is not seen here.
    EXPECT_TRUE(has_odd_word(text) || !nlohmann::json::accept(text.substr(0, size))) << text;
    return size;
  }
  EXPECT_EQ(fields_of(plain), fields_of(event)) << text;
  return size;
}

std::string members_of(std::string_view object, bool is_padded) {
  const std::string bytes = padded(object, '"');
  JsonMembers members;
  std::string all;
  const auto see = [&](const JsonMember& member) {
    all.append(member.key)
        .append("=")
        .append(member.text)
        .append("=")
        .append(member.raw)
        .append(std::to_string(static_cast<int>(member.kind)))
        .append("|");
  };
  const std::string_view text = std::string_view(bytes).substr(0, object.size());
  all += (is_padded ? members.visit_padded(text, see) : members.visit(text, see)) ? "sound" : "damaged";
  return all;
}

const std::vector<std::string>& events() {
  static const std::vector<std::string> kEvents = {
      R"({"ph":"X","name":"aten::add","cat":"cpu_op","pid":12,"tid":"34","ts":1623143089861043.25,"dur":7,"args":{"a":[[1,2],[]],"b":"x \" ] y","c":null,"d":-1.5e-3}})",
      "{\n  \"ph\" : \"C\",\r\n\t\"name\": \"\", \"ts\" : \"10.5\" , \"pid\": true, \"args\": { } }",
      R"({"ph":"s","id":"0x1f","cat":"flow","ts":1,"pid":1,"tid":2,"bp":"e","name":"arrow","scope":"s","weight":4,"sf":7,"stack":["a","b"],"bind_id":"q","flow_in":true,"flow_out":false})",
      R"({"id2":{"local":"0x7"},"ph":"b","ts":1,"dur":"long","args":5,"cname":"good","tts":12,"other":{"deep":[{"er":{}}]}})",
      R"({"ph":"XY","ts":{"a":1},"dur":[1],"pid":{"p":1},"args":"\\\\\" } text","name":"0123456789012345678901234567890123456789012345678901234567890123456789"})",
      R"({"args":{"path":"C:\\dir\\file\\","q":"\\\"","r":"\\\\","long":"0123456789012345678901234567890123456789012345678901\\\\\\\\\\\\\\\\\\\\\\\"]}"},"ph":"i","ts":1e3})",
      R"({"args":{"nested":[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[1]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]],"note":" nan and Infinity"},"ph":"X","ts":2})"};
  return kEvents;
}

TEST(PlainJson, AnEventIsReadAsSimdjsonReadsIt) {
  for (size_t i = 0; i < events().size(); ++i) {
    EXPECT_EQ(expect_same(events()[i]), i == 4 ? 0 : events()[i].size())
        << events()[i];  // 4: an escape in a text that is taken apart
    expect_same(events()[i], ",{\"ph\":\"X\"}");
  }
}

TEST(PlainJson, OtherJsonIsLeftToSimdjson) {
  for (const char* text : {"{}",
                           "{",
                           "",
                           "{\"ph\":\"X\"",
                           "{\"ph\":\"X\",}",
                           "{\"ph\" \"X\"}",
                           "{ph:1}",
                           "{\"ts\":NaN}",
                           "{\"ts\":-}",
                           "{\"ts\":1.}",
                           "{\"a\":{\"b\":nan}}",
                           "{\"a\":[Infinity]}",
                           "{\"a\":[-inf]}",
                           "{\"a\":[1}",
                           "{\"name\":\"\xc3\xa4\"}",
                           "{\"a\":[\"\xc3\xa4\"]}",
                           "{\"a\":[\"\x01\"]}",
                           "{\"a\":[\"\n\"]}",
                           "{\"name\":\"a\\n\"}",
                           "{\"a\":[\\\"x\"]}",
                           "{\"a\":0x1f}",
                           "{\"a\":tru}",
                           "{\"a\":12 34}",
                           "{\"a\":None}"}) {
    const std::string bytes = padded(text);
    ChromeEvent event;
    EXPECT_EQ(ChromeEventParser::parse_plain(std::string_view(bytes).substr(0, bytes.size() - kPadding), event), 0u)
        << text;
  }
}

TEST(PlainJson, DamagedEventsAreReadAsSimdjsonReadsThemOrLeftToIt) {
  constexpr std::string_view kBytes = "\"\\{}[]:,0-.eEnNaAiIfFuU \n\t\x01\x7f\x80\xc3tr";
  std::mt19937_64 random(3);
  size_t plain = 0;
  for (int round = 0; round < 20'000; ++round) {
    std::string text = events()[random() % events().size()];
    for (size_t changes = random() % 4; changes != 0; --changes) {
      const size_t at = 1 + random() % (text.size() - 1);  // an object begins there, as JsonSplitter sees to
      switch (random() % 3) {
        case 0: text[at] = kBytes[random() % kBytes.size()]; break;
        case 1: text.insert(at, 1, kBytes[random() % kBytes.size()]); break;
        default: text.erase(at, 1 + random() % 3);
      }
      if (text.size() < 2) text = "{}";
    }
    plain += expect_same(text) != 0 ? 1 : 0;
    if (nlohmann::json::accept(text)) {
      EXPECT_EQ(members_of(text, true), members_of(text, false)) << text;
    }
    if (HasFailure()) return;
  }
  EXPECT_GT(plain, 5'000u);
}

}  // namespace
}  // namespace mlrun::exchange
