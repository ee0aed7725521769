// RUN: fp8-opt %s --verify-roundtrip | FileCheck %s

// CHECK-LABEL: func.func @static
// CHECK: fp8.blockwise_gemm ins(%{{.*}}, %{{.*}}, %{{.*}}, %{{.*}} : memref<256x512xf8E4M3FN>, memref<4x256xf32>, memref<384x512xf8E4M3FN>, memref<3x4xf32>) outs(%{{.*}} : memref<256x384xf16>) config <tile = 128 x 128 x 128, stages = 3, scheduler = one_tile>
func.func @static(%a: memref<256x512xf8E4M3FN>, %as: memref<4x256xf32>, %b: memref<384x512xf8E4M3FN>,
                  %bs: memref<3x4xf32>, %d: memref<256x384xf16>) {
  fp8.blockwise_gemm ins(%a, %as, %b, %bs : memref<256x512xf8E4M3FN>, memref<4x256xf32>, memref<384x512xf8E4M3FN>, memref<3x4xf32>)
    outs(%d : memref<256x384xf16>) config <tile = 128 x 128 x 128, stages = 3, scheduler = one_tile>
  return
}

// Rows of a_scale that are padded to 16 bytes.
// CHECK-LABEL: func.func @padded
func.func @padded(%a: memref<129x512xf8E4M3FN>, %as: memref<4x129xf32, strided<[132, 1]>>, %b: memref<?x512xf8E4M3FN>,
                  %bs: memref<?x4xf32>, %d: memref<129x?xbf16>) {
  // CHECK: fp8.blockwise_gemm
  fp8.blockwise_gemm ins(%a, %as, %b, %bs : memref<129x512xf8E4M3FN>, memref<4x129xf32, strided<[132, 1]>>, memref<?x512xf8E4M3FN>, memref<?x4xf32>)
    outs(%d : memref<129x?xbf16>)
  return
}

// Scales in bf16, each operand by itself; a scale for 64 rows of B.
// CHECK-LABEL: func.func @narrow_scales
func.func @narrow_scales(%a: memref<?x512xf8E4M3FN>, %as: memref<4x?xbf16>, %b: memref<384x512xf8E4M3FN>, %bs: memref<6x4xf32>, %d: memref<?x384xf32>) {
  // CHECK: outs(%{{.*}} : memref<?x384xf32>) {b_block = 64 : i64}
  fp8.blockwise_gemm ins(%a, %as, %b, %bs : memref<?x512xf8E4M3FN>, memref<4x?xbf16>, memref<384x512xf8E4M3FN>, memref<6x4xf32>)
    outs(%d : memref<?x384xf32>) {b_block = 64}
  return
}

// A scale for each row of B, laid out as A's; the default is not printed.
// CHECK-LABEL: func.func @column_scales
func.func @column_scales(%a: memref<?x512xf8E4M3FN>, %as: memref<4x?xf32>, %b: memref<300x512xf8E4M3FN>, %bs: memref<4x300xbf16, strided<[304, 1]>>,
                         %d: memref<?x300xf32>, %bbs: memref<3x4xf32>) {
  // CHECK: {b_block = 1 : i64}
  fp8.blockwise_gemm ins(%a, %as, %b, %bs : memref<?x512xf8E4M3FN>, memref<4x?xf32>, memref<300x512xf8E4M3FN>, memref<4x300xbf16, strided<[304, 1]>>)
    outs(%d : memref<?x300xf32>) config <tile = 128 x 64 x 128> {b_block = 1}
  // CHECK-NOT: b_block
  fp8.blockwise_gemm ins(%a, %as, %b, %bbs : memref<?x512xf8E4M3FN>, memref<4x?xf32>, memref<300x512xf8E4M3FN>, memref<3x4xf32>)
    outs(%d : memref<?x300xf32>) {b_block = 128}
  return
}

