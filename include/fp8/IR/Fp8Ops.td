// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// All TableGen definitions of the dialect.

#ifndef FP8_IR_FP8OPS
#define FP8_IR_FP8OPS

include "fp8/IR/Barrier.td"
include "fp8/IR/BarrierWork.td"
include "fp8/IR/Cluster.td"
include "fp8/IR/Exchange.td"
include "fp8/IR/Explicit.td"
include "fp8/IR/Fragment.td"
include "fp8/IR/Gemm.td"
include "fp8/IR/Host.td"
include "fp8/IR/OutputPipeline.td"
include "fp8/IR/Pipeline.td"
include "fp8/IR/Plan.td"
include "fp8/IR/Scheduler.td"
include "fp8/IR/Store.td"
include "fp8/IR/Tile.td"
include "fp8/IR/Warp.td"
include "fp8/IR/Warpgroup.td"

#endif // FP8_IR_FP8OPS
