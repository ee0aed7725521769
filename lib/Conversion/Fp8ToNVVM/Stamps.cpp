// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Stamps: what a role writes down, and where.
//
// All stamps of a kernel lie in one variable of its module, so that nobody
// allocates. A unit is a role of a sampled CTA. Heads of the units come first.
// The i-th stamps of all units follow one another. A thread counts its stamps:
// one multiplication makes an address of the count, and one comparison says
// whether there is room. Threads that write nothing begin where there is none.
//
// A stamp has a wait and the hand-over behind it. It is written behind what
// others wait for, or while products are under way. A wait that has nothing to
// wait for reads one clock. Only leaders read clocks: for whole warps ptxas
// reads them into uniform registers (S2UR), and waits for them.
//
// Warps without stamps branch around the stores. A store that a predicate turns
// off costs as much as one that stores: its address, moves into four registers
// in a row, and a wait until it has read them (benchmark/notes/stamps.md). All
// lanes of a warp take such a branch, and PTX says so (bra.uni): else ptxas
// would set up a meeting of the warp. Nothing is read that is not written: a
// role that waits for a special register waits before its first work.
//
// The launch in front may still write the same stamps. In kernels that start
// early a writer waits for it each time, which takes no time from the second
// one on; what writes nothing waits where it does without stamps.
//
// fp8/Launch/Profile.h describes the variable to those who read it.

#include "Stamps.h"
#include "../WaitRecords.h"
#include "Lowering.h"
#include "fp8/IR/Profile.h"

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
using namespace mlir::fp8;

static constexpr unsigned kGlobal = 1; // NVPTX address space
/// In a half of a stamp's word: that the stamp has a wait, or a hand-over.
static constexpr int64_t kIsThere = 1 << 15;
/// A unit's head is so many times further into the variable than its first
/// stamp is behind the heads.
static constexpr int64_t kHeadsPerStamp =
    StampLayout::kHeadBytes / StampLayout::kStampBytes;
/// The words of a cursor (Fp8_StampCursor).
enum CursorWord : int64_t {
  kUnit,
  kBegin,
  kCount,
  kStamp,
  kStampWord = kStamp + 3,
  kWait,
  kWaitWord = kWait + 2
};

std::optional<StampLayout>
mlir::fp8::getStampLayout(FunctionOpInterface kernel) {
  auto table =
      kernel ? kernel->getAttrOfType<DictionaryAttr>(kProfileTableAttrName)
             : DictionaryAttr();
  if (!table)
    return std::nullopt;
  auto get = [&](StringRef name) {
    auto number = table.getAs<IntegerAttr>(name);
    return number ? number.getInt() : 0;
  };
  auto roles = table.getAs<ArrayAttr>("roles");
  StampLayout layout{get("ctas"), roles ? int64_t(roles.size()) : 0,
                     get("stamps")};
  if (layout.ctas < 1 || layout.stamps < 1)
    return std::nullopt;
  auto warpsOf = [&](int64_t role) {
    auto warps = cast<DictionaryAttr>(roles[role]).getAs<IntegerAttr>("warps");
    return warps ? warps.getInt() : 0;
  };
  for (int64_t role = 1; role < layout.roles; ++role)
    if (warpsOf(role) > warpsOf(layout.teller))
      layout.teller = role;
  layout.startsEarly = kernel->hasAttr(Fp8Dialect::kProgrammaticAttrName);
  return layout;
}

