// Where the roles of a programmatic kernel wait for the kernels in front.
// RUN: fp8-opt %s --pass-pipeline='builtin.module(gpu.module(convert-fp8-rings-to-barriers,canonicalize,cse))' | FileCheck %s
// RUN: sed 's/ {fp8.access = "constant"}//' %s | fp8-opt --pass-pipeline='builtin.module(gpu.module(convert-fp8-rings-to-barriers,canonicalize,cse))' | FileCheck %s --check-prefix=WRITTEN
// RUN: sed 's/ {fp8.access = "constant"}//; s/fp8.programmatic}/fp8.programmatic, fp8.signals_at_wait}/' %s | fp8-opt --pass-pipeline='builtin.module(gpu.module(convert-fp8-rings-to-barriers,canonicalize,cse))' | FileCheck %s --check-prefix=AT-WAIT
// RUN: sed 's/ {fp8.access = "constant"}//; s/%d: memref/%flag: i32 {fp8.constants = array<i64: 1>}, %d: memref/; s/fp8.programmatic}/fp8.programmatic, fp8.signals_at_wait}/' %s | fp8-opt --pass-pipeline='builtin.module(gpu.module(convert-fp8-rings-to-barriers,canonicalize,cse))' | FileCheck %s --check-prefixes=AT-WAIT,ASKS
// A role without ops waits for the kernel's sake.
// DEFINE: %{another} = sed 's/ {fp8.access = "constant"}//; s/%d: memref/%flag: i32 {fp8.constants = array<i64: 1>}, %d: memref/; s/fp8.programmatic}/fp8.programmatic, fp8.signals_at_wait}/; s/^    gpu.return/    fp8.role "signal" warps(1) {\n    }\n    gpu.return/' %s
// RUN: %{another} | fp8-opt --pass-pipeline='builtin.module(gpu.module(convert-fp8-rings-to-barriers,canonicalize,cse))' | FileCheck %s --check-prefix=ANOTHER
// RUN: %{another} | sed 's/, fp8.signals_at_wait//' | fp8-opt --pass-pipeline='builtin.module(gpu.module(convert-fp8-rings-to-barriers,canonicalize,cse))' | FileCheck %s --check-prefix=LATE
// RUN: %{another} | sed 's/%n: index)/%n: index, %other: memref<?xf32>, %may: i32 {fp8.constants = array<i64: 6>})/; s/^ *memref.store %x/%y = memref.load %other[%i] : memref<?xf32>\n memref.store %y/' > %t.mlir
// RUN: fp8-opt %t.mlir --pass-pipeline='builtin.module(gpu.module(convert-fp8-rings-to-barriers,canonicalize,cse))' | FileCheck %s --check-prefix=READS
// The proof expects the waits there.
// RUN: fp8-opt %s --fp8-prove='chip=sm_90a json=%t.json' -o /dev/null
// RUN: FileCheck %s --check-prefix=EVENTS < %t.json

!tile = !fp8.tile<1x128xf32>
!ring = !fp8.pipeline<2, a: !tile, b: !tile>