// A batch: A's matrices lie row by row, D's are slices.
// CHECK-LABEL: func.func @batch
func.func @batch(%a: memref<8x256x512xf8E4M3FN, strided<[512, 4096, 1]>>, %as: memref<8x4x256xf32>, %b: memref<8x384x512xf8E4M3FN>,
                 %bs: memref<8x3x4xbf16>, %d: memref<8x256x384xbf16, strided<[200000, 512, 1]>>) {
  // CHECK: fp8.blockwise_gemm ins({{.*}} : memref<8x256x512xf8E4M3FN, strided<[512, 4096, 1]>>, memref<8x4x256xf32>, memref<8x384x512xf8E4M3FN>, memref<8x3x4xbf16>)
  fp8.blockwise_gemm ins(%a, %as, %b, %bs : memref<8x256x512xf8E4M3FN, strided<[512, 4096, 1]>>, memref<8x4x256xf32>, memref<8x384x512xf8E4M3FN>, memref<8x3x4xbf16>)
    outs(%d : memref<8x256x384xbf16, strided<[200000, 512, 1]>>)
  return
}

// All that may follow the sum.
// CHECK-LABEL: func.func @epilogue
func.func @epilogue(%a: memref<256x512xf8E4M3FN>, %as: memref<4x256xf32>, %b: memref<384x512xf8E4M3FN>, %bs: memref<3x4xf32>,
                    %c: memref<256x384xbf16>, %beta: memref<1x1xf32>, %bias: memref<1x384xf16>, %d: memref<256x384xf8E4M3FN>,
                    %scale: memref<1x1xf32, strided<[4, 1]>>) {
  // CHECK: %[[ZERO:.*]] = arith.constant 0.0
  %zero = arith.constant 0.0 : f32
  // CHECK: residual(%{{.*}} scaled %{{.*}} : memref<256x384xbf16>, memref<1x1xf32>) bias(%{{.*}} : memref<1x384xf16>) outs(%{{.*}} : memref<256x384xf8E4M3FN>) scale(%{{.*}} : memref<1x1xf32, strided<[4, 1]>>) config <tile = 128 x 128 x 128> map (%[[X:.*]]) {
  // CHECK-NEXT: %[[Y:.*]] = arith.maximumf %[[X]], %[[ZERO]] : f32
  // CHECK-NEXT: fp8.yield %[[Y]] : f32
  // CHECK-NEXT: }
  fp8.blockwise_gemm ins(%a, %as, %b, %bs : memref<256x512xf8E4M3FN>, memref<4x256xf32>, memref<384x512xf8E4M3FN>, memref<3x4xf32>)
    residual(%c scaled %beta : memref<256x384xbf16>, memref<1x1xf32>) bias(%bias : memref<1x384xf16>)
    outs(%d : memref<256x384xf8E4M3FN>) scale(%scale : memref<1x1xf32, strided<[4, 1]>>) config <tile = 128 x 128 x 128>
    map (%x) {
      %y = arith.maximumf %x, %zero : f32
      fp8.yield %y : f32
    }
  return
}

// A residual as it is; each other part alone.
// CHECK-LABEL: func.func @parts
func.func @parts(%a: memref<?x?xf8E4M3FN>, %as: memref<?x?xf32>, %b: memref<?x?xf8E4M3FN>, %bs: memref<?x?xf32>,
                 %c: memref<?x?xf32>, %bias: memref<1x?xbf16>, %d: memref<?x?xf32>, %scale: memref<1x1xf32>) {
  // CHECK: residual(%{{.*}} : memref<?x?xf32>) outs(%{{.*}} : memref<?x?xf32>){{$}}
  fp8.blockwise_gemm ins(%a, %as, %b, %bs : memref<?x?xf8E4M3FN>, memref<?x?xf32>, memref<?x?xf8E4M3FN>, memref<?x?xf32>)
    residual(%c : memref<?x?xf32>) outs(%d : memref<?x?xf32>)
  // CHECK: : memref<?x?xf8E4M3FN>, memref<?x?xf32>, memref<?x?xf8E4M3FN>, memref<?x?xf32>) bias(%{{.*}} : memref<1x?xbf16>) outs(%{{.*}} : memref<?x?xf32>){{$}}
  fp8.blockwise_gemm ins(%a, %as, %b, %bs : memref<?x?xf8E4M3FN>, memref<?x?xf32>, memref<?x?xf8E4M3FN>, memref<?x?xf32>)
    bias(%bias : memref<1x?xbf16>) outs(%d : memref<?x?xf32>)
  // CHECK: memref<?x?xf32>) outs(%{{.*}} : memref<?x?xf32>) scale(%{{.*}} : memref<1x1xf32>){{$}}
  fp8.blockwise_gemm ins(%a, %as, %b, %bs : memref<?x?xf8E4M3FN>, memref<?x?xf32>, memref<?x?xf8E4M3FN>, memref<?x?xf32>)
    outs(%d : memref<?x?xf32>) scale(%scale : memref<1x1xf32>)
  // CHECK: memref<?x?xf32>) outs(%{{.*}} : memref<?x?xf32>) {name = "silu"} map (%{{.*}}) {
  fp8.blockwise_gemm ins(%a, %as, %b, %bs : memref<?x?xf8E4M3FN>, memref<?x?xf32>, memref<?x?xf8E4M3FN>, memref<?x?xf32>)
    outs(%d : memref<?x?xf32>) {name = "silu"} map (%x) {
      %half = arith.constant 0.5 : f32
      %h = arith.mulf %x, %half : f32
      %t = math.tanh %h : f32
      %y = math.fma %h, %t, %h : f32
      fp8.yield %y : f32
    }
  return
}

