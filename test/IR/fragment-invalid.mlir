// RUN: fp8-opt %s -split-input-file -verify-diagnostics

!frag = !fp8.fragment<128x128xf32, 4>
func.func @read_shape(%p: !fp8.tmem<128x64xf32>) attributes {fp8.linear} {
  // expected-error @below {{a CTA's rows of the accumulator must have the fragment's shape and layout (S1), but got '!fp8.tmem<128x64xf32>' and '!fp8.fragment<128x128xf32, 4>'}}
  %r = fp8.read %p : !fp8.tmem<128x64xf32> -> !frag
  return
}

// -----

!frag = !fp8.fragment<128x128xf32, 4>
func.func @scale_shape(%f: !frag, %p: !fp8.tmem<128x128xf32>, %s: !fp8.tile<1x64xf32>, %b: f32) attributes {fp8.linear} {
  // expected-error @below {{the A scales must be an unswizzled tile of 1x128 f32 or bf16 (S2), but got '!fp8.tile<1x64xf32>'}}
  %r = fp8.promote %f, %p scales(%s, %b) : !frag, !fp8.tmem<128x128xf32>, !fp8.tile<1x64xf32>
  return
}

// -----

!frag = !fp8.fragment<128x128xf32, 4>
func.func @scale_type(%f: !frag, %p: !fp8.tmem<128x128xf32>, %s: !fp8.tile<1x128xf16>, %b: f32) attributes {fp8.linear} {
  // expected-error @below {{the A scales must be an unswizzled tile of 1x128 f32 or bf16 (S2), but got '!fp8.tile<1x128xf16>'}}
  %r = fp8.promote %f, %p scales(%s, %b) : !frag, !fp8.tmem<128x128xf32>, !fp8.tile<1x128xf16>
  return
}

// -----

!frag = !fp8.fragment<128x128xf32, 4>
func.func @several_rows(%f: !frag, %p: !fp8.tmem<128x128xf32>, %s: !fp8.tile<4x128xf32>, %b: f32) attributes {fp8.linear} {
  // expected-error @below {{the A scales must be an unswizzled tile of 1x128 f32 or bf16 (S2), but got '!fp8.tile<4x128xf32>'}}
  %r = fp8.promote %f, %p scales(%s, %b) : !frag, !fp8.tmem<128x128xf32>, !fp8.tile<4x128xf32>
  return
}

// -----

!frag = !fp8.fragment<128x128xf32, 4>
func.func @rows_shape(%f: !frag, %p: !fp8.tmem<128x128xf32>, %s: !fp8.tile<4x64xf32>, %b: f32, %i: index) attributes {fp8.linear} {
  // expected-error @below {{the A scales must be an unswizzled tile of rows of 128 f32 or bf16 (S2), but got '!fp8.tile<4x64xf32>'}}
  %r = fp8.promote %f, %p scales(%s[%i], %b) : !frag, !fp8.tmem<128x128xf32>, !fp8.tile<4x64xf32>
  return
}

// -----

!frag = !fp8.fragment<128x128xf32, 4>
func.func @no_such_row(%f: !frag, %p: !fp8.tmem<128x128xf32>, %s: !fp8.tile<4x128xf32>, %b: f32) attributes {fp8.linear} {
  %i = arith.constant 4 : index
  // expected-error @below {{the tile of A scales has no row 4 (S2); it has 4}}
  %r = fp8.promote %f, %p scales(%s[%i], %b) : !frag, !fp8.tmem<128x128xf32>, !fp8.tile<4x128xf32>
  return
}

// -----

!frag = !fp8.fragment<128x128xf32, 4>
func.func @unequal_parts(%f: !frag, %p: !fp8.tmem<128x128xf32>, %s: !fp8.tile<1x128xf32>, %b: f32) attributes {fp8.linear} {
  // expected-error @below {{the B scales must divide the 128 columns into equal parts of a multiple of 2 columns (S3), but there are 3}}
  %r = fp8.promote %f, %p scales(%s, %b, %b, %b) : !frag, !fp8.tmem<128x128xf32>, !fp8.tile<1x128xf32>
  return
}

// -----

!frag = !fp8.fragment<128x128xf32, 4>
func.func @no_scales(%f: !frag, %p: !fp8.tmem<128x128xf32>, %s: !fp8.tile<1x128xf32>) attributes {fp8.linear} {
  // expected-error @below {{the B scales must divide the 128 columns into equal parts of a multiple of 2 columns (S3), but there are 0}}
  %r = "fp8.promote"(%f, %p, %s) {operandSegmentSizes = array<i32: 1, 1, 1, 0, 0, 0>} : (!frag, !fp8.tmem<128x128xf32>, !fp8.tile<1x128xf32>) -> !frag
  return
}

