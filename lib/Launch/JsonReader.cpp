// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Strict, path-tracking access to JSON.
#include "JsonReader.h"

#include <algorithm>
#include <limits>
#include <set>

namespace fp8::launch {
namespace {
constexpr size_t maxTextBytes = 16u << 20;
constexpr size_t maxNesting = 256;

std::string lineAndColumn(std::string_view text, size_t position) {
  position = std::min(position, text.size());
  std::string_view before = text.substr(0, position);
  size_t line = std::count(before.begin(), before.end(), '\n') + 1;
  size_t lastBreak = before.rfind('\n');
  size_t column =
      lastBreak == std::string_view::npos ? position : position - lastBreak - 1;
  return "line " + std::to_string(line) + ", column " +
         std::to_string(std::max<size_t>(column, 1));
}

/// Refuses repeated keys and deep nesting while the DOM is built.
class StructureGuard {
public:
  using Json = nlohmann::json;

  bool operator()(int depth, Json::parse_event_t event, Json &parsed) {
    switch (event) {
    case Json::parse_event_t::object_start:
    case Json::parse_event_t::array_start:
      if (static_cast<size_t>(depth) >= maxNesting)
        throw JsonError{"the file nests deeper than " +
                        std::to_string(maxNesting) + " levels"};
      keys.emplace_back();
      break;
    case Json::parse_event_t::object_end:
    case Json::parse_event_t::array_end:
      keys.pop_back();
      break;
    case Json::parse_event_t::key:
      if (!keys.back().insert(parsed.get<std::string>()).second)
        throw JsonError{"key '" +
                        JsonValue::printable(parsed.get<std::string>()) +
                        "' appears twice in one object; keys must be unique"};
      break;
    default:
      break;
    }
    return true;
  }

private:
  std::vector<std::set<std::string>> keys;
};
} // namespace

nlohmann::json parseJson(std::string_view text) {
  if (text.size() > maxTextBytes)
    throw JsonError{"the file has " + std::to_string(text.size()) +
                    " bytes; the limit is " + std::to_string(maxTextBytes)};
  StructureGuard guard;
  try {
    return nlohmann::json::parse(
        text.begin(), text.end(),
        [&](int depth, nlohmann::json::parse_event_t event,
            nlohmann::json &parsed) { return guard(depth, event, parsed); });
  } catch (const nlohmann::json::parse_error &error) {
    bool truncated = error.byte >= text.size();
    throw JsonError{lineAndColumn(text, error.byte) + ": not valid JSON" +
                    (truncated ? ": the text ends too early" : "")};
  } catch (const nlohmann::json::exception &) {
    throw JsonError{"not valid JSON: a number is out of range"};
  }
}

std::string JsonValue::printable(std::string_view text) {
  constexpr size_t limit = 60;
  std::string result(text.substr(0, limit));
  for (char &c : result)
    if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f)
      c = '?';
  return text.size() > limit ? result + "..." : result;
}

void JsonValue::fail(const std::string &problem) const {
  throw JsonError{(path.empty() ? "the top level" : path) + ": " + problem};
}

std::string JsonValue::found() const {
  if (value->is_string())
    return "the string '" + printable(value->get<std::string>()) + "'";
  if (value->is_number_float())
    return "the number " + value->dump();
  if (value->is_number() || value->is_boolean() || value->is_null())
    return value->dump();
  return std::string("an ") + value->type_name();
}

void JsonValue::expectObject(
    std::initializer_list<std::string_view> required,
    std::initializer_list<std::string_view> optional) const {
  if (!value->is_object())
    fail("expected an object, found " + found());
  auto contains = [](auto &list, std::string_view key) {
    return std::find(list.begin(), list.end(), key) != list.end();
  };
  for (const auto &item : value->items())
    if (!contains(required, item.key()) && !contains(optional, item.key()))
      fail("unknown key '" + printable(item.key()) + "'");
  for (std::string_view key : required)
    if (!has(key))
      fail("missing key '" + std::string(key) + "'");
}

bool JsonValue::has(std::string_view key) const {
  return value->is_object() && value->contains(std::string(key));
}

JsonValue JsonValue::operator[](std::string_view key) const {
  return JsonValue((*value)[std::string(key)],
                   path.empty() ? std::string(key)
                                : path + "." + std::string(key));
}

std::pair<std::string, JsonValue> JsonValue::onlyMember() const {
  if (!value->is_object() || value->size() != 1)
    fail("expected an object with one key, found " +
         (value->is_object() ? std::to_string(value->size()) + " keys"
                             : found()));
  std::string key = value->begin().key();
  return {key, (*this)[key]};
}

std::vector<std::pair<std::string, JsonValue>> JsonValue::members() const {
  if (!value->is_object())
    fail("expected an object, found " + found());
  std::vector<std::pair<std::string, JsonValue>> members;
  for (const auto &member : value->items())
    members.emplace_back(member.key(), (*this)[member.key()]);
  return members;
}

std::vector<JsonValue> JsonValue::array() const {
  if (!value->is_array())
    fail("expected an array, found " + found());
  std::vector<JsonValue> elements;
  for (size_t i = 0; i < value->size(); ++i)
    elements.emplace_back((*value)[i], path + "[" + std::to_string(i) + "]");
  return elements;
}

std::vector<JsonValue> JsonValue::array(size_t count) const {
  std::vector<JsonValue> elements = array();
  if (elements.size() != count)
    fail("expected " + std::to_string(count) + " elements, found " +
         std::to_string(elements.size()));
  return elements;
}

std::string JsonValue::string() const {
  if (!value->is_string())
    fail("expected a string, found " + found());
  return value->get<std::string>();
}

std::string JsonValue::nonEmptyString() const {
  std::string text = string();
  if (text.empty())
    fail("must not be empty");
  return text;
}

bool JsonValue::boolean() const {
  if (!value->is_boolean())
    fail("expected true or false, found " + found());
  return value->get<bool>();
}

int64_t JsonValue::integer() const {
  if (!value->is_number_integer())
    fail("expected an integer, found " + found());
  if (value->is_number_unsigned() &&
      value->get<uint64_t>() >
          static_cast<uint64_t>(std::numeric_limits<int64_t>::max()))
    fail(value->dump() + " does not fit in 64 signed bits");
  return value->get<int64_t>();
}

uint64_t JsonValue::unsignedInteger() const {
  if (!value->is_number_unsigned())
    fail("expected an integer of at least 0, found " + found());
  return value->get<uint64_t>();
}

double JsonValue::number() const {
  using Limits = std::numeric_limits<double>;
  if (value->is_string())
    return oneOf<double>({{"nan", Limits::quiet_NaN()},
                          {"inf", Limits::infinity()},
                          {"-inf", -Limits::infinity()}});
  if (!value->is_number())
    fail("expected a number, found " + found());
  return value->get<double>();
}

int64_t JsonValue::integer(int64_t low, int64_t high) const {
  int64_t result = integer();
  if (result < low || result > high)
    fail(std::to_string(result) + " is out of range; it must be " +
         (low == high
              ? std::to_string(low)
              : "from " + std::to_string(low) + " to " + std::to_string(high)));
  return result;
}

} // namespace fp8::launch
