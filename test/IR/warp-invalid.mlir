// RUN: fp8-opt %s -split-input-file -verify-diagnostics

!ring = !fp8.pipeline<3, s: !fp8.tile<1x128xf32>>
func.func @nested_role(%n: index) attributes {fp8.linear} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  scf.for %i = %c0 to %n step %c1 {
    // expected-error @below {{'fp8.role' op must be in the entry block of its kernel (R1)}}
    fp8.role "nested" warps(1) {
    }
  }
  return
}

// -----

func.func @yields_a_number(%i: index) attributes {fp8.linear} {
  // expected-error @below {{may yield only values that fp8.close can close, but got 'index'}}
  fp8.role "r" warps(1) (%x = %i) : index {
    fp8.yield %x : index
  }
  return
}

// -----

!one = !fp8.output_pipeline<1, 128x128xf32>
!two = !fp8.output_pipeline<2, 128x128xf32>
func.func @other_ring(%end: !fp8.producer<!one>) attributes {fp8.linear} {
  // expected-error @below {{expected an end of '!fp8.output_pipeline<2, 128x128xf32>', but got one of '!fp8.output_pipeline<1, 128x128xf32>'}}
  %warp = fp8.create_mma_warp %end : !fp8.producer<!one> -> !fp8.mma_warp<!two>
  fp8.release_mma_warp %warp : !fp8.mma_warp<!two>
  return
}

// -----

!acc = !fp8.output_pipeline<1, 128x128xf32>
func.func @handle_not_given_back(%end: !fp8.producer<!acc>) attributes {fp8.linear} {
  // expected-error @below {{must yield its warp handle first, so that the scope can release it}}
  fp8.mma_warp(%w = %end) : !fp8.producer<!acc> {
    fp8.release_mma_warp %w : !fp8.mma_warp<!acc>
  }
  return
}

// -----

!acc = !fp8.output_pipeline<1, 128x128xf32>
// Preconditions are values: there is no epilogue warp without the evidence, and no evidence without a use.
func.func @evidence_dropped(%end: !fp8.consumer<!acc>) attributes {fp8.linear} {
  // expected-error @below {{tensor-memory evidence leaks: it is never consumed (L1); consume it with 'fp8.create_epilogue_warp'}}
  %ready = fp8.wait_tmem %end : !fp8.consumer<!acc> -> !fp8.tmem_ready<!acc>
  fp8.close %end : !fp8.consumer<!acc>
  // expected-note @below {{still alive where control leaves its region}}
  return
}
