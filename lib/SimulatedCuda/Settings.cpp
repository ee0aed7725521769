// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Settings and findings as JSON.
#include "fp8/SimulatedCuda/Settings.h"

#include <nlohmann/json.hpp>

namespace fp8::cuda {
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE_WITH_DEFAULT(
    Settings, chip, multiprocessors, memoryLimit, scheduleSeed, schedules,
    residentClusters, threads, maxErrors, strict, keepGoing, completeAtIssue,
    initcheck, quiet, ptx, capture, report)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE_WITH_DEFAULT(Findings, launches,
                                                warpInstructions, errors,
                                                warnings, unsupportedCalls,
                                                seconds)

template <typename T>
static std::optional<T> parse(const std::string &text) {
  auto json = nlohmann::json::parse(text, nullptr, /*allow_exceptions=*/false);
  if (!json.is_object())
    return std::nullopt;
  try {
    return json.get<T>();
  } catch (const nlohmann::json::exception &) {
    return std::nullopt; // a member of another type
  }
}

std::string toJson(const Settings &settings) {
  return nlohmann::json(settings).dump();
}
std::optional<Settings> parseSettings(const std::string &text) {
  return parse<Settings>(text);
}
Findings Findings::operator+(const Findings &other) const {
  return {launches + other.launches,
          warpInstructions + other.warpInstructions,
          errors + other.errors,
          warnings + other.warnings,
          unsupportedCalls + other.unsupportedCalls,
          seconds + other.seconds};
}

std::string toJson(const Findings &findings) {
  return nlohmann::json(findings).dump();
}
std::optional<Findings> parseFindings(const std::string &text) {
  return parse<Findings>(text);
}

} // namespace fp8::cuda
