// What fragments are computed of is there: tiles, rows and scales of a consumer stage (K3). Those of a producer stage may be under way.
// RUN: fp8-opt %s --convert-fp8-to-nvvm -split-input-file -verify-diagnostics

!t = !fp8.tile<128x64xbf16, swizzle_128b>
!row = !fp8.tile<1x128xf32>
!ring = !fp8.pipeline<2, t: !t, row: !row>
!sum = !fp8.fragment<128x128xf32, 4>
gpu.module @m {
  gpu.func @tile_under_way() kernel attributes {fp8.linear} {
    %p, %c = fp8.pipeline : !fp8.producer<!ring>, !fp8.consumer<!ring>
    fp8.role "write" warps(4) (%e = %p) : !fp8.producer<!ring> {
      %sum = fp8.zero : !sum
      %s = fp8.acquire %e : !fp8.producer<!ring>
      // expected-note @below {{this value is not}}
      %t = fp8.tile %s["t"] : !fp8.producer_stage<!ring>
      // expected-error @below {{'fp8.add_tile' op the tile must be lent by a consumer stage (K3)}}
      %d = fp8.add_tile %sum[0], %t : !sum, !t
      %n = fp8.release %s : !fp8.producer_stage<!ring>
      fp8.close %n : !fp8.producer<!ring>
    }
    fp8.role "read" warps(1) (%e = %c) : !fp8.consumer<!ring> {
      %s = fp8.acquire %e : !fp8.consumer<!ring>
      %n = fp8.release %s : !fp8.consumer_stage<!ring>
      fp8.close %n : !fp8.consumer<!ring>
    }
    gpu.return
  }
}

// -----

!t = !fp8.tile<128x64xbf16, swizzle_128b>
!row = !fp8.tile<1x128xf32>
!ring = !fp8.pipeline<2, t: !t, row: !row>
!sum = !fp8.fragment<128x128xf32, 4>
gpu.module @m {
  gpu.func @row_under_way() kernel attributes {fp8.linear} {
    %p, %c = fp8.pipeline : !fp8.producer<!ring>, !fp8.consumer<!ring>
    fp8.role "write" warps(4) (%e = %p) : !fp8.producer<!ring> {
      %sum = fp8.zero : !sum
      %s = fp8.acquire %e : !fp8.producer<!ring>
      // expected-note @below {{this value is not}}
      %t = fp8.tile %s["row"] : !fp8.producer_stage<!ring>
      // expected-error @below {{'fp8.add_row' op the row must be lent by a consumer stage (K3)}}
      %d = fp8.add_row %sum, %t : !sum, !row
      %n = fp8.release %s : !fp8.producer_stage<!ring>
      fp8.close %n : !fp8.producer<!ring>
    }
    fp8.role "read" warps(1) (%e = %c) : !fp8.consumer<!ring> {
      %s = fp8.acquire %e : !fp8.consumer<!ring>
      %n = fp8.release %s : !fp8.consumer_stage<!ring>
      fp8.close %n : !fp8.consumer<!ring>
    }
    gpu.return
  }
}

// -----

!row = !fp8.tile<1x128xf32>
!ring = !fp8.pipeline<2, row: !row>
!sum = !fp8.fragment<128x128xf32, 8, warpgroups>
gpu.module @m {
  gpu.func @scales_under_way(%map: !fp8.tensor_map<!row>) kernel attributes {fp8.linear} {
    %c0 = arith.constant 0 : index
    %p, %c = fp8.pipeline : !fp8.producer<!ring>, !fp8.consumer<!ring>
    %op, %oc = fp8.pipeline : !fp8.producer<!ring>, !fp8.consumer<!ring>
    fp8.role "both" warps(8) (%e = %op, %in = %c) : !fp8.producer<!ring>, !fp8.consumer<!ring> {
      %sum = fp8.zero : !sum
      %is = fp8.acquire %in : !fp8.consumer<!ring>
      %s = fp8.acquire %e : !fp8.producer<!ring>
      %a = fp8.tile %is["row"] : !fp8.consumer_stage<!ring>
      // expected-note @below {{this value is not}}
      %b = fp8.tile %s["row"] : !fp8.producer_stage<!ring>
      // expected-error @below {{'fp8.promote' op the B scales must be lent by a consumer stage (K3)}}
      %d = fp8.promote %sum, %sum scales(%a, row %b) : !sum, !sum, !row, !row
      %in2 = fp8.release %is : !fp8.consumer_stage<!ring>
      %n = fp8.release %s : !fp8.producer_stage<!ring>
      fp8.close %n : !fp8.producer<!ring>
      fp8.close %in2 : !fp8.consumer<!ring>
    }
    fp8.role "load" warps(1) (%e = %p) : !fp8.producer<!ring> {
      %s = fp8.acquire %e : !fp8.producer<!ring>
      fp8.tma_load %map[%c0, %c0], %s["row"] : !fp8.tensor_map<!row>, !fp8.producer_stage<!ring>
      %n = fp8.release %s : !fp8.producer_stage<!ring>
      fp8.close %n : !fp8.producer<!ring>
    }
    fp8.role "read" warps(1) (%e = %oc) : !fp8.consumer<!ring> {
      %s = fp8.acquire %e : !fp8.consumer<!ring>
      %n = fp8.release %s : !fp8.consumer_stage<!ring>
      fp8.close %n : !fp8.consumer<!ring>
    }
    gpu.return
  }
}

// -----

// A view that is one of two: its stage is selected instead.
!t = !fp8.tile<128x64xbf16, swizzle_128b>
!ring = !fp8.pipeline<2, t: !t, u: !t>
!sum = !fp8.fragment<128x128xf32, 4>
gpu.module @m {
  gpu.func @selected_view(%one: i1) kernel attributes {fp8.linear} {
    %p, %c = fp8.pipeline : !fp8.producer<!ring>, !fp8.consumer<!ring>
    fp8.role "read" warps(4) (%e = %c) : !fp8.consumer<!ring> {
      %sum = fp8.zero : !sum
      %s = fp8.acquire %e : !fp8.consumer<!ring>
      %t = fp8.tile %s["t"] : !fp8.consumer_stage<!ring>
      %u = fp8.tile %s["u"] : !fp8.consumer_stage<!ring>
      // expected-error @below {{'arith.select' op selects between views of stages, which hides the stage that is in use; select the stages, then take the view of the selected one}}
      %v = arith.select %one, %t, %u : !t
      %d = fp8.add_tile %sum[0], %v : !sum, !t
      %n = fp8.release %s : !fp8.consumer_stage<!ring>
      fp8.close %n : !fp8.consumer<!ring>
    }
    fp8.role "write" warps(1) (%e = %p) : !fp8.producer<!ring> {
      %s = fp8.acquire %e : !fp8.producer<!ring>
      %n = fp8.release %s : !fp8.producer_stage<!ring>
      fp8.close %n : !fp8.producer<!ring>
    }
    gpu.return
  }
}
