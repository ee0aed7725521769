// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The tile family: copies into tiles, prefetches and MMAs.

#ifndef FP8_IR_TILE
#define FP8_IR_TILE

include "fp8/IR/Fp8Base.td"

def Fp8_TmaLoadOp : Fp8_Op<"tma_load", [InLinearFunction, Fp8_LinearOpInterface, Fp8_TileCopyOpInterface,
    MemoryEffects<[MemRead, MemWrite<Fp8_BarrierResource>]>]> {
  let summary = "copies a box of global memory into a tile of a stage";
  let description = [{
    Starts the asynchronous copy of the box whose first element is at `coordinates`, and counts its bytes on the stage's full barrier. The
    coordinates are a row and a column, in elements; for a map of higher rank, the outer coordinates come first. They are signed numbers of
    32 bits, as `index` is in a kernel, and may be negative or beyond the tensor: elements outside the tensor are zero, and count. The map
    says where the tensor ends. A column begins at a multiple of 16 bytes: elsewhere a GPU ends the kernel with an illegal instruction.

    (M6) A constant coordinate is below 2^31, and the box does not end in front of the tensor. A constant column is a multiple of 16 bytes.

    With `multicast`, the CTAs of the cluster that differ only along that axis need the same tile; in the ring of a pair, they also have the
    same rank in their pairs. Each copies its share of the rows and sends it to all of them. The coordinates are those of the whole tile.

    If an argument of the kernel has the bytes of the map's box (`fp8.box_bytes`), a box has the rows of the tile, or fewer where the tensor
    has fewer. The full barrier counts as many bytes. The tile's other rows are undefined. No row of the tensor belongs there if the box
    begins at row 0 or later.

    (M1) The map's box is the stage's tile with that name; with `multicast`, one CTA's share of it. (M2) A share has a multiple of 8 rows,
    the rows of a swizzle atom. (M7) No CTAs share a ring into which a box is copied whose bytes are an argument. Such a box does not begin in front of the tensor's rows.

    ```mlir
    !tile = !fp8.tile<128x128xf8E4M3FN, swizzle_128b>
    !share = !fp8.tile<32x128xf8E4M3FN, swizzle_128b>
    !ring = !fp8.pipeline<3, a: !tile>
    func.func @fill(%end: !fp8.producer<!ring>, %map: !fp8.tensor_map<!share>, %m: index, %k: index) -> !fp8.producer<!ring>
        attributes {fp8.linear, fp8.cluster = array<i64: 2, 4>} {
      %stage = fp8.acquire %end : !fp8.producer<!ring>
      fp8.tma_load %map[%m, %k], %stage["a"] multicast along n : !fp8.tensor_map<!share>, !fp8.producer_stage<!ring>
      %next = fp8.release %stage : !fp8.producer_stage<!ring>
      return %next : !fp8.producer<!ring>
    }
    ```
  }];
  let arguments = (ins Fp8_TensorMapType:$map, Variadic<Index>:$coordinates, Fp8_ProducerStageType:$stage,
                       StrAttr:$name, OptionalAttr<Fp8_ClusterAxisAttr>:$multicast);
  let assemblyFormat = [{
    $map `[` $coordinates `]` `,` $stage `[` $name `]` (`multicast` `along` $multicast^)? attr-dict `:` qualified(type($map)) `,` qualified(type($stage))
  }];
  let hasVerifier = 1;
  let extraClassDeclaration = [{
    ::mlir::fp8::LinearUse getLinearUse(::mlir::OpOperand &) { return ::mlir::fp8::LinearUse::Borrow; }
    ::mlir::Value getFilledStage() { return getStage(); }
    /// The stage's tile of that name; null if there is none.
    ::mlir::fp8::TileType getTile();
    /// The bytes that arrive in this CTA's tile, its own share and that of the others.
    int64_t getBytes() { return getTile().getSizeInBytes(); }
    /// The argument with `fp8.box_bytes` that names the map; null if there is none.
    ::mlir::BlockArgument getLaunchBytes();
  }];
}

