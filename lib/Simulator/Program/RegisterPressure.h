// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// How many registers a kernel needs at a time. What exceeds those of a thread,
// ptxas keeps in local memory.

#ifndef FP8_LIB_SIMULATOR_PROGRAM_REGISTERPRESSURE_H
#define FP8_LIB_SIMULATOR_PROGRAM_REGISTERPRESSURE_H

#include "Program/Program.h"

#include <cstdint>
#include <vector>

namespace fp8::sim {

/// Of a thread that setmaxnreg or a launch may give (CUDA C++ Programming
/// Guide, technical specifications).
constexpr uint32_t kMostRegisters = 256;

/// By instruction: the registers of 32 bits whose values a later one needs, in
/// front of it or behind it, whichever are more. Predicates are none of them,
/// nor is what tcgen05.ld loads, or a mov of it: ptxas 13.0 loads it when it is
/// used.
/// ptxas may need more, for addresses and constants, or fewer, where it
/// computes a value again. All 0 for a program with calls.
std::vector<uint32_t> findRegisterPressure(const Program &program);

/// The most registers that a thread of the kernel may have (PTX ISA, .maxnreg
/// and .maxntid): at launch, or behind a setmaxnreg. ptxas takes no more.
uint32_t mostRegistersOf(const Program &program);

/// The most that it has at launch: what .maxnreg says; else what the most
/// threads of the CTA leave to each, of which ptxas may choose fewer. 0 where
/// neither is known, and setmaxnreg then has no effect.
uint32_t mostRegistersAtLaunch(const Entry &entry);

} // namespace fp8::sim

#endif // FP8_LIB_SIMULATOR_PROGRAM_REGISTERPRESSURE_H
