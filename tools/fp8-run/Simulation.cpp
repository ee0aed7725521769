// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Options, time, trace and summary of a run on the simulator.
#include "Simulation.h"

#include "Files.h"

#include <chrono>
#include <nlohmann/json.hpp>

namespace fp8::run {
namespace {
std::string barriersJson(const std::vector<sim::BarrierUse> &barriers) {
  nlohmann::ordered_json list = nlohmann::ordered_json::array();
  for (const sim::BarrierUse &use : barriers) {
    nlohmann::ordered_json entry;
    entry["rank"] = use.rank;
    entry["offset"] = use.offset;
    entry["symbol"] = use.symbol;
    entry["symbol_offset"] = use.symbolOffset;
    entry["count"] = use.count;
    entry["inits"] = use.inits;
    entry["phases"] = use.phases;
    entry["unfinished"] = use.unfinished;
    entry["sources"] = nlohmann::ordered_json::array();
    for (const sim::BarrierSource &source : use.sources)
      entry["sources"].push_back({{"kind", sim::barrierSourceName(source.kind)},
                                  {"rank", source.rank},
                                  {"warp", source.warp},
                                  {"phases", source.phases},
                                  {"least", source.least},
                                  {"most", source.most},
                                  {"total", source.total}});
    list.push_back(std::move(entry));
  }
  return list.dump();
}

std::string traceOf(const sim::BarrierAccess &access) {
  return nlohmann::ordered_json{
             {"block", access.block},   {"warp", access.warp},
             {"lane", access.lane},     {"waits", access.waits},
             {"rank", access.rank},     {"symbol", access.symbol},
             {"offset", access.offset}, {"line", access.ptxLine}}
             .dump() +
         "\n";
}
} // namespace

Outcome simulate(const Options &options, unsigned schedule,
                 const std::string &launched,
                 const std::function<launch::Expected<simulated::Outcome>(
                     const sim::Options &)> &run) {
  sim::Options simulation = options.simulation;
  simulation.scheduleSeed += schedule;
  std::string trace;
  if (!options.tracePath.empty()) {
    trace = launched;
    simulation.onBarrierAccess = [&](const sim::BarrierAccess &access) {
      trace += traceOf(access);
    };
  }
  Outcome outcome;
  auto start = std::chrono::steady_clock::now();
  auto ran = run(simulation);
  std::chrono::duration<double, std::micro> time =
      std::chrono::steady_clock::now() - start;

  outcome.microseconds = time.count();
  if (!ran) {
    outcome.failure = ran.error();
    return outcome;
  }
  const sim::Report &report = ran->report;
  outcome.errors = std::move(ran->errors);
  outcome.warnings = std::move(ran->warnings);
  outcome.stamps = std::move(ran->stamps);
  outcome.time = report.time;
  // The schedules print much the same: once, and where it may tell why.
  if (schedule == 0 || !outcome.errors.empty())
    for (const sim::PrintedText &printed : report.printed)
      outcome.printed += printed.str();
  outcome.scheduleHash = report.barrierEventHash;
  if (!options.tracePath.empty())
    if (auto error = writeFile(options.tracePath, {trace.begin(), trace.end()}))
      outcome.failure = error->message;
  if (options.barriers)
    outcome.barriers = barriersJson(report.barriers);
  const sim::Statistics &statistics = report.statistics;
  outcome.summary =
      std::to_string(statistics.warpInstructions) + " warp instructions, " +
      std::to_string(statistics.mmas) + " MMAs, " +
      std::to_string(report.barrierEventCount) + " barrier events, " +
      std::to_string(static_cast<int64_t>(time.count() / 1000)) + " ms (seed " +
      std::to_string(simulation.scheduleSeed) + ")";
  return outcome;
}

} // namespace fp8::run
