// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The explicit family: the halves of acquire and of release, each as its own op. Each intermediate state has its own type,
// which only the op that must follow takes.

#ifndef FP8_IR_EXPLICIT
#define FP8_IR_EXPLICIT

include "fp8/IR/Pipeline.td"

//===----------------------------------------------------------------------===//
// The halves of acquire: test, wait
//===----------------------------------------------------------------------===//

def Fp8_TryWaitOp
    : Fp8_BorrowingOp<"try_wait", [Fp8_NamesResult<"done">, Fp8_RoleWork<"Any">, MemoryEffects<[MemRead<Fp8_BarrierResource>, MemWrite<Fp8_BarrierResource>]>]> {
  let summary = "tests whether the end's next slot has been handed over";
  let description = [{
    Borrows the end and lends the answer (L9): true if `fp8.wait` on the end would return at once. Never blocks. All lanes of a warp get the
    same answer; warps of a role may get different answers. Once true, the answer stays true until the end is consumed.

    The answer changes with time. The declared effects therefore keep passes from merging two tests or moving one across an op that touches
    barriers (L8).

    ```mlir
    !ring = !fp8.pipeline<3, s: !fp8.tile<1x128xf32>>
    func.func @pass(%end: !fp8.consumer<!ring>) -> !fp8.consumer<!ring> attributes {fp8.linear} {
      %done = fp8.try_wait %end : !fp8.consumer<!ring>
      %ready = fp8.wait %end unless %done : !fp8.consumer<!ring>
      %stage = fp8.acquire %ready : !fp8.ready<!fp8.consumer<!ring>>
      %next = fp8.release %stage : !fp8.consumer_stage<!ring>
      return %next : !fp8.consumer<!ring>
    }
    ```
  }];
  let arguments = (ins Fp8_AnyEnd:$end);
  let results = (outs I1:$done);
  let assemblyFormat = "$end attr-dict `:` type($end)";
  let hasVerifier = 1;
  let extraClassDeclaration = [{
    ::mlir::fp8::LinearUse getLinearUse(::mlir::OpOperand &) { return ::mlir::fp8::LinearUse::Borrow; }
    bool lendsResult(::mlir::OpResult) { return true; }
    bool mayWait(::mlir::OpOperand &) { return false; }
  }];
}

def Fp8_WaitOp : Fp8_ConsumingOp<"wait", [Fp8_HandleOpInterface, Fp8_RoleWork<"Any">, DeclareOpInterfaceMethods<InferTypeOpInterface>]> {
  let summary = "waits for the end's next slot, without taking it";
  let description = [{
    The first half of `fp8.acquire`: consumes the end and waits until the other side has handed over its next slot. The result is a ready
    end, which only `fp8.acquire` can take. With `unless`, the op skips the wait where the condition is true.

    (X1) The condition of `unless` is the result of an `fp8.try_wait` on the same end.

    ```mlir
    !ring = !fp8.pipeline<3, s: !fp8.tile<1x128xf32>>
    func.func @pass(%end: !fp8.producer<!ring>) -> !fp8.producer<!ring> attributes {fp8.linear} {
      %ready = fp8.wait %end : !fp8.producer<!ring>
      %slot = fp8.index %ready : !fp8.ready<!fp8.producer<!ring>>
      %stage = fp8.acquire %ready : !fp8.ready<!fp8.producer<!ring>>
      %next = fp8.release %stage : !fp8.producer_stage<!ring>
      return %next : !fp8.producer<!ring>
    }
    ```
  }];
  let arguments = (ins Fp8_AnyEnd:$end, Optional<I1>:$done);
  let results = (outs Fp8_ReadyType:$ready);
  let assemblyFormat = "$end (`unless` $done^)? attr-dict `:` type($end)";
  let hasVerifier = 1;
  let hasFolder = 1;
}

//===----------------------------------------------------------------------===//
// The halves of release: signal, advance
//===----------------------------------------------------------------------===//

def Fp8_ArriveOp : Fp8_ConsumingOp<"arrive", [Fp8_HandleOpInterface, Fp8_RoleWork<"Any">, DeclareOpInterfaceMethods<InferTypeOpInterface>]> {
  let summary = "hands the slot over to the other side, without advancing";
  let description = [{
    The first half of `fp8.release`: signals the other side now, as `fp8.release` would. Consumes the stage, so that nothing it lent is used
    afterwards (L9), and yields a signalled stage. Its type rules out a second signal, and a step without a signal.

    ```mlir
    !ring = !fp8.pipeline<3, s: !fp8.tile<1x128xf32>>
    func.func @pass(%end: !fp8.consumer<!ring>) -> !fp8.consumer<!ring> attributes {fp8.linear} {
      %stage = fp8.acquire %end : !fp8.consumer<!ring>
      %signalled = fp8.arrive %stage : !fp8.consumer_stage<!ring>
      %next = fp8.step %signalled : !fp8.signalled<!fp8.consumer_stage<!ring>>
      return %next : !fp8.consumer<!ring>
    }
    ```
  }];
  let arguments = (ins Fp8_AnyStage:$stage);
  let results = (outs Fp8_SignalledType:$signalled);
  let assemblyFormat = "$stage attr-dict `:` type($stage)";
  let extraClassDeclaration = [{
    ::mlir::Value getHandedOver() { return getStage(); }
  }];
}

