// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// mma.sync: products of fragments in the registers of a warp (PTX
// ISA 9.7.14.5). A table has the shapes; formulas give the fragments of all.

#include "ISA/Families.h"

#include "ISA/Alu/Alu.h"
#include "ISA/TensorCore/MmaSyncProduct.h"
#include "ISA/TensorCore/TensorCore.h"
#include "Machine/Machine.h"
#include "Numerics/Accumulation.h"

#include <algorithm>
#include <cmath>

using namespace fp8::sim;

namespace {

/// Operands that are multiplied and added up alike.
enum class Operands : uint8_t { Float8, Float16, TF32, F64, Int8, Int4, Bit };

struct Shape {
  std::string_view name;
  uint32_t m, k; ///< N is 8
  Operands operands;
};
constexpr Shape kShapes[] = {
    {"m16n8k16", 16, 16, Operands::Float8},
    {"m16n8k32", 16, 32, Operands::Float8},
    {"m16n8k8", 16, 8, Operands::Float16},
    {"m16n8k16", 16, 16, Operands::Float16},
    {"m16n8k4", 16, 4, Operands::TF32},
    {"m16n8k8", 16, 8, Operands::TF32},
    {"m8n8k4", 8, 4, Operands::F64},
    {"m16n8k4", 16, 4, Operands::F64},
    {"m16n8k8", 16, 8, Operands::F64},
    {"m16n8k16", 16, 16, Operands::F64},
    {"m8n8k16", 8, 16, Operands::Int8},
    {"m16n8k16", 16, 16, Operands::Int8},
    {"m16n8k32", 16, 32, Operands::Int8},
    {"m8n8k32", 8, 32, Operands::Int4},
    {"m16n8k32", 16, 32, Operands::Int4},
    {"m16n8k64", 16, 64, Operands::Int4},
    {"m8n8k128", 8, 128, Operands::Bit},
    {"m16n8k128", 16, 128, Operands::Bit},
    {"m16n8k256", 16, 256, Operands::Bit},
};
constexpr uint32_t kMaxK = 256;

struct ElementType {
  std::string_view name;
  Operands operands;
  uint8_t bits;
  MmaFormat format; ///< of the floating-point types but f64
  bool isSigned;
};
constexpr ElementType kTypes[] = {
    {"e4m3", Operands::Float8, 8, MmaFormat::E4M3, true},
    {"e5m2", Operands::Float8, 8, MmaFormat::E5M2, true},
    {"f16", Operands::Float16, 16, MmaFormat::F16, true},
    {"bf16", Operands::Float16, 16, MmaFormat::BF16, true},
    {"tf32", Operands::TF32, 32, MmaFormat::TF32, true},
    {"f64", Operands::F64, 64, {}, true},
    {"s8", Operands::Int8, 8, {}, true},
    {"u8", Operands::Int8, 8, {}, false},
    {"s4", Operands::Int4, 4, {}, true},
    {"u4", Operands::Int4, 4, {}, false},
    {"b1", Operands::Bit, 1, {}, false},
};

/// Payload. List: D's registers. Source list: A's, B's and C's.
struct Mma {
  uint8_t shape, a, b; ///< indices into the tables
  Type d, c;
  bool saturate;  ///< .satfinite
  bool exclusive; ///< .xor.popc, else .and.popc

