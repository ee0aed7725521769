// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Conversions of printf. The host's snprintf does each by itself, with a
// specification that is checked here.

#include "ISA/Control/Printf.h"

#include <algorithm>
#include <cstdio>
#include <cstring>

using namespace fp8::sim;

namespace {

constexpr int kMostWidth = 4095;

class Formatter {
public:
  Formatter(std::string_view format, const PrintfSource &source)
      : format(format), source(source) {}

  PrintfResult run() {
    while (at < format.size()) {
      size_t percent = std::min(format.find('%', at), format.size());
      result.text += format.substr(at, percent - at);
      at = percent;
      if (at < format.size())
        convert();
    }
    return std::move(result);
  }

private:
  std::string_view format;
  const PrintfSource &source;
  PrintfResult result;
  size_t at = 0;

  char peek() const { return at < format.size() ? format[at] : '\0'; }
  bool accept(char c) {
    bool found = peek() == c && c;
    at += found;
    return found;
  }
  uint64_t take(unsigned bytes) {
    ++result.arguments;
    return source.next(bytes);
  }

  /// Digits or `*`; negative: not given.
  int number() {
    if (accept('*'))
      return std::clamp(int(int32_t(take(4))), -kMostWidth, kMostWidth);
    int value = -1;
    while (peek() >= '0' && peek() <= '9')
      value =
          std::min(std::max(value, 0) * 10 + (format[at++] - '0'), kMostWidth);
    return value;
  }

  template <typename T>
  void print(const std::string &specification, T value) {
    char buffer[kMostWidth + 512];
    std::snprintf(buffer, sizeof(buffer), specification.c_str(), value);
    result.text += buffer;
  }

  void convert() {
    const size_t start = at++;
    std::string specification = "%";
    while (peek() && std::strchr("-+ #0", peek())) {
      char flag = format[at++];
      if (specification.find(flag) == std::string::npos)
        specification += flag;
    }
    bool star = peek() == '*';
    int width = number();
    if (star && width < 0) {
      specification += "-";
      width = -width;
    }
    if (width >= 0)
      specification += std::to_string(width);
    if (accept('.')) {
      star = peek() == '*';
      int precision = number();
      // `.` alone is 0; a negative `*` is as if it were not there.
      if (precision >= 0 || !star)
        specification += "." + std::to_string(std::max(precision, 0));
    }
    std::string size;
    while (peek() && std::strchr("hlLqjzt", peek()))
      size += format[at++];
    char kind = peek();
    at += kind != '\0';
    if (!printValue(specification, size, kind))
      result.text += format.substr(start, at - start);
  }

  /// False for an unknown conversion, which is printed as it is.
  bool printValue(const std::string &specification, const std::string &size,
                  char kind) {
    const bool wide = size.find_first_of("lqjzt") != std::string::npos;
    switch (kind) {
    case '%':
      result.text += '%';
      return true;
    case 'd':
    case 'i': {
      uint64_t bits = take(wide ? 8 : 4);
      int64_t value = wide           ? int64_t(bits)
                      : size == "h"  ? int16_t(bits)
                      : size == "hh" ? int8_t(bits)
                                     : int32_t(bits);
      print(specification + "ll" + kind, static_cast<long long>(value));
      return true;
    }
    case 'u':
    case 'o':
    case 'x':
    case 'X': {
      uint64_t bits = take(wide ? 8 : 4);
      uint64_t value = wide           ? bits
                       : size == "h"  ? uint16_t(bits)
                       : size == "hh" ? uint8_t(bits)
                                      : uint32_t(bits);
      print(specification + "ll" + kind,
            static_cast<unsigned long long>(value));
      return true;
    }
    case 'c':
      print(specification + "c", int(uint8_t(take(4))));
      return true;
    case 'p':
      print(specification + "p", reinterpret_cast<void *>(take(8)));
      return true;
    case 's': {
      uint64_t address = take(8);
      printText(specification, address ? source.text(address) : "(null)");
      return true;
    }
    case 'n': // CUDA writes nothing
      take(8);
      return true;
    default:
      if (!kind || !std::strchr("eEfFgGaA", kind))
        return false;
      uint64_t bits = take(8);
      double value;
      std::memcpy(&value, &bits, 8);
      print(specification + kind, value);
      return true;
    }
  }

  /// A string may be longer than any buffer.
  void printText(const std::string &specification, const std::string &text) {
    int length =
        std::snprintf(nullptr, 0, (specification + "s").c_str(), text.c_str());
    std::string printed(size_t(std::max(length, 0)) + 1, '\0');
    std::snprintf(printed.data(), printed.size(), (specification + "s").c_str(),
                  text.c_str());
    printed.pop_back();
    result.text += printed;
  }
};

} // namespace

PrintfResult fp8::sim::formatPrintf(std::string_view format,
                                    const PrintfSource &source) {
  return Formatter(format, source).run();
}
