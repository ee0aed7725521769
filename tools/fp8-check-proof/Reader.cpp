// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Parts of JSON values.

#include "Checker.h"

namespace fp8::check {

void require(bool holds, const llvm::Twine &reason) {
  if (!holds)
    throw Rejected{reason.str()};
}

void work() {
  static int64_t left = 100'000'000;
  require(--left > 0, "it takes too much work to check");
}

bool has(const Value &object, StringRef key) {
  return object.getAsObject() && object.getAsObject()->get(key);
}

const Value &get(const Value &object, StringRef key) {
  require(has(object, key), "there is no '" + key + "'");
  return *object.getAsObject()->get(key);
}

const Value &get(const Value &array, int64_t index) {
  require(index >= 0 && index < int64_t(getList(array).size()),
          "there is no element " + llvm::Twine(index));
  return getList(array)[index];
}

const llvm::json::Array &getList(const Value &value) {
  require(value.getAsArray(), "something is not an array");
  return *value.getAsArray();
}

const llvm::json::Array &getList(const Value &object, StringRef key) {
  static const llvm::json::Array kNone;
  return has(object, key) ? getList(get(object, key)) : kNone;
}

int64_t getNumber(const Value &value, int64_t least, int64_t most) {
  std::optional<int64_t> number = value.getAsInteger();
  require(number && *number >= least && *number <= most,
          "something is not a number, or not one that fits");
  return *number;
}

StringRef getText(const Value &value) {
  require(value.getAsString().has_value(), "something is not a string");
  return *value.getAsString();
}

bool isTrue(const Value &object, StringRef key) {
  return has(object, key) && get(object, key).getAsBoolean() == true;
}

} // namespace fp8::check
