// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The example manifests under Inputs/.
#ifndef FP8_TEST_LAUNCH_MANIFESTINPUTS_H
#define FP8_TEST_LAUNCH_MANIFESTINPUTS_H

#include "ReadFile.h"

inline std::string readInput(const std::string &name) {
  return fp8::test::readFile(std::string(FP8_INPUTS) + "/" + name);
}

/// `text` with the first `from` replaced.
inline std::string replaced(std::string text, const std::string &from,
                            const std::string &to) {
  size_t at = text.find(from);
  return at == std::string::npos ? "no '" + from + "' in the input"
                                 : text.replace(at, from.size(), to);
}

#endif // FP8_TEST_LAUNCH_MANIFESTINPUTS_H