// -----

!frag = !fp8.fragment<128x128xf32, 4>
func.func @two_forms(%f: !frag, %p: !fp8.tmem<128x128xf32>, %s: !fp8.tile<1x128xf32>, %b: f32) attributes {fp8.linear} {
  // expected-error @below {{the B scales are values (S3) or a row (S4), but got both}}
  %r = "fp8.promote"(%f, %p, %s, %b, %s) {operandSegmentSizes = array<i32: 1, 1, 1, 0, 1, 1>}
    : (!frag, !fp8.tmem<128x128xf32>, !fp8.tile<1x128xf32>, f32, !fp8.tile<1x128xf32>) -> !frag
  return
}

// -----

!frag = !fp8.fragment<128x128xf32, 4>
func.func @row_shape(%f: !frag, %p: !fp8.tmem<128x128xf32>, %s: !fp8.tile<1x128xf32>, %row: !fp8.tile<1x64xf32>) attributes {fp8.linear} {
  // expected-error @below {{the row of B scales must be an unswizzled tile of 1x128 f32 or bf16 (S4), but got '!fp8.tile<1x64xf32>'}}
  %r = fp8.promote %f, %p scales(%s, row %row) : !frag, !fp8.tmem<128x128xf32>, !fp8.tile<1x128xf32>, !fp8.tile<1x64xf32>
  return
}

// -----

!frag = !fp8.fragment<128x128xf32, 4>
!tile = !fp8.tile<64x64xbf16, swizzle_128b>
func.func @tile_rows(%f: !frag, %c: !tile) attributes {fp8.linear} {
  // expected-error @below {{the tile must have the fragment's 128 rows and f32, bf16 or f16 elements (F1), but got '!fp8.tile<64x64xbf16, swizzle_128b>'}}
  %r = fp8.add_tile %f[0], %c : !frag, !tile
  return
}

// -----

!frag = !fp8.fragment<128x128xf32, 4>
!tile = !fp8.tile<128x64xbf16, swizzle_128b>
func.func @past_the_end(%f: !frag, %c: !tile) attributes {fp8.linear} {
  // expected-error @below {{the tile's columns are 96 to 159 of the fragment, which has 128 (F2)}}
  %r = fp8.add_tile %f[96], %c : !frag, !tile
  return
}

// -----

!frag = !fp8.fragment<128x128xf32, 8>
!tile = !fp8.tile<128x64xbf16, swizzle_128b>
func.func @two_halves(%f: !frag, %c: !tile) attributes {fp8.linear} {
  // expected-error @below {{the tile's columns, 32 to 95, must begin at an even one and lie within the 64 that a thread owns, or be a multiple of them (F3)}}
  %r = fp8.add_tile %f[32], %c : !frag, !tile
  return
}

// -----

!frag = !fp8.fragment<128x128xf32, 4>
!tile = !fp8.tile<128x64xbf16, swizzle_128b>
func.func @odd(%f: !frag, %c: !tile) attributes {fp8.linear} {
  // expected-error @below {{the tile's columns, 1 to 64, must begin at an even one and lie within the 128 that a thread owns, or be a multiple of them (F3)}}
  %r = fp8.add_tile %f[1], %c : !frag, !tile
  return
}

// -----

!frag = !fp8.fragment<128x128xf32, 4>
func.func @short_row(%f: !frag, %row: !fp8.tile<1x64xf32>) attributes {fp8.linear} {
  // expected-error @below {{the row must be an unswizzled tile of 1x128 f32, bf16 or f16 (F4), but got '!fp8.tile<1x64xf32>'}}
  %r = fp8.add_row %f, %row : !frag, !fp8.tile<1x64xf32>
  return
}

// -----

func.func @two_rows(%row: !fp8.tile<2x4xf32>) attributes {fp8.linear} {
  // expected-error @below {{the row must be an unswizzled tile of one row of f32 (F6), but got '!fp8.tile<2x4xf32>'}}
  %r = fp8.read_element %row[0] : !fp8.tile<2x4xf32>
  return
}

// -----

func.func @past_the_row(%row: !fp8.tile<1x4xf32>) attributes {fp8.linear} {
  // expected-error @below {{column 4 lies outside the 4 columns of the row (F7)}}
  %r = fp8.read_element %row[4] : !fp8.tile<1x4xf32>
  return
}

// -----

