// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Streams, events and graphs.
#include "fp8/Runtime/Stream.h"

#include <chrono>
#include <thread>

namespace fp8::runtime {
namespace {
std::string seconds(double value) {
  char text[32];
  std::snprintf(text, sizeof(text), "%g", value);
  return text;
}

/// What waits that gave up say, the first in the line of the error itself.
std::string tell(const std::vector<std::string> &waits) {
  std::string text;
  for (const std::string &wait : waits)
    text += (text.empty() ? "" : "\nnote: ") + wait;
  return text;
}
} // namespace

Expected<Stream> Stream::create(std::shared_ptr<const Device> device) {
  const Driver &driver = device->driver();
  cu::Stream handle = nullptr;
  // Not CU_STREAM_NON_BLOCKING: copies and fills of buffers are work of the
  // null stream, and may still go on when their calls return (CUDA Driver API,
  // "API synchronization behavior"); other streams wait for it.
  if (auto error = driver.call(driver.streamCreate,
                               "cannot create a stream on " + device->str(),
                               &handle, cu::streamDefault))
    return *error;
  return Stream(std::move(device), handle, &Driver::streamDestroy);
}

std::optional<Error> awaitStream(std::shared_ptr<const Device> device,
                                 cu::Stream stream, const std::string &what) {
  auto event = Event::create(std::move(device));
  if (!event)
    return event.takeError();
  if (auto error = event->record(stream))
    return error;
  return event->await(what);
}

std::optional<Error> Stream::await(const std::string &what) const {
  return awaitStream(device().shared_from_this(), handle(), what);
}

Expected<Event> Event::create(std::shared_ptr<const Device> device) {
  const Driver &driver = device->driver();
  cu::Event handle = nullptr;
  if (auto error = driver.call(driver.eventCreate,
                               "cannot create an event on " + device->str(),
                               &handle, cu::eventDefault))
    return *error;
  return Event(std::move(device), handle, &Driver::eventDestroy);
}

std::optional<Error> Event::record(cu::Stream stream) const {
  const Driver &driver = device().driver();
  return driver.call(driver.eventRecord, "cannot record an event", handle(),
                     stream);
}

std::optional<Error> Event::await(const std::string &what) const {
  using Clock = std::chrono::steady_clock;
  const Driver &driver = device().driver();
  const double limit = device().watchdog.seconds;
  auto start = Clock::now();
  // Asks often at first, so that short work is not waited for longer than it
  // takes, then rarely.
  std::chrono::microseconds pause(0);
  while (true) {
    cu::Result result = driver.eventQuery.function(handle());
    if (result == cu::success)
      return std::nullopt;
    if (result != cu::notReady) {
      auto waits = device().waitsGivenUp();
      if (!waits.empty())
        return Error{what + " hangs: " + tell(waits)};
      return driver.failure(driver.eventQuery.name, result, what + " failed");
    }
    std::chrono::duration<double> elapsed = Clock::now() - start;
    if (!(elapsed.count() <= limit)) // no number is no limit to wait for
      break;
    if (elapsed.count() > 0.001)
      pause = std::min(pause + std::chrono::microseconds(20),
                       std::chrono::microseconds(1000));
    if (pause.count())
      std::this_thread::sleep_for(pause);
  }
  auto waits = device().waitsGivenUp();
  std::string message =
      what + " has not ended after " + seconds(limit) +
      " s: it hangs, or needs a longer time limit; " +
      (waits.empty() ? "to see what it waits for, run it on the simulator "
                       "(fp8-run --backend=sim), or lower it with "
                       "debug-waits=MS, less than this limit"
                     : tell(waits));
  device().giveUp(message);
  return Error{message};
}

Expected<double> Event::microsecondsSince(const Event &start) const {
  const Driver &driver = device().driver();
  float milliseconds = 0;
  if (auto error = driver.call(driver.eventElapsedTime,
                               "cannot read the time between events",
                               &milliseconds, start.handle(), handle()))
    return *error;
  return double(milliseconds) * 1000;
}

Expected<Graph> Graph::capture(
    std::shared_ptr<const Device> device,
    const std::function<std::optional<Error>(const Stream &)> &enqueue) {
  const Driver &driver = device->driver();
  auto stream = Stream::create(device);
  if (!stream)
    return stream.takeError();
  const std::string what = "cannot record a graph on " + device->str();
  if (auto error = driver.call(driver.streamBeginCapture, what,
                               stream->handle(), cu::captureThreadLocal))
    return *error;
  std::optional<Error> failed = enqueue(*stream);
  cu::Graph graph = nullptr;
  auto ended =
      driver.call(driver.streamEndCapture, what, stream->handle(), &graph);
  if (!failed)
    failed = ended;
  cu::GraphExec executable = nullptr;
  if (!failed)
    failed =
        driver.call(driver.graphInstantiate, what, &executable, graph, 0ull);
  if (graph)
    driver.graphDestroy.function(graph);
  if (failed)
    return *failed;
  return Graph(std::move(device), executable, &Driver::graphExecDestroy);
}

std::optional<Error> Graph::launch(const Stream &stream) const {
  const Driver &driver = device().driver();
  return driver.call(driver.graphLaunch, "cannot launch a graph", handle(),
                     stream.handle());
}

} // namespace fp8::runtime
