// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Streams, events, graphs, and waits that detect a hang.
#ifndef FP8_RUNTIME_STREAM_H
#define FP8_RUNTIME_STREAM_H

#include "fp8/Runtime/Device.h"

namespace fp8::runtime {

/// A handle of the driver and its device; the destructor frees the handle.
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

/// Waits until all work in a stream has ended, or until the time limit of the
/// device's watchdog. The stream may be the caller's. `what` is what runs:
/// "kernel 'gemm' ...".
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
  /// The time between two completed events.
  Expected<double> microsecondsSince(const Event &start) const;

private:
  using Owned::Owned;
};

/// Work of a stream, recorded once, to launch any number of times.
class Graph : public Owned<cu::GraphExec> {
public:
  /// Records the work that `enqueue` enqueues to the stream it receives.
  static Expected<Graph>
  capture(std::shared_ptr<const Device> device,
          const std::function<std::optional<Error>(const Stream &)> &enqueue);
  std::optional<Error> launch(const Stream &stream) const;

private:
  using Owned::Owned;
};

} // namespace fp8::runtime

#endif // FP8_RUNTIME_STREAM_H
