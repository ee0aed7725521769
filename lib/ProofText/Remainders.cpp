// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Remainders by a constant, as compilers write them: a product with the
// inverse, of which the upper half counts, instead of a quotient.

#include "CodeReader.h"

using namespace fp8::prooftext;
using Op = CodeStep::Op;

/// The step computes with a register and a number.
static bool isOf(const CodeStep &step, Op op) {
  return step.op == op && step.guard < 0 && step.width == 32 &&
         step.sources[0].kind == Source::Kind::Register &&
         step.sources[1].kind == Source::Kind::Constant;
}

/// The upper half of a product with `factor`, shifted right, is the quotient by
/// `divisor` for all numbers of 32 bits (Granlund and Montgomery 1994).
static bool isInverse(uint64_t factor, uint64_t shift, uint64_t divisor) {
  if (shift >= 32 || !divisor)
    return false;
  unsigned __int128 product = (unsigned __int128)factor * divisor,
                    power = (unsigned __int128)1 << (32 + shift);
  return product >= power && product - power <= uint64_t(1) << shift;
}

void CodeReader::findRemainder(uint32_t at) {
  CodeStep &step = code.steps[at];
  if (step.op != Op::Subtract || step.width != 32 ||
      step.sources[0].kind != Source::Kind::Register)
    return;
  auto find = [&](const Source &source, uint32_t before) {
    return source.kind == Source::Kind::Register
               ? findAvailable(source.number, before)
               : -1;
  };
  int32_t product = find(step.sources[1], at);
  if (product < 0 || !isOf(code.steps[product], Op::Multiply))
    return;
  int32_t quotient = find(code.steps[product].sources[0], product);
  if (quotient < 0 || !isOf(code.steps[quotient], Op::ShiftRight) ||
      code.steps[quotient].isSigned)
    return;
  int32_t upper = find(code.steps[quotient].sources[0], quotient);
  if (upper < 0 || !isOf(code.steps[upper], Op::MultiplyHigh) ||
      code.steps[upper].isSigned ||
      code.steps[upper].sources[0].number != step.sources[0].number ||
      !isAvailable(upper, at))
    return;
  const Source &divisor = code.steps[product].sources[1];
  uint64_t mask = getMask(32);
  if (!isInverse(code.steps[upper].sources[1].value & mask,
                 code.steps[quotient].sources[1].value & mask,
                 divisor.value & mask))
    return;
  step.op = Op::Remainder;
  step.isSigned = false;
  step.sources = {step.sources[0], divisor};
}

void CodeReader::findRemainders() {
  for (uint32_t at = 0; at < code.steps.size(); ++at)
    findRemainder(at);
}
