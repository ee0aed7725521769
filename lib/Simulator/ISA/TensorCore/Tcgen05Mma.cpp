// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// tcgen05.mma (PTX ISA 9.7.16.10). The MMAs of a thread and their commits
// complete in order.

#include "ISA/TensorCore/Tcgen05.h"
#include "ISA/TensorCore/Tcgen05Issue.h"
#include "ISA/TensorCore/UndefinedRows.h"

#include "ISA/Alu/Alu.h"

using namespace fp8::sim;

namespace {

/// Payload of tcgen05.mma. Sources: D, A, B, instruction descriptor, scales of
/// A and of B if any. Source list: the address of a sparse A's metadata.
/// Predicate source 0: enable-input-d. List: disable-output-lane.
struct MmaForm {
  MmaKind kind;
  bool pair;        ///< .cta_group::2
  bool tensorA;     ///< A lies in tensor memory
  bool masksLanes;  ///< disable-output-lane is given
  bool scalesInput; ///< scale-input-d is given
  uint8_t exponent; ///< scale-input-d: D is multiplied by 2 to minus this
  uint8_t scales;   ///< of a row; 0: none
  uint32_t offsetA; ///< of A's address in tensor memory
  uint32_t scaleOffset[2]; ///< of those of A's and B's scales
  uint32_t metadataOffset; ///< of the metadata's
  bool sparse;             ///< .sp
  bool stationary;         ///< .ws
  bool shiftsA;            ///< .ashift
  bool masksColumns;       ///< a zero-column mask is source 4
};

/// CUTLASS passes addresses of scales with the ID of the scales in the two
/// highest bits, which belong to no lane.
constexpr uint32_t kAddressBits = 0x3fffffff;

/// One MMA on its way from the operands of the instruction to the queue.
class MmaIssue : TensorCoreIssue {
public:
  MmaIssue(Warp &w, const Inst &i, int lane)
      : TensorCoreIssue(w, i, lane, i.get<MmaForm>().pair),
        form(i.get<MmaForm>()), operation(std::make_shared<MmaOperation>()),
        shape(operation->shape) {}

  void run() {
    if (!readOperands() || !begin(issue()) || !takeAccumulator() || !takeA() ||
        !takeB() || !takeScales() || !takeMetadata() || !checkOperands())
      return;
    ++m.report.statistics.mmas;
    if (m.timing)
      return trace();
    std::array<MmaSide, 2> sides;
    for (size_t side = 0; side < ctas.size(); ++side)
      sides[side] = {ctas[side]->shared.data(), &ctas[side]->tensor};
    finish([warp = &w, inst = &i, lane = lane, sides, operation = operation,
            undefined = std::move(undefined)] {
      if (auto wrong = multiply(*operation, sides))
        warp->machine.error(ErrorKind::InvalidOperation,
                            "'" + Machine::mnemonic(inst) + "': " + *wrong,
                            warp, inst, lane, true);
      for (const UndefinedOperand &operand : undefined)
        leaveUndefined(*operation, operand, sides);
    });
  }

private:
  const MmaForm &form;
  std::shared_ptr<MmaOperation> operation;
  MmaShape &shape;
  std::vector<UndefinedOperand> undefined;

  /// The time of a product does not depend on its values. Each SM of a pair
  /// reads its half of both operands (PTX ISA 9.7.16.10.5), 32 bytes deep.
  void trace() {
    uint32_t rowsRead = (form.tensorA ? 0 : shape.aRows()) + shape.bRows();
    m.timing->multiplied(w, {shape.aRows(), shape.n, 32 * rowsRead, pair});
    finish([] {});
  }

  TensorIssue issue() const {
    uint32_t accumulator = operation->firstLane << 16 | operation->dColumn;
    return {lane,    accumulator,         shape.m,
            shape.n, uint8_t(shape.kind), shape.sparse};
  }

