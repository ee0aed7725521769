// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Stamps: what a profiled kernel writes down of its roles. `--convert-fp8-rings-to-barriers` writes these ops in a module with `fp8.profile`. They touch no barrier
// and no ring: without them the kernel computes the same.

#ifndef FP8_IR_PROFILE
#define FP8_IR_PROFILE

include "fp8/IR/Barrier.td"

// An op that must know where the kernel's stamps lie.
def NeedsProfileTable : NativeOpTrait<"NeedsProfileTable"> {
  let cppNamespace = "::mlir::fp8::OpTrait";
}
class Fp8_StampOp<string mnemonic, list<Trait> traits = []> : Fp8_BarrierOp<mnemonic, !listconcat(traits, [NeedsProfileTable])>;

// What a role keeps: the place of its first stamp, one behind all room if the warp writes none; the clock when it began; how many stamps it has written; the stamp that it writes next,
// whose word is 0 if there is none; and of the wait that no stamp has yet the clocks of its begin and its end, and its half of the stamp's word, or 0 if there is none.
def Fp8_StampCursor : ConfinedType<MemRefRankOf<[I32], [1]>, [CPred<"::llvm::cast<::mlir::MemRefType>($_self).getShape().front() == 10">], "memref<10xi32>">;

def Fp8_StampClockOp : Fp8_BarrierOp<"stamp_clock", [Fp8_NamesResult<"clock">]> {
  let summary = "reads the clock of the multiprocessor";
  let description = [{
    Its lower 32 bits, in cycles (PTX ISA, `%clock`). With `by` only that thread of the warp reads it, and the others' value means nothing.

    ```mlir
    func.func @now(%leader: i1) -> i32 {
      %clock = fp8.stamp_clock by %leader
      return %clock : i32
    }
    ```
  }];
  let arguments = (ins Optional<I1>:$leader);
  let results = (outs I32:$clock);
  let assemblyFormat = "(`by` $leader^)? attr-dict";
}

def Fp8_StampPlaceOp : Fp8_StampOp<"stamp_place", [Fp8_NamesResult<"place">]> {
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
    Nanoseconds (PTX ISA, `%globaltimer`).

    ```mlir
    func.func @now() -> i64 {
      %time = fp8.stamp_time
      return %time : i64
    }
    ```
  }];
  let results = (outs I64:$time);
  let assemblyFormat = "attr-dict";
}

def Fp8_StampBeginOp : Fp8_StampOp<"stamp_begin"> {
  let summary = "opens a role's stamps";
  let description = [{
    One thread of the role, the leader of its first warp, writes stamps from here on, if the CTA is one of those that are sampled. The other threads' cursors are set to write nothing. The first
    of the roles with most warps, which wait for others when they begin, writes what is of the CTA into the head of its stamps: the `time` and the clock `since` when the kernel began,
    which multiprocessor it is and where shared memory lies.

    `place` is the CTA's (`fp8.stamp_place`), `role` the number of the role in the kernel's `fp8.profile_table`.

    ```mlir
    func.func @kernel(%cursor: memref<10xi32>, %place: i32, %time: i64, %since: i32, %leader: i1, %warp: i32) {
      fp8.stamp_begin %cursor at %place, %time, %since by %leader, %warp role 0 : memref<10xi32>
      return
    }
    ```
  }];
  let arguments = (ins Fp8_StampCursor:$cursor, I32:$place, I64:$time, I32:$since, I1:$leader, I32:$warp, ConfinedAttr<I64Attr, [IntNonNegative]>:$role);
  let assemblyFormat = "$cursor `at` $place `,` $time `,` $since `by` $leader `,` $warp `role` $role attr-dict `:` type($cursor)";
}

