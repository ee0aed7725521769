// RUN: fp8-opt %s -split-input-file -verify-diagnostics

// expected-error @below {{expected swizzle_32b, swizzle_64b or swizzle_128b}}
func.func private @no_such_swizzle(!fp8.tile<8x8xf32, swizzle_16b>)

// -----

// The spelling of manifests.
// expected-error @below {{expected swizzle_32b, swizzle_64b or swizzle_128b}}
func.func private @other_word(!fp8.tile<8x8xf32, B32>)

// -----

// expected-error @below {{a row under swizzle_32b divides its 32 bytes (T3), but got 64}}
func.func private @wide_row(!fp8.tile<8x16xf32, swizzle_32b>)
