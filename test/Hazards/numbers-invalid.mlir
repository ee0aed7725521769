// Hazards 23 to 37 of docs/evidence/Hazards.md: shapes, types and maps that would give wrong numbers.
// RUN: fp8-opt %s --fp8-structure-gemm -split-input-file -verify-diagnostics

// 23: K blocks in groups, each of which overwrites the one before.
// expected-error @below {{expected cta_group, cluster, split_k, stages, accumulators, scheduler, band, b_scales, l2_promotion, launch, edge or signal}}
func.func private @k_group() attributes {config = #fp8.gemm_config<tile = 128 x 128 x 128, k_group = 2>}

// -----

// 24: K in blocks of 64, where a block of scales is 128 deep.
// expected-error @below {{tile K must be 128, the depth of a scale block, but got 64}}
func.func private @half_block() attributes {config = #fp8.gemm_config<tile = 128 x 128 x 64>}

// -----

// 24: rows of 64 bytes, where the layout and the step of the descriptors assume 128.
!half = !fp8.tile<128x64xf8E4M3FN, swizzle_128b>
func.func @half_rows(%d: !fp8.tmem<128x128xf32>, %a: !half) attributes {fp8.linear} {
  // expected-error @below {{'fp8.mma' op a row of an operand tile must be 128 bytes, the span of its swizzle (A3), but got 64}}
  fp8.mma %d, %a, %a : !fp8.tmem<128x128xf32>, !half, !half
  return
}

// -----

// 25: the host makes a map of another box than the kernel copies.
!tile = !fp8.tile<128x128xf8E4M3FN, swizzle_128b>
!half = !fp8.tile<64x128xf8E4M3FN, swizzle_128b>
module attributes {gpu.container_module} {
  gpu.module @m {
    gpu.func @kernel(%map: !fp8.tensor_map<!tile>) kernel {
      gpu.return
    }
  }
  func.func @launch_with_another_box(%a: memref<?x?xf8E4M3FN>) {
    %c1 = arith.constant 1 : index
    %c128 = arith.constant 128 : index
    %map = fp8.tensor_map %a : memref<?x?xf8E4M3FN> -> !fp8.tensor_map<!half>
    // expected-error @below {{'gpu.launch_func' op type of function argument 0 does not match}}
    gpu.launch_func @m::@kernel blocks in (%c1, %c1, %c1) threads in (%c128, %c1, %c1) args(%map : !fp8.tensor_map<!half>)
    return
  }
}

// -----

// 26: operands under another swizzle than the one that the descriptors name.
!tile = !fp8.tile<128x64xf8E4M3FN, swizzle_64b>
func.func @other_swizzle(%d: !fp8.tmem<128x128xf32>, %a: !tile) attributes {fp8.linear} {
  // expected-error @below {{operand tiles must be of f8E4M3FN, f8E5M2, bf16 or f16, and swizzle_128b (A1), but got '!fp8.tile<128x64xf8E4M3FN, swizzle_64b>'}}
  fp8.mma %d, %a, %a : !fp8.tmem<128x128xf32>, !tile, !tile
  return
}

// -----

// 27: scales of f16, both alike.
func.func @narrow_scales(%a: memref<?x?xf8E4M3FN>, %s: memref<?x?xf16>, %d: memref<?x?xbf16>) {
  // expected-error @below {{'fp8.blockwise_gemm' op 'a_scale' must be a 2-D memref of f32 or bf16 (G2), but got 'memref<?x?xf16>'}}
  fp8.blockwise_gemm ins(%a, %s, %a, %s : memref<?x?xf8E4M3FN>, memref<?x?xf16>, memref<?x?xf8E4M3FN>, memref<?x?xf16>)
    outs(%d : memref<?x?xbf16>)
  return
}

// -----

// 27: by hand, where f32 and bf16 are widened right, scales of f16.
!frag = !fp8.fragment<128x128xf32, 4>
func.func @narrow_scale_tile(%f: !frag, %p: !fp8.tmem<128x128xf32>, %s: !fp8.tile<1x128xf16>, %b: f32) attributes {fp8.linear} {
  // expected-error @below {{the A scales must be an unswizzled tile of 1x128 f32 or bf16 (S2), but got '!fp8.tile<1x128xf16>'}}
  %r = fp8.promote %f, %p scales(%s, %b) : !frag, !fp8.tmem<128x128xf32>, !fp8.tile<1x128xf16>
  return
}

// -----

// 34: a fragment of another width than the accumulator.
!frag = !fp8.fragment<128x128xf32, 4>
func.func @half_a_fragment(%f: !frag, %p: !fp8.tmem<128x64xf32>, %s: !fp8.tile<1x128xf32>, %b: f32) attributes {fp8.linear} {
  // expected-error @below {{'fp8.promote' op a CTA's rows of the accumulator must have the fragment's shape and layout (S1), but got '!fp8.tmem<128x64xf32>' and '!fp8.fragment<128x128xf32, 4>'}}
  %r = fp8.promote %f, %p scales(%s, %b) : !frag, !fp8.tmem<128x64xf32>, !fp8.tile<1x128xf32>
  return
}

// -----

// 35: B's scales for every 64 rows.
func.func @finer_scales(%a: memref<256x256xf8E4M3FN>, %as: memref<2x256xf32>, %bs: memref<4x2xf32>, %d: memref<256x256xbf16>) {
  // expected-error @below {{'fp8.blockwise_gemm' op extent 0 of 'b_scale' must be ceil(N/128) = 2 (G2), but got 4}}
  fp8.blockwise_gemm ins(%a, %as, %a, %bs : memref<256x256xf8E4M3FN>, memref<2x256xf32>, memref<256x256xf8E4M3FN>, memref<4x2xf32>)
    outs(%d : memref<256x256xbf16>)
  return
}

// -----

// 35: columns that the MMA of a pair does not have.
// expected-error @below {{an accumulator of a CTA pair of 256 rows has a multiple of 16 columns up to 256 (O2), but got 40}}
func.func private @columns_of_a_pair(!fp8.mma_warp<!fp8.output_pipeline<2, 256x40xf32, cta_group = 2>>)

// -----

// 37: operands of four bits, which the seeds plan.
// expected-error @below {{a tile's elements must be f8E4M3FN, f8E5M2, f8E8M0FNU, bf16, f16, f32, f64, i8, i16, i32 or i64, which a tensor map can describe (T4), but got 'f4E2M1FN'}}
func.func private @fp4(!fp8.tile<128x256xf4E2M1FN, swizzle_128b>)
