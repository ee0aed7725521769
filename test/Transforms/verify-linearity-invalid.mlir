// RUN: fp8-opt %s --fp8-verify-linearity -split-input-file -verify-diagnostics

!end = !fp8.consumer<!fp8.pipeline<3, s: !fp8.tile<1x128xf32>>>
// No fp8 op: the dialect does not see this function by itself.
// expected-error @below {{uses linear values without 'fp8.linear' (L6); add the attribute, so that the verifier checks the function}}
func.func @drops_its_argument(%x: !end) {
  return
}

// -----

!end = !fp8.consumer<!fp8.pipeline<3, s: !fp8.tile<1x128xf32>>>
func.func private @make() -> !end attributes {fp8.linear}
// expected-error @below {{uses linear values without 'fp8.linear' (L6); add the attribute, so that the verifier checks the function}}
func.func @drops_a_result() {
  %x = func.call @make() : () -> !end
  return
}
