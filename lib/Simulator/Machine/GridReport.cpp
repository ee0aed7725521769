// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What clusters report, in the order of the schedule.

#include "Machine/Grid.h"

#include "Machine/BarrierLog.h"
#include "Machine/Machine.h"

using namespace fp8::sim;

/// As much as CUDA keeps by default.
static constexpr uint64_t kMostPrinted = 1024 * 1024;

/// What follows a fatal error, or comes when there are enough, is dropped.
void Grid::collectMessages(Report &part) {
  if (stopped)
    return;
  auto add = [](std::vector<SimulationError> &all, const Report &known,
                SimulationError &message) {
    if (!known.has(message.rule, message.severity, message.where.ptxLine))
      all.push_back(std::move(message));
  };
  for (SimulationError &warning : part.warnings)
    add(report.warnings, report, warning);
  for (SimulationError &error : part.errors)
    if (report.errors.size() < options.maxErrors)
      add(report.errors, report, error);
  for (PrintedText &text : part.printed) {
    report.printedBytes += text.text.size();
    if (options.onPrint && ++printed > printedBefore)
      options.onPrint(text);
    if (report.printedBytes <= kMostPrinted)
      report.printed.push_back(std::move(text));
  }
}

void Grid::collect(Machine &machine) {
  memory.take(machine.accesses);
  Report &part = machine.report;
  collectMessages(part);
  stopped |= machine.stopped || report.errors.size() >= options.maxErrors;
  report.statistics += part.statistics;
  part.statistics = {};
  part.errors.clear();
  part.warnings.clear();
  part.printed.clear();
}

void Grid::finish(Machine &machine) {
  const Report &part = machine.report;
  addBarriers(report.barriers, part.barriers);
  report.barrierEventHash =
      (report.barrierEventHash ^ part.barrierEventHash) * 0x100000001b3u;
  report.barrierEventCount += part.barrierEventCount;
}

void Grid::reportProgress() {
  const auto &[x, y, z] = config.grid;
  if (stopped || !options.progress ||
      options.progress(report.statistics.blocks, uint64_t(x) * y * z))
    return;
  SimulationError error{ErrorKind::LimitExceeded};
  error.message = "the caller ended the run before the kernel ended";
  report.errors.push_back(std::move(error));
  stopped = true;
}
