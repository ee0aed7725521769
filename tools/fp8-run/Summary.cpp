// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The last line of output.
#include "Run.h"

#include <nlohmann/json.hpp>
#include <ostream>

namespace fp8::run {

void Summary::account(const Outcome &outcome, std::ostream &log) {
  log << outcome.printed;
  stamps = outcome.stamps;
  time = outcome.time;
  backendErrors += outcome.errors.size();
  backendWarnings += outcome.warnings.size();
  for (const auto *found : {&outcome.warnings, &outcome.errors})
    for (const std::string &text : *found)
      log << text << "\n";
}

static void addPrediction(nlohmann::ordered_json &line,
                          const sim::KernelTime &time) {
  line["predicted_us"] = time.microseconds;
  line["predicted_launch_us"] = time.launchUs;
  line["predicted_ahead_us"] = time.aheadUs;
  line["predicted_cycles"] = time.cycles;
  line["predicted_ghz"] = time.gigahertz;
  line["registers_needed"] = time.registers.needed;
  line["registers_available"] = time.registers.available;
  line["predicted_spills"] = time.spills;
  for (const auto &[engine, share] : time.engines)
    line["engines"][std::string(engine)] = share;
}

std::string Summary::json() const {
  nlohmann::ordered_json line;
  line["ok"] = ok;
  if (!error.empty())
    line["error"] = error;
  if (!backend.empty())
    line["backend"] = backend;
  if (!device.empty())
    line["device"] = device;
  if (!kernel.empty())
    line["kernel"] = kernel;
  if (sizes) {
    if (sizes->batch)
      line["batch"] = *sizes->batch;
    line["m"] = sizes->m;
    line["n"] = sizes->n;
    line["k"] = sizes->k;
    line["seed"] = seed;
  }
  if (schedules) {
    line["launched"] = launched;
    line["errors"] = backendErrors;
    line["warnings"] = backendWarnings;
    // What the simulator takes says nothing about the kernel's time.
    if (device.empty()) {
      line["us"] = nullptr;
      line["host_us"] = microseconds;
    } else {
      line["us"] = timing ? timing->medianMicroseconds : microseconds;
    }
    if (timing && sizes) {
      double operations =
          2.0 * sizes->m * sizes->n * sizes->k * sizes->batch.value_or(1);
      line["tflops"] = operations / timing->medianMicroseconds * 1e-6;
      line["us_fastest"] = timing->fastestMicroseconds;
      line["us_slowest"] = timing->slowestMicroseconds;
      line["replays"] = timing->replays;
      line["launches_per_replay"] = timing->launchesPerReplay;
      line["operand_sets"] = operandSets;
    }
    if (time)
      addPrediction(line, *time);
    line["schedules"] = schedules;
    line["distinct_schedules"] = distinctSchedules;
  }
  if (verdict) {
    const reference::CheckResult &result = verdict->result;
    line["elements"] = result.elements;
    line["wrong"] = result.wrong;
    line["unwritten"] = result.unwritten;
    line["rel_err"] = result.relativeError;
    line["max_bound_ratio"] = result.maxBoundRatio; // null when infinite
    line["frobenius"] = result.frobenius;
    line["frobenius_floor"] = result.frobeniusFloor;
  }
  for (const simulated::Comparison &comparison : comparisons)
    line["expected"].push_back({{"buffer", comparison.buffer},
                                {"ok", comparison.ok},
                                {"elements", comparison.elements},
                                {"wrong", comparison.wrong},
                                {"unwritten", comparison.unwritten},
                                {"frobenius", comparison.frobenius},
                                {"max", comparison.most}});
  if (!dumpPath.empty()) {
    line["dump"] = dumpPath;
    line["bytes"] = output->size();
  }
  if (!barriers.empty())
    line["barriers"] = nlohmann::ordered_json::parse(barriers);
  return line.dump(-1, ' ', false,
                   nlohmann::ordered_json::error_handler_t::replace);
}

} // namespace fp8::run
