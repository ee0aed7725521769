// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The pipeline family: rings of shared-memory slots, their ends and stages, scoped (phase 1) and linear (phase 2).

#ifndef FP8_IR_PIPELINE
#define FP8_IR_PIPELINE

include "fp8/IR/Fp8Base.td"

def Fp8_PipelineOp : Fp8_Op<"pipeline", [InEntryBlock, Fp8_RingOpInterface, InLinearFunction, Fp8_LinearOpInterface, MemoryEffects<[MemAlloc<Fp8_BarrierResource>]>]> {
  let summary = "makes a ring of shared-memory slots and its ends";
  let description = [{
    Lays out the ring in shared memory, initialises its barriers, and yields one end for each role that uses the ring: first the producer
    ends, then the consumer ends.

    (P1) There is at least one producer and one consumer. (P2) All ends are ends of the same ring. (P3) The op is in the kernel's entry
    block.

    The compiler derives what the barriers wait for from the roles: on `full`, one arrival for each producing warp, and the bytes of the
    copies into the stage; on `empty`, one arrival for each consuming warp. `producer_arrivals` and `consumer_arrivals` may state the
    counts. A stated count that differs from the derived one is an error.

    ```mlir
    !ring = !fp8.pipeline<3, s: !fp8.tile<1x128xf32>>
    func.func @ends() attributes {fp8.linear} {
      %p, %c = fp8.pipeline : !fp8.producer<!ring>, !fp8.consumer<!ring>
      fp8.close %p : !fp8.producer<!ring>
      fp8.close %c : !fp8.consumer<!ring>
      return
    }
    ```
  }];
  let arguments = (ins OptionalAttr<ConfinedAttr<I64Attr, [IntPositive]>>:$producer_arrivals,
                       OptionalAttr<ConfinedAttr<I64Attr, [IntPositive]>>:$consumer_arrivals);
  let results = (outs Variadic<Fp8_AnyEnd>:$ends);
  let assemblyFormat = "attr-dict `:` type($ends)";
  let hasVerifier = 1;
}

def Fp8_AcquireOp : Fp8_ConsumingOp<"acquire", [Fp8_HandleOpInterface, Fp8_RoleWork<"Any">, DeclareOpInterfaceMethods<InferTypeOpInterface>]> {
  let summary = "waits for the end's next slot and takes it";
  let description = [{
    Consumes the end and waits until the other side has handed over its next slot: a producer (or MMA warp) waits until the slot is empty, a
    consumer (or epilogue warp) until it is full. Yields the slot as a stage. For a `!fp8.ready` end the op does not wait, since `fp8.wait`
    already has.

    ```mlir
    !ring = !fp8.pipeline<3, s: !fp8.tile<1x128xf32>>
    func.func @pass(%end: !fp8.consumer<!ring>) -> !fp8.consumer<!ring> attributes {fp8.linear} {
      %stage = fp8.acquire %end : !fp8.consumer<!ring>
      %next = fp8.release %stage : !fp8.consumer_stage<!ring>
      return %next : !fp8.consumer<!ring>
    }
    ```
  }];
  let arguments = (ins Fp8_AnyWaitable:$end);
  let results = (outs Fp8_AnyStage:$stage);
  let assemblyFormat = "$end attr-dict `:` type($end)";
  let hasVerifier = 1;
}

def Fp8_ReleaseOp : Fp8_ConsumingOp<"release", [Fp8_HandleOpInterface, Fp8_RoleWork<"Any">, DeclareOpInterfaceMethods<InferTypeOpInterface>]> {
  let summary = "hands the slot over to the other side and gives the end back, advanced";
  let description = [{
    Performs the whole hand-over, for every kind of stage: signals the other side and advances the end. The compiler derives the kind of
    signal from the uses of the stage. The arrival of its bytes signals a slot that TMA fills. `tcgen05.commit` signals a slot that an MMA
    reads or writes. An arrival of each warp, after its reads are complete, signals a slot that threads read.

    ```mlir
    !ring = !fp8.pipeline<3, s: !fp8.tile<1x128xf32>>
    func.func @skip(%end: !fp8.consumer<!ring>) -> !fp8.consumer<!ring> attributes {fp8.linear} {
      %stage = fp8.acquire %end : !fp8.consumer<!ring>
      %next = fp8.release %stage : !fp8.consumer_stage<!ring>
      return %next : !fp8.consumer<!ring>
    }
    ```
  }];
  let arguments = (ins Fp8_AnyStage:$stage);
  let results = (outs Fp8_AnyEnd:$end);
  let assemblyFormat = "$stage attr-dict `:` type($stage)";
  let extraClassDeclaration = [{
    ::mlir::Value getHandedOver() { return getStage(); }
  }];
}

def Fp8_CloseOp : Fp8_ConsumingOp<"close", [Fp8_RoleWork<"Any">]> {
  let summary = "ends a role's use of a ring, a store queue or an exchange";
  let description = [{
    Consumes the end. A producer waits until every slot that it filled has been handed back, so that no signal, copy or MMA is under way
    when the CTA exits. A store queue waits until every copy has been written. A consumer does not wait, and neither does the producer of a
    ring without tiles.

    ```mlir
    !ring = !fp8.pipeline<3, s: !fp8.tile<1x128xf32>>
    func.func @end(%end: !fp8.producer<!ring>) attributes {fp8.linear} {
      fp8.close %end : !fp8.producer<!ring>
      return
    }
    ```
  }];
  let arguments = (ins Fp8_AnyCloseable:$end);
  let assemblyFormat = "$end attr-dict `:` type($end)";
}