  bool readOperands() {
    uint32_t idesc = uint32_t(w.row(i.s[3])[lane]);
    if (auto wrong = decodeInstructionDescriptor(idesc, form.kind, pair, shape,
                                                 form.scales, form.sparse,
                                                 form.stationary))
      return bad(ErrorKind::BadDescriptor,
                 "in the instruction descriptor " + *wrong);
    operation->rule = &findSumRule(fp8::chip::MmaEngine::TensorMemory, shape,
                                   m.options.exactAccumulation);
    uint32_t address = uint32_t(w.row(i.s[0])[lane]) + uint32_t(i.offset);
    if (!shape.mayStartAt(address >> 16))
      return bad(ErrorKind::OutOfBounds,
                 std::string("the accumulator must start at lane 0") +
                     (shape.spreads() ? " or 16" : "") + ", not " +
                     std::to_string(address >> 16));
    operation->firstLane = address >> 16;
    operation->dColumn = address & 0xffff;
    operation->accumulate = w.predicate(i, 0) >> lane & 1;
    if (form.masksColumns)
      if (auto wrong = decodeColumnMask(w.row(i.s[4])[lane], shape,
                                        operation->zeroColumns))
        return bad(ErrorKind::Unsupported,
                   "in the zero-column mask descriptor " + *wrong);
    operation->shiftsA = form.shiftsA;
    if (form.shiftsA && shape.aRows() != kTensorLanes)
      return bad(ErrorKind::BadDescriptor,
                 ".ashift needs M 128, or 256 for .cta_group::2");
    if (form.scalesInput)
      operation->scaleD = 1.0f / float(uint64_t(1) << form.exponent);
    if (form.masksLanes)
      for (uint32_t n = 0; n < i.listCount; ++n)
        operation->disabledLanes[n] =
            uint32_t(w.row(m.program.lists[i.list + n])[lane]);
    if (operation->dColumn + shape.dColumns() > kTensorColumns)
      return bad(ErrorKind::OutOfBounds,
                 "the accumulator ends at column " +
                     std::to_string(operation->dColumn + shape.dColumns()) +
                     " of 512");
    return true;
  }

  bool takeAccumulator() {
    TensorRegion d{operation->units(), uint16_t(operation->dColumn),
                   uint16_t(shape.dColumns()), true, 0};
    d.adds = operation->accumulate;
    TensorRegion input = d;
    input.write = false;
    return (!operation->accumulate || checkTensor(input)) && takeTensor(d);
  }

  bool takeA() {
    if (!form.tensorA)
      return takeMatrix(1, "A", shape.transposeA, shape.aRows(),
                        shape.kStored(), shape.a, operation->a);
    uint32_t address = uint32_t(w.row(i.s[1])[lane]) + form.offsetA;
    if (shape.transposeA)
      return bad(ErrorKind::BadDescriptor,
                 "A in tensor memory must be K-major");
    if (!startsAt("A in tensor memory", address, operation->firstLane))
      return false;
    if (pair && shape.n % 32)
      return bad(ErrorKind::Unsupported,
                 "A in tensor memory is supported for a CTA pair only with N a "
                 "multiple of 32");
    operation->aColumn = address & 0xffff;
    return takeColumns("A", operation->units(), operation->aColumn, 8);
  }

  bool takeB() {
    return takeMatrix(2, "B", shape.transposeB, shape.bRows(),
                      shape.kStored() * (form.sparse ? 2 : 1), shape.b,
                      operation->b);
  }

  /// An operand in shared memory, of `count` elements in a row.
  bool takeMatrix(unsigned source, const char *name, bool mnMajor,
                  uint32_t rows, uint32_t count, MmaFormat format,
                  std::shared_ptr<const OperandLayout> &layout) {
    return takeShared(source, name, mnMajor, shape.elementBytes, rows, count,
                      usedBytes(shape, format), layout);
  }

  /// The operands in shared memory, in the order in which they were taken.
  bool checkOperands() {
    std::vector<bool> found;
    if (!checkShared(&found))
      return false;
    size_t n = 0;
    for (bool isA : {true, false})
      for (uint32_t side = 0; side < ctas.size(); ++side)
        if (const auto &layout = isA ? operation->a : operation->b;
            layout && found[n++])
          undefined.push_back(
              {isA, side,
               findUndefinedRows(ctas[side]->shared, i, *layout, shape,
                                 isA ? shape.a : shape.b)});
    return true;
  }

