// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Launch manifests of files, for tests to change.
#ifndef FP8_TEST_LIB_READMANIFEST_H
#define FP8_TEST_LIB_READMANIFEST_H

#include "ReadFile.h"
#include "fp8/Launch/Manifest.h"

#include <gtest/gtest.h>

namespace fp8::test {

inline launch::Manifest readManifest(const std::string &path) {
  auto manifest = launch::parseManifest(readFile(path));
  EXPECT_TRUE(manifest) << manifest.error();
  return *manifest;
}

} // namespace fp8::test

#endif // FP8_TEST_LIB_READMANIFEST_H
