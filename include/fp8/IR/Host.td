// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The host family: what the function that launches a kernel needs beside the gpu dialect.

#ifndef FP8_IR_HOST
#define FP8_IR_HOST

include "fp8/IR/Fp8Base.td"

def Fp8_TensorMapOp : Fp8_Op<"tensor_map", [Pure]> {
  let summary = "encodes a TMA descriptor for a memref";
  let description = [{
    (H1) the source is a memref of the map's rank with the box's element type and contiguous rows; (H2) its rows, and the matrices of a batch, are a multiple of 16 bytes and less than 2^40 apart and its
    address is one (cuTensorMapEncodeTiled); static strides are checked here, dynamic ones before the launch. An empty dimension is encoded as 1: no copy may touch it.

    With `whole_units` the map leaves out what follows the last whole 16 bytes of a row, over whose end TMA would store (`fp8.store`). A row of fewer bytes
    counts as 16: no copy may touch it.

    ```mlir
    func.func @map(%a: memref<?x?xf8E4M3FN>) {
      %map = fp8.tensor_map %a : memref<?x?xf8E4M3FN> -> !fp8.tensor_map<!fp8.tile<128x128xf8E4M3FN, swizzle_128b>>
      return
    }
    ```
  }];
  let arguments = (ins AnyMemRef:$source, UnitAttr:$whole_units);
  let results = (outs Fp8_TensorMapType:$map);
  let assemblyFormat = "$source (`whole_units` $whole_units^)? attr-dict `:` type($source) `->` qualified(type($map))";
  let hasVerifier = 1;
}

def Fp8_MultiprocessorCountOp : Fp8_Op<"multiprocessor_count", [Pure, Fp8_NamesResult<"multiprocessors">]> {
  let summary = "the number of multiprocessors of the device that the launch goes to";
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

#endif // FP8_IR_HOST
