// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The GEMM family (phase 0): what is computed, without how.

#ifndef FP8_IR_GEMM
#define FP8_IR_GEMM

include "fp8/IR/Fp8Base.td"

def Fp8_BlockwiseGemmOp : Fp8_Op<"blockwise_gemm", [AttrSizedOperandSegments, Fp8_NamesElements]> {
  let summary = "D = sum over K blocks of a_scale * b_scale * (A * B^T)";
  let description = [{
    The blockwise-scaled FP8 product: for each 128-deep block kb of K,

    `D[m, n] = sum_kb a_scale[kb, m] * b_scale[n / 128, kb] * sum_k A[m, 128 kb + k] * B[n, 128 kb + k]`

    accumulated in f32 and rounded once to D's element type. The op may apply further steps to the sum, in f32 and in this order, each one
    optional:

    `D = round(d_scale * f(sum + beta * C + bias))`

    with a residual C, a bias for each column, an elementwise function f (the region) and an output scale. `beta` is 1 if left out; where it
    is 0 when the kernel runs, C is not read. An output of f8E4M3FN or f8E5M2 saturates as in `fp8.store`.

    (G1) `a` is M x K and `b` is N x K, both `f8E4M3FN`, rows contiguous. (G2) `a_scale` is ceil(K/128) x M and `b_scale` is ceil(N/128) x
    ceil(K/128), each f32 or bf16, rows contiguous. (G3) `d` is M x N, bf16, f16, f32, f8E4M3FN or f8E5M2, rows contiguous. (G4) M, N and K
    are below 2^31, K is a multiple of 16, and the rows of `a_scale` and `d` are multiples of 16 bytes and less than 2^40 apart, because TMA
    copies them (cuTensorMapEncodeTiled). The verifier checks static extents; dynamic extents are checked before the launch.

    `b_block` is the number of rows of B, and so of columns of D, that share a scale: (G5) 128, 64 or 1. With 64, `b_scale` is ceil(N/64) x
    ceil(K/128). With 1, it is stored as `a_scale` is: ceil(K/128) x N with rows that are multiples of 16 bytes apart, because TMA copies
    part of a row for the columns of a tile.

    (G11) Scales of f8E8M0FNU are those of MXFP8, of both operands: a power of two for each 32 elements of a row, which the tensor cores apply.
    They lie in tiles of 32 x 16, 512 bytes without gaps, those of 128 rows and 128 elements of K (`fp8.mma`, `scaled_by`): `a_scale` is
    ceil(M/128) x ceil(K/128) x 32 x 16 and `b_scale` ceil(N/128) x ceil(K/128) x 32 x 16. `b_block` is left out.

    (G6) Either all operands are matrices, or all have a leading batch extent L below 2^31: `a` is L x M x K, `b_scale` is L x ceil(N/128) x
    ceil(K/128), and so on. Each of the L products is computed independently. The stride between matrices is free; for operands that TMA
    copies it is a multiple of 16 bytes (G4). `bias`, `beta`, `d_scale` and the function are shared by all products and have no batch
    extent.

    The steps after the sum have these rules. (G7) `c` is M x N, bf16, f16 or f32, rows contiguous and as in G4. (G8) `bias` is 1 x N, bf16,
    f16 or f32, contiguous, with rows as in G4. (G9) `beta` and `d_scale` are 1 x 1 f32, read when the kernel runs. (G10) The region takes
    an f32 and yields one, has only ops that `fp8.map` takes (E3, E4), and uses no value from outside except constants.

    ```mlir
    func.func @gemm(%a: memref<?x?xf8E4M3FN>, %a_scale: memref<?x?xf32>, %b: memref<?x?xf8E4M3FN>,
                    %b_scale: memref<?x?xf32>, %d: memref<?x?xbf16>) {
      fp8.blockwise_gemm ins(%a, %a_scale, %b, %b_scale : memref<?x?xf8E4M3FN>, memref<?x?xf32>, memref<?x?xf8E4M3FN>,
                             memref<?x?xf32>) outs(%d : memref<?x?xbf16>)
      return
    }
    func.func @batch(%a: memref<8x?x512xf8E4M3FN>, %a_scale: memref<8x4x?xbf16, strided<[?, ?, 1]>>, %b: memref<8x384x512xf8E4M3FN>,
                     %b_scale: memref<8x6x4xf32>, %d: memref<8x?x384xbf16>) {
      fp8.blockwise_gemm ins(%a, %a_scale, %b, %b_scale : memref<8x?x512xf8E4M3FN>, memref<8x4x?xbf16, strided<[?, ?, 1]>>,
                             memref<8x384x512xf8E4M3FN>, memref<8x6x4xf32>) outs(%d : memref<8x?x384xbf16>) {b_block = 64}
      return
    }

    // Scales of MXFP8.
    func.func @mx(%a: memref<?x?xf8E4M3FN>, %a_scale: memref<?x?x32x16xf8E8M0FNU>, %b: memref<?x?xf8E4M3FN>,
                  %b_scale: memref<?x?x32x16xf8E8M0FNU>, %d: memref<?x?xbf16>) {
      fp8.blockwise_gemm ins(%a, %a_scale, %b, %b_scale : memref<?x?xf8E4M3FN>, memref<?x?x32x16xf8E8M0FNU>, memref<?x?xf8E4M3FN>,
                             memref<?x?x32x16xf8E8M0FNU>) outs(%d : memref<?x?xbf16>)
      return
    }

    // With all that may follow: D = round(d_scale * relu(sum + beta * C + bias)).
    func.func @epilogue(%a: memref<?x?xf8E4M3FN>, %a_scale: memref<?x?xf32>, %b: memref<?x?xf8E4M3FN>,
                        %b_scale: memref<?x?xf32>, %c: memref<?x?xbf16>, %beta: memref<1x1xf32>, %bias: memref<1x?xf32>,
                        %d: memref<?x?xf8E4M3FN>, %d_scale: memref<1x1xf32>) {
      %zero = arith.constant 0.0 : f32
      fp8.blockwise_gemm ins(%a, %a_scale, %b, %b_scale : memref<?x?xf8E4M3FN>, memref<?x?xf32>, memref<?x?xf8E4M3FN>,
                             memref<?x?xf32>)
        residual(%c scaled %beta : memref<?x?xbf16>, memref<1x1xf32>) bias(%bias : memref<1x?xf32>)
        outs(%d : memref<?x?xf8E4M3FN>) scale(%d_scale : memref<1x1xf32>) config <tile = 128 x 128 x 128> map (%x) {
          %y = arith.maximumf %x, %zero : f32
          fp8.yield %y : f32
        }
      return
    }
    ```
  }];
  let arguments = (ins
    Arg<AnyMemRef, "A, M x K", [MemRead]>:$a, Arg<AnyMemRef, "the scales of A", [MemRead]>:$a_scale,
    Arg<AnyMemRef, "B, N x K", [MemRead]>:$b, Arg<AnyMemRef, "the scales of B", [MemRead]>:$b_scale,
    Arg<Optional<AnyMemRef>, "C, M x N", [MemRead]>:$c, Arg<Optional<AnyMemRef>, "the factor of C", [MemRead]>:$beta,
    Arg<Optional<AnyMemRef>, "a bias for each column", [MemRead]>:$bias,
    Arg<AnyMemRef, "D, M x N", [MemWrite]>:$d, Arg<Optional<AnyMemRef>, "the factor of D", [MemRead]>:$d_scale,
    OptionalAttr<Fp8_GemmConfigAttr>:$config, DefaultValuedAttr<I64Attr, "128">:$b_block);
  let regions = (region MaxSizedRegion<1>:$body);
  let assemblyFormat = [{
    `ins` `(` $a `,` $a_scale `,` $b `,` $b_scale `:` type($a) `,` type($a_scale) `,` type($b) `,` type($b_scale) `)`
    (`residual` `(` $c^ (`scaled` $beta^)? `:` type($c) (`,` type($beta)^)? `)`)? (`bias` `(` $bias^ `:` type($bias) `)`)?
    `outs` `(` $d `:` type($d) `)` (`scale` `(` $d_scale^ `:` type($d_scale) `)`)? (`config` $config^)? attr-dict (`map` custom<Elementwise>($body)^)?
  }];
  let hasVerifier = 1;
  let hasRegionVerifier = 1;
  let extraClassDeclaration = [{
    /// The number of leading batch axes: 1 with a batch extent, else 0.
    int64_t getBatchAxes();
    /// True if each column of D has its own scale.
    bool hasColumnScales() { return getBBlock() == 1; }
  }];
}

#endif // FP8_IR_GEMM
