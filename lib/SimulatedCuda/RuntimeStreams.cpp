// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The CUDA runtime: streams, events and graphs.
#include "Operations.h"

using namespace fp8::cuda;

namespace {
template <typename Handle, typename T>
Handle handleOf(T *object) {
  return reinterpret_cast<Handle>(object);
}
Event *eventOf(cudaEvent_t handle) { return reinterpret_cast<Event *>(handle); }
Graph *graphOf(void *handle) { return static_cast<Graph *>(handle); }

template <typename Body>
cudaError_t onStream(cudaStream_t handle, Body body) {
  return onGpu([&](Gpu &gpu) {
    Stream *stream = gpu.streams.find(handle);
    return stream ? body(gpu, *stream) : cudaErrorInvalidResourceHandle;
  });
}

template <typename Body>
cudaError_t onEvent(cudaEvent_t handle, Body body) {
  return onGpu([&](Gpu &gpu) {
    Event *event = eventOf(handle);
    return gpu.streams.contains(event) ? body(gpu, *event)
                                       : cudaErrorInvalidResourceHandle;
  });
}

template <typename Body>
cudaError_t onGraph(void *handle, Body body) {
  return onGpu([&](Gpu &gpu) {
    Graph *graph = graphOf(handle);
    return gpu.streams.contains(graph) ? body(gpu, *graph)
                                       : cudaErrorInvalidResourceHandle;
  });
}
} // namespace

FP8_CUDA_API cudaError_t cudaStreamCreateWithPriority(cudaStream_t *stream,
                                                      unsigned, int) {
  return onGpu([&](Gpu &gpu) {
    *stream = handleOf<cudaStream_t>(gpu.streams.create());
    return cudaSuccess;
  });
}

FP8_CUDA_API cudaError_t cudaStreamCreateWithFlags(cudaStream_t *stream,
                                                   unsigned flags) {
  return cudaStreamCreateWithPriority(stream, flags, 0);
}

FP8_CUDA_API cudaError_t cudaStreamCreate(cudaStream_t *stream) {
  return cudaStreamCreateWithPriority(stream, 0, 0);
}

FP8_CUDA_API cudaError_t cudaStreamDestroy(cudaStream_t stream) {
  return onStream(stream, [](Gpu &gpu, Stream &found) {
    gpu.streams.destroy(&found);
    return cudaSuccess;
  });
}

FP8_CUDA_API cudaError_t cudaStreamSynchronize(cudaStream_t stream) {
  return onStream(stream, [](Gpu &, Stream &) { return cudaSuccess; });
}

/// All attributes say only where or when work runs.
FP8_CUDA_API cudaError_t cudaStreamSetAttribute(cudaStream_t stream,
                                                cudaStreamAttrID,
                                                const cudaStreamAttrValue *) {
  return cudaStreamSynchronize(stream);
}

FP8_CUDA_API cudaError_t cudaStreamQuery(cudaStream_t stream) {
  return cudaStreamSynchronize(stream);
}

FP8_CUDA_API cudaError_t cudaStreamWaitEvent(cudaStream_t stream,
                                             cudaEvent_t event, unsigned) {
  return onEvent(event, [&](Gpu &gpu, Event &found) {
    Stream *waiting = gpu.streams.find(stream);
    if (!waiting)
      return cudaErrorInvalidResourceHandle;
    gpu.streams.wait(*waiting, found);
    return cudaSuccess;
  });
}

FP8_CUDA_API cudaError_t cudaEventCreateWithFlags(cudaEvent_t *event,
                                                  unsigned) {
  return onGpu([&](Gpu &gpu) {
    *event = handleOf<cudaEvent_t>(gpu.streams.createEvent());
    return cudaSuccess;
  });
}

FP8_CUDA_API cudaError_t cudaEventCreate(cudaEvent_t *event) {
  return cudaEventCreateWithFlags(event, 0);
}

FP8_CUDA_API cudaError_t cudaEventDestroy(cudaEvent_t event) {
  return onEvent(event, [](Gpu &gpu, Event &found) {
    gpu.streams.destroy(&found);
    return cudaSuccess;
  });
}

FP8_CUDA_API cudaError_t cudaEventRecord(cudaEvent_t event,
                                         cudaStream_t stream) {
  return onEvent(event, [&](Gpu &gpu, Event &found) {
    Stream *place = gpu.streams.find(stream);
    return place ? gpu.streams.record(found, *place)
                 : cudaErrorInvalidResourceHandle;
  });
}

