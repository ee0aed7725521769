// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The instruction descriptor of tcgen05.mma (PTX ISA 9.7.16.4.2), every field
// of which is checked.

#include "ISA/TensorCore/TensorCore.h"

#include "Numerics/Accumulation.h"

using namespace fp8::sim;

namespace {

using Wrong = std::optional<std::string>;

std::string dotted(MmaKind kind) {
  return std::string(".kind::") + getRow(kind).name;
}

class InstructionDescriptor {
public:
  InstructionDescriptor(uint32_t bits, MmaKind kind, MmaShape &shape)
      : bits(bits), kind(kind), row(getRow(kind)), shape(shape) {}

  Wrong decode(bool pair, uint32_t scales, bool sparse, bool stationary) {
    shape = {};
    shape.sparse = sparse;
    shape.kind = kind;
    shape.pair = pair;
    shape.stationary = stationary;
    shape.scales.count = scales;
    for (auto part :
         {&InstructionDescriptor::readOperands,
          scales ? &InstructionDescriptor::readScales
                 : &InstructionDescriptor::readResult,
          &InstructionDescriptor::readSigns, &InstructionDescriptor::readM,
          &InstructionDescriptor::readN})
      if (Wrong wrong = (this->*part)())
        return wrong;
    return std::nullopt;
  }

private:
  uint32_t bits;
  MmaKind kind;
  const MmaKindRow &row;
  MmaShape &shape;

  uint32_t field(unsigned low, unsigned count) const {
    return bits >> low & ((1u << count) - 1);
  }
  static std::string isNot(const std::string &name, uint32_t value,
                           const std::string &rule) {
    return name + " is " + std::to_string(value) + "; the rule is " + rule;
  }
  /// A field that must be 0.
  Wrong reserved(unsigned low, unsigned count) const {
    if (!field(low, count))
      return std::nullopt;
    return "reserved bit " + std::to_string(low) +
           (count > 1 ? " to " + std::to_string(low + count - 1) : "") +
           " is set; " + dotted(kind) + " wants 0 there";
  }

  Wrong readOperand(unsigned low, const char *name, MmaFormat &format) {
    // Kinds with one format leave the highest bit of B's out.
    std::optional<MmaFormat> found = findOperand(kind, field(low, 3));
    if (!found)
      return isNot(std::string("the ") + name + " format", field(low, 3),
                   listOperands(kind));
    format = *found;
    return std::nullopt;
  }

  Wrong readOperands() {
    if (field(2, 1) != shape.sparse)
      return isNot("the sparsity bit", field(2, 1),
                   shape.sparse ? "1 with .sp" : "0 without .sp");
    shape.selector = field(0, 2);
    if (shape.selector && !shape.sparse && !shape.scales.any())
      return "the sparsity selector (bits 0-1) is set, which is for .sp only";
    if (Wrong wrong = readOperand(7, "A", shape.a))
      return wrong;
    if (Wrong wrong = readOperand(10, "B", shape.b))
      return wrong;
    shape.k = row.k;
    unsigned elementBits = getRow(shape.a).bits;
    shape.elementBytes = elementBits > 8 ? elementBits / 8 : 1;
    return reserved(6, 1);
  }

  Wrong readResult() {
    std::optional<MmaResult> result = findResult(kind, field(4, 2));
    if (!result)
      return isNot("the D format", field(4, 2), listResults(kind));
    shape.result = *result;
    shape.saturates = field(3, 1);
    if (shape.saturates && !row.has(kSaturates))
      return "the saturate bit is set, which is for .kind::i8 only";
    if (field(30, 2) && !shape.stationary)
      return "the maximum shift (bits 30-31) is set, which is for .ws only";
    if (Wrong wrong = reserved(23, 1))
      return wrong;
    return reserved(29, 1);
  }

  Wrong readScaleId(unsigned low, const char *name, uint32_t &id) {
    id = field(low, 2);
    // The scales of a row lie in one word, aligned to their number.
    uint32_t count = shape.scales.count;
    if (id % count == 0)
      return std::nullopt;
    return isNot(std::string("the scale factor ID of ") + name, id,
                 (count == 2 ? "0 or 2" : "0") +
                     std::string(" where a row "
                                 "has ") +
                     std::to_string(count) + " scales");
  }

  Wrong readScales() {
    shape.result = MmaResult::F32;
    MmaScales &scales = shape.scales;
    if (Wrong wrong = readScaleId(29, "A", scales.aId))
      return wrong;
    if (Wrong wrong = readScaleId(4, "B", scales.bId))
      return wrong;
    scales.type = ScaleType(field(23, 1));
    if (!takesScales(kind, scales.count, scales.type))
      return isNot("the scale type", field(23, 1),
                   listScaleTypes(kind, scales.count));
    if (Wrong wrong = reserved(0, 2))
      return wrong;
    if (Wrong wrong = reserved(3, 1))
      return wrong;
    if (field(31, 1) && shape.k == 64)
      return "the K dimension (bit 31) is 1 (K = 96), which is for sm_103a and "
             "not supported; the rule is 0 (K = 64)";
    return reserved(31, 1);
  }

