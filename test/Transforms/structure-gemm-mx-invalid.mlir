// RUN: fp8-opt %s --fp8-structure-gemm --split-input-file --verify-diagnostics

!mx = memref<?x?x32x16xf8E8M0FNU>
func.func @rows(%a: memref<?x?xf8E4M3FN>, %as: !mx, %b: memref<?x?xf8E4M3FN>, %bs: !mx, %d: memref<?x?xbf16>) {
  // expected-error @below {{cannot become a kernel for sm_100a: tile M must be 256 with cta_group = 2 where tensor cores apply the scales, but got 128}}
  fp8.blockwise_gemm ins(%a, %as, %b, %bs : memref<?x?xf8E4M3FN>, !mx, memref<?x?xf8E4M3FN>, !mx) outs(%d : memref<?x?xbf16>) config <tile = 128 x 128 x 128, cta_group = 2>
  return
}

// -----

!mx = memref<?x?x32x16xf8E8M0FNU>
func.func @columns(%a: memref<?x?xf8E4M3FN>, %as: !mx, %b: memref<?x?xf8E4M3FN>, %bs: !mx, %d: memref<?x?xbf16>) {
  // expected-error @below {{cannot become a kernel for sm_100a: tile N must be a multiple of 32 where tensor cores apply the scales, but got 48}}
  fp8.blockwise_gemm ins(%a, %as, %b, %bs : memref<?x?xf8E4M3FN>, !mx, memref<?x?xf8E4M3FN>, !mx) outs(%d : memref<?x?xbf16>) config <tile = 128 x 48 x 128>
  return
}

// -----

!mx = memref<?x?x32x16xf8E8M0FNU>
func.func @edge(%a: memref<?x?xf8E4M3FN>, %as: !mx, %b: memref<?x?xf8E4M3FN>, %bs: !mx, %d: memref<?x?xbf16>) {
  // expected-error @below {{with edge = first would begin a tile within a tile of scales; set edge = last}}
  fp8.blockwise_gemm ins(%a, %as, %b, %bs : memref<?x?xf8E4M3FN>, !mx, memref<?x?xf8E4M3FN>, !mx) outs(%d : memref<?x?xbf16>) config <tile = 128 x 128 x 128, edge = first>
  return
}

// -----

!mx = memref<?x?x32x16xf8E8M0FNU>
func.func @accumulators(%a: memref<?x?xf8E4M3FN>, %as: !mx, %b: memref<?x?xf8E4M3FN>, %bs: !mx, %d: memref<?x?xbf16>) {
  // expected-error @below {{2 accumulators of 256 columns, with the scales of 3 stages, do not fit the 512 columns of tensor memory; set fewer accumulators or stages, or a smaller tile N}}
  fp8.blockwise_gemm ins(%a, %as, %b, %bs : memref<?x?xf8E4M3FN>, !mx, memref<?x?xf8E4M3FN>, !mx) outs(%d : memref<?x?xbf16>)
    config <tile = 128 x 256 x 128, stages = 3, accumulators = 2>
  return
}

// -----

!mx = memref<?x?x32x16xf8E8M0FNU>
func.func @split(%a: memref<?x?xf8E4M3FN>, %as: !mx, %b: memref<?x?xf8E4M3FN>, %bs: !mx, %d: memref<?x?xbf16>) {
  // expected-error @below {{cannot become a kernel for sm_100a: CTAs that divide K exchange sums of tiles of fewer than 128 rows, but tile M is 128; set it to 64, or remove split_k}}
  fp8.blockwise_gemm ins(%a, %as, %b, %bs : memref<?x?xf8E4M3FN>, !mx, memref<?x?xf8E4M3FN>, !mx) outs(%d : memref<?x?xbf16>) config <tile = 128 x 128 x 128, split_k = 2>
  return
}

// -----

!mx = memref<?x?x32x16xf8E8M0FNU>
func.func @accumulators_alone(%a: memref<?x?xf8E4M3FN>, %as: !mx, %b: memref<?x?xf8E4M3FN>, %bs: !mx, %d: memref<?x?xbf16>) {
  // expected-error @below {{3 accumulators of 160 columns and of scales do not fit the 512 columns of tensor memory; set fewer accumulators, or a smaller tile N}}
  fp8.blockwise_gemm ins(%a, %as, %b, %bs : memref<?x?xf8E4M3FN>, !mx, memref<?x?xf8E4M3FN>, !mx) outs(%d : memref<?x?xbf16>) config <tile = 128 x 160 x 128, accumulators = 3>
  return
}
