// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Strict access to JSON values that remembers where it is, so that an error can
// say `parameters[2].box[0]`. Errors are thrown as JsonError inside lib/Launch
// and caught where the text came in.
#ifndef FP8_LIB_LAUNCH_JSONREADER_H
#define FP8_LIB_LAUNCH_JSONREADER_H

#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace fp8::launch {

struct JsonError {
  std::string message;
};

/// A JSON value and its path from the root.
class JsonValue {
public:
  JsonValue(const nlohmann::json &value, std::string path)
      : value(&value), path(std::move(path)) {}

  /// Throws `path: problem`.
  [[noreturn]] void fail(const std::string &problem) const;

  /// The value is an object with all of `required` and nothing beyond them and
  /// `optional`.
  void expectObject(std::initializer_list<std::string_view> required,
                    std::initializer_list<std::string_view> optional) const;
  bool has(std::string_view key) const;
  JsonValue operator[](std::string_view key) const;

  bool isNull() const { return value->is_null(); }
  bool isObject() const { return value->is_object(); }
  bool isNumber() const { return value->is_number(); }

  /// The single key of an object with exactly one, as in `{"dim": ...}`.
  std::pair<std::string, JsonValue> onlyMember() const;

  /// What an object holds, by key.
  std::vector<std::pair<std::string, JsonValue>> members() const;

  std::vector<JsonValue> array() const;
  /// An array of exactly `count`.
  std::vector<JsonValue> array(size_t count) const;
  std::string string() const;
  std::string nonEmptyString() const;
  bool boolean() const;
  int64_t integer() const;
  int64_t integer(int64_t low, int64_t high) const;
  uint64_t unsignedInteger() const;
  /// Any number; also the strings "nan", "inf" and "-inf", which JSON's numbers
  /// cannot say.
  double number() const;

  /// One of a list of names and what each stands for.
  template <typename T>
  T oneOf(const std::vector<std::pair<std::string_view, T>> &names) const {
    std::string text = string(), all;
    for (const auto &[name, meaning] : names) {
      if (name == text)
        return meaning;
      all += (all.empty() ? "" : ", ") + std::string(name);
    }
    // In steps: gcc 12 warns of an overlap that is not there in one long sum.
    std::string message = "'";
    message += printable(text);
    message += "' is not one of ";
    fail(message += all);
  }

  /// `text` cut to a length fit for a message, control characters replaced.
  static std::string printable(std::string_view text);

private:
  std::string found() const;

  const nlohmann::json *value;
  std::string path;
};

/// Parses `text`; repeated keys and syntax errors throw JsonError with line and
/// column.
nlohmann::json parseJson(std::string_view text);

} // namespace fp8::launch

#endif // FP8_LIB_LAUNCH_JSONREADER_H
