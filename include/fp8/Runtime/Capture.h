// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What the runtime knows of a graph while a stream captures it: which memory
// the kernel in front of the next launch writes.
#ifndef FP8_RUNTIME_CAPTURE_H
#define FP8_RUNTIME_CAPTURE_H

#include "fp8/Launch/LaunchPlan.h"
#include "fp8/Runtime/Driver.h"

#include <deque>
#include <mutex>

namespace fp8::runtime {

/// The place in a graph at which a stream captures its next node (CUDA driver
/// API, cuStreamGetCaptureInfo).
struct CapturePoint {
  unsigned long long capture = 0; ///< the number of no other capture
  size_t dependencies = 0;        ///< of the next node
  /// The only node that the next one depends on; null if there is none, if
  /// there are several, or if the dependency is not on its end.
  cu::GraphNode previous = nullptr;

  /// Nothing if the stream does not capture, or the driver is older than CUDA
  /// 12.3 and cannot tell.
  static std::optional<CapturePoint> find(const Driver &driver,
                                          cu::Stream stream);
};

/// The latest launches that were captured, of all streams of a device. Threads
/// may use it at the same time.
class CapturedLaunches {
public:
  /// True if no kernel that may still run when a launch at this point starts
  /// writes any of the memory: nothing is in front of it, or a launch alone
  /// that was added and that writes none of it. All that is in front of that
  /// launch has ended by then.
  bool areConstant(const CapturePoint &point,
                   const std::vector<launch::BoundBytes> &memory) const;
  /// Adds the launch that was captured just in front of the point. It lets the
  /// following kernel start only when all that is in front of it has ended.
  void add(const CapturePoint &behind, std::vector<launch::BoundBytes> written);

private:
  struct Launch {
    unsigned long long capture;
    cu::GraphNode node;
    std::vector<launch::BoundBytes> written;
  };
  /// The ends of as many branches as streams that capture side by side have.
  /// Of a launch that is forgotten, nothing is known.
  static constexpr size_t kMost = 16;

  mutable std::mutex mutex;
  std::deque<Launch> latest;
};

} // namespace fp8::runtime

#endif // FP8_RUNTIME_CAPTURE_H
