// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The scheduler family: which output tiles a CTA computes, in which order.

#ifndef FP8_IR_SCHEDULER
#define FP8_IR_SCHEDULER

include "fp8/IR/Fp8Base.td"
include "mlir/Interfaces/LoopLikeInterface.td"

def Fp8_ForEachTileOp : Fp8_Op<"for_each_tile", [SingleBlockImplicitTerminator<"::mlir::fp8::YieldOp">,
    DeclareOpInterfaceMethods<RegionBranchOpInterface, ["getEntrySuccessorOperands"]>,
    DeclareOpInterfaceMethods<LoopLikeOpInterface, ["getLoopResults", "getRegionIterArgs",
                                                    "getYieldedValuesMutable"]>]> {
  let summary = "runs the body for each output tile of this CTA";
  let description = [{
    Every role of a kernel runs the same loop, so that all of them see the same tiles in the same order. `persistent`: CTA c of G computes tiles c, c+G, c+2G
    ...; `one_tile`: CTA c computes tile c alone. Tiles are numbered down the columns of the tile grid: tile t has row t mod `tiles_m`.

    ```mlir
    func.func @tiles(%tiles_m: index, %tiles_n: index, %x: f32) -> f32 {
      %r = fp8.for_each_tile persistent (%m, %n) in (%tiles_m, %tiles_n) iter_args(%i = %x) -> (f32) {
        fp8.yield %i : f32
      }
      return %r : f32
    }
    ```
  }];
  let arguments = (ins Fp8_SchedulerKindAttr:$scheduler, Index:$tiles_m, Index:$tiles_n, Variadic<AnyType>:$inits);
  let results = (outs Variadic<AnyType>:$results);
  let regions = (region SizedRegion<1>:$body);
  let hasCustomAssemblyFormat = 1;
  let hasVerifier = 1;
}

#endif // FP8_IR_SCHEDULER
