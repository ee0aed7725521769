// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Streams, events, graphs, and waiting that notices a hang.
#ifndef FP8_RUNTIME_STREAM_H
#define FP8_RUNTIME_STREAM_H

#include "fp8/Runtime/Device.h"

namespace fp8::runtime {

/// A handle of the driver with the device that it belongs to; freed with it.
template <typename Handle>
class Owned {
public:
  using Free = Entry<Handle> Driver::*;
  Owned(std::shared_ptr<const Device> device, Handle handle, Free free)
      : ownedDevice(std::move(device)), value(handle), free(free) {}
  Owned(Owned &&other) noexcept
      : ownedDevice(std::move(other.ownedDevice)), value(other.value),
        free(other.free) {
    other.value = nullptr;
  }
  Owned &operator=(Owned &&) = delete;
  ~Owned() {
    if (!value || ownedDevice->isHung())
      return;
    ContextScope scope(*ownedDevice);
    (ownedDevice->driver().*free).function(value);
  }
  Handle handle() const { return value; }
  const Device &device() const { return *ownedDevice; }

private:
  std::shared_ptr<const Device> ownedDevice;
  Handle value;
  Free free;
};

/// Waits until all that was enqueued to a stream, whoever made it, has ended,
/// or for as long as the device's watchdog says. `what` is what runs: "kernel
/// 'gemm' ...".
std::optional<Error> awaitStream(std::shared_ptr<const Device> device,
                                 cu::Stream stream, const std::string &what);

class Stream : public Owned<cu::Stream> {
public:
  static Expected<Stream> create(std::shared_ptr<const Device> device);
  /// As awaitStream.
  std::optional<Error> await(const std::string &what) const;

private:
  using Owned::Owned;
};

class Event : public Owned<cu::Event> {
public:
  static Expected<Event> create(std::shared_ptr<const Device> device);
  std::optional<Error> record(cu::Stream stream) const;
  /// As awaitStream, up to this event.
  std::optional<Error> await(const std::string &what) const;
  /// Time between two events that have come.
  Expected<double> microsecondsSince(const Event &start) const;

private:
  using Owned::Owned;
};

/// Work of a stream, recorded once and launched any number of times.
class Graph : public Owned<cu::GraphExec> {
public:
  /// Calls `enqueue`, which enqueues to the stream it gets.
  static Expected<Graph>
  capture(std::shared_ptr<const Device> device,
          const std::function<std::optional<Error>(const Stream &)> &enqueue);
  std::optional<Error> launch(const Stream &stream) const;

private:
  using Owned::Owned;
};

} // namespace fp8::runtime

#endif // FP8_RUNTIME_STREAM_H
