// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Streams run their work at once, or record it.
#include "Streams.h"

#include <algorithm>

namespace fp8::cuda {
namespace {
template <typename T>
auto lookup(const std::vector<std::unique_ptr<T>> &all, const T *one) {
  return std::find_if(all.begin(), all.end(),
                      [&](const auto &entry) { return entry.get() == one; });
}

template <typename T>
T *make(std::vector<std::unique_ptr<T>> &all) {
  all.push_back(std::make_unique<T>());
  return all.back().get();
}

template <typename T>
bool erase(std::vector<std::unique_ptr<T>> &all, const T *one) {
  auto found = lookup(all, one);
  if (found == all.end())
    return false;
  all.erase(found);
  return true;
}
} // namespace

Stream *Streams::create() { return make(streams); }
Event *Streams::createEvent() { return make(events); }
Graph *Streams::createGraph() { return make(graphs); }
bool Streams::destroy(Stream *stream) { return erase(streams, stream); }
bool Streams::destroy(Event *event) { return erase(events, event); }
bool Streams::destroy(Graph *graph) { return erase(graphs, graph); }

Stream *Streams::find(cudaStream_t handle) {
  if (!handle || handle == cudaStreamLegacy || handle == cudaStreamPerThread)
    return &defaultStream;
  auto found = lookup(streams, reinterpret_cast<const Stream *>(handle));
  return found == streams.end() ? nullptr : found->get();
}

bool Streams::contains(const Event *event) const {
  return lookup(events, event) != events.end();
}
bool Streams::contains(const Graph *graph) const {
  return lookup(graphs, graph) != graphs.end();
}

cudaError_t Streams::enqueue(Stream &stream, Work work) {
  if (!stream.capture)
    return work();
  stream.capture->work.push_back(std::move(work));
  return cudaSuccess;
}

cudaError_t Streams::beginCapture(Stream &stream) {
  if (stream.capture)
    return cudaErrorIllegalState;
  stream.capture = createGraph();
  return cudaSuccess;
}

Graph *Streams::endCapture(Stream &stream) {
  Graph *graph = stream.capture;
  if (!graph)
    return nullptr;
  for (const auto &other : streams)
    if (other->capture == graph)
      other->capture = nullptr;
  defaultStream.capture =
      defaultStream.capture == graph ? nullptr : defaultStream.capture;
  for (const auto &event : events)
    if (event->captured == graph)
      event->captured = nullptr;
  return graph;
}

cudaError_t Streams::record(Event &event, Stream &stream) {
  event.captured = stream.capture;
  event.recorded = true;
  event.time = std::chrono::steady_clock::now();
  return cudaSuccess;
}

void Streams::wait(Stream &stream, const Event &event) {
  if (event.captured && !stream.capture)
    stream.capture = event.captured;
}

} // namespace fp8::cuda
