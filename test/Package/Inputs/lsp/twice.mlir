// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// repair: %again = fp8.release
!ring = !fp8.pipeline<3>
!in = !fp8.consumer<!ring>
func.func @unused(%stage: !fp8.consumer_stage<!ring>) -> !in attributes {fp8.linear} {
  %next = fp8.release %stage : !fp8.consumer_stage<!ring>
  %again = fp8.release %stage : !fp8.consumer_stage<!ring>
  return %next : !in
}

// -----

// What uses the result of the second uses that of the first.
// repair: @used(
!ring = !fp8.pipeline<3>
!in = !fp8.consumer<!ring>
func.func @used(%stage: !fp8.consumer_stage<!ring>) -> !in attributes {fp8.linear} {
  %next = fp8.release %stage : !fp8.consumer_stage<!ring>
  %again = fp8.release %stage : !fp8.consumer_stage<!ring>
  return %again : !in
}

// -----

// repair: fp8.close %end : !in // again
!in = !fp8.consumer<!fp8.pipeline<3>>
func.func @closed(%end: !in) attributes {fp8.linear} {
  fp8.close %end : !in
  fp8.close %end : !in // again
  return
}

// -----

// What cannot be mended by leaving one out.
// repair: @lost(
!ring = !fp8.pipeline<3>
!in = !fp8.consumer<!ring>
func.func @lost(%end: !in) -> (!in, !in) attributes {fp8.linear} {
  return %end, %end : !in, !in
}