LogicalResult mlir::fp8::declareStamps(FunctionOpInterface kernel) {
  std::optional<StampLayout> layout = getStampLayout(kernel);
  if (!layout)
    return kernel.emitOpError("has a profile table without positive numbers "
                              "'ctas' and 'stamps'");
  // Divided, since the product may overflow.
  int64_t most = kMaxStampBytes / StampLayout::kStampBytes;
  if (layout->stamps > most || layout->ctas > most ||
      layout->roles * layout->ctas > most / layout->stamps)
    return kernel.emitOpError()
           << "has " << layout->roles << " roles, of which " << layout->stamps
           << " stamps each in " << layout->ctas << " CTAs take more than "
           << kMaxStampBytes
           << " bytes; profile fewer CTAs, or write fewer stamps";
  Operation *gpuModule = kernel->getParentOp();
  if (SymbolTable::lookupSymbolIn(gpuModule, kStampsName))
    return kernel.emitOpError()
           << "is not the only kernel of its module with stamps, which lie in "
              "one variable; profile one kernel at a time";
  OpBuilder builder = OpBuilder::atBlockBegin(&gpuModule->getRegion(0).front());
  Location loc = kernel.getLoc();
  auto type =
      LLVM::LLVMArrayType::get(builder.getI64Type(), layout->getBytes() / 8);
  auto global = LLVM::GlobalOp::create(builder, loc, type, /*isConstant=*/false,
                                       LLVM::Linkage::External, kStampsName,
                                       Attribute(), /*alignment=*/64, kGlobal);
  builder.createBlock(&global.getInitializerRegion());
  Value zero = LLVM::ZeroOp::create(builder, loc, type);
  LLVM::ReturnOp::create(builder, loc, zero);
  return success();
}

//===----------------------------------------------------------------------===//
// Instructions
//===----------------------------------------------------------------------===//

namespace {
/// Instructions that write stamps.
class StampInstructions : public Instructions {
public:
  StampInstructions(OpBuilder &builder, Location loc, const StampLayout &layout)
      : Instructions(builder, loc), layout(layout) {}

  Value readClock() { return readSpecial("clock"); }
  /// The clock, which only the leader reads.
  Value readClock(Value leader);
  Value readTimer();
  /// The place of the CTA's first stamp behind the heads, and one behind all
  /// room if it is not sampled.
  Value findPlace();
  void begin(Value cursor, Value place, Value time, Value since, Value leader,
             Value warp, int64_t role);
  /// Waits, and returns the clock since when, or 0.
  Value wait(Value barrier, Value parity, Value leader, int64_t limit,
             bool acquiresCluster);
  void keepWait(Value cursor, Value barrier, Value since, Value until);
  void handOver(Value cursor, Value barrier, Value when);
  /// Writes the kept stamp, if there is one.
  void write(Value cursor);
  void end(Value cursor, Value leader);

private:
  /// A special register of 32 bits, read here.
  Value readSpecial(StringRef name);
  Value loadWord(Value cursor, int64_t index);
  void storeWord(Value word, Value cursor, int64_t index);
  /// Makes a stamp of the kept wait, if there is one, and a hand-over.
  void makeStamp(Value cursor, Value handOver, Value when);
  /// Makes a stamp of the kept wait, if there is one.
  void flushWait(Value cursor);
  /// Does what `act` does if the word of the cursor is not 0. LLVM finds that
  /// most are.
  void doIfKept(Value cursor, CursorWord word, function_ref<void()> act);
  /// PTX that warps without stamps branch around. The first operand is the unit
  /// of the cursor; `base` in the PTX is the address of the stamps.
  void runInWriters(const Twine &text, StringRef constraints,
                    ValueRange operands);

  const StampLayout &layout;
};
} // namespace

void StampInstructions::runInWriters(const Twine &text, StringRef constraints,
                                     ValueRange operands) {
  std::string all =
      (Twine("{ .reg .pred p; .reg .b64 base; setp.ge.u32 p, $0, ") +
       Twine(layout.getRowBytes()) + "; @p bra.uni DONE; " +
       (layout.startsEarly ? "griddepcontrol.wait; " : "") + "mov.b64 base, " +
       kStampsName + "; " + text + " DONE: }")
          .str();
  LLVM::InlineAsmOp::create(
      builder, loc, TypeRange(), operands, all, constraints,
      /*has_side_effects=*/true, /*is_align_stack=*/false,
      LLVM::TailCallKind::None, LLVM::AsmDialectAttr(), ArrayAttr());
}