// CHECK-LABEL: gpu.func @kernel
// CHECK: fp8.sync cta
// CHECK-NOT: fp8.grid_dependency
gpu.module @kernels {
  gpu.func @kernel(%a: !fp8.tensor_map<!tile>, %b: !fp8.tensor_map<!tile> {fp8.access = "constant"}, %d: memref<?xf32>, %tiles: index, %n: index)
      kernel attributes {fp8.linear, fp8.programmatic} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %pa, %pb, %c = fp8.pipeline : !fp8.producer<!ring>, !fp8.producer<!ring>, !fp8.consumer<!ring>
    // What stores waits where it begins. The kernel behind starts in front of
    // the last tile's first store.
    // WRITTEN: fp8.role "read" warps(4)
    // WRITTEN: fp8.role_thread
    // WRITTEN-NEXT: fp8.grid_dependency wait
    // WRITTEN-NOT: fp8.grid_dependency
    // WRITTEN: scf.for %[[TILE:.*]] = %{{.*}} to %[[TILES:.*]] step %[[STEP:[a-z0-9_]+]]
    // WRITTEN: fp8.read_element
    // WRITTEN-NEXT: %[[NEXT:.*]] = arith.addi %[[TILE]], %[[STEP]] : index
    // WRITTEN-NEXT: %[[LAST:.*]] = arith.cmpi sge, %[[NEXT]], %[[TILES]] : index
    // WRITTEN-NEXT: scf.if %[[LAST]] {
    // WRITTEN-NEXT: fp8.grid_dependency start_next
    // WRITTEN-NEXT: }
    // WRITTEN-NEXT: memref.store
    // With fp8.signals_at_wait it starts at once.
    // AT-WAIT: fp8.role "read" warps(4)
    // AT-WAIT: fp8.role_thread
    // AT-WAIT-NEXT: fp8.grid_dependency wait
    // AT-WAIT-NEXT: fp8.grid_dependency start_next
    // AT-WAIT-NOT: fp8.grid_dependency
    // AT-WAIT: fp8.role "load" warps(1)
    // AT-WAIT-NOT: start_next
    // So it does where a role loads constants ahead of the wait.
    // CHECK: fp8.role "read" warps(4)
    // CHECK: fp8.role_thread
    // CHECK-NEXT: fp8.grid_dependency wait
    // CHECK-NEXT: fp8.grid_dependency start_next
    // CHECK-NOT: fp8.grid_dependency
    fp8.role "read" warps(4) (%end = %c) : !fp8.consumer<!ring> {
      %last = scf.for %tile = %c0 to %tiles step %c1 iter_args(%e = %end) -> (!fp8.consumer<!ring>) {
        %l = scf.for %i = %c0 to %n step %c1 iter_args(%f = %e) -> (!fp8.consumer<!ring>) {
          %stage = fp8.acquire %f : !fp8.consumer<!ring>
          %view = fp8.tile %stage["a"] : !fp8.consumer_stage<!ring>
          %x = fp8.read_element %view[0] : !tile
          memref.store %x, %d[%i] : memref<?xf32>
          %next = fp8.release %stage : !fp8.consumer_stage<!ring>
          scf.yield %next : !fp8.consumer<!ring>
        }
        scf.yield %l : !fp8.consumer<!ring>
      }
      fp8.close %last : !fp8.consumer<!ring>
    }
    // Where another role waits for the kernel's sake, it waits in front of its first store alone, and lets nobody start.
    // ANOTHER: fp8.role "read" warps(4)
    // ANOTHER-NOT: fp8.grid_dependency
    // ANOTHER: fp8.read_element
    // ANOTHER-NEXT: fp8.grid_dependency wait
    // ANOTHER-NEXT: memref.store
    // ANOTHER-NOT: fp8.grid_dependency
    // ANOTHER: fp8.role "load" warps(1)
    // Without fp8.signals_at_wait the signal stays in front of that store.
    // LATE: fp8.role "read" warps(4)
    // LATE-NOT: fp8.grid_dependency
    // LATE: fp8.read_element
    // LATE-NEXT: fp8.grid_dependency wait
    // LATE: scf.if
    // LATE-NEXT: fp8.grid_dependency start_next
    // LATE-NEXT: }
    // LATE-NEXT: memref.store
    // For what may be constant it waits where it begins, if that is not.
    // READS: fp8.role "read" warps(4)
    // READS-NEXT: fp8.role_thread
    // READS-NEXT: %[[MAY:.*]] = arith.cmpi eq, %{{.*}}, %{{.*}} : i32
    // READS-NEXT: scf.if %[[MAY]] {
    // READS-NEXT: fp8.grid_dependency wait
    // READS-NEXT: }
    // READS-NOT: fp8.grid_dependency
    // READS: memref.load
    // READS-NEXT: fp8.grid_dependency wait
    // READS-NEXT: memref.store
    // What only loads waits where each turn of the loop of its loads begins.
    // CHECK: fp8.role "load" warps(1)
    // CHECK-NOT: fp8.grid_dependency
    // CHECK: scf.for
    // CHECK: scf.for
    // CHECK-NEXT: fp8.grid_dependency wait
    // CHECK-NOT: fp8.grid_dependency
    // CHECK: fp8.copy_tile
    // CHECK-NOT: fp8.grid_dependency
    fp8.role "load" warps(1) (%end = %pa) : !fp8.producer<!ring> {
      %last = scf.for %tile = %c0 to %tiles step %c1 iter_args(%e = %end) -> (!fp8.producer<!ring>) {
        %row = arith.muli %tile, %n : index
        %l = scf.for %i = %c0 to %n step %c1 iter_args(%f = %e) -> (!fp8.producer<!ring>) {
          %stage = fp8.acquire %f : !fp8.producer<!ring>
          fp8.tma_load %a[%row, %i], %stage["a"] : !fp8.tensor_map<!tile>, !fp8.producer_stage<!ring>
          %next = fp8.release %stage : !fp8.producer_stage<!ring>
          scf.yield %next : !fp8.producer<!ring>
        }
        scf.yield %l : !fp8.producer<!ring>
      }
      fp8.close %last : !fp8.producer<!ring>
    }
    // What loads constants alone does not.
    // CHECK: fp8.role "load_b" warps(1)
    // CHECK-NOT: fp8.grid_dependency
    // WRITTEN: fp8.role "load_b" warps(1)
    // WRITTEN: fp8.grid_dependency wait
    // WRITTEN-NOT: fp8.grid_dependency
    // Where the launch says whether they are constant, it waits if they are not.
    // ASKS: fp8.role "load_b" warps(1)
    // ASKS: scf.for
    // ASKS: scf.for
    // ASKS-NEXT: %[[MAY:.*]] = arith.cmpi eq, %{{.*}}, %{{.*}} : i32
    // ASKS-NEXT: scf.if %[[MAY]] {
    // ASKS-NEXT: fp8.grid_dependency wait
    // ASKS-NEXT: }
    // ASKS-NOT: fp8.grid_dependency
    fp8.role "load_b" warps(1) (%end = %pb) : !fp8.producer<!ring> {
      %last = scf.for %tile = %c0 to %tiles step %c1 iter_args(%e = %end) -> (!fp8.producer<!ring>) {
        %l = scf.for %i = %c0 to %n step %c1 iter_args(%f = %e) -> (!fp8.producer<!ring>) {
          %stage = fp8.acquire %f : !fp8.producer<!ring>
          fp8.tma_load %b[%tile, %i], %stage["b"] : !fp8.tensor_map<!tile>, !fp8.producer_stage<!ring>
          %next = fp8.release %stage : !fp8.producer_stage<!ring>
          scf.yield %next : !fp8.producer<!ring>
        }
        scf.yield %l : !fp8.producer<!ring>
      }
      fp8.close %last : !fp8.producer<!ring>
    }
    // A role without ops waits, lets the kernel behind start if that is to start at once, and ends.
    // ANOTHER: fp8.role "signal" warps(1)
    // ANOTHER-NEXT: fp8.role_thread
    // ANOTHER-NEXT: fp8.grid_dependency wait
    // ANOTHER-NEXT: fp8.grid_dependency start_next
    // ANOTHER-NEXT: }
    // LATE: fp8.role "signal" warps(1)
    // LATE-NEXT: fp8.role_thread
    // LATE-NEXT: fp8.grid_dependency wait
    // LATE-NEXT: }
    gpu.return
  }
}
// EVENTS: wait for earlier grids
// EVENTS: start next grid
// EVENTS: wait for earlier grids
// EVENTS-NOT: wait for earlier grids
