// Tiles of 144 columns: a block of 128 columns that share a B scale ends within each.
func.func @straddling(%a: memref<?x1024xf8E4M3FN>, %a_scale: memref<8x?xf32, strided<[?, 1]>>, %b: memref<2112x1024xf8E4M3FN>,
                      %b_scale: memref<17x8xf32>, %d: memref<?x2112xbf16>) {
  fp8.blockwise_gemm ins(%a, %a_scale, %b, %b_scale
      : memref<?x1024xf8E4M3FN>, memref<8x?xf32, strided<[?, 1]>>, memref<2112x1024xf8E4M3FN>, memref<17x8xf32>)
    outs(%d : memref<?x2112xbf16>) config <tile = 128 x 144 x 128>
  return
}
