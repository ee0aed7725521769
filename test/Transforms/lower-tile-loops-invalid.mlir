// RUN: fp8-opt %s --fp8-lower-tile-loops -split-input-file -verify-diagnostics

func.func @other_band(%m: index, %n: index) {
  // expected-note @below {{the other loop}}
  fp8.for_each_tile persistent band(8) (%i, %j) in (%m, %n) {
  }
  // expected-error @below {{'fp8.for_each_tile' op has a different band than another loop of its kernel (W4), so that the roles work on different tiles; make the loops agree}}
  fp8.for_each_tile persistent (%i, %j) in (%m, %n) {
  }
  return
}

// -----

func.func @other_direction(%m: index, %n: index) {
  // expected-note @below {{the other loop}}
  fp8.for_each_tile persistent band(4) (%i, %j) in (%m, %n) {
  }
  // expected-error @below {{'fp8.for_each_tile' op has a different band than another loop of its kernel (W4), so that the roles work on different tiles; make the loops agree}}
  fp8.for_each_tile persistent band(4 columns) (%i, %j) in (%m, %n) {
  }
  return
}

// -----

func.func @other_scheduler(%m: index, %n: index) {
  // expected-note @below {{the other loop}}
  fp8.for_each_tile persistent (%i, %j) in (%m, %n) {
  }
  // expected-error @below {{'fp8.for_each_tile' op has a different scheduler than another loop of its kernel (W4), so that the roles work on different tiles; make the loops agree}}
  fp8.for_each_tile one_tile (%i, %j) in (%m, %n) {
  }
  return
}

// -----

func.func @other_grid(%m: index, %n: index) {
  // expected-note @below {{the other loop}}
  fp8.for_each_tile persistent (%i, %j) in (%m, %n) {
  }
  // expected-error @below {{'fp8.for_each_tile' op has a different tile grid than another loop of its kernel (W4), so that the roles work on different tiles; make the loops agree}}
  fp8.for_each_tile persistent (%i, %j) in (%n, %m) {
  }
  return
}

// -----

// The clusters are those of the kernel that calls it.
func.func @helper(%m: index, %n: index) {
  // expected-error @below {{'fp8.for_each_tile' op is in a function that is called, but clusters and the other loops are those of the kernel (W4); run --inline before}}
  fp8.for_each_tile persistent (%i, %j) in (%m, %n) {
  }
  return
}
func.func @caller(%m: index, %n: index) attributes {fp8.cluster = array<i64: 2, 1>} {
  // expected-note @below {{the call}}
  func.call @helper(%m, %n) : (index, index) -> ()
  return
}
