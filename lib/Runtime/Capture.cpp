// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What is known of the graph that a stream captures.
#include "fp8/Runtime/Capture.h"

#include <algorithm>

namespace fp8::runtime {

using launch::BoundBytes;

std::optional<CapturePoint> CapturePoint::find(const Driver &driver,
                                               cu::Stream stream) {
  if (!driver.streamGetCaptureInfo.function)
    return std::nullopt;
  auto status = cu::CaptureStatus::None;
  CapturePoint point;
  cu::Graph graph = nullptr;
  const cu::GraphNode *nodes = nullptr;
  const cu::GraphEdge *edges = nullptr;
  // An error here leaves nothing known; the launch reports what is wrong.
  cu::Result result = driver.streamGetCaptureInfo.function(
      stream, &status, &point.capture, &graph, &nodes, &edges,
      &point.dependencies);
  if (result != cu::success || status != cu::CaptureStatus::Active)
    return std::nullopt;
  // Null: all edges are full dependencies.
  bool isOnEnd = !edges || (point.dependencies == 1 && !edges->fromPort &&
                            !edges->toPort && !edges->type);
  if (point.dependencies == 1 && isOnEnd)
    point.previous = *nodes;
  return point;
}

static bool overlap(const BoundBytes &a, const BoundBytes &b) {
  if (!a.bytes || !b.bytes)
    return false;
  if (a.isAllOfMemory() || b.isAllOfMemory())
    return true;
  // The distance, not the end: that may be past 64 bits.
  return a.address <= b.address ? b.address - a.address < a.bytes
                                : a.address - b.address < b.bytes;
}

bool CapturedLaunches::areConstant(
    const CapturePoint &point, const std::vector<BoundBytes> &memory) const {
  if (point.dependencies == 0)
    return true;
  std::lock_guard<std::mutex> lock(mutex);
  auto previous =
      std::find_if(latest.begin(), latest.end(), [&](const Launch &launch) {
        return launch.capture == point.capture && launch.node == point.previous;
      });
  if (!point.previous || previous == latest.end())
    return false;
  return std::none_of(previous->written.begin(), previous->written.end(),
                      [&](const BoundBytes &written) {
                        return std::any_of(memory.begin(), memory.end(),
                                           [&](const BoundBytes &read) {
                                             return overlap(written, read);
                                           });
                      });
}

void CapturedLaunches::add(const CapturePoint &behind,
                           std::vector<BoundBytes> written) {
  if (!behind.previous)
    return;
  std::lock_guard<std::mutex> lock(mutex);
  if (latest.size() == kMost)
    latest.pop_back();
  latest.push_front({behind.capture, behind.previous, std::move(written)});
}

} // namespace fp8::runtime
