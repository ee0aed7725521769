// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The process that runs inputs, one after the other, until one ends it; fuzz.py
// starts the next one behind that.

#ifndef FP8_TEST_FUZZ_WORKER_H
#define FP8_TEST_FUZZ_WORKER_H

#include "Random.h"

#include <map>
#include <string>

namespace fp8::fuzz {

/// An input: files by what their names end in.
using Input = std::map<std::string, std::string>;

/// What is fuzzed.
class Target {
public:
  virtual ~Target() = default;

  /// Makes an input, of which `random` is all that it depends on.
  virtual Input make(Random &random) = 0;
  /// Runs it; `random` says how. Returns how far it came, in a word.
  virtual std::string run(const Input &input, Random &random) = 0;
  /// Whether the input may do damage that shows only later. It runs in a child,
  /// which is slower.
  virtual bool isDangerous(const Input &) const { return false; }
};

/// Runs the inputs that the command line asks for:
///   --seed=S --start=I --count=N  inputs I to I+N-1 of seed S
///   --write=PREFIX                writes them to files instead
///   --read=PREFIX                 runs these files instead, as input I
///   --seconds=S --megabytes=M     what one input may take of a processor and
///                                 of memory; more ends the process
///   --plant=FAULT --at=I          goes wrong at input I, for the tests: crash
///                                 or hang, or in a child child-crash or
///                                 child-hang
///
/// Standard output tells, a line each, the number of an input before it runs
/// and what `run` returned after it.
int runWorker(int argc, char **argv, Target &target);

} // namespace fp8::fuzz

#endif // FP8_TEST_FUZZ_WORKER_H
