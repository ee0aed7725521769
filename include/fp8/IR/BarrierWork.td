// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The barrier family, what is done between hand-overs: copies, answers of cluster launch control, tensor memory, shares of a sum. Barrier.td has
// the hand-overs.

#ifndef FP8_IR_BARRIERWORK
#define FP8_IR_BARRIERWORK

include "fp8/IR/Barrier.td"

// What tcgen05.alloc allocates (PTX ISA, tcgen05.alloc).
def Fp8_TmemColumnsAttr
    : ConfinedAttr<I64Attr, [IntMinValue<32>, IntMaxValue<512>, IntPowerOf2]>;

//===----------------------------------------------------------------------===//
// Copies
//===----------------------------------------------------------------------===//

def Fp8_CopyTileOp : Fp8_BarrierPhaseOp<"copy_tile", [AttrSizedOperandSegments, MemoryEffects<[MemRead, MemWrite<Fp8_BarrierResource>]>]> {
  let summary = "this thread starts the copy of a box of global memory to shared memory";
  let description = [{
    The bytes of the box count on the barrier. With a mask the box goes to the same place in each CTA of the cluster whose bit is set. With `cta_group` 2 the barrier
    may be that of the other CTA of the pair (PTX ISA, cp.async.bulk.tensor).

    ```mlir
    !t = !fp8.tile<1x128xf32>
    func.func @copy(%map: !fp8.tensor_map<!t>, %i: index, %tile: i32, %barrier: i32) {
      fp8.copy_tile %map[%i, %i], %tile, %barrier : !fp8.tensor_map<!t>
      return
    }
    ```
  }];
  let arguments = (ins Fp8_TensorMapType:$map, Variadic<Index>:$coordinates, I32:$tile, I32:$barrier, Optional<I32>:$mask, Fp8_CtaGroupAttr:$cta_group);
  let assemblyFormat = "$map `[` $coordinates `]` `,` $tile `,` $barrier (`mask` $mask^)? attr-dict `:` qualified(type($map))";
  let hasVerifier = 1;
}

def Fp8_CopyElementOp : Fp8_BarrierPhaseOp<"copy_element", [AttrSizedOperandSegments, MemoryEffects<[MemRead, MemWrite<Fp8_BarrierResource>]>]> {
  let summary = "this thread starts the copy of 4 bytes of global memory to shared memory";
  let description = [{
    With `if` zeros are written where the condition is false (PTX ISA, cp.async).

    ```mlir
    func.func @copy(%scales: memref<?xf32>, %i: index, %address: i32) {
      fp8.copy_element %scales[%i], %address : memref<?xf32>
      return
    }
    ```
  }];
  let arguments = (ins AnyMemRef:$source, Variadic<Index>:$indices, I32:$destination, Optional<I1>:$exists);
  let assemblyFormat = "$source `[` $indices `]` `,` $destination (`if` $exists^)? attr-dict `:` type($source)";
  let hasVerifier = 1;
}

def Fp8_PrefetchMapOp : Fp8_BarrierOp<"prefetch_map"> {
  let summary = "brings a tensor map near to where copies read it";
  let description = [{
    The map is an argument of the kernel (PTX ISA, prefetch.tensormap).

    ```mlir
    func.func @near(%map: !fp8.tensor_map<!fp8.tile<1x128xf32>>) {
      fp8.prefetch_map %map : !fp8.tensor_map<!fp8.tile<1x128xf32>>
      return
    }
    ```
  }];
  let arguments = (ins Fp8_TensorMapType:$map);
  let assemblyFormat = "$map attr-dict `:` qualified(type($map))";
}

def Fp8_WaitStoresOp : Fp8_BarrierOp<"wait_stores"> {
  let summary = "waits until what this thread stored by copies has been written";
  let description = [{
    PTX ISA, cp.async.bulk.wait_group.

    ```mlir
    func.func @written() {
      fp8.wait_stores
      return
    }
    ```
  }];
  let assemblyFormat = "attr-dict";
}

def Fp8_StoreAtOp : Fp8_BarrierOp<"store_at", [Fp8_RoleWork<"Warpgroups">, AttrSizedOperandSegments]> {
  let summary = "`fp8.store` through slots at an address";
  let description = [{
    What `fp8.store` does, with the store queue as an address and a number: where the slots of all warps begin, and the slot of each to use next. `queue` is the type of
    the queue. Yields the slot to use after that.

    ```mlir
    !tile = !fp8.tile<32x64xbf16, swizzle_128b>
    func.func @out(%sum: !fp8.fragment<128x64xf32, 4>, %d: !fp8.tensor_map<!tile>, %m: index, %slots: i32, %slot: i32) -> i32 {
      %next = fp8.store_at %sum, %d[%m, %m] through %slots[%slot] of !fp8.store_queue<2, !tile, 4>
        : !fp8.fragment<128x64xf32, 4>, !fp8.tensor_map<!tile>
      return %next : i32
    }
    ```
  }];
  let arguments = (ins Fp8_FragmentType:$fragment, Fp8_TensorMapType:$map, Variadic<Index>:$coordinates, I32:$slots, I32:$slot,
                       Optional<AnyMemRef>:$rest, TypeAttrOf<Fp8_StoreQueueType>:$queue);
  let results = (outs I32:$next);
  let assemblyFormat = [{
    $fragment `,` $map `[` $coordinates `]` `through` $slots `[` $slot `]` `of` $queue (`rest` `(` $rest^ `:` type($rest) `)`)? attr-dict
    `:` qualified(type($fragment)) `,` qualified(type($map))
  }];
  let hasVerifier = 1;
}

//===----------------------------------------------------------------------===//
// Cluster launch control, tensor memory
//===----------------------------------------------------------------------===//