  /// Each CTA of a pair holds the metadata of its own rows of A.
  bool takeMetadata() {
    if (!form.sparse)
      return true;
    if (shape.aRows() != kTensorLanes)
      return bad(ErrorKind::Unsupported,
                 "a sparse A is supported with 128 rows in each CTA only");
    uint32_t address = uint32_t(w.row(m.program.lists[i.sourceList])[lane]) +
                       form.metadataOffset;
    if (!startsAt("the metadata", address, operation->firstLane))
      return false;
    operation->metadataColumn = address & 0xffff;
    bool bytes = shape.elementBytes == 1;
    return takeColumns("the metadata", 0xff,
                       operation->metadataColumn + (bytes ? 0 : shape.selector),
                       bytes ? 2 : 1);
  }

  /// Layouts that use half of the lanes have A, the accumulator and the
  /// metadata in the same half (PTX ISA 9.7.16.10.5).
  bool startsAt(const char *name, uint32_t address, uint32_t first) {
    return address >> 16 == first ||
           bad(ErrorKind::OutOfBounds,
               std::string(name) + " must start at lane " +
                   std::to_string(first) +
                   (first ? ", where the accumulator does" : "") + ", not " +
                   std::to_string(address >> 16));
  }

  bool takeColumns(const char *name, uint8_t units, uint32_t column,
                   uint32_t count) {
    if (column + count > kTensorColumns)
      return bad(ErrorKind::OutOfBounds,
                 std::string(name) + " ends at column " +
                     std::to_string(column + count) + " of 512");
    return takeTensor({units, uint16_t(column), uint16_t(count), false, 0});
  }

  /// Each CTA of a pair holds the scales of its own rows of A, and of all of
  /// B's.
  bool takeScales() {
    return !form.scales || (takeScale(4, "the scales of A", form.scaleOffset[0],
                                      shape.aRows(), operation->aScaleColumn) &&
                            takeScale(5, "the scales of B", form.scaleOffset[1],
                                      shape.n, operation->bScaleColumn));
  }

