// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The host family: ops of the function that launches a kernel, in addition to the gpu dialect.

#ifndef FP8_IR_HOST
#define FP8_IR_HOST

include "fp8/IR/Fp8Base.td"

def Fp8_TensorMapOp : Fp8_Op<"tensor_map", [Pure]> {
  let summary = "encodes the TMA descriptor of a memref";
  let description = [{
    (H1) The source is a memref of the map's rank with the box's element type and contiguous rows. (H2) Its rows, and the matrices of a
    batch, are a multiple of 16 bytes and less than 2^40 apart, and its address is a multiple of 16 bytes (cuTensorMapEncodeTiled). The
    verifier checks static strides; dynamic strides are checked before the launch. An extent of 0 is encoded as 1, and no copy may then
    touch the tensor.

    With `whole_units` the map leaves out the elements after the last whole 16 bytes of a row, because TMA would store past the end of the
    row (`fp8.store`). A row of less than 16 bytes is encoded as 16 bytes, and no copy may then touch the tensor.

    With `rows` the map has as many rows of each matrix: copies of those after them move nothing. They are at most the rows of the source.

    Where a copy reads some of `l2_promotion` bytes that are aligned to as many, L2 reads all of them from memory (CUtensorMapL2promotion).

    ```mlir
    func.func @map(%a: memref<?x?xf8E4M3FN>) {
      %map = fp8.tensor_map %a : memref<?x?xf8E4M3FN> -> !fp8.tensor_map<!fp8.tile<128x128xf8E4M3FN, swizzle_128b>>
      return
    }
    ```
  }];
  let arguments = (ins AnyMemRef:$source, Optional<Index>:$rows, UnitAttr:$whole_units,
                       DefaultValuedAttr<ConfinedAttr<I64Attr, [IntIsOneOf<[64, 128, 256]>]>, "256">:$l2_promotion);
  let results = (outs Fp8_TensorMapType:$map);
  let assemblyFormat = "$source (`rows` `(` $rows^ `)`)? (`whole_units` $whole_units^)? (`l2_promotion` $l2_promotion^)? attr-dict `:` type($source) `->` qualified(type($map))";
  let hasVerifier = 1;
}

def Fp8_FitRowsOp : Fp8_Op<"fit_rows", [Pure, SameOperandsAndResultType]> {
  let summary = "the tensor map with boxes of no more rows than the tensor has";
  let description = [{
    A box has the rows of the map's box, or fewer where a matrix has fewer: as many, rounded up to a multiple of 8, the rows of a swizzle
    atom, and 8 at least. A copy then moves fewer bytes. A kernel takes their number as a parameter (`fp8.box_bytes`).

    ```mlir
    !box = !fp8.tensor_map<!fp8.tile<128x128xf8E4M3FN, swizzle_128b>>
    func.func @fit(%a: memref<?x?xf8E4M3FN>) {
      %map = fp8.tensor_map %a : memref<?x?xf8E4M3FN> -> !box
      %fit = fp8.fit_rows %map : !box
      return
    }
    ```
  }];
  let arguments = (ins Fp8_TensorMapType:$map);
  let results = (outs Fp8_TensorMapType:$fit);
  let assemblyFormat = "$map attr-dict `:` qualified(type($map))";
}

def Fp8_BoxBytesOp : Fp8_Op<"box_bytes", [Pure]> {
  let summary = "the bytes of a tensor map's box";
  let description = [{
    What a copy through the map moves, elements outside the tensor included. Of a map of `fp8.fit_rows` it depends on the extents of the launch.

    A kernel takes the result as a parameter with the attribute `fp8.box_bytes`, which is the number of the parameter that is the map. In the
    kernel only copies and prefetches use this map, as it is. (H6) The launch passes the bytes of the map that it passes there. It passes
    each map of `fp8.fit_rows` to such a parameter.

    ```mlir
    !box = !fp8.tensor_map<!fp8.tile<128x128xf8E4M3FN, swizzle_128b>>
    func.func @bytes(%a: memref<?x?xf8E4M3FN>) -> i32 {
      %map = fp8.tensor_map %a : memref<?x?xf8E4M3FN> -> !box
      %bytes = fp8.box_bytes %map : !box
      return %bytes : i32
    }
    ```
  }];
  let arguments = (ins Fp8_TensorMapType:$map);
  let results = (outs I32:$bytes);
  let assemblyFormat = "$map attr-dict `:` qualified(type($map))";
}

def Fp8_MultiprocessorCountOp : Fp8_Op<"multiprocessor_count", [Pure, Fp8_NamesResult<"multiprocessors">]> {
  let summary = "the number of multiprocessors of the device that runs the launch";
  let description = [{
    ```mlir
    func.func @sms() -> index {
      %n = fp8.multiprocessor_count
      return %n : index
    }
    ```
  }];
  let results = (outs Index:$count);
  let assemblyFormat = "attr-dict";
}

def Fp8_IsConstantOp : Fp8_Op<"is_constant", [Pure, Fp8_NamesResult<"constant">]> {
  let summary = "1 if arguments of the function are constant in this launch, else 0";
  let description = [{
    An argument is constant in a launch if no kernel that may still run when the launch starts writes it. (H3) There is at least one source. Each is an argument
    of the function, which is checked when the launch manifest is written.

    The launcher decides, for each launch. The result is 1 if the caller promises it (`fp8.access = "constant"`), or if the launcher knows all kernels that may
    still run. It is 0 if the launcher does not know.

    A kernel takes the result as a parameter with the attribute `fp8.constants`, which names the parameters that are constant if the number is not 0. (H4) These
    are among the sources, or maps of them. A role that loads them alone then does not wait for the preceding kernel.

    ```mlir
    func.func @ask(%b: memref<?x?xf8E4M3FN>, %b_scale: memref<?x?xf32>) -> i32 {
      %constant = fp8.is_constant %b, %b_scale : memref<?x?xf8E4M3FN>, memref<?x?xf32>
      return %constant : i32
    }
    ```
  }];
  let arguments = (ins Variadic<AnyMemRef>:$sources);
  let results = (outs I32:$constant);
  let assemblyFormat = "$sources attr-dict `:` type($sources)";
  let hasVerifier = 1;
}

#endif // FP8_IR_HOST
