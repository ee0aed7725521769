// RUN: fp8-opt %s --split-input-file --verify-diagnostics

// expected-error@+1 {{attribute 'fp8.computes' must be a dictionary of numbers of arguments, on a kernel}}
func.func @other(%a: index) attributes {fp8.computes = 1 : i64} {
  return
}

// -----

// expected-error@+1 {{'a' of attribute 'fp8.computes' must be an integer}}
func.func @text(%a: index) attributes {fp8.computes = {a = "a"}} {
  return
}

// -----

// expected-error@+1 {{'a' of attribute 'fp8.computes' must be the number of an argument, but the kernel has 1}}
func.func @number(%a: index) attributes {fp8.computes = {a = 1 : i64}} {
  return
}

// -----

// expected-error@+1 {{'b_block' of attribute 'fp8.computes' must be one of 128, 64, 1}}
func.func @block(%a: index) attributes {fp8.computes = {b_block = 32 : i64}} {
  return
}

// -----

// expected-error@+1 {{attribute 'fp8.computes' has an unknown entry 'e'}}
func.func @unknown(%a: index) attributes {fp8.computes = {e = 0 : i64}} {
  return
}

// -----

// Only C and D have a map of the first tiles.
// expected-error@+1 {{attribute 'fp8.computes' has an unknown entry 'a_first'}}
func.func @first(%a: index) attributes {fp8.computes = {a_first = 0 : i64}} {
  return
}

// -----

// expected-error@+1 {{attribute 'fp8.computes' must say which argument 'blocks' is}}
func.func @incomplete(%a: index) attributes {fp8.computes = {a = 0 : i64, a_scale = 0 : i64, b = 0 : i64, b_scale = 0 : i64, d = 0 : i64}} {
  return
}

// -----

// expected-error@+1 {{'k_block' of attribute 'fp8.computes' must be 32, or be left out}}
func.func @scales(%a: index) attributes {fp8.computes = {k_block = 128 : i64}} {
  return
}

// -----

// expected-error@+1 {{'k_group' of attribute 'fp8.computes' must be positive}}
func.func @group(%a: index) attributes {fp8.computes = {k_group = 0 : i64}} {
  return
}
