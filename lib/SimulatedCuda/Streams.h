// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Streams, events and graphs. Work runs when it is enqueued, in the order of
// the program, which every program must allow; capture records it instead.
#ifndef FP8_LIB_SIMULATEDCUDA_STREAMS_H
#define FP8_LIB_SIMULATEDCUDA_STREAMS_H

#include <chrono>
#include <cuda_runtime_api.h>
#include <functional>
#include <memory>
#include <set>
#include <vector>

namespace fp8::cuda {

/// A copy, fill, launch or call of the host.
using Work = std::function<cudaError_t()>;

/// Recorded work, in order. Handles of CUDA point to one.
struct Graph {
  std::vector<Work> work;
};

struct Event {
  std::chrono::steady_clock::time_point time;
  bool recorded = false;
  Graph *captured = nullptr; ///< the capture that it was recorded in
};

struct Stream {
  Graph *capture = nullptr; ///< that this stream's work goes to
};

class Streams {
public:
  Stream *create();
  Event *createEvent();
  Graph *createGraph();
  /// False where the handle is none of ours.
  bool destroy(Stream *stream);
  bool destroy(Event *event);
  bool destroy(Graph *graph);

  /// The stream behind a handle; the legacy and per-thread default streams are
  /// one. Null for a handle that is none.
  Stream *find(cudaStream_t handle);
  bool contains(const Event *event) const;
  bool contains(const Graph *graph) const;

  /// Runs `work`, or records it where `stream` captures.
  cudaError_t enqueue(Stream &stream, Work work);

  cudaError_t beginCapture(Stream &stream);
  /// Ends the capture in all streams that joined it; null where there is none.
  Graph *endCapture(Stream &stream);
  cudaError_t record(Event &event, Stream &stream);
  /// `stream` joins the capture that `event` was recorded in.
  void wait(Stream &stream, const Event &event);

private:
  Stream defaultStream;
  std::vector<std::unique_ptr<Stream>> streams;
  std::vector<std::unique_ptr<Event>> events;
  std::vector<std::unique_ptr<Graph>> graphs;
};

} // namespace fp8::cuda

#endif // FP8_LIB_SIMULATEDCUDA_STREAMS_H
