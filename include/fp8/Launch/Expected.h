// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A value or one error message, for libraries that throw no exceptions.
#ifndef FP8_LAUNCH_EXPECTED_H
#define FP8_LAUNCH_EXPECTED_H

#include <cassert>
#include <string>
#include <utility>
#include <variant>

namespace fp8::launch {

/// One error, ready to print: it names the thing, the rule and the cure, in
/// lower case and without a full stop.
struct Error {
  std::string message;
};

/// Either a `T` or an `Error`.
template <typename T>
class Expected {
public:
  Expected(T value) : state(std::move(value)) {}
  Expected(Error error) : state(std::move(error)) {}

  explicit operator bool() const { return std::holds_alternative<T>(state); }

  T &operator*() {
    assert(*this && "no value: check the Expected first");
    return *std::get_if<T>(&state);
  }
  const T &operator*() const {
    assert(*this && "no value: check the Expected first");
    return *std::get_if<T>(&state);
  }
  T *operator->() { return &**this; }
  const T *operator->() const { return &**this; }

  /// The message; call it only if there is no value.
  const std::string &error() const {
    assert(!*this && "no error: check the Expected first");
    return std::get_if<Error>(&state)->message;
  }
  /// The error itself, to return to a caller.
  Error takeError() const { return Error{error()}; }

private:
  std::variant<T, Error> state;
};

} // namespace fp8::launch

#endif // FP8_LAUNCH_EXPECTED_H
