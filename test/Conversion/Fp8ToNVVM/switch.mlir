// A switch that hands ends on becomes a comparison for each case.
// RUN: fp8-opt %s --convert-fp8-to-nvvm | FileCheck %s

!ring = !fp8.pipeline<2, s: !fp8.tile<1x128xf32>>
!p = !fp8.producer<!ring>
!c = !fp8.consumer<!ring>

// CHECK-LABEL: gpu.func @by_number(
gpu.module @m {
  gpu.func @by_number(%number: i32) kernel attributes {fp8.linear} {
    %p1, %c1 = fp8.pipeline : !p, !c
    %p2, %c2 = fp8.pipeline : !p, !c
    fp8.role "load" warps(1) (%x = %p1, %y = %p2) : !p, !p {
      fp8.close %x : !p
      fp8.close %y : !p
    }
    // CHECK: scf.execute_region
    // CHECK: %[[FIRST:.+]] = arith.cmpi eq, %{{.+}}, %c1_i32
    // CHECK: cf.cond_br %[[FIRST]], ^[[SWAPPED:bb[0-9]+]](%{{.+}}, %{{.+}} : i32, i32, i32, i32, i32, i32, i32, i32), ^[[NEXT:bb[0-9]+]]
    // CHECK: ^[[NEXT]]:
    // CHECK: %[[SECOND:.+]] = arith.cmpi eq, %{{.+}}, %c-7_i32
    // CHECK: cf.cond_br %[[SECOND]], ^[[LAST:bb[0-9]+]], ^[[DEFAULT:bb[0-9]+]]
    // CHECK: ^[[DEFAULT]]:
    // CHECK: cf.br ^[[SWAPPED]]
    fp8.role "read" warps(1) (%x = %c1, %y = %c2) : !c, !c {
      cf.switch %number : i32, [default: ^go(%x, %y : !c, !c), 1: ^go(%y, %x : !c, !c), -7: ^last]
    ^go(%u: !c, %v: !c):
      fp8.close %u : !c
      fp8.close %v : !c
      fp8.yield
    ^last:
      fp8.close %x : !c
      fp8.close %y : !c
      fp8.yield
    }
    gpu.return
  }
}
