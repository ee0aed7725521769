// Hazards 14 to 20 of docs/evidence/Hazards.md: cursors that are copied or made of nothing, handles that outlive what they stand for.
// RUN: fp8-opt %s -split-input-file -verify-diagnostics

// 14: a copy of the cursor steps as well.
!ring = !fp8.pipeline<3, s: !fp8.tile<1x128xf32>>
!end = !fp8.consumer<!ring>
// expected-error @below {{consumer end is consumed twice (L1); keep one, or go on with the handle that the first gives back}}
func.func @two_copies_step(%end: !end) -> (!end, !end) attributes {fp8.linear} {
  // expected-note @below {{consumed here}}
  %a = fp8.acquire %end : !end
  // expected-note @below {{consumed again here}}
  %b = fp8.acquire %end : !end
  %x = fp8.release %a : !fp8.consumer_stage<!ring>
  %y = fp8.release %b : !fp8.consumer_stage<!ring>
  return %x, %y : !end, !end
}

// -----

// 15: a stage that nothing has acquired.
!acc = !fp8.output_pipeline<2, 128x128xf32>
func.func @handle_from_nowhere() -> !fp8.mma_warp<!acc> attributes {fp8.linear} {
  // expected-error @below {{mma stage is made by 'builtin.unrealized_conversion_cast', which does not declare what it does with linear values (L6); it must implement LinearOpInterface}}
  %stage = builtin.unrealized_conversion_cast to !fp8.mma_stage<!acc>
  %w = fp8.release %stage : !fp8.mma_stage<!acc>
  return %w : !fp8.mma_warp<!acc>
}

// -----

// 16: each iteration steps the cursor from before the loop, not the last iteration's.
!throttle = !fp8.pipeline<2>
!end = !fp8.consumer<!throttle>
// expected-error @below {{consumer end is consumed inside a loop that may run again, or not at all (L3); carry it as a loop argument}}
func.func @loop_keeps_the_old_cursor(%end: !end, %n: index) attributes {fp8.linear} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  // expected-note @below {{the loop}}
  scf.for %i = %c0 to %n step %c1 {
    // expected-note @below {{consumed here}}
    %stage = fp8.acquire %end : !end
    %next = fp8.release %stage : !fp8.consumer_stage<!throttle>
    fp8.close %next : !end
  }
  return
}

// -----

// 17: a throttle without slots.
// expected-error @below {{a pipeline has at least one stage and at most as many as shared memory has room for barriers, 14528, but got 0}}
func.func private @throttle_without_slots(!fp8.producer<!fp8.pipeline<0>>)

// -----

// 18: epilogue warps of an end whose tensor memory nobody has waited for.
!acc = !fp8.output_pipeline<2, 128x128xf32>
func.func @no_evidence(%end: !fp8.consumer<!acc>) -> !fp8.epilogue_warp<!acc> attributes {fp8.linear} {
  // expected-error @below {{'fp8.create_epilogue_warp' op expected 2 operands, but found 1}}
  %w = "fp8.create_epilogue_warp"(%end) : (!fp8.consumer<!acc>) -> !fp8.epilogue_warp<!acc>
  return %w : !fp8.epilogue_warp<!acc>
}

// -----

// 19: the barrier that guards deallocation used a second time.
!acc = !fp8.output_pipeline<2, 128x128xf32>
// expected-error @below {{producer end is consumed twice (L1); keep one, or go on with the handle that the first gives back}}
func.func @allocated_twice(%end: !fp8.producer<!acc>) attributes {fp8.linear} {
  // expected-note @below {{consumed here}}
  %w = fp8.create_mma_warp %end : !fp8.producer<!acc> -> !fp8.mma_warp<!acc>
  fp8.release_mma_warp %w : !fp8.mma_warp<!acc>
  // expected-note @below {{consumed again here}}
  %w2 = fp8.create_mma_warp %end : !fp8.producer<!acc> -> !fp8.mma_warp<!acc>
  fp8.release_mma_warp %w2 : !fp8.mma_warp<!acc>
  return
}

// -----

// 20: a role that leaves the kernel where it stands, past what the others wait for.
gpu.module @m {
  gpu.func @early_return() kernel attributes {fp8.linear} {
    fp8.role "scheduler" warps(1) {
      // expected-error @below {{'gpu.return' op expects parent op 'gpu.func'}}
      gpu.return
    }
    gpu.return
  }
}
