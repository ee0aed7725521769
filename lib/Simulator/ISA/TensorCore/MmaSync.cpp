// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// mma.sync: products of fragments in the registers of a warp (PTX
// ISA 9.7.14.5, with a sparse A 9.7.14.6). Formulas give the fragments of all
// shapes.

#include "ISA/Families.h"

#include "ISA/Alu/Alu.h"
#include "ISA/TensorCore/MmaFragments.h"
#include "ISA/TensorCore/Sparsity.h"
#include "ISA/TensorCore/TensorCore.h"
#include "Machine/Machine.h"
#include "Numerics/Accumulation.h"

#include <algorithm>
#include <cmath>

using namespace fp8::sim;

namespace {

constexpr uint32_t kMaxK = 256;

uint64_t element(uint64_t bits, uint32_t index, uint32_t width) {
  return bits >> (index * width) & lowBits(width);
}

/// f(row, k, element).
template <typename F>
void eachOfA(Warp &w, const MmaSyncForm &mma, const uint32_t *rows, F f) {
  for (uint32_t r = 0; r < mma.rowsOfA(); ++r)
    for (uint32_t lane = 0; lane < 32; ++lane)
      for (uint32_t j = 0; j < mma.packed(); ++j) {
        MmaPlace at = placeInA(mma, lane, r, j);
        f(at.row, at.column,
          element(w.row(rows[r])[lane], j, mma.typeA().bits));
      }
}

/// f(k, column, element).
template <typename F>
void eachOfB(Warp &w, const MmaSyncForm &mma, const uint32_t *rows, F f) {
  for (uint32_t r = 0; r < mma.rowsOfB(); ++r)
    for (uint32_t lane = 0; lane < 32; ++lane)
      for (uint32_t j = 0; j < mma.packed(); ++j) {
        MmaPlace at = placeInB(mma, lane, r, j);
        f(at.row, at.column,
          element(w.row(rows[r])[lane], j, mma.typeB().bits));
      }
}

MmaRegisters findRegisters(const Warp &w, const Inst &i) {
  const MmaSyncForm &mma = i.get<MmaSyncForm>();
  const std::vector<uint32_t> &lists = w.machine.program.lists;
  const uint32_t *a = &lists[i.sourceList], *b = a + mma.rowsOfA(),
                 *c = b + mma.rowsOfB();
  return {a, b, c, &lists[i.list], c + mma.rowsOf(mma.c)};
}

/// f(row, chunk, lane, shift): where four bits of metadata are.
template <typename F>
void eachChunk(const MmaSyncForm &mma, F f) {
  for (uint32_t row = 0; mma.form().sparse && row < mma.form().m; ++row)
    for (uint32_t chunk = 0; chunk < mma.chunks(); ++chunk) {
      MetadataPlace at = findInWarp(row, chunk, mma.chunks(),
                                    mma.typeA().bits == 8, mma.selector);
      f(row, chunk, at.lane, at.shift);
    }
}

/// Of each row of A, the rows of B that it multiplies: of a dense one all.
std::array<Kept, kMaxM> findKept(Warp &w, const MmaSyncForm &mma,
                                 const MmaRegisters &registers) {
  std::array<Kept, kMaxM> kept{};
  const bool pairs = mma.form().operands == MmaOperands::TF32;
  eachChunk(mma, [&](uint32_t row, uint32_t chunk, uint32_t lane,
                     uint32_t shift) {
    uint32_t bits = uint32_t(w.row(*registers.metadata)[lane]) >> shift & 15;
    keepChunk(kept[row], chunk, bits,
              pairs ? Grain::OneOfTwo : Grain::TwoOfFour);
  });
  return kept;
}

void multiplyFloats(Warp &w, const MmaSyncForm &mma,
                    const MmaRegisters &registers, Results &results) {
  Factored factored;
  const uint32_t k = factored.k = mma.kOfA();
  factored.dense = mma.form().k;
  if (mma.form().sparse)
    factored.kept = findKept(w, mma, registers);
  factored.m = mma.form().m;
  auto decode = [](const MmaElement &type, uint64_t bits) {
    uint8_t bytes[4];
    std::memcpy(bytes, &bits, 4);
    return decodeElement(type.format, bytes);
  };
  eachOfA(w, mma, registers.a, [&](uint32_t row, uint32_t at, uint64_t bits) {
    factored.a[row * k + at] = decode(mma.typeA(), bits);
  });
  eachOfB(w, mma, registers.b, [&](uint32_t at, uint32_t n, uint64_t bits) {
    factored.b[at * kN + n] = decode(mma.typeB(), bits);
  });
  const bool exact = w.machine.options.exactAccumulation;
  if (mma.form().operands == MmaOperands::Float8 && !exact)
    return multiplyFloat8(factored, mma.c, mma.d, results);
  factored.findExponents(mma.typeA().format, mma.typeB().format);
  const fp8::chip::SumRule &rule = fp8::chip::getSumRule(
      fp8::chip::MmaEngine::Warp, mma.form().operands == MmaOperands::TF32
                                      ? fp8::chip::ProductKind::TF32
                                      : fp8::chip::ProductKind::Float16);
  for (uint32_t row = 0; row < factored.m; ++row)
    addProducts(exact ? getExactRule(rule) : rule, factored, row, mma.c, mma.d,
                results.cells[row]);
}

/// Multiplies and adds in the order of K, rounding once each time.
void multiplyDoubles(Warp &w, const MmaSyncForm &mma,
                     const MmaRegisters &registers, Results &results) {
  double a[kMaxM][16], b[16][kN];
  eachOfA(w, mma, registers.a, [&](uint32_t row, uint32_t k, uint64_t bits) {
    a[row][k] = bitCast<double>(bits);
  });
  eachOfB(w, mma, registers.b, [&](uint32_t k, uint32_t n, uint64_t bits) {
    b[k][n] = bitCast<double>(bits);
  });
  for (uint32_t row = 0; row < mma.form().m; ++row)
    for (uint32_t n = 0; n < kN; ++n) {
      double sum = bitCast<double>(results.cells[row][n]);
      for (uint32_t k = 0; k < mma.form().k; ++k)
        sum = std::fma(a[row][k], b[k][n], sum);
      results.cells[row][n] = bitCast<uint64_t>(sum);
    }
}

/// Integers and single bits, exactly.
void multiplyIntegers(Warp &w, const MmaSyncForm &mma,
                      const MmaRegisters &registers, Results &results) {
  int32_t a[kMaxM][kMaxK], b[kMaxK][kN];
  const std::array<Kept, kMaxM> kept = findKept(w, mma, registers);
  auto decode = [](const MmaElement &type, uint64_t bits) {
    uint64_t sign = uint64_t(1) << (type.bits - 1);
    return type.isSigned && bits & sign ? int32_t(int64_t(bits - 2 * sign))
                                        : int32_t(bits);
  };
  eachOfA(w, mma, registers.a, [&](uint32_t row, uint32_t k, uint64_t bits) {
    a[row][k] = decode(mma.typeA(), bits);
  });
  eachOfB(w, mma, registers.b, [&](uint32_t k, uint32_t n, uint64_t bits) {
    b[k][n] = decode(mma.typeB(), bits);
  });
  for (uint32_t row = 0; row < mma.form().m; ++row)
    for (uint32_t n = 0; n < kN; ++n) {
      int64_t sum = int32_t(results.cells[row][n]);
      for (uint32_t k = 0; k < mma.kOfA(); ++k) {
        int32_t other = b[mma.form().sparse ? kept[row][k] : k][n];
        sum += mma.exclusive ? a[row][k] ^ other : a[row][k] * other;
      }
      if (mma.saturate)
        sum = std::clamp<int64_t>(sum, INT32_MIN, INT32_MAX);
      results.cells[row][n] = uint32_t(sum);
    }
}

/// Undefined elements of A make rows of D undefined, those of B columns, and
/// those of C themselves.
void spreadUndefined(Warp &w, const Inst &i, const MmaSyncForm &mma,
                     const MmaRegisters &registers) {
  OriginId cells[kMaxM][kN] = {};
  const uint32_t halves = mma.form().m / 8;
  auto each = [&](const uint32_t *rows, uint32_t count, auto f) {
    for (uint32_t r = 0; r < count; ++r)
      forLanes(w.undefinedLanes(rows + r, 1, ~0u), [&](int lane) {
        f(r, uint32_t(lane), w.undefinedBits(i, rows[r], lane).origin);
      });
  };
  each(registers.a, mma.rowsOfA(), [&](uint32_t r, uint32_t l, OriginId o) {
    std::fill_n(cells[l / 4 + r % halves * 8], kN, o);
  });
  each(registers.b, mma.rowsOfB(), [&](uint32_t, uint32_t l, OriginId o) {
    for (uint32_t row = 0; row < mma.form().m; ++row)
      cells[row][l / 4] = o;
  });
  const uint32_t chosen =
      mma.form().sparse ? w.undefinedLanes(registers.metadata, 1, ~0u) : 0;
  eachChunk(mma, [&](uint32_t row, uint32_t, uint32_t lane, uint32_t) {
    if (chosen >> lane & 1)
      std::fill_n(cells[row], kN,
                  w.undefinedBits(i, *registers.metadata, int(lane)).origin);
  });
  each(registers.c, mma.rowsOf(mma.c), [&](uint32_t r, uint32_t l, OriginId o) {
    if (mma.c == Type::F16)
      std::fill_n(&cells[l / 4 + r * 8][l % 4 * 2], 2, o);
    else
      cells[l / 4 + r / 2 * 8][l % 4 * 2 + r % 2] = o;
  });
  for (uint32_t row = 0; row < mma.form().m; ++row)
    for (uint32_t n = 0; n < kN; ++n) {
      if (!cells[row][n])
        continue;
      uint32_t r = mma.d == Type::F16 ? row / 8 : row / 8 * 2 + n % 2;
      w.leaveUndefined(registers.d[r], int(row % 8 * 4 + n / 2),
                       UndefinedBits::all(cells[row][n]));
    }
}

Flow multiply(Warp &w, const Inst &i, uint32_t mask) {
  if (mask != ~0u) {
    w.machine.error(ErrorKind::DivergentAligned,
                    "'" + Machine::mnemonic(&i) +
                        "' needs all lanes of the warp",
                    &w, &i, __builtin_ctz(mask), true);
    return Flow::Next;
  }
  const MmaSyncForm &mma = i.get<MmaSyncForm>();
  MmaRegisters registers = findRegisters(w, i);
  Results results;
  loadResults(w, mma, registers.c, results);
  multiplyFragments(w, i, mma, registers, results);
  storeResults(w, mma, registers.d, results);
  ++w.machine.report.statistics.mmas;
  return Flow::Next;
}

bool takeMetadata(Decoder &d, Inst &i, MmaSyncForm &mma) {
  uint64_t selector;
  if (!d.sourceList(i, 1, Type::B32) || !d.immediate(selector))
    return false;
  mma.selector = uint8_t(selector);
  return selector < mma.selectors() ||
         d.fail("takes a sparsity selector from 0 to " +
                std::to_string(mma.selectors() - 1));
}

bool decodeMma(Decoder &d, Inst &i) {
  // Ordered metadata are a promise that the hardware of some chips needs.
  const bool sparse = d.takeOneOf({"sp", "sp::ordered_metadata"}) >= 0;
  for (const std::string &qualifier : d.text().qualifiers)
    if (qualifier.rfind("kind::", 0) == 0)
      return d.fail("is not supported with ." + qualifier +
                    ", which is for sm_120; use tcgen05.mma");
  if (!d.take("sync") || !d.take("aligned"))
    return d.fail("needs .sync.aligned");
  MmaSyncForm &mma = i.make<MmaSyncForm>();
  if (!takeMmaSyncForm(d, mma, sparse))
    return false;
  if (mma.form().operands == MmaOperands::Bit) {
    mma.exclusive = d.take("xor");
    if ((!mma.exclusive && !d.take("and")) || !d.take("popc"))
      return d.fail("needs .and.popc or .xor.popc");
  }
  if (mma.form().operands == MmaOperands::F64)
    d.take("rn"); // the default
  i.fn = multiply;
  i.convergence = Convergence::Aligned;
  Type ab = mma.form().operands == MmaOperands::F64 ? Type::F64 : Type::B32;
  auto ofSums = [](Type type) { return type == Type::F16 ? Type::B32 : type; };
  return d.list(i, mma.rowsOf(mma.d), ofSums(mma.d), true) &&
         d.sourceList(i, mma.rowsOfA(), ab) &&
         d.sourceList(i, mma.rowsOfB(), ab) &&
         d.sourceList(i, mma.rowsOf(mma.c), ofSums(mma.c)) &&
         (!sparse || takeMetadata(d, i, mma));
}

} // namespace

