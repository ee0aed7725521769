// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// wgmma.mma_async (PTX ISA 9.7.15.5): its four warps issue it one by one; it
// starts when all have, and completes late, after those before it.

#include "ISA/TensorCore/WgmmaOperation.h"
#include "Machine/Machine.h"
#include "Program/Decoder.h"

#include <algorithm>

using namespace fp8::sim;

namespace {

constexpr uint32_t kMaxN = 256;

/// Payload of wgmma.mma_async. Sources: A's descriptor, unless A lies in
/// registers; B's; of a sparse A its metadata. Predicate source: scale-d,
/// unless an immediate. List: D, then A's registers.
struct WgmmaForm {
  uint32_t n;
  MmaFormat a, b;
  MmaResult result;
  bool sparse;
  uint8_t selector; ///< of the threads that have the metadata
  bool saturates;
  bool registerA;
  bool negateA, negateB;
  bool transposeA, transposeB; ///< MN-major
  bool accumulates;            ///< by an immediate scale-d

  unsigned elementBytes() const { return getRow(a).bits / 8; }
  /// Elements that A has in a row, which is half of K where it is sparse.
  uint32_t k() const { return 32 / elementBytes(); }
  uint32_t resultRows() const { return WgmmaOperation::resultRows(result, n); }
  bool sameShape(const WgmmaForm &other) const {
    return n == other.n && result == other.result &&
           elementBytes() == other.elementBytes();
  }

  MmaShape shape() const {
    MmaShape s{};
    s.kind = findKind(a);
    s.a = a;
    s.b = b;
    s.result = result;
    s.saturates = saturates;
    s.negateA = negateA;
    s.negateB = negateB;
    s.transposeA = transposeA;
    s.transposeB = transposeB;
    s.m = kWgmmaM;
    s.n = n;
    s.elementBytes = elementBytes();
    s.k = k();
    return s;
  }
};

/// One warp's part in issuing the operation.
class WgmmaIssue {
public:
  WgmmaIssue(Warp &w, const Inst &i, uint32_t mask)
      : w(w), i(i), form(i.get<WgmmaForm>()), mask(mask), m(w.machine) {}

  bool run() {
    if (!wholeWarpgroup() || !readOperands() || !takeRegisters())
      return false;
    Warpgroup::Step *step = joinWarpgroup(w, i, operands);
    if (!step || !takeShared(*step))
      return false;
    w.releaseWaits(w.cta.warpgroups[w.id / kWarpgroup].waits);
    WgmmaState::Flight flight{&i,
                              ++w.wgmma.issued,
                              form.resultRows(),
                              operation.accumulate,
                              operation.isPaired() ? 16u : 32u,
                              std::move(undefined)};
    for (uint32_t n = 0; n < i.listCount; ++n)
      w.ready[operation.rows[n]] = m.checksOrder ? 0 : ~0u;
    if (m.checksOrder)
      w.wgmma.flights.push_back(std::move(flight));
    else
      flight.land(w, operation.rows);
    if (step->warps == kWarpgroup)
      start(*step);
    leaveWarpgroup(w);
    return true;
  }

private:
  Warp &w;
  const Inst &i;
  const WgmmaForm &form;
  uint32_t mask;
  Machine &m;
  WgmmaOperation operation{};
  std::array<uint64_t, 3> operands{};
  std::vector<WgmmaOperation::Undefined> undefined;

  bool bad(ErrorKind kind, const std::string &message, int lane = -1) {
    m.error(kind, "'" + Machine::mnemonic(&i) + "': " + message, &w, &i, lane,
            true);
    return false;
  }

  bool wholeWarpgroup() {
    if (warpgroupSize(w) < kWarpgroup)
      return bad(
          ErrorKind::InvalidOperation,
          "warp " + std::to_string(w.id) +
              " is not in a complete warpgroup (4 warps, the first a multiple "
              "of 4); launch blocks of a multiple of 128 threads");
    if (mask != ~0u)
      return bad(ErrorKind::DivergentAligned, "needs all lanes of the warp",
                 __builtin_ctz(~mask));
    return true;
  }

  bool same(uint64_t &value, const uint64_t *row, const char *what) {
    value = row[0];
    for (int lane = 1; lane < 32; ++lane)
      if (row[lane] != value)
        return bad(ErrorKind::InvalidOperation,
                   std::string("needs the same ") + what + " in all lanes",
                   lane);
    return true;
  }

