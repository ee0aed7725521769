// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// wmma.load, wmma.mma and wmma.store (PTX ISA 9.7.14.4). Which elements a
// thread has is the chip's own matter; here they are those of the mma.sync that
// ptxas makes a wmma.mma of, one product behind the other.

#include "ISA/Families.h"

#include "ISA/Access/Access.h"
#include "ISA/Alu/Alu.h"
#include "ISA/TensorCore/MmaFragments.h"

#include <algorithm>
#include <cstring>

using namespace fp8::sim;

namespace {

/// A shape, and the mma.sync that it is made of (ptxas 13.0, sm_90a: of tf32
/// those are HMMA.1684). Where M is smaller than what that has, it computes the
/// transposed product.
struct WmmaShape {
  std::string_view name;
  uint32_t m, n, k;
  MmaOperands operands;
  std::string_view product;
};
const WmmaShape kShapes[] = {
    {"m16n16k16", 16, 16, 16, MmaOperands::Float16, "m16n8k16"},
    {"m8n32k16", 8, 32, 16, MmaOperands::Float16, "m16n8k16"},
    {"m32n8k16", 32, 8, 16, MmaOperands::Float16, "m16n8k16"},
    {"m16n16k16", 16, 16, 16, MmaOperands::Int8, "m16n8k16"},
    {"m8n32k16", 8, 32, 16, MmaOperands::Int8, "m16n8k16"},
    {"m32n8k16", 32, 8, 16, MmaOperands::Int8, "m16n8k16"},
    {"m16n16k8", 16, 16, 8, MmaOperands::TF32, "m16n8k4"},
    {"m8n8k4", 8, 8, 4, MmaOperands::F64, "m8n8k4"},
    {"m8n8k32", 8, 8, 32, MmaOperands::Int4, "m8n8k32"},
    {"m8n8k128", 8, 8, 128, MmaOperands::Bit, "m8n8k128"},
};

enum class Matrix : uint8_t { A, B, Sums };

/// Payload of all three.
struct WmmaForm {
  const WmmaShape *shape;
  MmaSyncForm product; ///< its A is B where it is transposed
  bool transposed;

  /// Products along the rows and columns of the product's D.
  uint32_t down() const {
    return (transposed ? shape->n : shape->m) / product.form().m;
  }
  uint32_t across() const { return (transposed ? shape->m : shape->n) / kN; }
  /// Products that follow each other along K.
  uint32_t steps() const { return shape->k / product.form().k; }
  bool isFirst(Matrix matrix) const {
    return (matrix == Matrix::A) != transposed;
  }
  Type sums() const { return product.d; }
  /// Registers that one product has of a matrix.
  uint32_t rowsOfProduct(Matrix matrix) const {
    return matrix == Matrix::Sums ? product.rowsOf(sums())
           : isFirst(matrix)      ? product.rowsOfA()
                                  : product.rowsOfB();
  }
  /// Registers with different elements.
  uint32_t distinctRows(Matrix matrix) const {
    uint32_t products = matrix == Matrix::Sums ? down() * across()
                        : isFirst(matrix)      ? down() * steps()
                                               : across() * steps();
    return products * rowsOfProduct(matrix);
  }
  /// Registers of a fragment. One of f16 has 8 always (PTX ISA 9.7.14.4.1): the
  /// last ones hold the first ones' elements again.
  uint32_t rows(Matrix matrix) const {
    bool half = product.typeA().format == MmaFormat::F16 &&
                shape->operands == MmaOperands::Float16;
    return half && matrix != Matrix::Sums ? 8 : distinctRows(matrix);
  }
  uint32_t bits(Matrix matrix) const {
    return matrix == Matrix::Sums ? typeSize(sums()) * 8 : product.typeA().bits;
  }
  uint32_t packed(Matrix matrix) const {
    return std::max(1u, 32 / bits(matrix));
  }
  Type typeOfRow(Matrix matrix) const {
    if (matrix == Matrix::Sums && sums() != Type::F16)
      return sums();
    return bits(matrix) == 64 ? Type::F64 : Type::B32;
  }
  /// Rows and columns.
  MmaPlace extents(Matrix matrix) const {
    return {matrix == Matrix::B ? shape->k : shape->m,
            matrix == Matrix::A ? shape->k : shape->n};
  }

