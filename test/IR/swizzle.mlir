// RUN: fp8-opt %s --verify-roundtrip | FileCheck %s

// The word of each swizzle. A tile without one, or with `none`, is not swizzled.

// CHECK: !fp8.tile<8x8xf32, swizzle_32b>
func.func private @rows_of_32_bytes(!fp8.tile<8x8xf32, swizzle_32b>)
// CHECK: !fp8.tile<8x16xf32, swizzle_64b>
func.func private @rows_of_64_bytes(!fp8.tile<8x16xf32, swizzle_64b>)
// CHECK: !fp8.tile<8x32xf32, swizzle_128b>
func.func private @rows_of_128_bytes(!fp8.tile<8x32xf32, swizzle_128b>)
// CHECK: !fp8.tile<8x64xf32>
func.func private @plain(!fp8.tile<8x64xf32, none>)
