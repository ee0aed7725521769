// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The scheduler family: which output tiles a CTA computes, and in which order.

#ifndef FP8_IR_SCHEDULER
#define FP8_IR_SCHEDULER

include "fp8/IR/Pipeline.td"
include "mlir/Interfaces/LoopLikeInterface.td"

def Fp8_ForEachTileOp : Fp8_Op<"for_each_tile", [Fp8_EarlierPhaseOpInterface, SingleBlockImplicitTerminator<"::mlir::fp8::YieldOp">, AttrSizedOperandSegments,
    Fp8_LinearOpInterface, DeclareOpInterfaceMethods<OpAsmOpInterface, ["getAsmBlockArgumentNames"]>,
    DeclareOpInterfaceMethods<RegionBranchOpInterface, ["getEntrySuccessorOperands"]>,
    DeclareOpInterfaceMethods<LoopLikeOpInterface, ["getLoopResults", "getRegionIterArgs",
                                                    "getYieldedValuesMutable"]>]> {
  let summary = "runs the body for each output tile of this CTA";
  let description = [{
    Every role of a kernel runs the same loop, so that all roles see the same tiles in the same order. A cluster takes one block of tiles at
    a time, one tile for each of its CTAs. Blocks at the edges may extend past the grid of `tiles_m` x `tiles_n`, so the body may see tiles
    outside the grid.

    | scheduler | cluster c of G computes blocks |
    |---|---|
    | `one_tile` | c |
    | `persistent` | c, c+G, c+2G ... |
    | `clc` | c, then the blocks of clusters that have not started: cluster launch control cancels these clusters and sends their numbers through the work queue `from` |

    Blocks are numbered down the columns of the grid of blocks: block t has row t mod rows. With `band(b)` they are numbered in bands of b
    rows of blocks, so that clusters that run together share rows of A and columns of B in L2. With `band(b columns)` each band has b
    columns of blocks, and blocks are numbered along its rows. Neighbours, whose reads L2 merges, then share rows of A rather than of B.

    (W1) `clc` reads a work queue; the other schedulers do not.

    ```mlir
    func.func @tiles(%tiles_m: index, %tiles_n: index, %x: f32) -> f32 {
      %r = fp8.for_each_tile persistent band(8) (%m, %n) in (%tiles_m, %tiles_n) iter_args(%i = %x) -> (f32) {
        fp8.yield %i : f32
      }
      return %r : f32
    }
    ```

    With a work queue, the first result is its end:

    ```mlir
    !work = !fp8.consumer<!fp8.work_queue<2>>
    func.func @dynamic(%tiles_m: index, %tiles_n: index, %work: !work) -> !work attributes {fp8.linear} {
      %rest = fp8.for_each_tile clc (%m, %n) in (%tiles_m, %tiles_n) from(%work : !work) {
      }
      return %rest : !work
    }
    ```
  }];
  let arguments = (ins Fp8_SchedulerKindAttr:$scheduler, OptionalAttr<ConfinedAttr<I64Attr, [IntPositive]>>:$band, UnitAttr:$band_of_columns,
                       Index:$tiles_m, Index:$tiles_n, Optional<Fp8_ConsumerType>:$work, Variadic<AnyType>:$inits);
  let results = (outs Variadic<AnyType>:$results);
  let regions = (region SizedRegion<1>:$body);
  let hasCustomAssemblyFormat = 1;
  let hasVerifier = 1;
  let extraClassDeclaration = [{
    ::llvm::StringRef getLoweringPass() { return "--fp8-lower-tile-loops"; }
    /// The results that the body carries: all but the work queue's end.
    ::mlir::ResultRange getCarriedResults() { return getResults().drop_front(getWork() ? 1 : 0); }
  }];
}

//===----------------------------------------------------------------------===//
// Cluster launch control
//===----------------------------------------------------------------------===//