!frag = !fp8.fragment<128x128xf32, 4>
func.func @other_result(%f: !frag) attributes {fp8.linear} {
  // expected-error @below {{expected at least one fragment, of the type '!fp8.fragment<128x64xf32, 4>' of the result (E1)}}
  %r = fp8.map(%x = %f) : !frag -> !fp8.fragment<128x64xf32, 4> {
    fp8.yield %x : f32
  }
  return
}

// -----

func.func @no_fragment(%v: f32) attributes {fp8.linear} {
  // expected-error @below {{expected at least one fragment, of the type '!fp8.fragment<128x64xf32, 4>' of the result (E1)}}
  %r = fp8.map -> !fp8.fragment<128x64xf32, 4> {
    fp8.yield %v : f32
  }
  return
}

// -----

func.func @not_a_fragment(%v: f32) attributes {fp8.linear} {
  // expected-error @below {{expected a fragment, but got 'f32'}}
  %r = fp8.map(%x = %v) : f32 -> !fp8.fragment<128x64xf32, 4> {
    fp8.yield %x : f32
  }
  return
}

// -----

!frag = !fp8.fragment<128x128xf32, 4>
func.func @yields_none(%f: !frag) attributes {fp8.linear} {
  // expected-error @below {{the body must yield one f32 (E2)}}
  %r = fp8.map(%x = %f) : !frag -> !frag {
    fp8.yield
  }
  return
}

// -----

!frag = !fp8.fragment<128x128xf32, 4>
func.func @argument_type(%f: !frag) attributes {fp8.linear} {
  // expected-error @below {{expected a region argument of type 'f32', but got 'f64'}}
  %r = "fp8.map"(%f) ({
  ^bb0(%x: f64):
    %y = arith.truncf %x : f64 to f32
    fp8.yield %y : f32
  }) : (!frag) -> !frag
  return
}

// -----

!frag = !fp8.fragment<128x128xf32, 4>
func.func @effect(%f: !frag, %m: memref<f32>) attributes {fp8.linear} {
  %r = fp8.map(%x = %f) : !frag -> !frag {
    // expected-error @below {{may not be in an elementwise body, whose ops are pure and have no regions (E3)}}
    %y = memref.load %m[] : memref<f32>
    fp8.yield %y : f32
  }
  return
}

// -----

!frag = !fp8.fragment<128x128xf32, 4>
func.func @no_instruction(%f: !frag) attributes {fp8.linear} {
  %r = fp8.map(%x = %f) : !frag -> !frag {
    // expected-error @below {{has no instruction, which an elementwise body needs (E4); use absf, ceil, exp, exp2, floor, fma, rsqrt, sqrt or tanh}}
    %y = math.erf %x : f32
    fp8.yield %y : f32
  }
  return
}

// -----

!frag = !fp8.fragment<128x128xf32, 4>
func.func @remainder(%f: !frag) attributes {fp8.linear} {
  %r = fp8.map(%x = %f) : !frag -> !frag {
    // expected-error @below {{'arith.remf' op has no instruction, which an elementwise body needs (E4); use divf, math.floor, mulf and subf}}
    %y = arith.remf %x, %x : f32
    fp8.yield %y : f32
  }
  return
}

// -----

!frag = !fp8.fragment<128x128xf32, 4>
func.func @math_of_bf16(%f: !frag) attributes {fp8.linear} {
  %r = fp8.map(%x = %f) : !frag -> !frag {
    %w = arith.truncf %x : f32 to bf16
    // expected-error @below {{'math.absf' op computes in f32 in an elementwise body, but has a value of type 'bf16' (E4); convert it by arith.extf or arith.truncf}}
    %a = math.absf %w : bf16
    %y = arith.extf %a : bf16 to f32
    fp8.yield %y : f32
  }
  return
}

// -----

!frag = !fp8.fragment<128x128xf32, 4>
func.func @eight_bits(%f: !frag) attributes {fp8.linear} {
  %r = fp8.map(%x = %f) : !frag -> !frag {
    // expected-error @below {{'arith.truncf' op has a value of type 'f8E4M3FN', for which an elementwise body has no instructions (E4); use f16, bf16, f32, f64, index, or integers of at most 64 bits}}
    %w = arith.truncf %x : f32 to f8E4M3FN
    %y = arith.extf %w : f8E4M3FN to f32
    fp8.yield %y : f32
  }
  return
}

// -----

!frag = !fp8.fragment<128x128xf32, 4>
func.func @rounding(%f: !frag) attributes {fp8.linear} {
  %r = fp8.map(%x = %f) : !frag -> !frag {
    // expected-error @below {{'arith.truncf' op has a rounding mode, which an elementwise body does not follow (E4); leave it out, which rounds to the nearest}}
    %w = arith.truncf %x toward_zero : f32 to f16
    %y = arith.extf %w : f16 to f32
    fp8.yield %y : f32
  }
  return
}