  /// The element of the matrix at a place of its fragment.
  MmaPlace place(Matrix matrix, uint32_t lane, uint32_t r, uint32_t j) const {
    const uint32_t each = rowsOfProduct(matrix);
    const uint32_t number = r % distinctRows(matrix) / each, within = r % each;
    MmaPlace at;
    if (matrix == Matrix::Sums) {
      at = placeInC(sums(), lane, within, j);
      at.row += number / across() * product.form().m;
      at.column += number % across() * kN;
    } else if (isFirst(matrix)) {
      at = placeInA(product, lane, within, j);
      at.row += number / steps() * product.form().m;
      at.column += number % steps() * product.form().k;
    } else {
      at = placeInB(product, lane, within, j);
      at.column += number / steps() * kN;
      at.row += number % steps() * product.form().k;
    }
    return transposed ? MmaPlace{at.column, at.row} : at;
  }
};

/// Payload of wmma.load and wmma.store.
struct Transfer {
  WmmaForm form;
  Matrix matrix;
  bool columnMajor;
  AccessSpace space;
};

bool bad(Warp &w, const Inst &i, ErrorKind kind, const std::string &what,
         int lane) {
  w.machine.error(kind, "'" + Machine::mnemonic(&i) + "' " + what, &w, &i, lane,
                  true);
  return false;
}

/// All lanes, one address and one stride for them, and rows (or columns) that
/// are aligned: by the letter to the fragment's size (PTX ISA 9.7.14.4.2), by
/// the CUDA C++ Programming Guide 10.24.1 to 16 bytes.
bool checkTransfer(Warp &w, const Inst &i, uint32_t mask,
                   const Transfer &transfer, uint64_t &address,
                   uint64_t &stride) {
  if (mask != ~0u)
    return bad(w, i, ErrorKind::DivergentAligned, "needs all lanes of the warp",
               __builtin_ctz(~mask));
  const uint64_t *base = w.row(i.s[0]);
  address = base[0] + uint64_t(i.offset);
  const MmaPlace extents = transfer.form.extents(transfer.matrix);
  stride = transfer.columnMajor ? extents.row : extents.column;
  for (unsigned source = 0; source < i.sources; ++source)
    for (int lane = 1; lane < 32; ++lane)
      if (w.row(i.s[source])[lane] != w.row(i.s[source])[0])
        return bad(w, i, ErrorKind::InvalidOperation,
                   source ? "needs the same stride in all lanes"
                          : "needs the same address in all lanes",
                   lane);
  if (i.sources > 1)
    stride = uint32_t(w.row(i.s[1])[0]);
  const uint32_t bits = transfer.form.bits(transfer.matrix);
  const uint64_t fragment =
      transfer.form.rows(transfer.matrix) * std::max(4u, bits / 8);
  const uint64_t alignment = std::min<uint64_t>(fragment, 16);
  for (uint64_t value : {address, stride * bits / 8})
    if (value % alignment)
      return bad(w, i, ErrorKind::Misaligned,
                 std::string("needs rows at multiples of ") +
                     std::to_string(alignment) + " bytes, but " +
                     (value == address ? "the address is "
                                       : "the stride in bytes is ") +
                     std::to_string(value),
                 0);
  return true;
}

/// f(register, lane, first element of the register, elements, address, bytes):
/// elements of a register that follow each other in memory, as one access.
template <typename F>
void eachAccess(Warp &w, const Transfer &t, uint64_t address, uint64_t stride,
                bool store, F f) {
  const uint32_t bits = t.form.bits(t.matrix), packed = t.form.packed(t.matrix);
  const uint32_t rows =
      store ? t.form.distinctRows(t.matrix) : t.form.rows(t.matrix);
  auto indexOf = [&](uint32_t lane, uint32_t r, uint32_t j) {
    MmaPlace at = t.form.place(t.matrix, lane, r, j);
    return t.columnMajor ? at.column * stride + at.row
                         : at.row * stride + at.column;
  };
  for (uint32_t r = 0; r < rows; ++r)
    for (uint32_t lane = 0; lane < 32 && !w.machine.stopped; ++lane) {
      uint64_t first = indexOf(lane, r, 0);
      bool whole = packed == 1 || indexOf(lane, r, 1) == first + 1;
      for (uint32_t j = 0; j < packed; j += whole ? packed : 1)
        f(r, int(lane), j * bits,
          address + (whole ? first : indexOf(lane, r, j)) * bits / 8,
          (whole ? packed : 1) * bits / 8);
    }
}

Flow load(Warp &w, const Inst &i, uint32_t mask) {
  const Transfer &t = i.get<Transfer>();
  uint64_t address, stride;
  if (!checkTransfer(w, i, mask, t, address, stride))
    return Flow::Next;
  const uint32_t *rows = &w.machine.program.lists[i.list];
  for (uint32_t n = 0; n < i.listCount; ++n)
    std::fill_n(w.row(rows[n]), 32, 0);
  eachAccess(
      w, t, address, stride, false,
      [&](uint32_t r, int lane, uint32_t shift, uint64_t from, uint32_t bytes) {
        UndefinedPart part;
        const uint8_t *source = access(w, i, lane, t.space, from, bytes, false,
                                       Strength::Weak, nullptr, &part);
        if (!source)
          return;
        uint64_t value = 0;
        std::memcpy(&value, source, bytes);
        w.row(rows[r])[lane] |= value << shift;
        UndefinedBits undefined;
        for (uint32_t byte = 0; part.bytes && byte < bytes; ++byte)
          if (part.bytes >> byte & 1) {
            undefined.bits[0] |= uint64_t(0xff) << (shift + byte * 8);
            undefined.origin = part.origins[byte];
          }
        if (undefined.any())
          w.leaveUndefined(rows[r], lane, undefined);
      });
  return Flow::Next;
}

Flow store(Warp &w, const Inst &i, uint32_t mask) {
  const Transfer &t = i.get<Transfer>();
  uint64_t address, stride;
  if (!checkTransfer(w, i, mask, t, address, stride))
    return Flow::Next;
  const uint32_t *rows = &w.machine.program.lists[i.list];
  const uint32_t undefinedLanes = w.undefinedLanes(rows, i.listCount, ~0u);
  w.machine.progress();
  w.machine.beginStore();
  eachAccess(
      w, t, address, stride, true,
      [&](uint32_t r, int lane, uint32_t shift, uint64_t to, uint32_t bytes) {
        UndefinedPart part;
        if (undefinedLanes >> lane & 1) {
          UndefinedBits undefined = w.undefinedBits(i, rows[r], lane);
          for (uint32_t byte = 0; byte < bytes; ++byte)
            if (undefined.bits[0] >> (shift + byte * 8) & 0xff)
              part.add(byte, undefined.origin);
        }
        uint64_t value = w.row(rows[r])[lane] >> shift;
        uint8_t data[8];
        std::memcpy(data, &value, 8);
        uint8_t *target =
            access(w, i, lane, t.space, to, bytes, true, Strength::Weak, data,
                   part.bytes ? &part : nullptr);
        if (part.bytes && isGlobal(t.space, to))
          w.reportUndefined(i, lane, "stores", rows[r], part.first());
        if (target)
          std::memcpy(target, data, bytes);
      });
  return Flow::Next;
}

/// All products read their registers before the first one's D is written.
Flow multiply(Warp &w, const Inst &i, uint32_t mask) {
  if (mask != ~0u) {
    bad(w, i, ErrorKind::DivergentAligned, "needs all lanes of the warp",
        __builtin_ctz(~mask));
    return Flow::Next;
  }
  const WmmaForm &form = i.get<WmmaForm>();
  const MmaSyncForm &product = form.product;
  const std::vector<uint32_t> &lists = w.machine.program.lists;
  const uint32_t *a = &lists[i.sourceList], *b = a + form.rows(Matrix::A),
                 *c = b + form.rows(Matrix::B), *d = &lists[i.list];
  if (form.transposed)
    std::swap(a, b);
  Results results[4];
  const uint32_t count = form.down() * form.across();
  const uint32_t steps = form.steps();
  for (uint32_t n = 0; n < count; ++n) {
    MmaRegisters registers{a + n / form.across() * steps * product.rowsOfA(),
                           b + n % form.across() * steps * product.rowsOfB(),
                           c + n * product.rowsOf(product.c),
                           d + n * product.rowsOf(product.d), nullptr};
    loadResults(w, product, registers.c, results[n]);
    for (uint32_t step = 0; step < steps; ++step) {
      multiplyFragments(w, i, product, registers, results[n]);
      registers.a += product.rowsOfA();
      registers.b += product.rowsOfB();
    }
  }
  for (uint32_t n = 0; n < count; ++n)
    storeResults(w, product, d + n * product.rowsOf(product.d), results[n]);
  ++w.machine.report.statistics.mmas;
  return Flow::Next;
}

/// Finds the row of the table and the product of its types; `types`: of D, A, B
/// and C.
bool setForm(Decoder &d, WmmaForm &form, const std::string &shape,
             std::vector<std::string> types) {
  MmaSyncForm &product = form.product;
  if (!setMmaTypes(d, product, types))
    return false;
  auto found = std::find_if(
      std::begin(kShapes), std::end(kShapes), [&](const WmmaShape &row) {
        return row.name == shape && row.operands == product.typeA().operands;
      });
  if (found == std::end(kShapes))
    return d.fail("is not supported with shape ." + shape +
                  " and operands of ." + types[1]);
  form.shape = &*found;
  if (!setMmaShape(product, form.shape->product, false))
    return d.fail("is not supported with shape ." + shape);
  form.transposed = form.shape->m < product.form().m;
  if (form.transposed)
    std::swap(product.a, product.b);
  return true;
}

/// Operands that add up in the type, in the shape: any of those that do have C
/// and D at the same places.
std::string operandsFor(const std::string &shape, Type sums) {
  for (const WmmaShape &row : kShapes)
    for (const MmaElement &type : kMmaTypes)
      if (row.name == shape && type.operands == row.operands &&
          addsUpIn(sums, type))
        return std::string(type.name);
  return "";
}

bool decodeTransfer(Decoder &d, Inst &i, bool isStore) {
  Transfer &t = i.make<Transfer>();
  int matrix = d.takeOneOf({"a", "b", "c", "d"});
  if (matrix < 0 || isStore != (matrix == 3))
    return d.fail(isStore ? "needs .d" : "needs .a, .b or .c");
  t.matrix = matrix > 1 ? Matrix::Sums : Matrix(matrix);
  const std::string shape = takeMmaShape(d);
  const std::vector<std::string> types = takeMmaTypes(d);
  if (!d.take("sync") || !d.take("aligned") || shape.empty() ||
      types.size() != 1)
    return d.fail("needs .sync.aligned, a shape .mMnNkK and a type");
  int layout = d.takeOneOf({"row", "col"});
  if (layout < 0)
    return d.fail("needs .row or .col");
  t.columnMajor = layout == 1;
  int space = d.takeOneOf({"global", "shared", "shared::cta"});
  t.space = space < 0    ? AccessSpace::Generic
            : space == 0 ? AccessSpace::Global
                         : AccessSpace::Shared;
  std::string operand = types[0], sums = types[0];
  if (t.matrix == Matrix::Sums)
    operand = operandsFor(shape, typeByName(sums));
  else
    sums = operand == "f64"                         ? "f64"
           : operand[0] == 'f' || operand[1] == 'f' ? "f32"
                                                    : "s32";
  if (operand.empty())
    return d.fail("is not supported with shape ." + shape + " and type ." +
                  sums);
  if (!setForm(d, t.form, shape, {sums, operand, operand, sums}))
    return false;
  // Elements smaller than a byte follow each other along K.
  if (t.form.bits(t.matrix) < 8 && t.columnMajor != (t.matrix == Matrix::B))
    return d.fail(std::string("needs ") +
                  (t.matrix == Matrix::B ? ".col" : ".row") +
                  " with elements smaller than a byte");
  i.convergence = Convergence::Aligned;
  i.checksList = true;
  i.fn = isStore ? store : load;
  const Type type = t.form.typeOfRow(t.matrix);
  const uint32_t rows = t.form.rows(t.matrix);
  bool ok = isStore ? d.address(i) && d.list(i, rows, type, false)
                    : d.list(i, rows, type, true) && d.address(i);
  return ok && (!d.operandsLeft() || d.source(i, Type::B32));
}

bool decodeMultiply(Decoder &d, Inst &i) {
  WmmaForm &form = i.make<WmmaForm>();
  if (!d.take("sync") || !d.take("aligned"))
    return d.fail("needs .sync.aligned");
  for (int n = 0; n < 2; ++n)
    if (d.takeOneOf({"row", "col"}) < 0)
      return d.fail("needs the layouts of A and B");
  form.product.saturate = d.take("satfinite");
  d.take("rn"); // the only rounding that the product of doubles has here
  const std::string shape = takeMmaShape(d);
  std::vector<std::string> types = takeMmaTypes(d);
  if (types.size() == 2) // of f16 only the sums' types are named
    types.insert(types.begin() + 1, {"f16", "f16"});
  if (shape.empty() || types.size() != 4)
    return d.fail("needs a shape .mMnNkK and the types of D, A, B and C");
  if (!setForm(d, form, shape, types))
    return false;
  if (form.shape->operands == MmaOperands::Bit) {
    form.product.exclusive = d.take("xor");
    if ((!form.product.exclusive && !d.take("and")) || !d.take("popc"))
      return d.fail("needs .and.popc or .xor.popc");
  }
  i.convergence = Convergence::Aligned;
  i.fn = multiply;
  auto sums = [&](Type type) { return type == Type::F16 ? Type::B32 : type; };
  const MmaSyncForm &product = form.product;
  const uint32_t products = form.down() * form.across();
  const Type operand = form.typeOfRow(Matrix::A);
  return d.list(i, products * product.rowsOf(product.d), sums(product.d),
                true) &&
         d.sourceList(i, form.rows(Matrix::A), operand) &&
         d.sourceList(i, form.rows(Matrix::B), operand) &&
         d.sourceList(i, products * product.rowsOf(product.c), sums(product.c));
}

} // namespace

void fp8::sim::addWmmaOpcodes(OpcodeTable &t) {
  t.add("wmma", [](Decoder &d, Inst &i) {
    switch (d.takeOneOf({"load", "mma", "store"})) {
    case 0:
      return decodeTransfer(d, i, false);
    case 1:
      return decodeMultiply(d, i);
    case 2:
      return decodeTransfer(d, i, true);
    default:
      return d.fail("needs .load, .mma or .store");
    }
  });
}