Value StampInstructions::readSpecial(StringRef name) {
  return LLVM::InlineAsmOp::create(
             builder, loc, builder.getI32Type(), ValueRange(),
             ("mov.u32 $0, %" + name + ";").str(), "=r",
             /*has_side_effects=*/true, /*is_align_stack=*/false,
             LLVM::TailCallKind::None, LLVM::AsmDialectAttr(), ArrayAttr())
      .getResult(0);
}

Value StampInstructions::readClock(Value leader) {
  return LLVM::InlineAsmOp::create(
             builder, loc, builder.getI32Type(), leader,
             "@$1 mov.u32 $0, %clock;", "=r,b", /*has_side_effects=*/true,
             /*is_align_stack=*/false, LLVM::TailCallKind::None,
             LLVM::AsmDialectAttr(), ArrayAttr())
      .getResult(0);
}

Value StampInstructions::readTimer() {
  return LLVM::InlineAsmOp::create(
             builder, loc, builder.getI64Type(), ValueRange(),
             "mov.u64 $0, %globaltimer;", "=l", /*has_side_effects=*/true,
             /*is_align_stack=*/false, LLVM::TailCallKind::None,
             LLVM::AsmDialectAttr(), ArrayAttr())
      .getResult(0);
}

Value StampInstructions::findPlace() {
  auto times = [&](Value lhs, Value rhs) {
    return arith::MulIOp::create(builder, loc, lhs, rhs);
  };
  Value row = add(times(readSpecial("ctaid.z"), readSpecial("nctaid.y")),
                  readSpecial("ctaid.y")),
        cta = add(times(row, readSpecial("nctaid.x")), readSpecial("ctaid.x"));
  return select(below(cta, layout.ctas),
                mul(cta, layout.roles * StampLayout::kStampBytes),
                i32(layout.getBytes()));
}

void StampInstructions::begin(Value cursor, Value place, Value time,
                              Value since, Value leader, Value warp,
                              int64_t role) {
  Value unit =
      select(equal(warp, 0), add(place, role * StampLayout::kStampBytes),
             i32(layout.getBytes()));
  storeWord(unit, cursor, kUnit);
  storeWord(readClock(leader), cursor, kBegin);
  storeWord(select(leader, i32(0), i32(layout.stamps)), cursor, kCount);
  for (int64_t word = kStamp; word <= kWaitWord; ++word)
    storeWord(i32(0), cursor, word);
  if (role != layout.teller)
    return;
  runInWriters(".reg .b32 low, high, m; mov.b64 {low, high}, $1; "
               "mov.u32 m, %smid; mad.wide.u32 base, $0, " +
                   Twine(kHeadsPerStamp) +
                   ", base; @$4 st.global.v4.b32 [base], {low, high, $2, m}; "
                   "@$4 st.global.b32 [base+16], $3;",
               "r,l,r,r,b",
               ValueRange{unit, time, since, sharedMemory(), leader});
}

Value StampInstructions::loadWord(Value cursor, int64_t index) {
  Value at = arith::ConstantIndexOp::create(builder, loc, index);
  return memref::LoadOp::create(builder, loc, cursor, at);
}

void StampInstructions::storeWord(Value word, Value cursor, int64_t index) {
  Value at = arith::ConstantIndexOp::create(builder, loc, index);
  memref::StoreOp::create(builder, loc, word, cursor, at);
}