  /// An operand in shared memory, of `count` elements in a row.
  bool takeMatrix(uint64_t bits, const char *name, bool mnMajor, uint32_t rows,
                  uint32_t count,
                  std::shared_ptr<const OperandLayout> &layout) {
    MatrixDescriptor descriptor;
    descriptor.mnMajor = mnMajor;
    if (auto wrong = decodeWgmmaDescriptor(bits, operation.shape.elementBytes,
                                           descriptor))
      return bad(ErrorKind::BadDescriptor,
                 std::string("in the descriptor of ") + name + " " + *wrong);
    layout = layoutOf(descriptor, rows, count);
    return true;
  }

  bool readOperands() {
    operation.shape = form.shape();
    const bool registerA = form.registerA;
    uint64_t &a = operands[0], &b = operands[1];
    if ((!registerA && !same(a, w.row(i.s[0]), "descriptor of A")) ||
        !same(b, w.row(i.s[registerA ? 0 : 1]), "descriptor of B"))
      return false;
    operation.sparse = form.sparse;
    operation.selector = form.selector;
    const MmaShape &s = operation.shape;
    if ((!registerA &&
         !takeMatrix(a, "A", s.transposeA, kWgmmaM, s.k, operation.a)) ||
        !takeMatrix(b, "B", s.transposeB, s.n, s.k * (form.sparse ? 2 : 1),
                    operation.b))
      return false;
    uint32_t scale = i.predicateSources ? w.predicate(i, 0)
                     : form.accumulates ? ~0u
                                        : 0;
    if (scale && ~scale)
      return bad(ErrorKind::InvalidOperation,
                 "needs the same scale-d in all lanes");
    operands[2] = operation.accumulate = scale != 0;
    operation.rule = &findSumRule(fp8::chip::MmaEngine::Warpgroup,
                                  operation.shape, m.options.exactAccumulation);
    operation.rows = &m.program.lists[i.list];
    return true;
  }

  /// Whether the register is the accumulator of an operation in flight that
  /// this one goes on with: of the same shape, at the same place.
  bool chained(uint32_t n) {
    uint32_t row = operation.rows[n];
    std::vector<WgmmaState::Flight> &flights = w.wgmma.flights;
    for (auto it = flights.rbegin(); it != flights.rend(); ++it) {
      const Inst &earlier = *it->inst;
      const uint32_t *rows = &m.program.lists[earlier.list];
      const uint32_t *at = n < earlier.listCount && rows[n] == row
                               ? rows + n
                               : std::find(rows, rows + earlier.listCount, row);
      if (at == rows + earlier.listCount)
        continue;
      const WgmmaForm &other = earlier.get<WgmmaForm>();
      bool result = n < form.resultRows(), was = at < rows + other.resultRows();
      // Reading A's registers twice does no harm.
      return result ? was && at - rows == n && form.sameShape(other) : !was;
    }
    return false;
  }

  bool takeRegisters() {
    WgmmaState &state = w.wgmma;
    for (uint32_t n = 0; n < i.listCount; ++n) {
      uint32_t row = operation.rows[n];
      uint32_t undefined = ~w.ready[row];
      bool isResult = n < form.resultRows();
      bool needed = !isResult || operation.accumulate;
      // A sum with what is undefined already is no less so.
      if (isResult && !wgmmaOwner(w, row) && w.isFromUndefined(row, undefined))
        undefined = 0;
      if (undefined && !chained(n) && (needed || wgmmaOwner(w, row))) {
        w.reportUndefined(i, row, undefined, !needed);
        return false;
      }
      if (!m.checksOrder ||
          (state.fences &&
           (state.touched.empty() || state.touched[row] <= state.fences)))
        continue;
      m.error(ErrorKind::MissingWgmmaFence,
              "'" + Machine::mnemonic(&i) + "' uses register " +
                  m.program.rowNames[row] +
                  (state.fences ? ", which another instruction has used since "
                                  "the last wgmma.fence; execute wgmma.fence "
                                  "between the two"
                                : " with no wgmma.fence before it; execute "
                                  "wgmma.fence first"),
              &w, &i, 0);
      ++state.fences; // one message for each fence that is missing
      return !m.stopped;
    }
    return true;
  }

