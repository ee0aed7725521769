// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Kernels whose manifest names no problem: what they read are 32-bit words that
// tell where they are from, and what they write is kept.
#include "Run.h"

#include <algorithm>
#include <cstring>
#include <ostream>
#include <set>

namespace fp8::run {
namespace {
constexpr const char *prefix = "fp8-run: ";

/// What no kernel has written yet.
constexpr uint8_t unwritten = 0xff;

/// The elements from the first to the last.
launch::Expected<uint64_t> countElements(const PreparedArgument &argument) {
  const launch::ArgumentValue &value = argument.value;
  uint64_t last = 0;
  for (size_t i = 0; i < value.shape.size(); ++i) {
    uint64_t step = 0;
    if (!value.shape[i])
      return uint64_t(0);
    if (__builtin_mul_overflow(uint64_t(value.shape[i] - 1),
                               uint64_t(value.strides[i]), &step) ||
        __builtin_add_overflow(last, step, &last))
      return launch::Error{"argument '" + argument.name + "' is too large"};
  }
  return last + 1;
}

/// Word i of argument number a (both from 0) is (a + 1) * 2^24 + i.
void fill(PreparedArgument &argument, size_t index) {
  uint64_t size = argument.bytes.size();
  for (uint64_t at = 0; at < size; at += 4) {
    uint32_t word = uint32_t(index + 1) << 24 | (uint32_t(at / 4) & 0xffffff);
    std::memcpy(&argument.bytes[at], &word, std::min<uint64_t>(4, size - at));
  }
}

launch::Expected<PreparedArgument> layOut(const launch::ArgumentSpec &spec) {
  PreparedArgument argument;
  argument.name = spec.name;
  argument.access = spec.access;
  argument.value.dtype = spec.dtype;
  argument.value.strides.resize(spec.shape.size());
  int64_t contiguous = 1;
  for (size_t i = spec.shape.size(); i-- > 0;) {
    if (!spec.shape[i])
      return launch::Error{"argument '" + spec.name + "' leaves shape[" +
                           std::to_string(i) +
                           "] open; without a problem every extent must be in "
                           "the manifest"};
    argument.value.strides[i] = spec.strides[i].value_or(contiguous);
    if (__builtin_mul_overflow(contiguous, std::max<int64_t>(*spec.shape[i], 1),
                               &contiguous))
      return launch::Error{"argument '" + spec.name + "' is too large"};
  }
  for (std::optional<int64_t> extent : spec.shape)
    argument.value.shape.push_back(*extent);
  auto elements = countElements(argument);
  if (!elements)
    return elements.takeError();
  argument.elements = *elements;
  return argument;
}

launch::Expected<std::vector<PreparedArgument>>
prepare(const launch::Manifest &manifest, uint64_t memoryLimit) {
  std::vector<PreparedArgument> prepared;
  uint64_t memory = 0;
  for (const launch::ArgumentSpec &spec : manifest.arguments) {
    auto argument = layOut(spec);
    if (!argument)
      return argument.takeError();
    uint64_t bytes = 0;
    if (__builtin_mul_overflow(argument->elements, tensor::byteSize(spec.dtype),
                               &bytes) ||
        __builtin_add_overflow(memory, bytes, &memory) || memory > memoryLimit)
      return launch::Error{"the arguments take more than " +
                           std::to_string(memoryLimit) +
                           " bytes; raise --memory-limit"};
    argument->bytes.resize(bytes, unwritten);
    if (spec.access != launch::Access::Write)
      fill(*argument, prepared.size());
    prepared.push_back(std::move(*argument));
  }
  return prepared;
}

class BytesRuns {
public:
  BytesRuns(const launch::Manifest &manifest,
            const std::vector<PreparedArgument> &arguments, Backend &backend,
            Summary &summary, std::ostream &log)
      : manifest(manifest), arguments(arguments), backend(backend),
        summary(summary), log(log) {}

  /// Launches once; what the kernel wrote, or why there is nothing.
  launch::Expected<std::vector<uint8_t>> runOne(unsigned schedule) {
    backend.reset();
    std::vector<launch::ArgumentValue> values;
    auto plan = uploadAndBind(manifest, arguments, backend, values);
    if (!plan)
      return plan.takeError();
    if (plan->nothingToLaunch())
      return launch::Error{"there is nothing to launch"};
    Outcome outcome = backend.launch(manifest, *plan, schedule);
    account(outcome);
    if (!outcome.failure.empty())
      return launch::Error{outcome.failure};
    log << prefix << "schedule " << schedule + 1 << "/" << backend.schedules()
        << ": " << outcome.summary << "\n";
    if (!outcome.errors.empty())
      return launch::Error{
          "the kernel breaks a rule, so its output is meaningless"};
    return download(values);
  }

private:
  void account(const Outcome &outcome) {
    hashes.insert(outcome.scheduleHash);
    summary.launched = true;
    summary.barriers = outcome.barriers;
    summary.microseconds =
        summary.schedules ? std::min(summary.microseconds, outcome.microseconds)
                          : outcome.microseconds;
    ++summary.schedules;
    summary.distinctSchedules = hashes.size();
    summary.account(outcome, log);
  }

  launch::Expected<std::vector<uint8_t>>
  download(const std::vector<launch::ArgumentValue> &values) {
    std::vector<uint8_t> written;
    for (size_t i = 0; i < arguments.size(); ++i) {
      if (!launch::writes(arguments[i].access))
        continue;
      auto bytes =
          backend.download(values[i].address, arguments[i].bytes.size());
      if (!bytes)
        return bytes.takeError();
      written.insert(written.end(), bytes->begin(), bytes->end());
    }
    return written;
  }

  const launch::Manifest &manifest;
  const std::vector<PreparedArgument> &arguments;
  Backend &backend;
  Summary &summary;
  std::ostream &log;
  std::set<uint64_t> hashes;
};

std::string difference(const std::vector<uint8_t> &first,
                       const std::vector<uint8_t> &other, unsigned schedule) {
  size_t at = std::mismatch(first.begin(), first.end(), other.begin()).first -
              first.begin();
  return "schedule " + std::to_string(schedule + 1) + " writes " +
         std::to_string(other[at]) + " to byte " + std::to_string(at) +
         " and schedule 1 " + std::to_string(first[at]) +
         "; the output of a kernel must not depend on the schedule";
}
} // namespace

Summary runBytes(const Options &options, const launch::Manifest &manifest,
                 Backend &backend, std::ostream &log) {
  Summary summary;
  summary.backend = backend.name();
  summary.device = backend.device();
  summary.kernel = manifest.kernel;
  auto refuse = [&](const std::string &error) {
    summary.error = error;
    summary.output.reset();
    log << prefix << "error: " << error << "\n";
    return summary;
  };
  if (options.m || options.n || options.k || options.batch || options.beta ||
      options.replays)
    return refuse("--m, --n, --k, --batch, --beta and --time are for kernels "
                  "whose manifest names a problem; this manifest names none");
  auto arguments = prepare(manifest, options.memoryLimit);
  if (!arguments)
    return refuse(arguments.error());
  BytesRuns runs(manifest, *arguments, backend, summary, log);
  for (unsigned i = 0; i < backend.schedules(); ++i) {
    auto written = runs.runOne(i);
    if (!written)
      return refuse(written.error());
    if (summary.output && *summary.output != *written)
      return refuse(difference(*summary.output, *written, i));
    summary.output = std::move(*written);
  }
  summary.ok = true;
  return summary;
}

} // namespace fp8::run