def Fp8_WorkQueueOp : Fp8_Op<"work_queue", [InEntryBlock, Fp8_RingOpInterface, InLinearFunction, Fp8_LinearOpInterface, Fp8_Requires<"ClusterLaunchControl">,
    MemoryEffects<[MemAlloc<Fp8_BarrierResource>]>]> {
  let summary = "makes a work queue and its ends";
  let description = [{
    Yields the producer end, through which the scheduler requests work, and a consumer end for each role that reads the answers. The
    scheduler has a consumer end too, since it must know when to stop. The op is in the kernel's entry block (P3).

    ```mlir
    !work = !fp8.work_queue<2>
    func.func @ends() attributes {fp8.linear} {
      %p, %c = fp8.work_queue : !fp8.producer<!work>, !fp8.consumer<!work>
      fp8.close %p : !fp8.producer<!work>
      fp8.close %c : !fp8.consumer<!work>
      return
    }
    ```
  }];
  let results = (outs Variadic<Fp8_AnyEnd>:$ends);
  let assemblyFormat = "attr-dict `:` type($ends)";
  let hasVerifier = 1;
}

def Fp8_RequestWorkOp : Fp8_Op<"request_work", [Fp8_RoleWork<"Any">, InLinearFunction, Fp8_LinearOpInterface, Fp8_Requires<"ClusterLaunchControl">,
    MemoryEffects<[MemRead<Fp8_BarrierResource>, MemWrite<Fp8_BarrierResource>]>]> {
  let summary = "requests the work of a cluster that has not started";
  let description = [{
    Borrows the stage. The answer arrives in the slot of every CTA of the cluster, and fills it (PTX ISA, clusterlaunchcontrol.try_cancel).
    The op sends no request after an answer that there is no more work.

    (W2) There is exactly one request for each stage, in the block of its acquire. (W3) The op is in the leading CTA of the cluster (checked
    by the lowering).

    ```mlir
    !work = !fp8.work_queue<2>
    func.func @ask(%end: !fp8.producer<!work>) -> !fp8.producer<!work> attributes {fp8.linear} {
      %next = fp8.produce(%stage = %end) : !fp8.producer<!work> -> !fp8.producer<!work> {
        fp8.request_work %stage : !fp8.producer_stage<!work>
      }
      return %next : !fp8.producer<!work>
    }
    ```
  }];
  let arguments = (ins Fp8_ProducerStageType:$stage);
  let assemblyFormat = "$stage attr-dict `:` qualified(type($stage))";
  let hasVerifier = 1;
  let extraClassDeclaration = [{
    ::mlir::fp8::LinearUse getLinearUse(::mlir::OpOperand &) { return ::mlir::fp8::LinearUse::Borrow; }
  }];
}

def Fp8_NextWorkOp : Fp8_Op<"next_work", [Fp8_RoleWork<"Any">, InLinearFunction, Fp8_LinearOpInterface, Fp8_Requires<"ClusterLaunchControl">,
    MemoryEffects<[MemRead<Fp8_BarrierResource>]>]> {
  let summary = "reads an answer: whether there is more work, and of which cluster";
  let description = [{
    Borrows the stage. `cluster` is the number of the cluster whose work this cluster takes over. It is undefined if there is no more work.

    ```mlir
    !work = !fp8.work_queue<2>
    func.func @read(%end: !fp8.consumer<!work>) -> (!fp8.consumer<!work>, i1, index) attributes {fp8.linear} {
      %stage = fp8.acquire %end : !fp8.consumer<!work>
      %more, %cluster = fp8.next_work %stage : !fp8.consumer_stage<!work>
      %next = fp8.release %stage : !fp8.consumer_stage<!work>
      return %next, %more, %cluster : !fp8.consumer<!work>, i1, index
    }
    ```
  }];
  let arguments = (ins Fp8_ConsumerStageType:$stage);
  let results = (outs I1:$more, Index:$cluster);
  let assemblyFormat = "$stage attr-dict `:` qualified(type($stage))";
  let hasVerifier = 1;
  let extraClassDeclaration = [{
    ::mlir::fp8::LinearUse getLinearUse(::mlir::OpOperand &) { return ::mlir::fp8::LinearUse::Borrow; }
  }];
}

#endif // FP8_IR_SCHEDULER