def Fp8_RequestAnswerOp : Fp8_BarrierOp<"request_answer", [Fp8_Requires<"ClusterLaunchControl">]> {
  let summary = "this thread asks for the work of a cluster that has not started";
  let description = [{
    The answer, 16 bytes, goes to the slot and counts on the barrier, with `multicast` in every CTA of the cluster (PTX ISA, clusterlaunchcontrol.try_cancel).

    ```mlir
    func.func @ask(%slot: i32, %barrier: i32) {
      fp8.request_answer %slot, %barrier
      return
    }
    ```
  }];
  let arguments = (ins I32:$slot, I32:$barrier, UnitAttr:$multicast);
  let assemblyFormat = "(`multicast` $multicast^)? $slot `,` $barrier attr-dict";
}

def Fp8_ReadAnswerOp : Fp8_BarrierOp<"read_answer", [Fp8_Requires<"ClusterLaunchControl">]> {
  let summary = "reads an answer: whether there is work, and the first CTA whose work it is";
  let description = [{
    `cta` is the number of that CTA along x (PTX ISA, clusterlaunchcontrol.query_cancel).

    ```mlir
    func.func @read(%slot: i32) -> (i1, i32) {
      %more, %cta = fp8.read_answer %slot
      return %more, %cta : i1, i32
    }
    ```
  }];
  let arguments = (ins I32:$slot);
  let results = (outs I1:$more, I32:$cta);
  let assemblyFormat = "$slot attr-dict";
}

def Fp8_TmemAllocOp : Fp8_BarrierOp<"tmem_alloc", [Fp8_Requires<"TensorMemory">]> {
  let summary = "the warp allocates columns of tensor memory";
  let description = [{
    Writes their address to the slot in shared memory, and yields it. With `last` no warp of the CTA allocates after this. `cta_group` is 2 where the warps of both CTAs of
    a pair allocate (PTX ISA, tcgen05.alloc, tcgen05.relinquish_alloc_permit).

    ```mlir
    func.func @columns(%slot: i32) -> i32 {
      %address = fp8.tmem_alloc %slot, 512 last
      return %address : i32
    }
    ```
  }];
  let arguments = (ins I32:$slot, Fp8_TmemColumnsAttr:$columns, UnitAttr:$last, Fp8_CtaGroupAttr:$cta_group);
  let results = (outs I32:$address);
  let assemblyFormat = "$slot `,` $columns (`last` $last^)? attr-dict";
}

def Fp8_TmemAddressOp : Fp8_BarrierOp<"tmem_address", [Fp8_Requires<"TensorMemory">]> {
  let summary = "reads the address that an `fp8.tmem_alloc` wrote";
  let description = [{
    ```mlir
    func.func @address(%slot: i32) -> i32 {
      %address = fp8.tmem_address %slot
      return %address : i32
    }
    ```
  }];
  let arguments = (ins I32:$slot);
  let results = (outs I32:$address);
  let assemblyFormat = "$slot attr-dict";
}

def Fp8_TmemFreeOp : Fp8_BarrierOp<"tmem_free", [Fp8_Requires<"TensorMemory">]> {
  let summary = "the warp frees columns of tensor memory";
  let description = [{
    PTX ISA, tcgen05.dealloc.

    ```mlir
    func.func @free(%address: i32) {
      fp8.tmem_free %address, 512
      return
    }
    ```
  }];
  let arguments = (ins I32:$address, Fp8_TmemColumnsAttr:$columns, Fp8_CtaGroupAttr:$cta_group);
  let assemblyFormat = "$address `,` $columns attr-dict";
}

//===----------------------------------------------------------------------===//
// Shares of a sum
//===----------------------------------------------------------------------===//

def Fp8_SendSharesOp : Fp8_BarrierOp<"send_shares", [Fp8_RoleWork<"Warpgroups">]> {
  let summary = "sends each CTA that divides K its share of a fragment";
  let description = [{
    `slot` is where this CTA's share goes, in the shared memory of each receiver; the bytes count on the barrier at the same place there (PTX ISA, st.async). `exchange` is the type
    of the exchange.

    ```mlir
    !sum = !fp8.fragment<64x64xf32, 4, warpgroups>
    func.func @send(%sum: !sum, %slot: i32, %barrier: i32) {
      fp8.send_shares %sum, %slot, %barrier of !fp8.exchange<4, !sum> : !sum
      return
    }
    ```
  }];
  let arguments = (ins Fp8_FragmentType:$fragment, I32:$slot, I32:$barrier, TypeAttrOf<Fp8_ExchangeType>:$exchange);
  let assemblyFormat = "$fragment `,` $slot `,` $barrier `of` $exchange attr-dict `:` qualified(type($fragment))";
  let hasVerifier = 1;
}

def Fp8_AddSharesOp : Fp8_BarrierOp<"add_shares", [Fp8_RoleWork<"Warpgroups">]> {
  let summary = "adds up the shares that have come";
  let description = [{
    `slots` is where the first CTA's share lies; the others follow in the order of their ranks, in which they are added.

    ```mlir
    !sum = !fp8.fragment<64x64xf32, 4, warpgroups>
    func.func @add(%slots: i32) {
      %share = fp8.add_shares %slots of !fp8.exchange<4, !sum> : !fp8.fragment<64x16xf32, 4, warpgroups>
      return
    }
    ```
  }];
  let arguments = (ins I32:$slots, TypeAttrOf<Fp8_ExchangeType>:$exchange);
  let results = (outs Fp8_FragmentType:$share);
  let assemblyFormat = "$slots `of` $exchange attr-dict `:` qualified(type($share))";
  let hasVerifier = 1;
}

#endif // FP8_IR_BARRIERWORK
