// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What tests of decoded kernels have in common.

#ifndef FP8_TEST_SIMULATOR_PROGRAM_DECODEDKERNEL_H
#define FP8_TEST_SIMULATOR_PROGRAM_DECODEDKERNEL_H

#include "ISA/Families.h"
#include "Kernels.h"
#include "Program/Decoder.h"

namespace fp8::sim::test {

/// A decoded kernel with 32-bit registers %r0 to %r9, and %rd0 and %rd1.
class DecodedKernel {
public:
  /// `directives`: of the entry, such as .maxntid.
  explicit DecodedKernel(const std::string &body,
                         const std::string &functions = "",
                         const std::string &directives = "",
                         const std::string &chip = "sm_100a")
      : module(parseOk(replaced(kernel(".param .u64 out", R"(
  .reg .pred %p<4>; .reg .b32 %r<10>; .reg .b64 %rd<2>;
)" + body,
                                       chip, functions),
                                "(.param .u64 out)\n",
                                "(.param .u64 out)\n" + directives))),
        linked(module.ast(),
               module.ast().functions[*module.ast().findFunction("k")]) {
    std::vector<SimulationError> errors;
    EXPECT_TRUE(
        Decoder(instructionSet(), module.ast(), linked, program).run(errors));
    for (const SimulationError &error : errors)
      ADD_FAILURE() << error.message;
  }

protected:
  Program program;

private:
  PTXModule module;
  LinkedKernel linked;
};

} // namespace fp8::sim::test

#endif // FP8_TEST_SIMULATOR_PROGRAM_DECODEDKERNEL_H