  bool takeScale(unsigned source, const char *name, uint32_t offset,
                 uint32_t rows, uint32_t &column) {
    uint32_t address = uint32_t(w.row(i.s[source])[lane]) + offset;
    if (!startsAt(name, address & kAddressBits, 0))
      return false;
    column = address & 0xffff;
    return takeColumns(name, 0xff, column, (rows + 31) / 32);
  }
};

Flow mma(Warp &w, const Inst &i, uint32_t mask) {
  return issueByOneLane<MmaIssue>(w, i, mask, "an MMA");
}

/// The qualifier that begins with `prefix`; "" if there is none.
std::string findQualifier(const Decoder &d, std::string_view prefix) {
  for (const std::string &qualifier : d.text().qualifiers)
    if (qualifier.compare(0, prefix.size(), prefix) == 0)
      return qualifier;
  return {};
}

/// What a collector buffer keeps has no effect on results. Only .ws has those
/// of B.
bool takeCollector(Decoder &d, const MmaForm &form) {
  std::string qualifier = findQualifier(d, "collector::");
  if (qualifier.empty())
    return true;
  const std::string buffers = form.stationary ? "b0 b1 b2 b3 " : "a ";
  std::string_view rest = std::string_view(qualifier).substr(11);
  size_t colons = rest.find("::");
  bool isBuffer =
      colons != rest.npos &&
      buffers.find(std::string(rest.substr(0, colons)) + " ") != buffers.npos;
  std::string_view use = isBuffer ? rest.substr(colons + 2) : rest;
  if (!isBuffer ||
      (use != "fill" && use != "use" && use != "lastuse" && use != "discard"))
    return d.fail("takes no ." + qualifier +
                  (form.stationary ? " with .ws; the buffers are b0 to b3"
                                   : " without .ws; the buffer is a"));
  if (form.shiftsA && use != "lastuse" && use != "discard")
    return d.fail("takes .ashift only with .collector::a::lastuse or discard");
  return d.take(qualifier);
}

bool takeKind(Decoder &d, MmaForm &form) {
  form.sparse = d.take("sp");
  form.stationary = d.take("ws");
  form.shiftsA = d.take("ashift");
  constexpr std::string_view prefix = "kind::";
  std::string qualifier = findQualifier(d, prefix);
  auto kind = findKind(std::string_view(qualifier).substr(
      qualifier.empty() ? 0 : prefix.size()));
  if (!kind)
    return d.fail("needs .kind::f16, tf32, f8f6f4, i8, mxf8f6f4, mxf4 or "
                  "mxf4nvf4");
  form.kind = *kind;
  if (form.stationary && (form.pair || form.shiftsA || hasScales(*kind)))
    return d.fail("takes .ws only with .cta_group::1, without .ashift and "
                  "without .block_scale");
  return d.take(qualifier) && takeCollector(d, form);
}

/// .block_scale and how many scales a row has.
bool takeScaleVector(Decoder &d, MmaForm &form) {
  std::string kind = std::string(".kind::") + getRow(form.kind).name;
  bool scales = hasScales(form.kind);
  if (d.take("block_scale") != scales)
    return d.fail(scales ? "needs .block_scale with " + kind
                         : "takes no .block_scale with " + kind);
  if (!scales)
    return true;
  std::string vector = findQualifier(d, "scale_vec::");
  if (vector.empty())
    vector = findQualifier(d, "block1");
  if (vector.empty())
    vector = findQualifier(d, "block3");
  form.scales = uint8_t(findScaleCount(form.kind, vector));
  if (!form.scales)
    return d.fail("needs " + listScaleCounts(form.kind) + " with " + kind);
  return vector.empty() || d.take(vector);
}

bool takeTensorAddress(Decoder &d, Inst &i, uint32_t &offset) {
  uint64_t wide = 0;
  if (!d.address(i, wide))
    return false;
  offset = uint32_t(wide);
  return true;
}

bool takeOperands(Decoder &d, Inst &i, MmaForm &form) {
  if (!d.address(i))
    return false;
  const ast::Operand *a = d.peekOperand();
  form.tensorA = a && a->kind == ast::Operand::Kind::Address;
  if (form.tensorA ? !takeTensorAddress(d, i, form.offsetA)
                   : !d.source(i, Type::B64))
    return false;
  if (form.shiftsA && !form.tensorA)
    return d.fail("takes .ashift only with A in tensor memory");
  Inst metadata;
  if (!d.source(i, Type::B64) ||
      (form.sparse && !takeTensorAddress(d, metadata, form.metadataOffset)) ||
      !d.source(i, Type::B32))
    return false;
  if (form.sparse) {
    i.sourceList = uint32_t(d.program.lists.size());
    i.sourceListCount = 1;
    i.needsSourceList = true;
    d.program.lists.push_back(metadata.s[0]);
  }
  if (form.scales)
    for (uint32_t &offset : form.scaleOffset)
      if (!takeTensorAddress(d, i, offset))
        return false;
  const ast::Operand *lanes = d.peekOperand();
  if (!form.scales && !form.stationary && lanes &&
      lanes->kind == ast::Operand::Kind::Vector) {
    form.masksLanes = true;
    if (!d.list(i, form.pair ? 8 : 4, Type::B32, false))
      return false;
  }
  return d.predicateSource(i);
}

bool takeInputScale(Decoder &d, Inst &i, MmaForm &form) {
  if (!d.operandsLeft())
    return true;
  if (form.stationary) {
    form.masksColumns = true;
    return d.source(i, Type::B64);
  }
  if (!getRow(form.kind).has(kScalesInput))
    return d.fail(std::string("takes no scale-input-d with .kind::") +
                  getRow(form.kind).name);
  uint64_t exponent = 0;
  if (!d.immediate(exponent))
    return false;
  form.scalesInput = true;
  form.exponent = uint8_t(exponent);
  return exponent <= 15 || d.fail("takes scale-input-d from 0 to 15");
}

} // namespace

bool fp8::sim::decodeTcgen05Mma(Decoder &d, Inst &i) {
  MmaForm &form = i.make<MmaForm>();
  i.fn = mma;
  i.tensorOp = TensorOp::Mma;
  if (!takeCtaGroup(d, form.pair) || !takeKind(d, form) ||
      !takeScaleVector(d, form) || !takeOperands(d, i, form))
    return false;
  return takeInputScale(d, i, form);
}
