// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Whole files, as tests read them.
#ifndef FP8_TEST_LIB_READFILE_H
#define FP8_TEST_LIB_READFILE_H

#include <cstdlib>
#include <fstream>
#include <iostream>
#include <iterator>
#include <string>

namespace fp8::test {

/// The file's bytes; ends the process with a message where it cannot be read.
inline std::string readFile(const std::string &path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) {
    std::cerr << "cannot read " << path << "\n";
    std::exit(2);
  }
  return std::string(std::istreambuf_iterator<char>(file), {});
}

} // namespace fp8::test

#endif // FP8_TEST_LIB_READFILE_H
