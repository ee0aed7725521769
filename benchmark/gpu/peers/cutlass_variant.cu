// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// CUTLASS's Hopper kernel with scales of A for 1x128 and of B for 128x128, as
// its builders make it for one tile, cluster and schedule, which build.py names
// with macros. None of CUTLASS's code is in this project.
#include "cutlass_variant.h"

#include "cutlass/epilogue/collective/collective_builder.hpp"
#include "cutlass/gemm/collective/collective_builder.hpp"
#include "cutlass/gemm/device/gemm_universal_adapter.h"
#include "cutlass/gemm/kernel/gemm_universal.hpp"
#include "cutlass/util/packed_stride.hpp"

#include <memory>

namespace {

using Tile = cute::Shape<cute::Int<TILE_M>, cute::Int<TILE_N>, cute::_128>;
using Cluster =
    cute::Shape<cute::Int<CLUSTER_M>, cute::Int<CLUSTER_N>, cute::_1>;
using Fp8 = cutlass::float_e4m3_t;
using Bf16 = cutlass::bfloat16_t;

#if PINGPONG
using Schedule = cutlass::gemm::KernelTmaWarpSpecializedPingpongFP8Blockwise;
using EpilogueSchedule = cutlass::epilogue::TmaWarpSpecialized;
using EpilogueTile = cutlass::epilogue::collective::EpilogueTileAuto;
#else
using Schedule = cutlass::gemm::KernelTmaWarpSpecializedCooperativeFP8Blockwise;
using EpilogueSchedule = cutlass::epilogue::TmaWarpSpecializedCooperative;
using EpilogueTile = cute::Shape<cute::_128, cute::Int<TILE_N>>;
#endif

// A's scales M-major, B's K-major.
using Scales = cutlass::detail::Sm90BlockwiseScaleConfig<
    1, 128, 128, cute::GMMA::Major::MN, cute::GMMA::Major::K>;
using ScalesA = decltype(Scales::deduce_layoutSFA());
using ScalesB = decltype(Scales::deduce_layoutSFB());

using Epilogue = cutlass::epilogue::collective::CollectiveBuilder<
    cutlass::arch::Sm90, cutlass::arch::OpClassTensorOp, Tile, Cluster,
    EpilogueTile, float, float, void, cutlass::layout::RowMajor, 1, Bf16,
    cutlass::layout::RowMajor, 8, EpilogueSchedule,
    cutlass::epilogue::fusion::Sm90EVT<
        cutlass::epilogue::fusion::Sm90AccFetch>>::CollectiveOp;

using Mainloop = cutlass::gemm::collective::CollectiveBuilder<
    cutlass::arch::Sm90, cutlass::arch::OpClassTensorOp, Fp8,
    cute::tuple<cutlass::layout::RowMajor, ScalesA>, 16, Fp8,
    cute::tuple<cutlass::layout::ColumnMajor, ScalesB>, 16, float, Tile,
    Cluster,
    cutlass::gemm::collective::StageCountAutoCarveout<static_cast<int>(
        sizeof(typename Epilogue::SharedStorage))>,
    Schedule>::CollectiveOp;

using Kernel =
    cutlass::gemm::kernel::GemmUniversal<cute::Shape<int, int, int, int>,
                                         Mainloop, Epilogue>;
using Gemm = cutlass::gemm::device::GemmUniversalAdapter<Kernel>;
using RasterOrder = decltype(Gemm::Arguments{}.scheduler.raster_order);

int make(const Fp8PeerOperands &o, Walk walk, void **made) {
  *made = nullptr;
  if (o.a_scale_stride != o.m)
    return peer::fail("a_scale", "CUTLASS's layout has rows without gaps");
  const int m = o.m, n = o.n, k = o.k;
  const auto shape = cute::make_shape(m, n, k, 1);
  auto packed = [](auto stride, int rows, int columns) {
    return cutlass::make_cute_packed_stride(stride,
                                            cute::make_shape(rows, columns, 1));
  };
  typename Gemm::Arguments arguments{
      cutlass::gemm::GemmUniversalMode::kGemm,
      shape,
      {static_cast<const Fp8 *>(o.a), packed(typename Kernel::StrideA{}, m, k),
       static_cast<const Fp8 *>(o.b), packed(typename Kernel::StrideB{}, n, k),
       o.a_scale, Scales::tile_atom_to_shape_SFA(shape), o.b_scale,
       Scales::tile_atom_to_shape_SFB(shape)},
      {{},
       nullptr,
       packed(typename Kernel::StrideC{}, m, n),
       static_cast<Bf16 *>(o.d),
       packed(typename Kernel::StrideD{}, m, n)}};
  arguments.scheduler.raster_order =
      walk.alongM ? RasterOrder::AlongM : RasterOrder::AlongN;
  arguments.scheduler.max_swizzle_size = walk.swizzle;

  auto gemm = std::make_unique<Gemm>();
  if (Gemm::can_implement(arguments) != cutlass::Status::kSuccess ||
      Gemm::get_workspace_size(arguments))
    return 0;
  const cutlass::Status status = gemm->initialize(arguments);
  if (status != cutlass::Status::kSuccess)
    return peer::fail("initialize", cutlass::cutlassGetStatusString(status));
  *made = gemm.release();
  return 0;
}

int enqueue(void *made, cudaStream_t stream, bool programmatic) {
  const cutlass::Status status =
      static_cast<Gemm *>(made)->run(stream, nullptr, programmatic);
  if (status == cutlass::Status::kSuccess)
    return 0;
  return peer::fail("launch", cutlass::cutlassGetStatusString(status));
}

void drop(void *made) { delete static_cast<Gemm *>(made); }

} // namespace

extern const Variant VARIANT;
const Variant VARIANT = {VARIANT_NAME, make, enqueue, drop};
