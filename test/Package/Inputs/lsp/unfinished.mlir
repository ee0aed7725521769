// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Documentation does not need a text that parses.
// hover: fp8.close
// repair: fp8.close
func.func @unfinished(%end: !fp8.consumer<!fp8.pipeline<3>>) attributes {fp8.linear} {
  fp8.close %en