Value StampInstructions::wait(Value barrier, Value parity, Value leader,
                              int64_t limit, bool acquiresCluster) {
  if (!limit) {
    // Of one block, so that LLVM moves no work of the role behind the wait.
    const std::string what =
        std::string(acquiresCluster ? ".parity.acquire.cluster" : ".parity") +
        ".shared::cta.b64 p, [$1], $2";
    return LLVM::InlineAsmOp::create(
               builder, loc, builder.getI32Type(),
               ValueRange{barrier, parity, leader},
               "{ .reg .pred p; mov.b32 $0, 0; mbarrier.test_wait" + what +
                   "; @p bra DONE; @$3 mov.u32 $0, %clock; "
                   "WAIT: mbarrier.try_wait" +
                   what + ", 10000000; @!p bra WAIT; DONE: }",
               "=&r,r,r,b,~{memory}", /*has_side_effects=*/true,
               /*is_align_stack=*/false, LLVM::TailCallKind::None,
               LLVM::AsmDialectAttr(), ArrayAttr())
        .getResult(0);
  }
  auto branch = scf::IfOp::create(builder, loc, TypeRange(builder.getI32Type()),
                                  testBarrier(barrier, parity, acquiresCluster),
                                  /*withElseRegion=*/true);
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToStart(branch.thenBlock());
  scf::YieldOp::create(builder, loc, i32(0));
  builder.setInsertionPointToStart(branch.elseBlock());
  Value since = readClock(leader);
  waitBarrier(barrier, parity, limit, acquiresCluster);
  scf::YieldOp::create(builder, loc, since);
  return branch.getResult(0);
}

void StampInstructions::write(Value cursor) {
  Value count = loadWord(cursor, kCount), word = loadWord(cursor, kStampWord);
  // Not below any limit if nothing is kept.
  Value isKept = compare(arith::CmpIPredicate::ne, word, i32(0));
  runInWriters(
      ".reg .b32 at; mad.lo.u32 at, $1, " + Twine(layout.getRowBytes()) +
          ", $0; mad.wide.u32 base, at, 1, base; "
          "setp.lt.u32 p, $1, " +
          Twine(layout.stamps) + "; @p st.global.v4.b32 [base+" +
          Twine(layout.getHeadsBytes()) + "], {$2, $3, $4, $5};",
      "r,r,r,r,r,r",
      ValueRange{loadWord(cursor, kUnit),
                 select(isKept, count, i32(layout.stamps)),
                 loadWord(cursor, kStamp), loadWord(cursor, kStamp + 1),
                 loadWord(cursor, kStamp + 2), word});
  storeWord(select(isKept, add(count, 1), count), cursor, kCount);
  storeWord(i32(0), cursor, kStampWord);
}

void StampInstructions::doIfKept(Value cursor, CursorWord word,
                                 function_ref<void()> act) {
  auto branch = scf::IfOp::create(
      builder, loc,
      compare(arith::CmpIPredicate::ne, loadWord(cursor, word), i32(0)));
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToStart(branch.thenBlock());
  act();
}

void StampInstructions::makeStamp(Value cursor, Value handOver, Value when) {
  doIfKept(cursor, kStampWord, [&] { write(cursor); });
  storeWord(loadWord(cursor, kWait), cursor, kStamp);
  storeWord(loadWord(cursor, kWait + 1), cursor, kStamp + 1);
  storeWord(when, cursor, kStamp + 2);
  storeWord(bitOr(loadWord(cursor, kWaitWord), handOver), cursor, kStampWord);
  storeWord(i32(0), cursor, kWaitWord);
}

void StampInstructions::flushWait(Value cursor) {
  doIfKept(cursor, kWaitWord, [&] { makeStamp(cursor, i32(0), i32(0)); });
}

// A barrier's address is a multiple of 8, and less than 2^18.
void StampInstructions::keepWait(Value cursor, Value barrier, Value since,
                                 Value until) {
  flushWait(cursor);
  storeWord(since, cursor, kWait);
  storeWord(until, cursor, kWait + 1);
  storeWord(bitOr(shiftLeft(barrier, 13), i32(kIsThere << 16)), cursor,
            kWaitWord);
}

void StampInstructions::handOver(Value cursor, Value barrier, Value when) {
  // Without what an address in a cluster has above 2^18.
  Value place = bitAnd(shiftRight(barrier, 3), i32(kIsThere - 1));
  makeStamp(cursor, bitOr(place, i32(kIsThere)), when);
}

