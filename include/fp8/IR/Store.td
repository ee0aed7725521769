// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The store family: the staging tiles of a role, and the copy of a fragment to global memory.

#ifndef FP8_IR_STORE
#define FP8_IR_STORE

include "fp8/IR/Fp8Base.td"

def Fp8_StoreQueueOp : Fp8_Op<"store_queue", [InEntryBlock, InLinearFunction, Fp8_LinearOpInterface, MemoryEffects<[MemAlloc<Fp8_BarrierResource>]>]> {
  let summary = "makes the staging tiles of a role that stores";
  let description = [{
    Reserves `depth` slots in shared memory for each warp, or for each warpgroup if tiles have 64 rows. The op is in the kernel's entry
    block (P3), as `fp8.pipeline` is.

    ```mlir
    !queue = !fp8.store_queue<2, !fp8.tile<32x64xbf16, swizzle_128b>, 4>
    func.func @stage() attributes {fp8.linear} {
      %queue = fp8.store_queue : !queue
      fp8.close %queue : !queue
      return
    }
    ```
  }];
  let results = (outs Fp8_StoreQueueType:$queue);
  let assemblyFormat = "attr-dict `:` qualified(type($queue))";
  let hasVerifier = 1;
}

def Fp8_StoreOp : Fp8_ConsumingOp<"store", [Fp8_HandleOpInterface, Fp8_RoleWork<"Warpgroups">, AllTypesMatch<["queue", "next"]>, AttrSizedOperandSegments]> {
  let summary = "stores a fragment to global memory";
  let description = [{
    Rounds the fragment to the map's element type and copies it, tile by tile through the queue, to the box at `coordinates`. These are a
    row and a column, in elements; for a map of higher rank, the outer coordinates come first. They are as in `fp8.tma_load` (M6), but not
    negative: a GPU ends the kernel with an illegal instruction there. Elements behind the end of the tensor are not written.
    The copies are asynchronous and complete when the queue is closed. Until then the copies of two stores have no order, so the boxes of
    stores through one queue must not overlap.

    TMA stores whole units of 16 bytes. Where a row of the tensor ends inside a unit, TMA would overwrite the bytes after the row. For such
    tensors the map leaves out the last elements of each row (`fp8.tensor_map whole_units`), and the threads store them to `rest`, the
    tensor itself.

    The op rounds to nearest even. To f8E4M3FN and f8E5M2 it saturates, at 448 and 57344, and keeps NaN. For an output scale, multiply in
    `fp8.map` before the store.

    (Q1) The map's box is the queue's tile, which has as many rows as a warp holds; in the layout `warpgroups` 64. Where a warp holds 64, the queue is `of_warps`. (Q2) Its columns divide
    the columns of one thread. In the layout `lane_halves` they may also be the columns of both threads of a row. In `warpgroups` they are a
    multiple of 8 and divide the fragment's columns; in `warpgroup_columns` they are the 16 columns of a warp, in `quarter_columns` its 32. (Q3) The queue and the
    fragment have the same number of warps. (Q4) The elements are bf16, f16, f32, f8E4M3FN or f8E5M2. (Q5) `rest` is an argument of the
    kernel: a memref of the map's rank with such elements and contiguous rows, without a memory space.

    ```mlir
    !tile = !fp8.tile<32x64xbf16, swizzle_128b>
    !queue = !fp8.store_queue<2, !tile, 4>
    !sum = !fp8.fragment<128x64xf32, 4>
    func.func @out(%sum: !sum, %d: !fp8.tensor_map<!tile>, %queue: !queue, %m: index, %n: index) -> !queue attributes {fp8.linear} {
      %next = fp8.store %sum, %d[%m, %n] through %queue : !sum, !fp8.tensor_map<!tile>, !queue
      return %next : !queue
    }
    ```
  }];
  let arguments = (ins Fp8_FragmentType:$fragment, Fp8_TensorMapType:$map, Fp8_StoreQueueType:$queue,
                       Variadic<Index>:$coordinates, Optional<AnyMemRef>:$rest);
  let results = (outs Fp8_StoreQueueType:$next);
  let assemblyFormat = [{
    $fragment `,` $map `[` $coordinates `]` `through` $queue (`rest` `(` $rest^ `:` type($rest) `)`)? attr-dict `:` qualified(type($fragment)) `,` qualified(type($map)) `,` qualified(type($queue))
  }];
  let hasVerifier = 1;
  let extraClassDeclaration = [{
    ::mlir::OpResult getContinuation(::mlir::OpOperand &handle) {
      return handle.get() == getQueue() ? ::llvm::cast<::mlir::OpResult>(getNext()) : ::mlir::OpResult();
    }
  }];
}

#endif // FP8_IR_STORE