def Fp8_TmaPrefetchOp : Fp8_Op<"tma_prefetch", [Fp8_RoleWork<"Any">, MemoryEffects<[MemRead, MemWrite<Fp8_BarrierResource>]>]> {
  let summary = "prefetches a box of global memory into the L2 cache";
  let description = [{
    Starts the copy of the box at `coordinates` from global memory into the L2 cache. The coordinates are as in `fp8.tma_load` (M6), and may begin at any column. No op waits
    for the copy. A later `fp8.tma_load` of the box is faster if the prefetch is complete by then (PTX ISA, cp.async.bulk.prefetch.tensor).
    One thread of each warp of the role starts it.

    The op has one coordinate for each dimension of the map.

    ```mlir
    !t = !fp8.tile<1x128xf32>
    !ring = !fp8.pipeline<3, s: !t>
    func.func @fill(%end: !fp8.producer<!ring>, %map: !fp8.tensor_map<!t>, %i: index, %next_i: index) -> !fp8.producer<!ring> attributes {fp8.linear} {
      %stage = fp8.acquire %end : !fp8.producer<!ring>
      fp8.tma_load %map[%i, %i], %stage["s"] : !fp8.tensor_map<!t>, !fp8.producer_stage<!ring>
      fp8.tma_prefetch %map[%next_i, %i] : !fp8.tensor_map<!t>
      %next = fp8.release %stage : !fp8.producer_stage<!ring>
      return %next : !fp8.producer<!ring>
    }
    ```
  }];
  let arguments = (ins Fp8_TensorMapType:$map, Variadic<Index>:$coordinates);
  let assemblyFormat = "$map `[` $coordinates `]` attr-dict `:` qualified(type($map))";
  let hasVerifier = 1;
}

def Fp8_LoadElementOp : Fp8_Op<"load_element", [Fp8_RoleWork<"One">, InLinearFunction, Fp8_LinearOpInterface, AttrSizedOperandSegments,
    MemoryEffects<[MemRead, MemWrite<Fp8_BarrierResource>]>]> {
  let summary = "copies one element of global memory into a tile of a stage";
  let description = [{
    Starts the asynchronous copy of `source[indices]` into a column of the stage's tile with that name. One thread copies it (cp.async), not
    TMA, so that rows may begin at any element. With `if`, where the condition is false the op reads nothing and the element is zero.

    The copy adds no bytes to what the full barrier expects. In a ring with element copies, each hand-over of a producer makes one more
    arrival, once the elements that the thread has copied so far have arrived (cp.async.mbarrier.arrive.noinc).

    (M3) The tile is unswizzled and has one row of the source's elements, which are 4 bytes wide, the least that cp.async copies. (M4) The
    column is inside the tile. (M5) The source is an argument of the kernel: strided, of one dimension or more, without a memory space. Its
    elements are within 2^31 of one another.

    ```mlir
    !ring = !fp8.pipeline<3, b_scale: !fp8.tile<1x4xf32>>
    func.func @fill(%end: !fp8.producer<!ring>, %scales: memref<?x?xf32>, %row: index, %block: index, %exists: i1) -> !fp8.producer<!ring>
        attributes {fp8.linear} {
      %stage = fp8.acquire %end : !fp8.producer<!ring>
      fp8.load_element %scales[%row, %block], %stage["b_scale", 0] if %exists : memref<?x?xf32>, !fp8.producer_stage<!ring>
      %next = fp8.release %stage : !fp8.producer_stage<!ring>
      return %next : !fp8.producer<!ring>
    }
    ```
  }];
  let arguments = (ins AnyMemRef:$source, Variadic<Index>:$indices, Fp8_ProducerStageType:$stage, StrAttr:$name,
                       ConfinedAttr<I64Attr, [IntNonNegative]>:$column, Optional<I1>:$exists);
  let assemblyFormat = [{
    $source `[` $indices `]` `,` $stage `[` $name `,` $column `]` (`if` $exists^)? attr-dict `:` type($source) `,` qualified(type($stage))
  }];
  let hasVerifier = 1;
  let extraClassDeclaration = [{
    ::mlir::fp8::LinearUse getLinearUse(::mlir::OpOperand &) { return ::mlir::fp8::LinearUse::Borrow; }
    /// The stage's tile of that name; null if there is none.
    ::mlir::fp8::TileType getTile();
  }];
}

