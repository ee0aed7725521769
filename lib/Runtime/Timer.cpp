// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The two clocks.
#include "fp8/Runtime/Timer.h"

#include <algorithm>

namespace fp8::runtime {
namespace {
/// Runs `work` between two events, some times unmeasured and then measured, and
/// takes the median. `before` runs outside of them.
class Stopwatch {
public:
  using Step = std::function<std::optional<Error>(const Stream &)>;

  Stopwatch(std::shared_ptr<const Device> device, const TimerOptions &options,
            std::string what)
      : device(std::move(device)), options(options), what(std::move(what)) {}

  Expected<Timing> run(const Step &before, const Step &work,
                       unsigned launchesPerReplay) {
    auto stream = Stream::create(device);
    if (!stream)
      return stream.takeError();
    std::vector<double> times;
    for (uint64_t i = 0; i < uint64_t(options.warmUps) + options.replays; ++i) {
      auto time = once(*stream, before, work);
      if (!time)
        return time.takeError();
      if (i >= options.warmUps)
        times.push_back(*time / launchesPerReplay);
    }
    std::sort(times.begin(), times.end());
    Timing timing;
    size_t half = times.size() / 2;
    timing.medianMicroseconds =
        times.size() % 2 ? times[half] : (times[half - 1] + times[half]) / 2;
    timing.fastestMicroseconds = times.front();
    timing.slowestMicroseconds = times.back();
    timing.replays = options.replays;
    timing.launchesPerReplay = launchesPerReplay;
    return timing;
  }

private:
  Expected<double> once(const Stream &stream, const Step &before,
                        const Step &work) {
    auto start = Event::create(device), end = Event::create(device);
    for (auto *event : {&start, &end})
      if (!*event)
        return event->takeError();
    std::optional<Error> error = before(stream);
    if (!error)
      error = start->record(stream.handle());
    if (!error)
      error = work(stream);
    if (!error)
      error = end->record(stream.handle());
    if (!error)
      error = end->await(what);
    if (error)
      return *error;
    return end->microsecondsSince(*start);
  }

  std::shared_ptr<const Device> device;
  TimerOptions options;
  std::string what;
};

Expected<Timing> timeFlushed(std::shared_ptr<const Device> device,
                             const std::vector<PreparedLaunch> &launches,
                             const TimerOptions &options) {
  const Driver &driver = device->driver();
  uint64_t l2 = std::max(device->info().l2CacheBytes, 0);
  auto flush = DeviceBuffer::allocate(device, "the L2 flush",
                                      2 * l2 + (uint64_t(1) << 20));
  if (!flush)
    return flush.takeError();
  unsigned turn = 0;
  return Stopwatch(device, options, launches.front().str())
      .run(
          [&](const Stream &stream) {
            return driver.call(driver.memsetD8Async,
                               "cannot flush the L2 cache", flush->address(),
                               static_cast<unsigned char>(turn),
                               size_t(flush->size()), stream.handle());
          },
          [&](const Stream &stream) {
            return launches[turn++ % launches.size()].enqueue(stream);
          },
          1);
}

Expected<Timing> timeGraph(std::shared_ptr<const Device> device,
                           const std::vector<PreparedLaunch> &launches,
                           const TimerOptions &options) {
  // Some launches a replay, so that the events' own time counts little.
  constexpr size_t fewestLaunches = 10;
  size_t rounds = (fewestLaunches + launches.size() - 1) / launches.size();
  auto graph =
      Graph::capture(device, [&](const Stream &stream) -> std::optional<Error> {
        for (size_t round = 0; round < rounds; ++round)
          for (const PreparedLaunch &launch : launches)
            if (auto error = launch.enqueue(stream))
              return error;
        return std::nullopt;
      });
  if (!graph)
    return graph.takeError();
  return Stopwatch(device, options,
                   "a graph of " + std::to_string(rounds * launches.size()) +
                       " launches of " + launches.front().str())
      .run([](const Stream &) { return std::nullopt; },
           [&](const Stream &stream) { return graph->launch(stream); },
           rounds * launches.size());
}
} // namespace

unsigned operandSetsFor(const DeviceInfo &device, uint64_t bytes,
                        unsigned limit) {
  uint64_t wanted = 4 * uint64_t(std::max(device.l2CacheBytes, 0));
  uint64_t sets = bytes ? wanted / bytes + 1 : 1;
  return std::max<uint64_t>(1, std::min<uint64_t>(sets, limit));
}

Expected<Timing> timeLaunches(std::shared_ptr<const Device> device,
                              const std::vector<PreparedLaunch> &launches,
                              const TimerOptions &options) {
  if (launches.empty() || !options.replays)
    return Error{
        "there is nothing to time; pass launches and a number of replays"};
  if (options.replays > kMostReplays)
    return Error{std::to_string(options.replays) +
                 " replays are too many; time at most " +
                 std::to_string(kMostReplays)};
  return options.clock == Clock::Graph ? timeGraph(device, launches, options)
                                       : timeFlushed(device, launches, options);
}

} // namespace fp8::runtime
