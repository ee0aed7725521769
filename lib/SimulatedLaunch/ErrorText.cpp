// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What the simulator found, as compilers print errors.
#include "fp8/SimulatedLaunch/ErrorText.h"

namespace fp8::simulated {
namespace {
std::string place(const sim::SourcePoint &where, const std::string &ptxName) {
  if (!where.file.empty())
    return where.file + ":" + std::to_string(where.line);
  return ptxName + (where.ptxLine ? ":" + std::to_string(where.ptxLine) : "");
}

std::string threadOf(const sim::SimulationError &error) {
  if (!error.inThread)
    return {};
  std::string text = "block (" + std::to_string(error.block[0]) + ", " +
                     std::to_string(error.block[1]) + ", " +
                     std::to_string(error.block[2]) + ")";
  if (error.warp >= 0)
    text += ", warp " + std::to_string(error.warp);
  if (error.lane >= 0)
    text += ", lane " + std::to_string(error.lane);
  return text;
}

} // namespace

std::string render(const sim::SimulationError &error,
                   const std::string &ptxName) {
  std::string text = place(error.where, ptxName) + ": " +
                     std::string(error.severityName()) + ": " + error.message +
                     " [" + std::string(sim::errorKindName(error.kind)) + "]";
  std::string thread = threadOf(error);
  bool hasSource = !error.where.file.empty() && error.where.ptxLine;
  if (hasSource || !thread.empty())
    text += "\n" +
            (error.where.ptxLine
                 ? ptxName + ":" + std::to_string(error.where.ptxLine)
                 : ptxName) +
            ": note: at this instruction" +
            (thread.empty() ? "" : ", in " + thread);
  for (const sim::SimulationNote &note : error.notes) {
    text += "\n" + place(note.where, ptxName) + ": note: " + note.message;
    if (!note.where.file.empty() && note.where.ptxLine)
      text += " (" + ptxName + ":" + std::to_string(note.where.ptxLine) + ")";
  }
  if (std::string why = error.reason(); !why.empty())
    text += "\n" + place(error.where, ptxName) + ": note: " + why;
  return text;
}

} // namespace fp8::simulated