def Fp8_MmaOp : Fp8_Op<"mma", [Fp8_RoleWork<"One">, InLinearFunction, AttrSizedOperandSegments, Fp8_Requires<"TensorMemory">,
    MemoryEffects<[MemRead<Fp8_BarrierResource>, MemWrite<Fp8_BarrierResource>]>]> {
  let summary = "D = A * B^T, or D += A * B^T, in tensor memory";
  let description = [{
    Starts the asynchronous product of two tiles in shared memory into an accumulator in tensor memory (tcgen05.mma, kinds f8f6f4 and f16).
    Without `accumulate` the product overwrites the accumulator. With it, the product is added where the condition is true. For the
    accumulator of a CTA pair, A and B are the leading CTA's halves of the rows of each; the other CTA has its halves at the same place in
    its own shared memory.

    Into a `swapped` accumulator the MMA takes B for A and A for B, and computes the transpose. The op's operands keep their names.

    (A1) A is M x K and B is N x K, K-major, `swizzle_128b`, each of f8E4M3FN or f8E5M2, or both of bf16 or f16. (A2) The accumulator is M x
    N; of a pair, 2M x 2N. (A3) A row is 128 bytes, the span of the swizzle.

    With `scaled_by`, each 32 elements of a row of A and of B are multiplied by a power of two (kind mxf8f6f4). A tile of scales is
    `!fp8.tile<32x16xf8E8M0FNU>`: those of 128 rows and 128 elements of K. The four scales of row r are at 4*(r div 32) of the tile's row r mod
    32, as libraries lay out the scales of MXFP8 in memory. In a pair each CTA has the scales of its own rows of A, and all of B's.

    The op first copies the tiles to columns behind the sums (tcgen05.cp). These columns belong to the tiles' slot: a copy may not overtake an
    MMA that still reads what it overwrites (PTX ISA, pipelined tcgen05 instructions), and a slot comes back when its MMAs are complete.
    `--convert-fp8-rings-to-barriers` adds the number of the slot, `at`.

    Where the rows of B do not begin with a tile of scales, `from` says at which row of the first tile they do, a multiple of 32. In tiles of 32 rows
    of B, those of tile i begin at row 32*(i mod 4). Into a `swapped` accumulator, read B for A and A for B here and in (A6).

    (A6) Scaled operands are of 8 bits. The tiles of scales are one for A, then one for each 128 rows that B's rows may touch, all of one
    stage. The accumulator has `scale_slots` for each slot of that stage's ring. A kernel with rings leaves out the number of the slot.

    ```mlir
    !a = !fp8.tile<128x128xf8E4M3FN, swizzle_128b>
    !ring = !fp8.pipeline<3, a: !a, b: !a>
    !acc = !fp8.output_pipeline<2, 128x128xf32>
    func.func @add(%out: !fp8.mma_stage<!acc>, %in: !fp8.consumer_stage<!ring>, %more: i1)
        -> (!fp8.mma_stage<!acc>, !fp8.consumer_stage<!ring>) attributes {fp8.linear} {
      %accumulator = fp8.accumulator %out : !fp8.mma_stage<!acc>
      %at = fp8.tile %in["a"] : !fp8.consumer_stage<!ring>
      %bt = fp8.tile %in["b"] : !fp8.consumer_stage<!ring>
      fp8.mma %accumulator, %at, %bt accumulate(%more) : !fp8.tmem<128x128xf32>, !a, !a
      return %out, %in : !fp8.mma_stage<!acc>, !fp8.consumer_stage<!ring>
    }
    ```
  }];
  let arguments = (ins Fp8_TmemType:$accumulator, Fp8_TileType:$a, Fp8_TileType:$b, Variadic<Fp8_ScaleTile>:$scales, Optional<Index>:$b_row, Optional<Index>:$slot,
                       Optional<I1>:$accumulate);
  let assemblyFormat = [{
    $accumulator `,` $a `,` $b (`scaled_by` `(` $scales^ `)`)? (`from` $b_row^)? (`at` $slot^)? (`accumulate` `(` $accumulate^ `)`)? attr-dict `:` qualified(type($accumulator)) `,`
    qualified(type($a)) `,` qualified(type($b))
  }];
  let builders = [OpBuilder<(ins "::mlir::Value":$accumulator, "::mlir::Value":$a, "::mlir::Value":$b, "::mlir::Value":$accumulate), [{
    build($_builder, $_state, accumulator, a, b, /*scales=*/::mlir::ValueRange(), /*b_row=*/::mlir::Value(), /*slot=*/::mlir::Value(),
          accumulate);
  }]>];
  let extraClassDeclaration = [{
    /// What the product reads: A, B and the tiles of scales.
    ::llvm::SmallVector<::mlir::Value> getTilesRead();
    /// The stage that lends the tiles of scales; null if there are none, or if another op lends them.
    ::mlir::Value getScaleStage();
  }];
  let hasVerifier = 1;
}

#endif // FP8_IR_TILE
