// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The barrier family: what hand-overs consist of, each part an op. BarrierWork.td has the ops that work between them. `--fp8-place-fences` and `--convert-fp8-rings-to-barriers` write these ops, and
// `--convert-fp8-to-nvvm` spells each as its instructions. Addresses are i32, in bytes of the shared-memory window of the CTA or, where the
// text says so, of the cluster.

#ifndef FP8_IR_BARRIER
#define FP8_IR_BARRIER

include "fp8/IR/Fp8Base.td"

// An op of kernels whose rings are barriers.
class Fp8_BarrierPhaseOp<string mnemonic, list<Trait> traits = []> : Fp8_Op<mnemonic, !listconcat(traits, [InBarrierPhase])>;

// Such an op, whose order among hand-overs matters.
class Fp8_BarrierOp<string mnemonic, list<Trait> traits = []>
    : Fp8_BarrierPhaseOp<mnemonic, !listconcat(traits, [MemoryEffects<[MemRead<Fp8_BarrierResource>, MemWrite<Fp8_BarrierResource>]>])>;

// The threads of 1 to 32 warps (PTX ISA, barrier).
def Fp8_WarpThreadsAttr
    : ConfinedAttr<I64Attr, [IntPositive, IntMaxValue<1024>,
                             AttrConstraint<CPred<"::llvm::cast<::mlir::IntegerAttr>($_self).getInt() % 32 == 0">, "whose value is a multiple of 32">]>;
def Fp8_CtaGroupAttr : ConfinedAttr<DefaultValuedAttr<I64Attr, "1">, [IntMinValue<1>, IntMaxValue<2>]>;

//===----------------------------------------------------------------------===//
// Threads
//===----------------------------------------------------------------------===//

def Fp8_IdOp : Fp8_BarrierOp<"id", [Fp8_NamesResult<"id">]> {
  let summary = "reads a number of the thread, its warp or its CTA";
  let description = [{
    `thread` is the number of the thread in its CTA and `warp` that of its warp, both along x; `cta` is the number of the CTA in the grid, along x (PTX ISA,
    `%tid`, `%ctaid`). All threads of a warp execute `id warp` together, so that the result is uniform.

    ```mlir
    func.func @first() -> i32 {
      %warp = fp8.id warp
      return %warp : i32
    }
    ```
  }];
  let arguments = (ins Fp8_IdKindAttr:$kind);
  let results = (outs I32:$id);
  let assemblyFormat = "$kind attr-dict";
}

def Fp8_RoleThreadOp : Fp8_BarrierOp<"role_thread", [HasParent<"RoleOp">, DeclareOpInterfaceMethods<OpAsmOpInterface, ["getAsmResultNames"]>]> {
  let summary = "says which thread of its role this is";
  let description = [{
    `leader` is true in one thread of each warp, the same one throughout the role: asynchronous groups and commits belong to the thread that issues them (PTX ISA,
    elect.sync). `warp` is the number of the warp in the role, `lane` that of the thread in the warp. The operand is the number of the warp in the CTA.

    With `promotes` the threads of the role add up products in registers. What depends on the lane alone is then not kept in registers for the length of a loop.

    (B1) the op stands in the entry block of a role, once, and its operand is an `fp8.id warp` of the kernel's entry block. Ops that copy, multiply or store for the role use its
    results.

    ```mlir
    func.func @kernel() {
      %id = fp8.id warp
      fp8.role "load" warps(1) {
        %leader, %warp, %lane = fp8.role_thread %id
        fp8.yield
      }
      return
    }
    ```
  }];
  let arguments = (ins I32:$id, UnitAttr:$promotes);
  let results = (outs I1:$leader, I32:$warp, I32:$lane);
  let assemblyFormat = "$id (`promotes` $promotes^)? attr-dict";
  let hasVerifier = 1;
}

def Fp8_SyncOp : Fp8_BarrierOp<"sync"> {
  let summary = "waits until all threads of a scope have come here";
  let description = [{
    The scope is the `warp`, the `cta`, or the cluster: `cluster_start` orders what `fp8.fence_mbarrier_init` made visible, `cluster_end` all that was done before it
    (PTX ISA, bar.warp.sync, barrier.sync, barrier.cluster).

    ```mlir
    func.func @together() {
      fp8.sync warp
      return
    }
    ```
  }];
  let arguments = (ins Fp8_SyncScopeAttr:$scope);
  let assemblyFormat = "$scope attr-dict";
}

def Fp8_NamedBarrierOp : Fp8_BarrierOp<"named_barrier"> {
  let summary = "arrives at a named barrier of the CTA, and waits for the other threads";
  let description = [{
    `threads` threads, those of whole warps, complete the barrier of that number, 1 to 15. With `arrive` the thread does not wait (PTX ISA, barrier.sync, barrier.arrive).

    ```mlir
    func.func @hand_over(%id: i32) {
      fp8.named_barrier arrive %id, 160
      return
    }
    ```
  }];
  let arguments = (ins I32:$id, Fp8_WarpThreadsAttr:$threads, UnitAttr:$arrive);
  let assemblyFormat = "(`arrive` $arrive^)? $id `,` $threads attr-dict";
}