  const Shape &form() const { return kShapes[shape]; }
  const ElementType &typeA() const { return kTypes[a]; }
  const ElementType &typeB() const { return kTypes[b]; }
  /// Elements in a register of A or B.
  uint32_t packed() const {
    uint32_t bits = typeA().bits;
    return bits < 32 ? 32 / bits : 1;
  }
  uint32_t rowsOfA() const { return form().m * form().k / 32 / packed(); }
  uint32_t rowsOfB() const { return kN * form().k / 32 / packed(); }
  /// Registers of C or D.
  uint32_t rowsOf(Type type) const {
    return form().m * kN / 32 / (type == Type::F16 ? 2 : 1);
  }
};

uint64_t element(uint64_t bits, uint32_t index, uint32_t width) {
  return bits >> (index * width) & lowBits(width);
}

/// f(row, k, element): A's element (row, k). A register has elements of one
/// row; the next register is 8 rows below, if there are 16, and the one behind
/// these further on in K.
template <typename F>
void eachOfA(Warp &w, const Mma &mma, const uint32_t *rows, F f) {
  const uint32_t packed = mma.packed(), halves = mma.form().m / 8,
                 width = mma.typeA().bits;
  for (uint32_t r = 0; r < mma.rowsOfA(); ++r)
    for (uint32_t lane = 0; lane < 32; ++lane)
      for (uint32_t j = 0; j < packed; ++j)
        f(lane / 4 + r % halves * 8,
          r / halves * 4 * packed + lane % 4 * packed + j,
          element(w.row(rows[r])[lane], j, width));
}

/// f(k, column, element).
template <typename F>
void eachOfB(Warp &w, const Mma &mma, const uint32_t *rows, F f) {
  const uint32_t packed = mma.packed(), width = mma.typeB().bits;
  for (uint32_t r = 0; r < mma.rowsOfB(); ++r)
    for (uint32_t lane = 0; lane < 32; ++lane)
      for (uint32_t j = 0; j < packed; ++j)
        f(r * 4 * packed + lane % 4 * packed + j, lane / 4,
          element(w.row(rows[r])[lane], j, width));
}

void loadResults(Warp &w, const Mma &mma, const uint32_t *rows, Results &out) {
  for (uint32_t row = 0; row < mma.form().m; ++row)
    for (uint32_t column = 0; column < kN; ++column) {
      uint32_t lane = row % 8 * 4 + column / 2;
      out.cells[row][column] =
          mma.c == Type::F16
              ? element(w.row(rows[row / 8])[lane], column % 2, 16)
              : w.row(rows[row / 8 * 2 + column % 2])[lane];
    }
}

void storeResults(Warp &w, const Mma &mma, const uint32_t *rows,
                  const Results &in) {
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

/// Where an instruction's registers are.
struct Registers {
  const uint32_t *a, *b, *c, *d;
  Registers(const Warp &w, const Inst &i) {
    const Mma &mma = i.get<Mma>();
    const std::vector<uint32_t> &lists = w.machine.program.lists;
    d = &lists[i.list];
    a = &lists[i.sourceList];
    b = a + mma.rowsOfA();
    c = b + mma.rowsOfB();
  }
};

void multiplyFloats(Warp &w, const Mma &mma, const Registers &registers,
                    Results &results) {
  Factored factored;
  const uint32_t k = factored.k = mma.form().k;
  factored.m = mma.form().m;
  auto decode = [](const ElementType &type, uint64_t bits) {
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
  if (mma.form().operands == Operands::Float8 && !exact)
    return multiplyFloat8(factored, mma.c, mma.d, results);
  factored.findExponents(mma.typeA().format, mma.typeB().format);
  const fp8::chip::SumRule &rule = fp8::chip::getSumRule(
      fp8::chip::MmaEngine::Warp, mma.form().operands == Operands::TF32
                                      ? fp8::chip::ProductKind::TF32
                                      : fp8::chip::ProductKind::Float16);
  for (uint32_t row = 0; row < factored.m; ++row)
    addProducts(exact ? getExactRule(rule) : rule, factored, row, mma.c, mma.d,
                results.cells[row]);
}

/// Multiplies and adds in the order of K, rounding once each time.
void multiplyDoubles(Warp &w, const Mma &mma, const Registers &registers,
                     Results &results) {
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
void multiplyIntegers(Warp &w, const Mma &mma, const Registers &registers,
                      Results &results) {
  int32_t a[kMaxM][kMaxK], b[kMaxK][kN];
  auto decode = [](const ElementType &type, uint64_t bits) {
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
      for (uint32_t k = 0; k < mma.form().k; ++k)
        sum += mma.exclusive ? a[row][k] ^ b[k][n] : a[row][k] * b[k][n];
      if (mma.saturate)
        sum = std::clamp<int64_t>(sum, INT32_MIN, INT32_MAX);
      results.cells[row][n] = uint32_t(sum);
    }
}

/// Undefined elements of A make rows of D undefined, those of B columns, and
/// those of C themselves.
void spreadUndefined(Warp &w, const Inst &i, const Registers &registers) {
  const Mma &mma = i.get<Mma>();
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
  const Mma &mma = i.get<Mma>();
  Registers registers(w, i);
  if (w.undefinedLanes(registers.a, i.sourceListCount, ~0u))
    spreadUndefined(w, i, registers);
  Results results;
  loadResults(w, mma, registers.c, results);
  switch (mma.form().operands) {
  case Operands::Float8:
  case Operands::Float16:
  case Operands::TF32:
    multiplyFloats(w, mma, registers, results);
    break;
  case Operands::F64:
    multiplyDoubles(w, mma, registers, results);
    break;
  case Operands::Int8:
  case Operands::Int4:
  case Operands::Bit:
    multiplyIntegers(w, mma, registers, results);
    break;
  }
  storeResults(w, mma, registers.d, results);
  ++w.machine.report.statistics.mmas;
  return Flow::Next;
}

/// Whether D or C of `type` fits operands of `element`.
bool fits(Type type, const ElementType &element) {
  switch (element.operands) {
  case Operands::F64:
    return type == Type::F64;
  case Operands::Int8:
  case Operands::Int4:
  case Operands::Bit:
    return type == Type::S32;
  case Operands::TF32:
    return type == Type::F32;
  case Operands::Float8:
  case Operands::Float16:
    return type == Type::F32 ||
           (type == Type::F16 && element.format != MmaFormat::BF16);
  }
  return false;
}

/// `.shape.row.col.d.a.b.c`.
bool takeForm(Decoder &d, Mma &mma) {
  const std::vector<std::string> &q = d.text().qualifiers;
  auto at = std::find_if(q.begin(), q.end(), [](const std::string &s) {
    return s.size() > 1 && s[0] == 'm' && s[1] >= '0' && s[1] <= '9';
  });
  if (at == q.end())
    return d.fail("needs a shape .mMnNkK");
  const std::string shape = *at;
  d.take(shape);
  if (!d.take("row") || !d.take("col"))
    return d.fail("needs .row.col");
  mma.saturate = d.take("satfinite");
  // The four types come in the order D, A, B, C, whatever stands between.
  std::vector<std::string> types;
  for (const std::string &name : q)
    if (typeByName(name) != Type::None ||
        std::any_of(std::begin(kTypes), std::end(kTypes),
                    [&](const ElementType &t) { return t.name == name; }))
      types.push_back(name);
  if (types.size() != 4)
    return d.fail("needs the types of D, A, B and C");
  for (const std::string &name : types)
    d.take(name);
  auto index = [](const std::string &name) {
    return uint8_t(
        std::find_if(std::begin(kTypes), std::end(kTypes),
                     [&](const ElementType &t) { return t.name == name; }) -
        std::begin(kTypes));
  };
  mma.a = index(types[1]);
  mma.b = index(types[2]);
  if (mma.a == std::size(kTypes) || mma.b == std::size(kTypes))
    return d.fail("is not supported with operands of ." + types[1] + " and ." +
                  types[2]);
  const ElementType &a = mma.typeA(), &b = mma.typeB();
  if (a.operands != b.operands ||
      (a.operands == Operands::Float16 && a.format != b.format))
    return d.fail("cannot multiply ." + types[1] + " by ." + types[2]);
  mma.d = typeByName(types[0]);
  mma.c = typeByName(types[3]);
  if (!fits(mma.d, a) || !fits(mma.c, a))
    return d.fail("cannot add up products of ." + types[1] + " in ." +
                  types[0]);
  auto found =
      std::find_if(std::begin(kShapes), std::end(kShapes), [&](const Shape &s) {
        return s.name == shape && s.operands == a.operands;
      });
  if (found == std::end(kShapes))
    return d.fail("is not supported with shape ." + shape +
                  " and operands of ." + types[1]);
  mma.shape = uint8_t(found - std::begin(kShapes));
  return true;
}

bool decodeMma(Decoder &d, Inst &i) {
  if (d.hasQualifier("sp") || d.hasQualifier("sp::ordered_metadata"))
    return d.fail("is not supported with .sp; use the dense form");
  for (const std::string &qualifier : d.text().qualifiers)
    if (qualifier.rfind("kind::", 0) == 0)
      return d.fail("is not supported with ." + qualifier +
                    ", which is for sm_120; use tcgen05.mma");
  if (!d.take("sync") || !d.take("aligned"))
    return d.fail("needs .sync.aligned");
  Mma &mma = i.make<Mma>();
  if (!takeForm(d, mma))
    return false;
  if (mma.form().operands == Operands::Bit) {
    mma.exclusive = d.take("xor");
    if ((!mma.exclusive && !d.take("and")) || !d.take("popc"))
      return d.fail("needs .and.popc or .xor.popc");
  }
  i.fn = multiply;
  i.convergence = Convergence::Aligned;
  Type ab = mma.form().operands == Operands::F64 ? Type::F64 : Type::B32;
  auto ofSums = [](Type type) { return type == Type::F16 ? Type::B32 : type; };
  return d.list(i, mma.rowsOf(mma.d), ofSums(mma.d), true) &&
         d.sourceList(i, mma.rowsOfA(), ab) &&
         d.sourceList(i, mma.rowsOfB(), ab) &&
         d.sourceList(i, mma.rowsOf(mma.c), ofSums(mma.c));
}

} // namespace

void fp8::sim::addMmaSyncOpcodes(OpcodeTable &t) { t.add("mma", decodeMma); }
