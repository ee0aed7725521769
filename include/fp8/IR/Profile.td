// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Stamps: what a profiled kernel writes down of its roles. `--convert-fp8-rings-to-barriers` writes these ops in a module with `fp8.profile`. They touch no barrier
// and no ring: without them the kernel computes the same.

#ifndef FP8_IR_PROFILE
#define FP8_IR_PROFILE

include "fp8/IR/Barrier.td"
include "fp8/IR/StampEvent.td"

// What a role keeps: how many stamps it has written, less one, and three words of the one that it writes next.
def Fp8_StampCursor : ConfinedType<MemRefRankOf<[I32], [1]>, [CPred<"::llvm::cast<::mlir::MemRefType>($_self).getShape().front() == 4">], "memref<4xi32>">;

def Fp8_StampClockOp : Fp8_BarrierOp<"stamp_clock", [Fp8_NamesResult<"clock">]> {
  let summary = "reads the clock of the multiprocessor";
  let description = [{
    Its lower 32 bits, in cycles (PTX ISA, `%clock`).

    ```mlir
    func.func @now() -> i32 {
      %clock = fp8.stamp_clock
      return %clock : i32
    }
    ```
  }];
  let results = (outs I32:$clock);
  let assemblyFormat = "attr-dict";
}

def Fp8_StampPlaceOp : Fp8_BarrierOp<"stamp_place", [Fp8_NamesResult<"place">]> {
  let summary = "finds where the CTA's stamps go";
  let description = [{
    The place of the CTA's first stamp among the first stamps of all roles, in bytes; of a CTA that is not sampled, one behind all room. It is found once, where the kernel begins.

    ```mlir
    func.func @kernel() -> i32 {
      %place = fp8.stamp_place
      return %place : i32
    }
    ```
  }];
  let results = (outs I32:$place);
  let assemblyFormat = "attr-dict";
}

def Fp8_StampTimeOp : Fp8_BarrierOp<"stamp_time", [Fp8_NamesResult<"time">]> {
  let summary = "reads the GPU's timer";
  let description = [{
    Nanoseconds (PTX ISA, `%globaltimer`). CTAs that are not sampled, as their place says, read nothing.

    ```mlir
    func.func @now(%place: i32) -> i64 {
      %time = fp8.stamp_time %place
      return %time : i64
    }
    ```
  }];
  let arguments = (ins I32:$place);
  let results = (outs I64:$time);
  let assemblyFormat = "$place attr-dict";
}

def Fp8_StampBeginOp : Fp8_BarrierOp<"stamp_begin"> {
  let summary = "opens a role's stamps";
  let description = [{
    One thread of the role, the leader of its first warp, writes stamps from here on, if the CTA is one of those that are sampled. It writes the head of the role's stamps, the clock
    now. The first of the roles with most warps, which wait for others when they begin, also writes the `time` and the clock `since` when the kernel began, which multiprocessor it is and where
    shared memory lies. The other threads' cursors are set to write nothing.

    `place` is the CTA's (`fp8.stamp_place`), `role` the number of the role in the kernel's `fp8.profile_table`.

    ```mlir
    func.func @kernel(%cursor: memref<4xi32>, %place: i32, %time: i64, %since: i32, %leader: i1, %warp: i32) {
      fp8.stamp_begin %cursor at %place, %time, %since by %leader, %warp role 0 : memref<4xi32>
      return
    }
    ```
  }];
  let arguments = (ins Fp8_StampCursor:$cursor, I32:$place, I64:$time, I32:$since, I1:$leader, I32:$warp, ConfinedAttr<I64Attr, [IntNonNegative]>:$role);
  let assemblyFormat = "$cursor `at` $place `,` $time `,` $since `by` $leader `,` $warp `role` $role attr-dict `:` type($cursor)";
}

def Fp8_StampOp : Fp8_BarrierOp<"stamp"> {
  let summary = "writes down that a role has waited or hands over";
  let description = [{
    A stamp has 16 bytes: a clock; the address of the barrier plus the number of the event, which is less than the 8 bytes of a barrier; and, of a wait, the clock behind it. The first clock is
    the one when the wait began, `since`, or that of now. Stamps for which there is no room are counted. `place` and `role` are those of `fp8.stamp_begin`.

    What is written is the stamp before, since a store that needs a clock waits for it. This one's words are kept in the cursor until the next stamp, or `fp8.stamp_end`.

    ```mlir
    func.func @wait(%cursor: memref<4xi32>, %place: i32, %barrier: i32, %parity: i32) {
      %before = fp8.stamp_clock
      fp8.mbarrier_wait %barrier, %parity
      fp8.stamp waited %cursor at %place, %barrier since %before role 0 : memref<4xi32>
      return
    }
    ```
  }];
  let arguments = (ins Fp8_StampEventAttr:$event, Fp8_StampCursor:$cursor, I32:$place, I32:$barrier, Optional<I32>:$since, ConfinedAttr<I64Attr, [IntNonNegative]>:$role);
  let assemblyFormat = "$event $cursor `at` $place `,` $barrier (`since` $since^)? `role` $role attr-dict `:` type($cursor)";
}

def Fp8_StampEndOp : Fp8_BarrierOp<"stamp_end"> {
  let summary = "closes a role's stamps";
  let description = [{
    Writes the time, the clock and how many stamps there were into the head. Operands are those of `fp8.stamp_begin`.

    ```mlir
    func.func @kernel(%cursor: memref<4xi32>, %place: i32, %leader: i1, %warp: i32) {
      fp8.stamp_end %cursor at %place by %leader, %warp role 0 : memref<4xi32>
      return
    }
    ```
  }];
  let arguments = (ins Fp8_StampCursor:$cursor, I32:$place, I1:$leader, I32:$warp, ConfinedAttr<I64Attr, [IntNonNegative]>:$role);
  let assemblyFormat = "$cursor `at` $place `by` $leader `,` $warp `role` $role attr-dict `:` type($cursor)";
}

#endif // FP8_IR_PROFILE
