// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A GEMM of CUTLASS's collective builders for Hopper, with the schedule that a
// macro names. The program compares D with double on the host.
#include "cute/tensor.hpp"
#include "cutlass/cutlass.h"
#include "cutlass/epilogue/collective/collective_builder.hpp"
#include "cutlass/gemm/collective/collective_builder.hpp"
#include "cutlass/gemm/device/gemm_universal_adapter.h"
#include "cutlass/gemm/kernel/gemm_universal.hpp"
#include <cmath>
#include <cstdio>
#include <random>
#include <vector>

using namespace cute;

#if defined(PINGPONG)
using TileShape = Shape<_64, _128, _64>;
using ClusterShape = Shape<_2, _1, _1>;
using Schedule = cutlass::gemm::KernelTmaWarpSpecializedPingpong;
using Epilogue = cutlass::epilogue::TmaWarpSpecialized;
using Scheduler = cutlass::gemm::PersistentScheduler;
constexpr int kM = 384, kN = 384, kK = 448;
#elif defined(STREAM_K)
using TileShape = Shape<_128, _128, _64>;
using ClusterShape = Shape<_1, _1, _1>;
using Schedule = cutlass::gemm::KernelTmaWarpSpecializedCooperative;
using Epilogue = cutlass::epilogue::TmaWarpSpecializedCooperative;
using Scheduler = cutlass::gemm::StreamKScheduler;
constexpr int kM = 384, kN = 128, kK = 768;
#endif

using Element = cutlass::half_t;
using Row = cutlass::layout::RowMajor;
using Column = cutlass::layout::ColumnMajor;
using EpilogueOp = typename cutlass::epilogue::collective::CollectiveBuilder<
    cutlass::arch::Sm90, cutlass::arch::OpClassTensorOp, TileShape, ClusterShape,
    cutlass::epilogue::collective::EpilogueTileAuto, float, float, float, Row,
    4, float, Row, 4, Epilogue>::CollectiveOp;
using Mainloop = typename cutlass::gemm::collective::CollectiveBuilder<
    cutlass::arch::Sm90, cutlass::arch::OpClassTensorOp, Element, Row, 8,
    Element, Column, 8, float, TileShape, ClusterShape,
    cutlass::gemm::collective::StageCountAutoCarveout<int(
        sizeof(typename EpilogueOp::SharedStorage))>,
    Schedule>::CollectiveOp;
using Kernel =
    cutlass::gemm::kernel::GemmUniversal<Shape<int, int, int, int>, Mainloop,
                                         EpilogueOp, Scheduler>;
using Gemm = cutlass::gemm::device::GemmUniversalAdapter<Kernel>;

template <typename T>
T *onDevice(const std::vector<T> &host) {
  T *device;
  cudaMalloc(reinterpret_cast<void **>(&device), host.size() * sizeof(T));
  cudaMemcpy(device, host.data(), host.size() * sizeof(T),
             cudaMemcpyHostToDevice);
  return device;
}

int main() {
  std::mt19937 random(11);
  std::uniform_real_distribution<float> numbers(-1, 1);
  std::vector<Element> a(kM * kK), b(kN * kK);
  for (Element &number : a)
    number = Element(numbers(random));
  for (Element &number : b)
    number = Element(numbers(random));
  std::vector<float> c(kM * kN), d(kM * kN);
  for (float &number : c)
    number = numbers(random);
  float *deviceC = onDevice(c), *deviceD = onDevice(d);

  typename Gemm::Arguments arguments;
  arguments.mode = cutlass::gemm::GemmUniversalMode::kGemm;
  arguments.problem_shape = {kM, kN, kK, 1};
  arguments.mainloop = {onDevice(a), {kK, _1{}, 0}, onDevice(b), {kK, _1{}, 0}};
  arguments.epilogue.ptr_C = deviceC;
  arguments.epilogue.dC = {kN, _1{}, 0};
  arguments.epilogue.ptr_D = deviceD;
  arguments.epilogue.dD = {kN, _1{}, 0};
  arguments.epilogue.thread.alpha = 1.5f;
  arguments.epilogue.thread.beta = 0.5f;
  arguments.hw_info.device_id = 0;
  arguments.hw_info.sm_count = 4;

  Gemm gemm;
  std::vector<char> workspace(Gemm::get_workspace_size(arguments) + 16);
  if (gemm.can_implement(arguments) != cutlass::Status::kSuccess ||
      gemm.initialize(arguments, onDevice(workspace)) !=
          cutlass::Status::kSuccess ||
      gemm.run() != cutlass::Status::kSuccess) {
    std::printf("launch failed\n");
    return 1;
  }
  cudaMemcpy(d.data(), deviceD, d.size() * sizeof(float),
             cudaMemcpyDeviceToHost);
  double error = 0, size = 0;
  for (int m = 0; m < kM; ++m)
    for (int n = 0; n < kN; ++n) {
      double sum = 0;
      for (int k = 0; k < kK; ++k)
        sum += double(float(a[m * kK + k])) * float(b[n * kK + k]);
      sum = 1.5 * sum + 0.5 * c[m * kN + n];
      error += (d[m * kN + n] - sum) * (d[m * kN + n] - sum);
      size += sum * sum;
    }
  error = std::sqrt(error / size);
  std::printf("relative error %g\n", error);
  return error < 1e-5 ? 0 : 1;
}
