// Handles that no op declares to make, and values that hold handles and can be copied (L6).
// RUN: fp8-opt %s -split-input-file -verify-diagnostics -allow-unregistered-dialect

!end = !fp8.consumer<!fp8.pipeline<3, s: !fp8.tile<1x128xf32>>>
#map = affine_map<(d0) -> (d0)>
func.func @forged_of_a_tensor(%out: tensor<2xindex>) -> tensor<2xindex> attributes {fp8.linear} {
  // expected-error @below {{a value of type 'tensor<2x!fp8.consumer<!fp8.pipeline<3, s: !fp8.tile<1x128xf32>>>>' holds handles and can be copied (L6); pass each handle as a value of its own}}
  %ends = tensor.empty() : tensor<2x!end>
  // expected-note @below {{made here}}
  %result = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel"]}
      ins(%ends : tensor<2x!end>) outs(%out : tensor<2xindex>) {
  // expected-error @below {{consumer end is made by 'linalg.generic', which does not declare what it does with linear values (L6); it must implement LinearOpInterface}}
  ^bb0(%end: !end, %old: index):
    fp8.close %end : !end
    linalg.yield %old : index
  } -> tensor<2xindex>
  return %result : tensor<2xindex>
}

// -----

!end = !fp8.consumer<!fp8.pipeline<3, s: !fp8.tile<1x128xf32>>>
// expected-error @below {{a value of type 'tensor<2x!fp8.consumer<!fp8.pipeline<3, s: !fp8.tile<1x128xf32>>>>' holds handles and can be copied (L6); pass each handle as a value of its own}}
func.func @duplicated(%ends: tensor<2x!end>) -> (tensor<2x!end>, tensor<2x!end>) attributes {fp8.linear} {
  return %ends, %ends : tensor<2x!end>, tensor<2x!end>
}

// -----

!end = !fp8.consumer<!fp8.pipeline<3, s: !fp8.tile<1x128xf32>>>
// expected-error @below {{a value of type 'tuple<i1, !fp8.consumer<!fp8.pipeline<3, s: !fp8.tile<1x128xf32>>>>' holds handles and can be copied (L6); pass each handle as a value of its own}}
func.func @in_a_tuple(%pair: tuple<i1, !end>) attributes {fp8.linear} {
  return
}

// -----

!end = !fp8.consumer<!fp8.pipeline<3, s: !fp8.tile<1x128xf32>>>
// expected-error @below {{a value of type '!llvm.struct<}}
func.func @in_a_struct(%pair: !llvm.struct<(i1, !end)>) attributes {fp8.linear} {
  return
}

// -----

// A region of another dialect gives a handle as its argument.
!end = !fp8.consumer<!fp8.pipeline<3, s: !fp8.tile<1x128xf32>>>
func.func @foreign_argument() attributes {fp8.linear} {
  // expected-note @below {{made here}}
  "foreign.with"() ({
  // expected-error @below {{consumer end is made by 'foreign.with', which does not declare what it does with linear values (L6); it must implement LinearOpInterface}}
  ^bb0(%end: !end):
    fp8.close %end : !end
    "foreign.end"() : () -> ()
  }) : () -> ()
  return
}

// -----

// A branch of another dialect gives a handle to a block.
!end = !fp8.consumer<!fp8.pipeline<3, s: !fp8.tile<1x128xf32>>>
func.func @foreign_branch() attributes {fp8.linear} {
  // expected-note @below {{made here}}
  "foreign.branch"() [^next] : () -> ()
// expected-error @below {{consumer end is made by 'foreign.branch', which does not declare what it does with linear values (L6); it must implement LinearOpInterface}}
^next(%end: !end):
  fp8.close %end : !end
  return
}

// -----

// A declaration has no value of the type that its callers get.
!end = !fp8.consumer<!fp8.pipeline<3, s: !fp8.tile<1x128xf32>>>
// expected-error @below {{a value of type 'tuple<!fp8.consumer<!fp8.pipeline<3, s: !fp8.tile<1x128xf32>>>>' holds handles and can be copied (L6); pass each handle as a value of its own}}
func.func private @declared() -> tuple<!end> attributes {fp8.linear}