void fp8::sim::loadResults(Warp &w, const MmaSyncForm &mma,
                           const uint32_t *rows, Results &out) {
  for (uint32_t row = 0; row < mma.form().m; ++row)
    for (uint32_t column = 0; column < kN; ++column) {
      uint32_t lane = row % 8 * 4 + column / 2;
      out.cells[row][column] =
          mma.c == Type::F16
              ? element(w.row(rows[row / 8])[lane], column % 2, 16)
              : w.row(rows[row / 8 * 2 + column % 2])[lane];
    }
}

void fp8::sim::multiplyFragments(Warp &w, const Inst &i, const MmaSyncForm &mma,
                                 const MmaRegisters &registers,
                                 Results &results) {
  if (w.undefinedLanes(&w.machine.program.lists[i.sourceList],
                       i.sourceListCount, ~0u))
    spreadUndefined(w, i, mma, registers);
  switch (mma.form().operands) {
  case MmaOperands::Float8:
  case MmaOperands::Float16:
  case MmaOperands::TF32:
    multiplyFloats(w, mma, registers, results);
    break;
  case MmaOperands::F64:
    multiplyDoubles(w, mma, registers, results);
    break;
  case MmaOperands::Int8:
  case MmaOperands::Int4:
  case MmaOperands::Bit:
    multiplyIntegers(w, mma, registers, results);
    break;
  }
}

void fp8::sim::storeResults(Warp &w, const MmaSyncForm &mma,
                            const uint32_t *rows, const Results &in) {
  for (uint32_t row = 0; row < mma.form().m; ++row)
    for (uint32_t column = 0; column < kN; ++column) {
      uint32_t lane = row % 8 * 4 + column / 2;
      uint64_t bits = in.cells[row][column];
      if (mma.d != Type::F16) {
        w.row(rows[row / 8 * 2 + column % 2])[lane] = bits;
        continue;
      }
      uint64_t &pair = w.row(rows[row / 8])[lane];
      pair = column % 2 ? (pair & 0xffff) | bits << 16 : bits;
    }
}

void fp8::sim::addMmaSyncOpcodes(OpcodeTable &t) { t.add("mma", decodeMma); }