// A batch has all but C in common.
// CHECK-LABEL: func.func @batch_epilogue
func.func @batch_epilogue(%a: memref<8x256x512xf8E4M3FN>, %as: memref<8x4x256xf32>, %b: memref<8x384x512xf8E4M3FN>, %bs: memref<8x3x4xf32>,
                          %c: memref<8x256x384xf32>, %beta: memref<1x1xf32>, %bias: memref<1x384xf32>, %d: memref<8x256x384xbf16>) {
  // CHECK: residual(%{{.*}} scaled %{{.*}} : memref<8x256x384xf32>, memref<1x1xf32>) bias(%{{.*}} : memref<1x384xf32>) outs
  fp8.blockwise_gemm ins(%a, %as, %b, %bs : memref<8x256x512xf8E4M3FN>, memref<8x4x256xf32>, memref<8x384x512xf8E4M3FN>, memref<8x3x4xf32>)
    residual(%c scaled %beta : memref<8x256x384xf32>, memref<1x1xf32>) bias(%bias : memref<1x384xf32>) outs(%d : memref<8x256x384xbf16>)
  return
}

// Scales of MXFP8: in tiles, of rows of tiles that may lie apart; in a batch.
// CHECK-LABEL: func.func @mx
func.func @mx(%a: memref<300x512xf8E4M3FN>, %as: memref<3x4x32x16xf8E8M0FNU, strided<[4096, 512, 16, 1]>>, %b: memref<?x512xf8E4M3FN>,
              %bs: memref<?x4x32x16xf8E8M0FNU>, %d: memref<300x?xbf16>) {
  // CHECK: fp8.blockwise_gemm ins({{.*}}, memref<3x4x32x16xf8E8M0FNU, strided<[4096, 512, 16, 1]>>, {{.*}}, memref<?x4x32x16xf8E8M0FNU>) outs(%{{.*}} : memref<300x?xbf16>){{$}}
  fp8.blockwise_gemm ins(%a, %as, %b, %bs
      : memref<300x512xf8E4M3FN>, memref<3x4x32x16xf8E8M0FNU, strided<[4096, 512, 16, 1]>>, memref<?x512xf8E4M3FN>, memref<?x4x32x16xf8E8M0FNU>)
    outs(%d : memref<300x?xbf16>)
  return
}

// CHECK-LABEL: func.func @mx_batch
func.func @mx_batch(%a: memref<8x300x512xf8E4M3FN>, %as: memref<8x3x4x32x16xf8E8M0FNU>, %b: memref<8x384x512xf8E4M3FN>,
                    %bs: memref<8x3x4x32x16xf8E8M0FNU>, %d: memref<8x300x384xbf16>) {
  // CHECK: fp8.blockwise_gemm
  fp8.blockwise_gemm ins(%a, %as, %b, %bs
      : memref<8x300x512xf8E4M3FN>, memref<8x3x4x32x16xf8E8M0FNU>, memref<8x384x512xf8E4M3FN>, memref<8x3x4x32x16xf8E8M0FNU>)
    outs(%d : memref<8x300x384xbf16>)
  return
}