def Fp8_TileOp : Fp8_BorrowingOp<"tile", [Pure, DeclareOpInterfaceMethods<InferTypeOpInterface>,
    DeclareOpInterfaceMethods<OpAsmOpInterface, ["getAsmResultNames"]>]> {
  let summary = "lends a view of one tile of a stage";
  let description = [{
    Borrows the stage and lends its tile with that name (L9).

    ```mlir
    !ring = !fp8.pipeline<3, s: !fp8.tile<1x128xf32>>
    func.func @borrow(%end: !fp8.consumer<!ring>) -> !fp8.consumer<!ring> attributes {fp8.linear} {
      %stage = fp8.acquire %end : !fp8.consumer<!ring>
      %scales = fp8.tile %stage["s"] : !fp8.consumer_stage<!ring>
      %next = fp8.release %stage : !fp8.consumer_stage<!ring>
      return %next : !fp8.consumer<!ring>
    }
    ```
  }];
  let arguments = (ins Fp8_PayloadStage:$stage, StrAttr:$name);
  let results = (outs Fp8_TileType:$tile);
  let assemblyFormat = "$stage `[` $name `]` attr-dict `:` type($stage)";
}

def Fp8_IndexOp : Fp8_BorrowingOp<"index", [Pure, Fp8_NamesResult<"slot">]> {
  let summary = "lends the number of the slot";
  let description = [{
    Borrows the stage and lends the number of its slot, in 0 .. stages-1 (L9). For an end, it is the slot that `fp8.acquire` would take
    next.

    ```mlir
    !ring = !fp8.pipeline<3, s: !fp8.tile<1x128xf32>>
    func.func @of_slot(%end: !fp8.consumer<!ring>, %table: memref<3xf32>) -> (!fp8.consumer<!ring>, f32) attributes {fp8.linear} {
      %stage = fp8.acquire %end : !fp8.consumer<!ring>
      %slot = fp8.index %stage : !fp8.consumer_stage<!ring>
      %x = memref.load %table[%slot] : memref<3xf32>
      %next = fp8.release %stage : !fp8.consumer_stage<!ring>
      return %next, %x : !fp8.consumer<!ring>, f32
    }
    ```
  }];
  let arguments = (ins Fp8_AnySlot:$handle);
  let results = (outs Index:$index);
  let assemblyFormat = "$handle attr-dict `:` type($handle)";
}

//===----------------------------------------------------------------------===//
// Scoped forms (phase 1)
//===----------------------------------------------------------------------===//

class Fp8_StageScopeOp<string mnemonic> : Fp8_BindingRegionOp<mnemonic, [Fp8_EarlierPhaseOpInterface, Fp8_LinearOpInterface]> {
  let extraClassDeclaration = [{
    bool managesArgument(::mlir::BlockArgument) { return true; }
  }];
}

def Fp8_ProduceOp : Fp8_StageScopeOp<"produce"> {
  let summary = "fills one slot of a ring";
  let description = [{
    Acquires a stage of the producer end, or of an MMA warp, runs the body, then releases the stage. The body borrows the stage. Results:
    the advanced end, then the values that the body yields.

    ```mlir
    !t = !fp8.tile<1x128xf32>
    !ring = !fp8.pipeline<3, s: !t>
    func.func @fill(%end: !fp8.producer<!ring>, %map: !fp8.tensor_map<!t>, %i: index) -> !fp8.producer<!ring>
        attributes {fp8.linear} {
      %next = fp8.produce(%stage = %end) : !fp8.producer<!ring> -> !fp8.producer<!ring> {
        fp8.tma_load %map[%i, %i], %stage["s"] : !fp8.tensor_map<!t>, !fp8.producer_stage<!ring>
      }
      return %next : !fp8.producer<!ring>
    }
    ```
  }];
}

def Fp8_ConsumeOp : Fp8_StageScopeOp<"consume"> {
  let summary = "empties one slot of a ring";
  let description = [{
    Acquires a stage of the consumer end, or of epilogue warps, runs the body, then releases the stage. The body borrows the stage. Results:
    the advanced end, then the values that the body yields.

    A kernel that adds up all of K in tensor memory hands one accumulator over for each output tile:

    ```mlir
    !acc = !fp8.output_pipeline<2, 128x64xf32>
    !sum = !fp8.fragment<128x64xf32, 4>
    func.func @tile(%warp: !fp8.epilogue_warp<!acc>) -> !fp8.epilogue_warp<!acc> attributes {fp8.linear} {
      %next, %sum = fp8.consume(%stage = %warp) : !fp8.epilogue_warp<!acc> -> (!fp8.epilogue_warp<!acc>, !sum) {
        %accumulator = fp8.accumulator %stage : !fp8.epilogue_stage<!acc>
        %f = fp8.read %accumulator : !fp8.tmem<128x64xf32> -> !sum
        fp8.yield %f : !sum
      }
      return %next : !fp8.epilogue_warp<!acc>
    }
    ```
  }];
}

#endif // FP8_IR_PIPELINE