def Fp8_GridDependencyOp : Fp8_BarrierOp<"grid_dependency"> {
  let summary = "waits for the kernel in front in the stream, or lets the next one start";
  let description = [{
    `wait` waits until the kernels in front have ended and their writes can be read; `start_next` lets the kernel behind start once all CTAs have come here or
    ended (PTX ISA, griddepcontrol).

    ```mlir
    func.func @early() {
      fp8.grid_dependency wait
      fp8.grid_dependency start_next
      return
    }
    ```
  }];
  let arguments = (ins Fp8_GridDependencyAttr:$kind);
  let assemblyFormat = "$kind attr-dict";
}

def Fp8_KeepInLoopOp : Fp8_BarrierOp<"keep_in_loop", [SameOperandsAndResultType]> {
  let summary = "keeps what depends on a value in the loop or branch that it stands in";
  let description = [{
    Yields the operand. Ops that depend on the result are not moved out of the loop or the branch. There they would take up registers, or threads would execute them that do not need
    them.

    ```mlir
    func.func @late(%lane: i32) -> i32 {
      %here = fp8.keep_in_loop %lane
      return %here : i32
    }
    ```
  }];
  let arguments = (ins I32:$value);
  let results = (outs I32:$result);
  let assemblyFormat = "$value attr-dict";
}

def Fp8_ComputeHereOp : Fp8_BarrierOp<"compute_here"> {
  let summary = "moves the ops that only these values need to here";
  let description = [{
    `--convert-fp8-to-nvvm` moves the ops without effects that only the operands need in front of it, once they are instructions, and then erases it. A store of what an `fp8.map`
    computes has one for each piece, in front of the instruction that writes the piece. The registers of the piece are then free behind that instruction.

    ```mlir
    func.func @piece(%pair: vector<2xf32>) {
      fp8.compute_here %pair : vector<2xf32>
      return
    }
    ```
  }];
  let arguments = (ins Variadic<AnyTypeOf<[F32, FixedVectorOfLengthAndType<[2], [F32]>]>>:$values);
  let assemblyFormat = "$values attr-dict `:` type($values)";
}

//===----------------------------------------------------------------------===//
// Addresses
//===----------------------------------------------------------------------===//

def Fp8_SharedMemoryOp : Fp8_BarrierPhaseOp<"shared_memory", [Pure, Fp8_NamesResult<"shared">]> {
  let summary = "the address of the kernel's dynamic shared memory";
  let description = [{
    A multiple of 1024, the pattern of the 128-byte swizzle (PTX ISA, swizzling modes).

    ```mlir
    func.func @begin() -> i32 {
      %shared = fp8.shared_memory
      return %shared : i32
    }
    ```
  }];
  let results = (outs I32:$address);
  let assemblyFormat = "attr-dict";
}

def Fp8_MapToCtaOp : Fp8_BarrierPhaseOp<"map_to_cta", [Pure]> {
  let summary = "the address of the same place in another CTA of the cluster";
  let description = [{
    The result is an address of the cluster's window (PTX ISA, mapa).

    ```mlir
    func.func @there(%address: i32, %rank: i32) -> i32 {
      %remote = fp8.map_to_cta %address, %rank
      return %remote : i32
    }
    ```
  }];
  let arguments = (ins I32:$address, I32:$rank);
  let results = (outs I32:$remote);
  let assemblyFormat = "$address `,` $rank attr-dict";
}

def Fp8_ViewAtOp : Fp8_BarrierPhaseOp<"view_at", [MemoryEffects<[MemRead<Fp8_BarrierResource>]>]> {
  let summary = "the tile or accumulator at an address";
  let description = [{
    A tile lies at an address of shared memory, an accumulator at one of tensor memory. The op stays behind the wait in front of it, although the address may be known before:
    what reads through the view may be placed right behind it.

    ```mlir
    func.func @tile(%address: i32) {
      %tile = fp8.view_at %address : !fp8.tile<1x128xf32>
      return
    }
    ```
  }];
  let arguments = (ins I32:$address);
  let results = (outs AnyTypeOf<[Fp8_TileType, Fp8_TmemType]>:$view);
  let assemblyFormat = "$address attr-dict `:` qualified(type($view))";
}

