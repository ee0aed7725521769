// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Text of reports.

#include "fp8/Simulator/Report.h"

#include <algorithm>

using namespace fp8::sim;

/// By Rule.
static constexpr RuleInfo kRules[] = {
#define FP8_KIND(ID, NAME, MEANING) {NAME, ErrorKind::ID, Severity::Error, ""},
#define FP8_RULE(ID, KIND, SEVERITY, NAME, REASON)                             \
  {NAME, ErrorKind::KIND, Severity::SEVERITY, REASON},
#include "fp8/Simulator/Rules.def"
};

const RuleInfo &fp8::sim::infoOf(Rule rule) { return kRules[size_t(rule)]; }

std::string_view fp8::sim::errorKindName(ErrorKind kind) {
  return infoOf(ruleOf(kind)).name;
}

std::string_view fp8::sim::barrierSourceName(BarrierSource::Kind kind) {
  switch (kind) {
  case BarrierSource::Kind::Arrive:
    return "arrive";
  case BarrierSource::Kind::Commit:
    return "commit";
  case BarrierSource::Kind::CopyAsync:
    return "copy-async";
  case BarrierSource::Kind::Expect:
    return "expect";
  case BarrierSource::Kind::Bytes:
    return "bytes";
  }
  return "unknown";
}

std::string SourcePoint::str() const {
  if (!ptxLine)
    return "";
  std::string text = "ptx line " + std::to_string(ptxLine);
  if (!file.empty())
    text += " (" + file + ":" + std::to_string(line) + ")";
  return text;
}

std::string_view SimulationError::severityName() const {
  return severity == Severity::Error ? "error" : "warning";
}

std::string SimulationError::reason() const {
  if (severity == Severity::Error)
    return "";
  const RuleInfo &info = infoOf(rule);
  return "a warning, for " + std::string(info.reason) + " (docs/Warnings.md, " +
         std::string(info.name) + ")";
}

std::string SimulationError::str() const {
  std::string text = std::string(severityName()) + ": " + message + " [" +
                     std::string(errorKindName(kind)) + "]";
  if (where.ptxLine)
    text += " at " + where.str();
  if (inThread) {
    text += ", block (" + std::to_string(block[0]) + "," +
            std::to_string(block[1]) + "," + std::to_string(block[2]) + ")";
    if (warp >= 0)
      text += " warp " + std::to_string(warp);
    if (lane >= 0)
      text += " lane " + std::to_string(lane);
  }
  text += "\n";
  for (const SimulationNote &note : notes) {
    text += "  note: " + note.message;
    if (note.where.ptxLine)
      text += " at " + note.where.str();
    text += "\n";
  }
  if (std::string why = reason(); !why.empty())
    text += "  note: " + why + "\n";
  return text;
}

std::string PrintedText::str() const {
  auto triple = [](const std::array<uint32_t, 3> &t) {
    return "(" + std::to_string(t[0]) + "," + std::to_string(t[1]) + "," +
           std::to_string(t[2]) + ")";
  };
  const std::string who =
      "block " + triple(block) + " thread " + triple(thread) + ": ";
  std::string lines;
  for (size_t at = 0; at < text.size();) {
    size_t end = std::min(text.find('\n', at), text.size());
    lines += who + text.substr(at, end - at) + "\n";
    at = end + 1;
  }
  return lines;
}

Statistics &Statistics::operator+=(const Statistics &other) {
  warpInstructions += other.warpInstructions;
  mmas += other.mmas;
  tmaLoads += other.tmaLoads;
  tmaLoadBytes += other.tmaLoadBytes;
  tmaStores += other.tmaStores;
  tmaStoreBytes += other.tmaStoreBytes;
  barrierPhases += other.barrierPhases;
  blocks += other.blocks;
  canceledClusters += other.canceledClusters;
  return *this;
}

bool Report::has(Rule rule, Severity severity, unsigned ptxLine) const {
  const auto &said = severity == Severity::Error ? errors : warnings;
  return ptxLine && std::any_of(said.begin(), said.end(),
                                [&](const SimulationError &other) {
                                  return other.rule == rule &&
                                         other.where.ptxLine == ptxLine;
                                });
}

std::string Report::str() const {
  std::string text;
  for (const auto *list : {&errors, &warnings})
    for (const SimulationError &error : *list)
      text += error.str();
  return text;
}