void StampInstructions::end(Value cursor, Value leader) {
  flushWait(cursor);
  write(cursor);
  runInWriters(".reg .b64 t; .reg .b32 low, high, c; mov.u64 t, %globaltimer; "
               "mov.u32 c, %clock; mov.b64 {low, high}, t; "
               "mad.wide.u32 base, $0, " +
                   Twine(kHeadsPerStamp) +
                   ", base; @$3 st.global.v4.b32 [base+32], {low, high, c, "
                   "$1}; @$3 st.global.b32 [base+20], $2;",
               "r,r,r,b",
               ValueRange{loadWord(cursor, kUnit), loadWord(cursor, kCount),
                          loadWord(cursor, kBegin), leader});
}

//===----------------------------------------------------------------------===//
// Patterns
//===----------------------------------------------------------------------===//

/// Adds a pattern for an op of a kernel with a profile table.
template <typename OpT, typename Fn>
static void add(SpellingPatterns &patterns, Fn spell) {
  patterns.add<OpT>([spell](OpT op, auto operands, Instructions &to) {
    StampLayout layout =
        *getStampLayout(op->template getParentOfType<FunctionOpInterface>());
    StampInstructions stamps(to.getBuilder(), op.getLoc(), layout);
    return spell(op, operands, stamps);
  });
}

void mlir::fp8::populateStampPatterns(const TypeConverter &converter,
                                      RewritePatternSet &all) {
  SpellingPatterns patterns{converter, all};
  patterns.add<StampClockOp>(
      [](StampClockOp op, auto operands, Instructions &to) {
        StampInstructions stamps(to.getBuilder(), op.getLoc(), {});
        return op.getLeader() ? stamps.readClock(operands.getLeader()[0])
                              : stamps.readClock();
      });
  patterns.add<StampWaitOp>(
      [](StampWaitOp op, auto operands, Instructions &to) {
        return StampInstructions(to.getBuilder(), op.getLoc(), {})
            .wait(operands.getBarrier()[0], operands.getParity()[0],
                  operands.getLeader()[0], op.getLimit(), op.getCluster());
      });
  ::add<StampPlaceOp>(patterns,
                      [](StampPlaceOp op, Operands<StampPlaceOp>,
                         StampInstructions &to) { return to.findPlace(); });
  patterns.add<StampTimeOp>([](StampTimeOp op, auto, Instructions &to) {
    return StampInstructions(to.getBuilder(), op.getLoc(), {}).readTimer();
  });
  ::add<StampBeginOp>(patterns, [](StampBeginOp op,
                                   Operands<StampBeginOp> operands,
                                   StampInstructions &to) {
    to.begin(operands.getCursor()[0], operands.getPlace()[0],
             operands.getTime()[0], operands.getSince()[0],
             operands.getLeader()[0], operands.getWarp()[0], op.getRole());
  });
  ::add<StampWaitedOp>(patterns, [](StampWaitedOp,
                                    Operands<StampWaitedOp> operands,
                                    StampInstructions &to) {
    to.keepWait(operands.getCursor()[0], operands.getBarrier()[0],
                operands.getSince()[0], operands.getUntil()[0]);
  });
  ::add<StampHandOverOp>(patterns, [](StampHandOverOp,
                                      Operands<StampHandOverOp> operands,
                                      StampInstructions &to) {
    to.handOver(operands.getCursor()[0], operands.getBarrier()[0],
                operands.getWhen()[0]);
  });
  ::add<StampWriteOp>(
      patterns,
      [](StampWriteOp, Operands<StampWriteOp> operands, StampInstructions &to) {
        to.write(operands.getCursor()[0]);
      });
  ::add<StampEndOp>(patterns, [](StampEndOp, Operands<StampEndOp> operands,
                                 StampInstructions &to) {
    to.end(operands.getCursor()[0], operands.getLeader()[0]);
  });
}
