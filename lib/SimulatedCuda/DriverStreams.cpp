// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The CUDA driver: streams, events and graphs. Handles are the runtime's.
#include "Operations.h"

using namespace fp8::cuda;

FP8_CUDA_API CUresult cuStreamCreate(CUstream *stream, unsigned flags) {
  return toDriver(cudaStreamCreateWithFlags(stream, flags));
}
FP8_CUDA_API CUresult cuStreamCreateWithPriority(CUstream *stream,
                                                 unsigned flags, int) {
  return cuStreamCreate(stream, flags);
}
FP8_CUDA_API CUresult cuStreamDestroy(CUstream stream) {
  return toDriver(cudaStreamDestroy(stream));
}
FP8_CUDA_API CUresult cuStreamSynchronize(CUstream stream) {
  return toDriver(cudaStreamSynchronize(stream));
}
FP8_CUDA_API CUresult cuStreamQuery(CUstream stream) {
  return toDriver(cudaStreamQuery(stream));
}
FP8_CUDA_API CUresult cuStreamWaitEvent(CUstream stream, CUevent event,
                                        unsigned flags) {
  return toDriver(cudaStreamWaitEvent(stream, event, flags));
}
FP8_CUDA_API CUresult cuLaunchHostFunc(CUstream stream, CUhostFn function,
                                       void *data) {
  return toDriver(cudaLaunchHostFunc(stream, function, data));
}

FP8_CUDA_API CUresult cuEventCreate(CUevent *event, unsigned flags) {
  return toDriver(cudaEventCreateWithFlags(event, flags));
}
FP8_CUDA_API CUresult cuEventDestroy(CUevent event) {
  return toDriver(cudaEventDestroy(event));
}
FP8_CUDA_API CUresult cuEventRecord(CUevent event, CUstream stream) {
  return toDriver(cudaEventRecord(event, stream));
}
FP8_CUDA_API CUresult cuEventSynchronize(CUevent event) {
  return toDriver(cudaEventSynchronize(event));
}
FP8_CUDA_API CUresult cuEventQuery(CUevent event) {
  return toDriver(cudaEventQuery(event));
}
FP8_CUDA_API CUresult cuEventElapsedTime(float *milliseconds, CUevent start,
                                         CUevent end) {
  return toDriver(cudaEventElapsedTime(milliseconds, start, end));
}
#undef cuEventElapsedTime // programs for CUDA 12 call it by this name
FP8_CUDA_API CUresult cuEventElapsedTime(float *milliseconds, CUevent start,
                                         CUevent end) {
  return toDriver(cudaEventElapsedTime(milliseconds, start, end));
}

FP8_CUDA_API CUresult cuStreamBeginCapture(CUstream stream,
                                           CUstreamCaptureMode mode) {
  return toDriver(cudaStreamBeginCapture(stream, cudaStreamCaptureMode(mode)));
}
FP8_CUDA_API CUresult cuStreamEndCapture(CUstream stream, CUgraph *graph) {
  return toDriver(cudaStreamEndCapture(stream, graph));
}
FP8_CUDA_API CUresult cuStreamIsCapturing(CUstream stream,
                                          CUstreamCaptureStatus *status) {
  return toDriver(cudaStreamIsCapturing(
      stream, reinterpret_cast<cudaStreamCaptureStatus *>(status)));
}
// Which nodes the next one follows is not told: a program would rely on what
// the preceding kernel leaves alone, which no check here knows of.
#undef cuStreamGetCaptureInfo // the third version, since CUDA 12.3
FP8_CUDA_API CUresult cuStreamGetCaptureInfo_v3(
    CUstream stream, CUstreamCaptureStatus *status, cuuint64_t *, CUgraph *,
    const CUgraphNode **, const CUgraphEdgeData **, size_t *) {
  CUresult result = cuStreamIsCapturing(stream, status);
  return result == CUDA_SUCCESS && *status != CU_STREAM_CAPTURE_STATUS_NONE
             ? CUDA_ERROR_NOT_SUPPORTED
             : result;
}
FP8_CUDA_API CUresult cuGraphInstantiate(CUgraphExec *executable, CUgraph graph,
                                         unsigned long long flags) {
  return toDriver(cudaGraphInstantiate(executable, graph, flags));
}
FP8_CUDA_API CUresult cuGraphLaunch(CUgraphExec executable, CUstream stream) {
  return toDriver(cudaGraphLaunch(executable, stream));
}
FP8_CUDA_API CUresult cuGraphExecDestroy(CUgraphExec executable) {
  return toDriver(cudaGraphExecDestroy(executable));
}
FP8_CUDA_API CUresult cuGraphDestroy(CUgraph graph) {
  return toDriver(cudaGraphDestroy(graph));
}