// -----

// expected-error @below {{a fragment's warps must be a multiple of 4 up to 32, but got 6}}
func.func private @six_warps(!fp8.fragment<128x128xf32, 6>)

// -----

// expected-error @below {{a fragment of layout warp_halves holds 64 rows of f32}}
func.func private @halves_of_128(!fp8.fragment<128x128xf32, 4, warp_halves>)

// -----

// expected-error @below {{a fragment of 64 rows is held by 4 warps, but got 8}}
func.func private @eight_warps(!fp8.fragment<64x128xf32, 8, lane_halves>)

// -----

// expected-error @below {{expected rows, lane_halves, warp_halves, warpgroups, warpgroup_columns or quarter_columns}}
func.func private @layout(!fp8.fragment<64x128xf32, 4, halves>)

// -----

// expected-error @below {{a fragment of layout quarter_columns is held by 4 warps, but got 8}}
func.func private @warps_of_quarters(!fp8.fragment<16x128xf32, 8, quarter_columns>)

// -----

// expected-error @below {{a fragment of layout quarter_columns holds 128 columns of f32, and a multiple of 8 rows below 128}}
func.func private @columns_of_quarters(!fp8.fragment<16x64xf32, 4, quarter_columns>)

// -----

// expected-error @below {{a fragment of layout quarter_columns holds 128 columns of f32, and a multiple of 8 rows below 128}}
func.func private @rows_of_quarters(!fp8.fragment<128x128xf32, 4, quarter_columns>)

// -----

!frag = !fp8.fragment<16x128xf32, 4, warpgroup_columns>
func.func @not_swapped(%p: !fp8.tmem<16x128xf32, swapped>) attributes {fp8.linear} {
  // expected-error @below {{a CTA's rows of the accumulator must have the fragment's shape and layout (S1), but got '!fp8.tmem<16x128xf32, swapped>' and '!fp8.fragment<16x128xf32, 4, warpgroup_columns>'}}
  %r = fp8.read %p : !fp8.tmem<16x128xf32, swapped> -> !frag
  return
}

// -----

!frag = !fp8.fragment<64x128xf32, 4, warp_halves>
func.func @other_layout(%f: !frag, %p: !fp8.tmem<64x128xf32>, %s: !fp8.tile<1x64xf32>, %b: f32) attributes {fp8.linear} {
  // expected-error @below {{a CTA's rows of the accumulator must have the fragment's shape and layout (S1), but got '!fp8.tmem<64x128xf32>' and '!fp8.fragment<64x128xf32, 4, warp_halves>'}}
  %r = fp8.promote %f, %p scales(%s, %b) : !frag, !fp8.tmem<64x128xf32>, !fp8.tile<1x64xf32>
  return
}

// -----

!sum = !fp8.fragment<64x8xf32, 4, lane_halves>
func.func @half_a_chunk(%f: !sum, %row: !fp8.tile<1x8xbf16>) attributes {fp8.linear} {
  // expected-error @below {{a thread's part of a row must be a multiple of 16 bytes (F5), but is 8}}
  %r = fp8.add_row %f, %row : !sum, !fp8.tile<1x8xbf16>
  return
}

// -----

!frag = !fp8.fragment<128x128xf32, 4>
func.func @other_dialect(%f: !frag) attributes {fp8.linear} {
  %r = fp8.map(%x = %f) : !frag -> !frag {
    // expected-error @below {{'llvm.intr.log' op has no place in an elementwise body (E4); use ops of arith and math, or compute it outside}}
    %y = llvm.intr.log(%x) : (f32) -> f32
    fp8.yield %y : f32
  }
  return
}

// -----

!frag = !fp8.fragment<128x128xf32, 4>
func.func @tensors(%f: !frag, %t: tensor<4xf32>) attributes {fp8.linear} {
  %r = fp8.map(%x = %f) : !frag -> !frag {
    // expected-error @below {{'arith.addf' op has a value of type 'tensor<4xf32>', for which an elementwise body has no instructions (E4)}}
    %u = arith.addf %t, %t : tensor<4xf32>
    fp8.yield %x : f32
  }
  return
}

// -----

!frag = !fp8.fragment<128x128xf32, 4>
func.func @carry_of_index(%f: !frag, %i: index) attributes {fp8.linear} {
  %r = fp8.map(%x = %f) : !frag -> !frag {
    // expected-error @below {{'arith.addui_extended' op has no instruction for index, which an elementwise body needs (E4); use i32 or i64}}
    %u, %carry = arith.addui_extended %i, %i : index, i1
    fp8.yield %x : f32
  }
  return
}