  Wrong readSigns() {
    shape.negateA = field(13, 1);
    shape.negateB = field(14, 1);
    shape.transposeA = field(15, 1);
    shape.transposeB = field(16, 1);
    for (bool a : {true, false}) {
      const char *name = a ? "A" : "B";
      if ((a ? shape.negateA : shape.negateB) && !row.has(kNegates))
        return std::string("negation of ") + name + " (bit " +
               (a ? "13" : "14") + ") is set, which " + dotted(kind) +
               " does not have";
      if ((a ? shape.transposeA : shape.transposeB) && !row.has(kTransposes))
        return std::string("transposition of ") + name + " (bit " +
               (a ? "15" : "16") + ") is set, which " + dotted(kind) +
               " does not have";
    }
    return std::nullopt;
  }

  Wrong readM() {
    shape.m = field(24, 5) * 16;
    if (shape.pair)
      return shape.m == 128 || shape.m == 256
                 ? Wrong()
                 : isNot("M", shape.m, "128 or 256 for .cta_group::2");
    if (shape.scales.any())
      return shape.m == 128
                 ? Wrong()
                 : isNot("M", shape.m, "128 for .cta_group::1 with scales");
    if (shape.stationary)
      return shape.m == 32 || shape.m == 64 || shape.m == 128
                 ? Wrong()
                 : isNot("M", shape.m, "32, 64 or 128 with .ws");
    return shape.m == 64 || shape.m == 128
               ? Wrong()
               : isNot("M", shape.m, "64 or 128 for .cta_group::1");
  }

  /// PTX ISA 9.7.16.2.1, and 9.7.16.10.1 for B of 8 bits that is transposed.
  Wrong readN() {
    shape.n = field(17, 6) * 8;
    if (shape.stationary)
      return shape.n == 64 || shape.n == 128 || shape.n == 256
                 ? Wrong()
                 : isNot("N", shape.n, "64, 128 or 256 with .ws");
    bool coarse =
        kind == MmaKind::I8 || (shape.transposeB && getRow(shape.b).bits == 8);
    uint32_t step = (shape.pair ? 16 : 8) * (coarse ? 2 : 1);
    // Integers have the two smallest, too.
    bool small = kind == MmaKind::I8 && !shape.pair && !shape.transposeB &&
                 (shape.n == 8 || shape.n == 24);
    if (small || (shape.n >= step && shape.n <= 256 && shape.n % step == 0))
      return std::nullopt;
    return isNot("N", shape.n,
                 "a multiple of " + std::to_string(step) + " from " +
                     std::to_string(step) + " to 256" +
                     (step != 16 || shape.pair ? ""
                      : kind == MmaKind::I8 && !shape.transposeB
                          ? ", or 8 or 24"
                          : " where B of 8 bits is transposed"));
  }
};

} // namespace

std::optional<std::string>
fp8::sim::decodeInstructionDescriptor(uint32_t bits, MmaKind kind, bool pair,
                                      MmaShape &shape, uint32_t scales,
                                      bool sparse, bool stationary) {
  return InstructionDescriptor(bits, kind, shape)
      .decode(pair, scales, sparse, stationary);
}

const fp8::chip::SumRule &fp8::sim::findSumRule(chip::MmaEngine engine,
                                                const MmaShape &shape,
                                                bool exactly) {
  const chip::SumRule &rule =
      chip::getSumRule(engine, getRow(shape.kind).products);
  return exactly ? getExactRule(rule) : rule;
}

std::optional<std::string> fp8::sim::decodeColumnMask(uint64_t bits,
                                                      const MmaShape &shape,
                                                      ZeroColumns &zero) {
  auto field = [bits](unsigned first, unsigned size) {
    return uint32_t(bits >> first & ((1u << size) - 1));
  };
  if (uint32_t shift = field(56, 6))
    return "bits 56 to 61 shift B by " + std::to_string(shift) +
           " columns; only 0 is supported";
  if (!field(39, 1))
    return std::nullopt;
  // Each part of N begins somewhere in a cycle of two spans.
  const uint32_t zeros = field(40, 8) + 1, used = field(48, 8) + 1,
                 columns = shape.dColumns();
  for (uint32_t part = 0; part < shape.folds(); ++part) {
    const bool zerosFirst = field(32 + part, 1);
    const uint32_t start = field(8 * part, 8),
                   first = zerosFirst ? zeros : used;
    if (start >= first)
      return "start count " + std::to_string(part) + " is " +
             std::to_string(start) + ", but the first span has " +
             std::to_string(first) + " columns; the ISA says no more of it";
    for (uint32_t n = 0; n < columns; ++n)
      zero[part * columns + n] =
          ((n + start) % (zeros + used) < first) == zerosFirst;
  }
  return std::nullopt;
}