FP8_CUDA_API cudaError_t cudaEventRecordWithFlags(cudaEvent_t event,
                                                  cudaStream_t stream,
                                                  unsigned) {
  return cudaEventRecord(event, stream);
}

FP8_CUDA_API cudaError_t cudaEventSynchronize(cudaEvent_t event) {
  return onEvent(event, [](Gpu &, Event &) { return cudaSuccess; });
}

FP8_CUDA_API cudaError_t cudaEventQuery(cudaEvent_t event) {
  return cudaEventSynchronize(event);
}

FP8_CUDA_API cudaError_t cudaEventElapsedTime(float *milliseconds,
                                              cudaEvent_t start,
                                              cudaEvent_t end) {
  return onEvent(start, [&](Gpu &gpu, Event &first) {
    Event *last = eventOf(end);
    if (!gpu.streams.contains(last) || !first.recorded || !last->recorded)
      return cudaErrorInvalidResourceHandle;
    // The simulator's time, which says nothing of a GPU's.
    *milliseconds =
        std::chrono::duration<float, std::milli>(last->time - first.time)
            .count();
    return cudaSuccess;
  });
}

FP8_CUDA_API cudaError_t cudaStreamBeginCapture(cudaStream_t stream,
                                                cudaStreamCaptureMode) {
  return onStream(stream, [](Gpu &gpu, Stream &found) {
    return gpu.streams.beginCapture(found);
  });
}

FP8_CUDA_API cudaError_t cudaStreamEndCapture(cudaStream_t stream,
                                              cudaGraph_t *graph) {
  return onStream(stream, [&](Gpu &gpu, Stream &found) {
    *graph = handleOf<cudaGraph_t>(gpu.streams.endCapture(found));
    return *graph ? cudaSuccess : cudaErrorIllegalState;
  });
}

FP8_CUDA_API cudaError_t
cudaStreamIsCapturing(cudaStream_t stream, cudaStreamCaptureStatus *status) {
  return onStream(stream, [&](Gpu &, Stream &found) {
    *status = found.capture ? cudaStreamCaptureStatusActive
                            : cudaStreamCaptureStatusNone;
    return cudaSuccess;
  });
}

FP8_CUDA_API cudaError_t cudaGraphInstantiate(cudaGraphExec_t *executable,
                                              cudaGraph_t graph,
                                              unsigned long long) {
  return onGraph(graph, [&](Gpu &gpu, Graph &found) {
    Graph *copy = gpu.streams.createGraph();
    *copy = found;
    *executable = handleOf<cudaGraphExec_t>(copy);
    return cudaSuccess;
  });
}

FP8_CUDA_API cudaError_t cudaGraphLaunch(cudaGraphExec_t executable,
                                         cudaStream_t) {
  return onGraph(executable, [](Gpu &, Graph &found) {
    for (const Work &work : found.work)
      if (cudaError_t status = work())
        return status;
    return cudaSuccess;
  });
}

FP8_CUDA_API cudaError_t cudaGraphDestroy(cudaGraph_t graph) {
  return onGraph(graph, [](Gpu &gpu, Graph &found) {
    gpu.streams.destroy(&found);
    return cudaSuccess;
  });
}

FP8_CUDA_API cudaError_t cudaGraphExecDestroy(cudaGraphExec_t executable) {
  return cudaGraphDestroy(reinterpret_cast<cudaGraph_t>(executable));
}

FP8_CUDA_API cudaError_t cudaGetDriverEntryPointByVersion(
    const char *symbol, void **function, unsigned, unsigned long long,
    cudaDriverEntryPointQueryResult *result) {
  return onGpu([&](Gpu &) {
    *function = entryPoint(symbol);
    if (result)
      *result = *function ? cudaDriverEntryPointSuccess
                          : cudaDriverEntryPointSymbolNotFound;
    return *function || result ? cudaSuccess : cudaErrorSymbolNotFound;
  });
}

FP8_CUDA_API cudaError_t cudaGetDriverEntryPoint(
    const char *symbol, void **function, unsigned long long flags,
    cudaDriverEntryPointQueryResult *result) {
  return cudaGetDriverEntryPointByVersion(symbol, function, CUDART_VERSION,
                                          flags, result);
}
