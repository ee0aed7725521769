// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The manifest of Inputs/, for tests to change.
#ifndef FP8_TEST_RUN_GEMMMANIFEST_H
#define FP8_TEST_RUN_GEMMMANIFEST_H

#include "ReadManifest.h"

inline fp8::launch::Manifest gemmManifest() {
  return fp8::test::readManifest(FP8_INPUTS "/naive.ptx.json");
}

#endif // FP8_TEST_RUN_GEMMMANIFEST_H
