// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Targets against compute capabilities.
#include "fp8/Runtime/Target.h"

#include <cctype>

namespace fp8::runtime {
namespace {
struct Target {
  int major = 0, minor = 0;
  char suffix = 0;
};

/// "sm_100a": the last digit is the minor version.
std::optional<Target> parse(std::string_view text) {
  constexpr std::string_view prefix = "sm_";
  if (text.substr(0, prefix.size()) != prefix)
    return std::nullopt;
  text.remove_prefix(prefix.size());
  int number = 0;
  size_t digits = 0;
  while (digits < text.size() && digits < 4 &&
         std::isdigit(static_cast<unsigned char>(text[digits])))
    number = number * 10 + (text[digits++] - '0');
  if (digits < 2)
    return std::nullopt;
  std::string_view suffix = text.substr(digits);
  if (!suffix.empty() && suffix != "a" && suffix != "f")
    return std::nullopt;
  return Target{number / 10, number % 10, suffix.empty() ? char(0) : suffix[0]};
}
} // namespace

std::string ptxTarget(std::string_view ptx) {
  // The directive stands at a line's beginning (PTX ISA, "Directives").
  constexpr std::string_view directive = ".target";
  size_t begin = 0;
  while (begin < ptx.size()) {
    size_t end = ptx.find('\n', begin);
    std::string_view line = ptx.substr(begin, end - begin);
    begin = end == std::string_view::npos ? ptx.size() : end + 1;
    while (!line.empty() && std::isspace(static_cast<unsigned char>(line[0])))
      line.remove_prefix(1);
    if (line.substr(0, directive.size()) != directive)
      continue;
    line.remove_prefix(directive.size());
    size_t first = line.find_first_not_of(" \t");
    if (first == std::string_view::npos || first == 0)
      continue;
    line.remove_prefix(first);
    return std::string(line.substr(0, line.find_first_of(", \t\r/")));
  }
  return {};
}

bool isCubin(std::string_view image) {
  return image.substr(0, 4) == "\x7f"
                               "ELF";
}

std::optional<std::string> whyNotRunnable(std::string_view target,
                                          Capability device, bool cubin) {
  std::optional<Target> wanted = parse(target);
  if (!wanted)
    return "'" + std::string(target) + "' is not a target such as sm_90a";
  std::string version = Capability{wanted->major, wanted->minor}.str();
  auto no = [&](const std::string &rule) {
    return std::string(target) + " runs on " + rule + ", but this device has " +
           device.str();
  };
  bool sameMajor = device.major == wanted->major;
  bool laterMinor = sameMajor && device.minor >= wanted->minor;
  if (wanted->suffix == 'a') {
    if (!sameMajor || device.minor != wanted->minor)
      return no("devices of compute capability " + version + " only");
  } else if (wanted->suffix == 'f') {
    if (!laterMinor)
      return no("devices of the family of compute capability " + version);
  } else if (cubin) {
    if (!laterMinor)
      return no("(as a cubin) devices of compute capability " +
                std::to_string(wanted->major) + ".x from " + version);
  } else if (device.major < wanted->major || (sameMajor && !laterMinor)) {
    return no("devices of compute capability " + version + " or later");
  }
  return std::nullopt;
}

} // namespace fp8::runtime