  bool takeShared(Warpgroup::Step &step) {
    if (form.sparse)
      takeMetadata(step);
    if (step.warps == 1)
      for (const auto *layout : {&operation.b, &operation.a})
        if (*layout)
          step.shared.push_back(OperandLayout::access(*layout, w.cta.rank));
    // Each of the four warps reads the operands, so each must be ordered after
    // their writes.
    Warp &first = *w.cta.warps[w.id / kWarpgroup * kWarpgroup];
    AccessTag tag(first.agent(Role::Mma), w.wgmma.issued + 1, i.index);
    step.undefinedRows.resize(step.shared.size());
    for (size_t n = 0; n < step.shared.size(); ++n) {
      bool finds = false;
      if (!w.cta.shared.checkAsync(w, i, 0, *step.shared[n].footprint, tag, -1,
                                   Proxy::Async, &finds))
        return false;
      if (finds)
        operation.leaveUndefined(w, i, n > 0, step.undefinedRows[n], undefined);
    }
    return true;
  }

  /// The words of the warp's threads.
  void takeMetadata(Warpgroup::Step &step) {
    const uint64_t *row = w.row(i.s[form.registerA ? 1 : 2]);
    step.metadata.resize(kWarpgroup * 32);
    std::copy_n(row, 32, &step.metadata[w.id % kWarpgroup * 32]);
  }

