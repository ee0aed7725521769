// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The manifest of Inputs/, for tests to change.
#ifndef FP8_TEST_RUN_GEMMMANIFEST_H
#define FP8_TEST_RUN_GEMMMANIFEST_H

#include "fp8/Launch/Manifest.h"

#include <fstream>
#include <gtest/gtest.h>
#include <sstream>

inline fp8::launch::Manifest gemmManifest() {
  std::ifstream file(FP8_INPUTS "/naive.ptx.json");
  std::stringstream text;
  text << file.rdbuf();
  auto manifest = fp8::launch::parseManifest(text.str());
  EXPECT_TRUE(manifest) << manifest.error();
  return *manifest;
}

#endif // FP8_TEST_RUN_GEMMMANIFEST_H