def Fp8_AdvanceOp : Fp8_BarrierPhaseOp<"advance", [Pure]> {
  let summary = "goes on to the next slot of a ring";
  let description = [{
    A cursor is a number and a parity. In a ring with a power of two of slots, more than one, the number counts the slots used so far: slot and lap are its bits, and the
    parity is that of the first lap. In other rings the number is the slot, and the parity flips where the ring wraps.

    As many steps as the ring has slots lead back to the slot, with the other parity. `--convert-fp8-rings-to-barriers` says such a lap with the values in front of it, so that whole laps
    leave a loop's values, addresses and parities invariant.

    ```mlir
    func.func @lap(%number: i32, %parity: i32) -> (i32, i32) {
      %n1, %p1 = fp8.advance %number, %parity in 2
      %n2, %p2 = fp8.advance %n1, %p1 in 2
      return %n2, %p2 : i32, i32
    }
    ```
  }];
  let arguments = (ins I32:$number, I32:$parity, ConfinedAttr<I64Attr, [IntPositive]>:$stages);
  let results = (outs I32:$next_number, I32:$next_parity);
  let assemblyFormat = "$number `,` $parity `in` $stages attr-dict";
  let hasCanonicalizeMethod = 1;
  let extraClassDeclaration = [{
    /// True if the numbers of such a ring count slots without wrapping. With one slot, to flip the parity is cheaper still.
    static bool countsSlots(int64_t stages) { return stages > 1 && ::llvm::isPowerOf2_64(stages); }
  }];
}

//===----------------------------------------------------------------------===//
// Barriers (PTX ISA, mbarrier)
//===----------------------------------------------------------------------===//

def Fp8_MbarrierInitOp : Fp8_BarrierOp<"mbarrier_init"> {
  let summary = "initialises a barrier";
  let description = [{
    `arrivals` arrivals, at most 2^20 - 1, and the bytes that are expected, complete each phase (PTX ISA, mbarrier.init).

    ```mlir
    func.func @init(%barrier: i32) {
      fp8.mbarrier_init %barrier, 4
      fp8.fence_mbarrier_init
      return
    }
    ```
  }];
  let arguments = (ins I32:$barrier, ConfinedAttr<I64Attr, [IntPositive, IntMaxValue<1048575>]>:$arrivals);
  let assemblyFormat = "$barrier `,` $arrivals attr-dict";
}

def Fp8_FenceMbarrierInitOp : Fp8_BarrierOp<"fence_mbarrier_init"> {
  let summary = "makes initialised barriers visible to the async proxy and the cluster";
  let description = [{
    PTX ISA, fence.mbarrier_init.

    ```mlir
    func.func @visible() {
      fp8.fence_mbarrier_init
      return
    }
    ```
  }];
  let assemblyFormat = "attr-dict";
}

def Fp8_MbarrierWaitOp : Fp8_BarrierOp<"mbarrier_wait"> {
  let summary = "waits until the phase of a parity has completed";
  let description = [{
    On a fresh barrier a wait for parity 1 returns at once (PTX ISA, mbarrier.try_wait). With `cluster` what other CTAs did before they arrived has been done. With a `limit`, in ns,
    the wait gives up after that time, leaves a record, and traps.

    ```mlir
    func.func @wait(%barrier: i32, %parity: i32) {
      fp8.mbarrier_wait %barrier, %parity
      return
    }
    ```
  }];
  let arguments = (ins I32:$barrier, I32:$parity, UnitAttr:$cluster, ConfinedAttr<DefaultValuedAttr<I64Attr, "0">, [IntNonNegative]>:$limit);
  let assemblyFormat = "$barrier `,` $parity (`cluster` $cluster^)? attr-dict";
}

def Fp8_MbarrierTestOp : Fp8_BarrierOp<"mbarrier_test", [Fp8_NamesResult<"done">]> {
  let summary = "tells whether the phase of a parity has completed";
  let description = [{
    The same answer in all lanes of the warp: true if all of them see the phase complete (PTX ISA, mbarrier.test_wait, vote.sync). Does not wait.

    ```mlir
    func.func @test(%barrier: i32, %parity: i32) -> i1 {
      %done = fp8.mbarrier_test %barrier, %parity
      return %done : i1
    }
    ```
  }];
  let arguments = (ins I32:$barrier, I32:$parity);
  let results = (outs I1:$done);
  let assemblyFormat = "$barrier `,` $parity attr-dict";
}

def Fp8_MbarrierArriveOp : Fp8_BarrierOp<"mbarrier_arrive"> {
  let summary = "arrives at a barrier, once";
  let description = [{
    With `remote` the address is one of the cluster's window. With `after_copies` the arrival is made when all elements that this thread has copied so far are there, and is
    part of the barrier's count (PTX ISA, mbarrier.arrive, cp.async.mbarrier.arrive.noinc).

    (B3) an arrival after copies is made at a barrier of this CTA.

    ```mlir
    func.func @arrive(%barrier: i32) {
      fp8.mbarrier_arrive %barrier
      return
    }
    ```
  }];
  let arguments = (ins I32:$barrier, UnitAttr:$remote, UnitAttr:$after_copies);
  let assemblyFormat = "(`remote` $remote^)? (`after_copies` $after_copies^)? $barrier attr-dict";
  let hasVerifier = 1;
}

