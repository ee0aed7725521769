// RUN: fp8-opt %s -split-input-file -verify-diagnostics

func.func @unknown_kind(%m: index) {
  // expected-error @below {{expected one_tile, persistent or clc, but got stream_k}}
  fp8.for_each_tile stream_k (%i, %j) in (%m, %m) {
  }
  return
}

// -----

func.func @three_variables(%m: index) {
  // expected-error @below {{expected two loop variables, the tile's row and column}}
  fp8.for_each_tile persistent (%i, %j, %k) in (%m, %m) {
  }
  return
}