  void start(const Warpgroup::Step &step) {
    ++m.report.statistics.mmas;
    operation.metadata = step.metadata;
    uint32_t first = w.id / kWarpgroup * kWarpgroup;
    for (uint32_t n = 0; n < kWarpgroup; ++n)
      operation.warps[n] = w.cta.warps[first + n].get();
    auto op = std::make_unique<AsyncOp>(i, w, 0, Engine::Wgmma);
    op->pipe = int64_t(operation.warps[0]->globalIndex) * 2;
    op->shared = step.shared;
    Warpgroup *group = &w.cta.warpgroups[w.id / kWarpgroup];
    // The time of a product does not depend on its values.
    const bool computes = !m.options.timing;
    op->complete = [operation = operation, group, computes] {
      if (computes)
        operation.run();
      ++group->complete;
      for (Warp *warp : operation.warps)
        warp->wake(WaitKind::Wgmma);
    };
    m.issue(std::move(op));
  }
};

Flow mma(Warp &w, const Inst &i, uint32_t mask) {
  if (!w.group().arrived && !WgmmaIssue(w, i, mask).run())
    return Flow::Next;
  // Where work completes at issue, that is when the last warp comes.
  if (w.machine.checksOrder ||
      w.cta.warpgroups[w.id / kWarpgroup].complete >= w.wgmma.issued)
    return Flow::Next;
  w.group().arrived = true;
  return w.waitFor(WaitKind::Wgmma);
}

/// The types that wgmma has, of those of all MMAs.
std::optional<MmaFormat> findFormat(const std::string &name) {
  for (MmaFormat format :
       {MmaFormat::E4M3, MmaFormat::E5M2, MmaFormat::F16, MmaFormat::BF16,
        MmaFormat::TF32, MmaFormat::U8, MmaFormat::S8})
    if (name == getRow(format).name)
      return format;
  return std::nullopt;
}

std::optional<MmaResult> findResultType(const std::string &name) {
  return name == "f32"   ? std::optional(MmaResult::F32)
         : name == "f16" ? std::optional(MmaResult::F16)
         : name == "s32" ? std::optional(MmaResult::S32)
                         : std::nullopt;
}

/// Whether a kind's products may be added up in `result`, with operands of
/// `format`.
bool addsUpIn(MmaResult result, MmaFormat format) {
  const MmaKind kind = findKind(format);
  for (uint32_t code = 0; code < 4; ++code)
    if (findResult(kind, code) == result)
      return result != MmaResult::F16 || format != MmaFormat::BF16;
  return false;
}

/// PTX ISA 9.7.15.2.
bool isWidth(uint32_t n, MmaFormat format) {
  bool coarse = findKind(format) == MmaKind::I8 && n > 32;
  return n >= 8 && n <= kMaxN && n % (coarse ? 16 : 8) == 0;
}

/// `.m64nNkK.D.A.B`.
bool takeShape(Decoder &d, WgmmaForm &form) {
  const std::vector<std::string> &q = d.text().qualifiers;
  auto at = std::find_if(q.begin(), q.end(), [](const std::string &s) {
    return s.rfind("m64n", 0) == 0;
  });
  if (q.end() - at < 4)
    return d.fail("needs a shape .m64nNkK and the types of D, A and B");
  std::optional<MmaFormat> a = findFormat(at[2]), b = findFormat(at[3]);
  std::optional<MmaResult> result = findResultType(at[1]);
  if (!a || !b)
    return d.fail("is supported with e4m3, e5m2, f16, bf16, tf32, u8 and s8 "
                  "only");
  bool mixes = getRow(*a).bits == 8 && findKind(*a) == findKind(*b);
  if (*a != *b && !mixes)
    return d.fail("cannot multiply ." + at[2] + " by ." + at[3]);
  if (!result || !addsUpIn(*result, *a))
    return d.fail("cannot add up products of ." + at[2] + " in ." + at[1]);
  form.a = *a;
  form.b = *b;
  form.result = *result;
  uint32_t k = form.k() * (form.sparse ? 2 : 1);
  uint32_t n = uint32_t(std::strtoul(at->c_str() + 4, nullptr, 10));
  if (*at != "m64n" + std::to_string(n) + "k" + std::to_string(k) ||
      !isWidth(n, form.a))
    return d.fail(
        "has the shape ." + *at + "; with ." + at[2] + " it must be .m64nNk" +
        std::to_string(k) + " with N a multiple of 8 from 8 to 256" +
        (form.result == MmaResult::S32 ? ", and of 16 above 32" : ""));
  form.n = n;
  for (int part = 0; part < 4; ++part)
    d.take(at[part]);
  form.saturates = form.result == MmaResult::S32 && d.take("satfinite");
  return true;
}

/// A as a descriptor or as four registers.
bool takeA(Decoder &d, Inst &i, WgmmaForm &form) {
  const ast::Operand *a = d.peekOperand();
  if (!a || a->kind != ast::Operand::Kind::Vector)
    return d.source(i, Type::B64);
  d.takeOperand();
  if (a->elements.size() != 4)
    return d.fail("takes A in 4 registers, not " +
                  std::to_string(a->elements.size()));
  form.registerA = true;
  i.listCount += 4;
  for (const ast::Operand &element : a->elements) {
    uint32_t row;
    if (element.kind != ast::Operand::Kind::Register)
      return d.fail("takes A in registers");
    if (!d.row(element, Type::B32, row))
      return false;
    d.program.lists.push_back(row);
  }
  return true;
}

/// imm-scale-a and imm-scale-b.
bool takeScale(Decoder &d, bool &negates) {
  uint64_t scale;
  if (!d.immediate(scale))
    return false;
  if (int64_t(scale) == -1 || uint32_t(scale) == ~0u)
    negates = true;
  else if (scale != 1)
    return d.fail("takes 1 or -1 as imm-scale-a and imm-scale-b");
  return true;
}

/// `sp-meta, sp-sel` of a sparse A.
bool takeMetadata(Decoder &d, Inst &i, WgmmaForm &form) {
  uint64_t selector;
  if (!d.source(i, Type::B32) || !d.immediate(selector))
    return false;
  form.selector = uint8_t(selector);
  // Elements of 8 bits have metadata in all threads.
  uint64_t most = form.elementBytes() == 1 ? 0 : 1;
  return selector <= most ||
         d.fail("takes a sparsity selector from 0 to " + std::to_string(most));
}

/// scale-d, a predicate or an immediate.
bool takeScaleD(Decoder &d, Inst &i, WgmmaForm &form) {
  const ast::Operand *scale = d.peekOperand();
  if (!scale || scale->kind != ast::Operand::Kind::Integer)
    return d.predicateSource(i);
  form.accumulates = scale->value != 0;
  return d.takeOperand();
}

} // namespace

bool fp8::sim::decodeWgmmaMma(Decoder &d, Inst &i) {
  WgmmaForm &form = i.make<WgmmaForm>();
  form.sparse = d.take("sp");
  if (!takeShape(d, form) || !d.list(i, form.resultRows(), Type::B32, true) ||
      !takeA(d, i, form) || !d.source(i, Type::B64) ||
      (form.sparse && !takeMetadata(d, i, form)) || !takeScaleD(d, i, form))
    return false;
  i.wgmma = i.keepsReady = true;
  i.fn = mma;
  if (form.result == MmaResult::S32)
    return true;
  if (!takeScale(d, form.negateA) || !takeScale(d, form.negateB))
    return false;
  if (form.elementBytes() != 2)
    return true;
  for (int n = form.registerA ? 1 : 0; n < 2; ++n) {
    uint64_t transposed;
    if (!d.immediate(transposed))
      return false;
    if (transposed > 1)
      return d.fail("takes 0 or 1 as imm-trans-a and imm-trans-b");
    (n ? form.transposeB : form.transposeA) = transposed;
  }
  return true;
}