def Fp8_StampWaitOp : Fp8_BarrierOp<"stamp_wait", [Fp8_NamesResult<"since">]> {
  let summary = "waits, and tells since when it has waited";
  let description = [{
    Waits as `fp8.mbarrier_wait` does. The result is the clock behind a first test that has failed, and 0 where the phase was complete, so that there was nothing to wait for. Only
    the leader reads the clock, and the others' result means nothing.

    ```mlir
    func.func @wait(%barrier: i32, %parity: i32, %leader: i1) -> i32 {
      %since = fp8.stamp_wait %barrier, %parity by %leader
      return %since : i32
    }
    ```
  }];
  let arguments = (ins I32:$barrier, I32:$parity, I1:$leader, UnitAttr:$cluster, ConfinedAttr<DefaultValuedAttr<I64Attr, "0">, [IntNonNegative]>:$limit);
  let results = (outs I32:$since);
  let assemblyFormat = "$barrier `,` $parity `by` $leader (`cluster` $cluster^)? attr-dict";
}

def Fp8_StampWaitedOp : Fp8_StampOp<"stamp_waited"> {
  let summary = "notes that a role has waited";
  let description = [{
    Keeps the wait for the stamp of the role's next hand-over: the clock `since` when it waited, 0 if not at all, and the clock behind it. A wait that is kept already becomes
    a stamp of its own.

    ```mlir
    func.func @wait(%cursor: memref<10xi32>, %barrier: i32, %parity: i32, %leader: i1) {
      %since = fp8.stamp_wait %barrier, %parity by %leader
      %until = fp8.stamp_clock by %leader
      fp8.stamp_waited %cursor, %barrier since %since until %until : memref<10xi32>
      return
    }
    ```
  }];
  let arguments = (ins Fp8_StampCursor:$cursor, I32:$barrier, I32:$since, I32:$until);
  let assemblyFormat = "$cursor `,` $barrier `since` $since `until` $until attr-dict `:` type($cursor)";
}

def Fp8_StampHandOverOp : Fp8_StampOp<"stamp_hand_over"> {
  let summary = "makes a stamp of a hand-over and the wait in front of it";
  let description = [{
    A stamp has 16 bytes: the clocks since when and until when the role has waited, the clock when it hands over, and a word. Its upper half has an eighth of the address of the
    barrier that was waited for, plus 2^15, and its lower half that of the barrier that is handed over; a half is 0 where the stamp has no wait, or no hand-over. Stamps for which there
    is no room are counted.

    `when` is read in front of the arrival. The stamp is kept until `fp8.stamp_write`; one that is kept already is written.

    ```mlir
    func.func @arrive(%cursor: memref<10xi32>, %barrier: i32, %leader: i1) {
      %when = fp8.stamp_clock by %leader
      fp8.mbarrier_arrive %barrier
      fp8.stamp_hand_over %cursor, %barrier when %when : memref<10xi32>
      return
    }
    ```
  }];
  let arguments = (ins Fp8_StampCursor:$cursor, I32:$barrier, I32:$when);
  let assemblyFormat = "$cursor `,` $barrier `when` $when attr-dict `:` type($cursor)";
}

def Fp8_StampWriteOp : Fp8_StampOp<"stamp_write"> {
  let summary = "writes the stamp that is kept";
  let description = [{
    Nothing if none is. It stands where the role has time: behind what others wait for, or while products are under way.

    ```mlir
    func.func @write(%cursor: memref<10xi32>) {
      fp8.stamp_write %cursor : memref<10xi32>
      return
    }
    ```
  }];
  let arguments = (ins Fp8_StampCursor:$cursor);
  let assemblyFormat = "$cursor attr-dict `:` type($cursor)";
}

def Fp8_StampEndOp : Fp8_StampOp<"stamp_end"> {
  let summary = "closes a role's stamps";
  let description = [{
    Writes what is kept, and into the head the clocks when the role began and ended, the time now, and how many stamps there were.

    ```mlir
    func.func @kernel(%cursor: memref<10xi32>, %leader: i1) {
      fp8.stamp_end %cursor by %leader : memref<10xi32>
      return
    }
    ```
  }];
  let arguments = (ins Fp8_StampCursor:$cursor, I1:$leader);
  let assemblyFormat = "$cursor `by` $leader attr-dict `:` type($cursor)";
}

#endif // FP8_IR_PROFILE