def Fp8_StepOp : Fp8_ConsumingOp<"step", [Fp8_HandleOpInterface, Fp8_RoleWork<"Any">, DeclareOpInterfaceMethods<InferTypeOpInterface>]> {
  let summary = "advances the end to its next slot";
  let description = [{
    The second half of `fp8.release`: takes a signalled stage and yields its end, advanced to the next slot. Sends no signal.

    ```mlir
    !ring = !fp8.pipeline<3, s: !fp8.tile<1x128xf32>>
    !signalled = !fp8.signalled<!fp8.consumer_stage<!ring>>
    func.func @advance(%signalled: !signalled) -> !fp8.consumer<!ring> attributes {fp8.linear} {
      %next = fp8.step %signalled : !signalled
      return %next : !fp8.consumer<!ring>
    }
    ```
  }];
  let arguments = (ins Fp8_AnySignalled:$signalled);
  let results = (outs Fp8_AnyEnd:$end);
  let assemblyFormat = "$signalled attr-dict `:` type($signalled)";
}

//===----------------------------------------------------------------------===//
// The stage's barrier, and copies that name it
//===----------------------------------------------------------------------===//

def Fp8_MbarrierOp : Fp8_BorrowingOp<"mbarrier", [Pure]> {
  let summary = "lends the barrier on which a stage is handed over";
  let description = [{
    Borrows the stage and lends the barrier on which its hand-over is signalled (L9): the full barrier for a producer's stage, the empty
    barrier for a consumer's stage.

    ```mlir
    !t = !fp8.tile<1x128xf32>
    !ring = !fp8.pipeline<3, s: !t>
    func.func @fill(%end: !fp8.producer<!ring>, %map: !fp8.tensor_map<!t>, %i: index) -> !fp8.producer<!ring> attributes {fp8.linear} {
      %stage = fp8.acquire %end : !fp8.producer<!ring>
      %tile = fp8.tile %stage["s"] : !fp8.producer_stage<!ring>
      %full = fp8.mbarrier %stage : !fp8.producer_stage<!ring>
      fp8.tma_copy %map[%i, %i], %tile, %full : !fp8.tensor_map<!t>, !t
      %next = fp8.release %stage : !fp8.producer_stage<!ring>
      return %next : !fp8.producer<!ring>
    }
    ```
  }];
  let arguments = (ins Fp8_AnyStage:$stage);
  let results = (outs Fp8_MBarrierType:$mbarrier);
  let assemblyFormat = "$stage attr-dict `:` type($stage)";
}

def Fp8_TmaCopyOp : Fp8_Op<"tma_copy", [InLinearFunction, Fp8_TileCopyOpInterface,
    MemoryEffects<[MemRead, MemWrite<Fp8_BarrierResource>]>]> {
  let summary = "copies a box of global memory into a tile, and counts its bytes on a barrier";
  let description = [{
    Does what `fp8.tma_load` does, but takes views that the stage lent. The bytes count towards what the stage's barrier expects.

    (M1) The map's box is the tile. (X2) The same producer stage lends the tile and the barrier.

    ```mlir
    !t = !fp8.tile<1x128xf32>
    !ring = !fp8.pipeline<3, s: !t>
    func.func @fill(%end: !fp8.producer<!ring>, %map: !fp8.tensor_map<!t>, %i: index) -> !fp8.producer<!ring>
        attributes {fp8.linear} {
      %next = fp8.produce(%stage = %end) : !fp8.producer<!ring> -> !fp8.producer<!ring> {
        %tile = fp8.tile %stage["s"] : !fp8.producer_stage<!ring>
        %full = fp8.mbarrier %stage : !fp8.producer_stage<!ring>
        fp8.tma_copy %map[%i, %i], %tile, %full : !fp8.tensor_map<!t>, !t
      }
      return %next : !fp8.producer<!ring>
    }
    ```
  }];
  let arguments = (ins Fp8_TensorMapType:$map, Variadic<Index>:$coordinates, Fp8_TileType:$tile, Fp8_MBarrierType:$mbarrier);
  let assemblyFormat = [{
    $map `[` $coordinates `]` `,` $tile `,` $mbarrier attr-dict `:` qualified(type($map)) `,` qualified(type($tile))
  }];
  let hasVerifier = 1;
  let extraClassDeclaration = [{
    /// The stage that lent the tile.
    ::mlir::Value getFilledStage();
    int64_t getBytes() { return getTile().getType().getSizeInBytes(); }
  }];
}

//===----------------------------------------------------------------------===//
// Scoped form (phase 1)
//===----------------------------------------------------------------------===//

def Fp8_ConsumeExplicitOp : Fp8_BindingRegionOp<"consume_explicit", [Fp8_EarlierPhaseOpInterface, Fp8_LinearOpInterface]> {
  let summary = "empties slots of rings, with an explicit hand-over for each";
  let description = [{
    Acquires a stage of each consumer end, in order, and passes the stages to the body, which owns them. The body signals each stage with
    `fp8.arrive` as soon as it has finished with it, and yields the signalled stages first, one for each end. The op then advances the ends
    in the opposite order. Results: the advanced ends, then the other values that the body yields. Linearity (L1) ensures exactly one
    arrival on every path.

    (X3) The ends are on the side that empties slots: consumer ends of pipelines, epilogue warps, or ready ends of these.

    ```mlir
    !ring = !fp8.pipeline<3, s: !fp8.tile<1x128xf32>>
    func.func @pass(%end: !fp8.consumer<!ring>) -> !fp8.consumer<!ring> attributes {fp8.linear} {
      %next = fp8.consume_explicit(%stage = %end) : !fp8.consumer<!ring> -> !fp8.consumer<!ring> {
        %tile = fp8.tile %stage["s"] : !fp8.consumer_stage<!ring>
        %signalled = fp8.arrive %stage : !fp8.consumer_stage<!ring>
        fp8.yield %signalled : !fp8.signalled<!fp8.consumer_stage<!ring>>
      }
      return %next : !fp8.consumer<!ring>
    }
    ```
  }];
}

#endif // FP8_IR_EXPLICIT