def Fp8_MbarrierExpectOp : Fp8_BarrierOp<"mbarrier_expect"> {
  let summary = "tells a barrier how many bytes the phase waits for";
  let description = [{
    The bytes are at most 2^20 - 1. With `as` the number is known at launch, and `bytes` is the most that it is. With `arrive` it is an
    arrival, too; with `remote` the address is one of the cluster's window (PTX ISA, mbarrier.expect_tx, mbarrier.arrive.expect_tx).

    (B2) a remote barrier is told with an arrival. (B5) A number that is known at launch is told without one.

    ```mlir
    func.func @expect(%barrier: i32, %launched: i32) {
      fp8.mbarrier_expect %barrier, 16384 as %launched
      fp8.mbarrier_expect arrive %barrier, 32768
      return
    }
    ```
  }];
  let arguments = (ins I32:$barrier, ConfinedAttr<I64Attr, [IntNonNegative, IntMaxValue<1048575>]>:$bytes, UnitAttr:$arrive, UnitAttr:$remote,
                       Optional<I32>:$launched);
  let assemblyFormat = "(`arrive` $arrive^)? (`remote` $remote^)? $barrier `,` $bytes (`as` $launched^)? attr-dict";
  let builders = [OpBuilder<(ins "::mlir::Value":$barrier, "uint64_t":$bytes, CArg<"bool", "false">:$arrive, CArg<"bool", "false">:$remote), [{
    build($_builder, $_state, barrier, bytes, arrive, remote, /*launched=*/::mlir::Value());
  }]>];
  let hasVerifier = 1;
}

def Fp8_MbarrierCommitOp : Fp8_BarrierOp<"mbarrier_commit"> {
  let summary = "arrives at a barrier when this thread's MMAs are complete";
  let description = [{
    With a mask it arrives at the same place in each CTA of the cluster whose bit is set. `cta_group` is 2 for the MMAs of a CTA pair (PTX ISA, tcgen05.commit).

    ```mlir
    func.func @commit(%barrier: i32) {
      fp8.mbarrier_commit %barrier
      return
    }
    ```
  }];
  let arguments = (ins I32:$barrier, Optional<I32>:$mask, Fp8_CtaGroupAttr:$cta_group);
  let assemblyFormat = "$barrier (`mask` $mask^)? attr-dict";
}

//===----------------------------------------------------------------------===//
// Fences
//===----------------------------------------------------------------------===//

// The only op of the family that a linear kernel contains, too.
def Fp8_FenceAsyncProxyOp
    : Fp8_Op<"fence_async_proxy", [MemoryEffects<[MemRead<Fp8_BarrierResource>, MemWrite<Fp8_BarrierResource>]>]> {
  let summary = "orders what a thread did in shared memory before what copies and MMAs do there next";
  let description = [{
    Threads reach shared memory through the generic proxy, TMA and MMAs through the async proxy (PTX ISA, fence.proxy.async). Without the fence, loads
    may still be under way when a copy overwrites what they read, although their thread has arrived at the slot's barrier.
    `--fp8-place-fences` puts one in front of each hand-over that needs it.

    ```mlir
    !ring = !fp8.pipeline<3, s: !fp8.tile<1x128xf32>>
    func.func @pass(%end: !fp8.consumer<!ring>) -> !fp8.consumer<!ring> attributes {fp8.linear} {
      %c0 = arith.constant 0 : index
      %stage = fp8.acquire %end : !fp8.consumer<!ring>
      %row = fp8.tile %stage["s"] : !fp8.consumer_stage<!ring>
      %x = fp8.read_element %row[0] : !fp8.tile<1x128xf32>
      fp8.fence_async_proxy
      %next = fp8.release %stage : !fp8.consumer_stage<!ring>
      return %next : !fp8.consumer<!ring>
    }
    ```
  }];
  let assemblyFormat = "attr-dict";
}

def Fp8_FenceTmemOp : Fp8_BarrierOp<"fence_tmem", [Fp8_Requires<"TensorMemory">]> {
  let summary = "orders accesses to tensor memory around a synchronisation of threads";
  let description = [{
    `before` stands in front of an arrival, `after` behind the wait for it (PTX ISA, tcgen05.fence).

    ```mlir
    func.func @order(%barrier: i32) {
      fp8.fence_tmem before
      fp8.mbarrier_arrive %barrier
      return
    }
    ```
  }];
  let arguments = (ins Fp8_FenceSideAttr:$side);
  let assemblyFormat = "$side attr-dict";
}

#endif // FP8_IR_BARRIER
