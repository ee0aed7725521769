// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What an H200 computed of random and special words, and one thread that
// computes it again.
#ifndef FP8_TEST_SIMULATOR_ISA_ALU_MEASURED_H
#define FP8_TEST_SIMULATOR_ISA_ALU_MEASURED_H

#include "Kernels.h"

namespace fp8::sim::test {

/// cases: three words of operands, of which `sources` count, and the result.
struct Measured {
  const char *instruction;
  unsigned sources;
  std::vector<std::array<uint32_t, 4>> cases;
};

/// What one thread leaves in %r0.
inline uint32_t one(const std::string &body) {
  return compute(body + "\n st.global.b32 [%o], %r0;", 1, 1)[0];
}

template <size_t N>
void expectMeasured(const Measured (&table)[N]) {
  for (const Measured &m : table)
    for (const std::array<uint32_t, 4> &words : m.cases) {
      std::string body, operands;
      for (unsigned n = 0; n < m.sources; ++n) {
        std::string name = "%r" + std::to_string(n + 1);
        body += "mov.b32 " + name + ", " + std::to_string(words[n]) + "; ";
        operands += ", " + name;
      }
      EXPECT_EQ(one(body + m.instruction + " %r0" + operands + ";"), words[3])
          << m.instruction << " " << words[0] << " " << words[1];
    }
}

} // namespace fp8::sim::test

#endif // FP8_TEST_SIMULATOR_ISA_ALU_MEASURED_H
