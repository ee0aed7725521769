// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Where the variables of a process may be read.

#ifndef FP8_LIB_PROOF_LIFETIMES_H
#define FP8_LIB_PROOF_LIFETIMES_H

#include "Machine.h"

namespace fp8::proof {

/// A variable belongs to the innermost block that contains all statements that
/// give it a value. It is alive while that block is executed, from the first of
/// these statements on.
class Lifetimes {
public:
  explicit Lifetimes(const Skeleton &skeleton);

  /// `stack` is that of the process.
  bool isAlive(unsigned process, unsigned variable,
               llvm::ArrayRef<Frame> stack) const;

private:
  struct Owner {
    const Block *block = nullptr;
    unsigned index = 0;
  };
  using Owners = std::map<unsigned, Owner>;
  static Owners collect(const Block &block);

  std::vector<Owners> owners; ///< by process
};

} // namespace fp8::proof

#endif // FP8_LIB_PROOF_LIFETIMES_H
