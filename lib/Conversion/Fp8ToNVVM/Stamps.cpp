// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Stamps: what a role writes down, and where.
//
// All stamps of a kernel lie in one variable of its module, so that nobody
// allocates. A unit is a role of a sampled CTA. Heads of the units come first.
// The i-th stamps of all units follow one another. A thread counts its stamps:
// one multiplication makes an address of the count, and one comparison says
// whether there is room. Threads that write nothing begin where there is none.
// The kernel finds its CTA's place once, at its entry.
//
// A stamp has a wait and the hand-over behind it. It is written behind what
// others wait for, or while products are under way. A wait that has nothing to
// wait for reads one clock. Only leaders read clocks where all threads are
// together: for whole warps ptxas reads them into uniform registers, and waits
// for them in front of products.
//
// Where all threads are together nothing branches: ptxas would set up a meeting
// of the warp. Nothing is read that is not written: a role that waits for the
// timer or for a special register waits before its first work.
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
/// The words of a cursor: the count, the kept stamp, the kept wait.
enum CursorWord : int64_t {
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
/// Instructions that write stamps. `cursor` is a memref of i32: how many stamps
/// the thread has written, from `layout.stamps` on if it writes none; the stamp
/// that it writes next; and the wait that no stamp has yet.
class StampInstructions : public Instructions {
public:
  StampInstructions(OpBuilder &builder, Location loc, const StampLayout &layout)
      : Instructions(builder, loc), layout(layout) {}

  Value readClock() { return readSpecial("clock"); }
  /// The clock, which only the leader reads.
  Value readClock(Value leader);
  /// The timer, in CTAs that are sampled.
  Value readTimer(Value place);
  /// The place of the CTA's first stamp behind the heads, and one behind all
  /// room if it is not sampled.
  Value findPlace();
  void begin(Value cursor, Value place, Value time, Value since, Value leader,
             Value warp, int64_t role);
  /// Waits, and returns the clock since when, or 0.
  Value wait(Value barrier, Value parity, int64_t limit, bool acquiresCluster);
  void keepWait(Value cursor, Value place, Value barrier, Value since,
                Value until, int64_t role);
  void handOver(Value cursor, Value place, Value barrier, Value when,
                int64_t role);
  /// Writes the kept stamp, if there is one.
  void write(Value cursor, Value place, int64_t role);
  void end(Value cursor, Value place, Value leader, Value warp, int64_t role);

private:
  /// A special register of 32 bits, read here.
  Value readSpecial(StringRef name);
  /// The place of the unit's first stamp behind the heads, if this thread
  /// writes.
  Value findUnit(Value place, Value leader, Value warp, int64_t role);
  Value loadWord(Value cursor, int64_t index);
  void storeWord(Value word, Value cursor, int64_t index);
  /// Makes a stamp of the kept wait, if there is one, and a hand-over.
  void makeStamp(Value cursor, Value place, Value handOver, Value when,
                 int64_t role);
  /// Makes a stamp of the kept wait, if there is one.
  void flushWait(Value cursor, Value place, int64_t role);
  /// Does what `act` does if the word of the cursor is not 0. LLVM finds that
  /// most are.
  void doIfKept(Value cursor, CursorWord word, function_ref<void()> act);
  /// The address in the variable, so many bytes behind the place.
  Value addressOf(Value place, int64_t offset = 0);
  Value addressOfHead(Value unit) {
    return addressOf(
        mul(unit, StampLayout::kHeadBytes / StampLayout::kStampBytes));
  }
  /// PTX with a predicate p: the first operand is less than `limit`. ptxas
  /// would set up a meeting of the warp behind a branch.
  Value runBelow(int64_t limit, const Twine &text, StringRef constraints,
                 ValueRange operands, Type result = {});

  const StampLayout &layout;
};
} // namespace

Value StampInstructions::runBelow(int64_t limit, const Twine &text,
                                  StringRef constraints, ValueRange operands,
                                  Type result) {
  std::string all =
      (Twine("{ .reg .pred p; setp.lt.u32 p, $") + (result ? "1" : "0") + ", " +
       Twine(limit) + "; " + text + " }")
          .str();
  auto made = LLVM::InlineAsmOp::create(
      builder, loc, result ? TypeRange(result) : TypeRange(), operands, all,
      constraints, /*has_side_effects=*/true, /*is_align_stack=*/false,
      LLVM::TailCallKind::None, LLVM::AsmDialectAttr(), ArrayAttr());
  return result ? made.getResult(0) : Value();
}

Value StampInstructions::addressOf(Value place, int64_t offset) {
  auto type = LLVM::LLVMPointerType::get(builder.getContext(), kGlobal);
  Value base = LLVM::AddressOfOp::create(builder, loc, type, kStampsName);
  Value bytes = LLVM::ZExtOp::create(builder, loc, builder.getI64Type(), place);
  Value address = LLVM::GEPOp::create(builder, loc, type, builder.getI8Type(),
                                      base, ArrayRef<LLVM::GEPArg>{bytes});
  if (offset)
    address =
        LLVM::GEPOp::create(builder, loc, type, builder.getI8Type(), address,
                            ArrayRef<LLVM::GEPArg>{int32_t(offset)});
  return LLVM::PtrToIntOp::create(builder, loc, builder.getI64Type(), address);
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

Value StampInstructions::readTimer(Value place) {
  return runBelow(layout.getRowBytes(),
                  "mov.b64 $0, 0; @p mov.u64 $0, %globaltimer;", "=&l,r", place,
                  builder.getI64Type());
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

Value StampInstructions::findUnit(Value place, Value leader, Value warp,
                                  int64_t role) {
  return select(bitAnd(leader, equal(warp, 0)),
                add(place, role * StampLayout::kStampBytes),
                i32(layout.getBytes()));
}

void StampInstructions::begin(Value cursor, Value place, Value time,
                              Value since, Value leader, Value warp,
                              int64_t role) {
  Value unit = findUnit(place, leader, warp, role);
  storeWord(
      select(below(unit, layout.getRowBytes()), i32(0), i32(layout.stamps)),
      cursor, kCount);
  for (int64_t word = kStamp; word <= kWaitWord; ++word)
    storeWord(i32(0), cursor, word);
  const std::string text =
      role == layout.teller
          ? ".reg .b32 low, high, c, m; mov.b64 {low, high}, $2; "
            "@p mov.u32 c, %clock; @p mov.u32 m, %smid; "
            "@p st.global.v4.b32 [$1], {low, high, $3, c}; "
            "@p st.global.v2.b32 [$1+16], {m, $4};"
          : ".reg .b32 c; @p mov.u32 c, %clock; "
            "@p st.global.b32 [$1+12], c;";
  runBelow(layout.getRowBytes(), text, "r,l,l,r,r",
           ValueRange{unit, addressOfHead(unit), time, since, sharedMemory()});
}

Value StampInstructions::loadWord(Value cursor, int64_t index) {
  Value at = arith::ConstantIndexOp::create(builder, loc, index);
  return memref::LoadOp::create(builder, loc, cursor, at);
}

void StampInstructions::storeWord(Value word, Value cursor, int64_t index) {
  Value at = arith::ConstantIndexOp::create(builder, loc, index);
  memref::StoreOp::create(builder, loc, word, cursor, at);
}

Value StampInstructions::wait(Value barrier, Value parity, int64_t limit,
                              bool acquiresCluster) {
  if (!limit) {
    // Of one block, so that LLVM moves no work of the role behind the wait.
    const std::string what =
        std::string(acquiresCluster ? ".parity.acquire.cluster" : ".parity") +
        ".shared::cta.b64 p, [$1], $2";
    return LLVM::InlineAsmOp::create(
               builder, loc, builder.getI32Type(), ValueRange{barrier, parity},
               "{ .reg .pred p; mov.b32 $0, 0; mbarrier.test_wait" + what +
                   "; @p bra DONE; mov.u32 $0, %clock; "
                   "WAIT: mbarrier.try_wait" +
                   what + ", 10000000; @!p bra WAIT; DONE: }",
               "=&r,r,r,~{memory}", /*has_side_effects=*/true,
               /*is_align_stack=*/false, LLVM::TailCallKind::None,
               LLVM::AsmDialectAttr(), ArrayAttr())
        .getResult(0);
  }
  auto branch = scf::IfOp::create(
      builder, loc, TypeRange(builder.getI32Type()),
      testBarrier(barrier, parity, acquiresCluster), /*withElseRegion=*/true);
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToStart(branch.thenBlock());
  scf::YieldOp::create(builder, loc, i32(0));
  builder.setInsertionPointToStart(branch.elseBlock());
  Value since = readClock();
  waitBarrier(barrier, parity, limit, acquiresCluster);
  scf::YieldOp::create(builder, loc, since);
  return branch.getResult(0);
}

void StampInstructions::write(Value cursor, Value place, int64_t role) {
  Value count = loadWord(cursor, kCount), word = loadWord(cursor, kStampWord);
  Value first = addressOf(place, layout.getHeadsBytes() +
                                     role * StampLayout::kStampBytes);
  // Not below any limit if nothing is kept.
  Value isKept = compare(arith::CmpIPredicate::ne, word, i32(0));
  runBelow(layout.stamps,
           ".reg .b64 a; mad.wide.u32 a, $0, " + Twine(layout.getRowBytes()) +
               ", $1; @p st.global.v4.b32 [a], {$2, $3, $4, $5};",
           "r,l,r,r,r,r",
           ValueRange{select(isKept, count, i32(layout.stamps)), first,
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

void StampInstructions::makeStamp(Value cursor, Value place, Value handOver,
                                  Value when, int64_t role) {
  doIfKept(cursor, kStampWord, [&] { write(cursor, place, role); });
  storeWord(loadWord(cursor, kWait), cursor, kStamp);
  storeWord(loadWord(cursor, kWait + 1), cursor, kStamp + 1);
  storeWord(when, cursor, kStamp + 2);
  storeWord(bitOr(loadWord(cursor, kWaitWord), handOver), cursor, kStampWord);
  storeWord(i32(0), cursor, kWaitWord);
}

void StampInstructions::flushWait(Value cursor, Value place, int64_t role) {
  doIfKept(cursor, kWaitWord,
           [&] { makeStamp(cursor, place, i32(0), i32(0), role); });
}

// A barrier's address is a multiple of 8, and less than 2^18.
void StampInstructions::keepWait(Value cursor, Value place, Value barrier,
                                 Value since, Value until, int64_t role) {
  flushWait(cursor, place, role);
  storeWord(since, cursor, kWait);
  storeWord(until, cursor, kWait + 1);
  storeWord(bitOr(shiftLeft(barrier, 13), i32(kIsThere << 16)), cursor,
            kWaitWord);
}

void StampInstructions::handOver(Value cursor, Value place, Value barrier,
                                 Value when, int64_t role) {
  makeStamp(cursor, place, bitOr(shiftRight(barrier, 3), i32(kIsThere)), when,
            role);
}

void StampInstructions::end(Value cursor, Value place, Value leader, Value warp,
                            int64_t role) {
  flushWait(cursor, place, role);
  write(cursor, place, role);
  Value count = loadWord(cursor, kCount);
  Value unit = findUnit(place, leader, warp, role);
  runBelow(layout.getRowBytes(),
           ".reg .b64 t; .reg .b32 low, high, c; "
           "@p mov.u64 t, %globaltimer; @p mov.u32 c, %clock; "
           "@p mov.b64 {low, high}, t; "
           "@p st.global.v4.b32 [$1+32], {low, high, c, $2};",
           "r,l,r", ValueRange{unit, addressOfHead(unit), count});
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
  patterns.add<StampClockOp>([](StampClockOp op, auto operands,
                                Instructions &to) {
    StampInstructions stamps(to.getBuilder(), op.getLoc(), {});
    return op.getLeader() ? stamps.readClock(operands.getLeader()[0])
                          : stamps.readClock();
  });
  patterns.add<StampWaitOp>([](StampWaitOp op, auto operands,
                               Instructions &to) {
    return StampInstructions(to.getBuilder(), op.getLoc(), {})
        .wait(operands.getBarrier()[0], operands.getParity()[0], op.getLimit(),
              op.getCluster());
  });
  ::add<StampPlaceOp>(patterns,
                      [](StampPlaceOp op, Operands<StampPlaceOp>,
                         StampInstructions &to) { return to.findPlace(); });
  ::add<StampTimeOp>(patterns,
                     [](StampTimeOp op, Operands<StampTimeOp> operands,
                        StampInstructions &to) {
                       return to.readTimer(operands.getPlace()[0]);
                     });
  ::add<StampBeginOp>(patterns, [](StampBeginOp op,
                                   Operands<StampBeginOp> operands,
                                   StampInstructions &to) {
    to.begin(operands.getCursor()[0], operands.getPlace()[0],
             operands.getTime()[0], operands.getSince()[0],
             operands.getLeader()[0], operands.getWarp()[0], op.getRole());
  });
  ::add<StampWaitedOp>(patterns, [](StampWaitedOp op,
                                    Operands<StampWaitedOp> operands,
                                    StampInstructions &to) {
    to.keepWait(operands.getCursor()[0], operands.getPlace()[0],
                operands.getBarrier()[0], operands.getSince()[0],
                operands.getUntil()[0], op.getRole());
  });
  ::add<StampHandOverOp>(patterns, [](StampHandOverOp op,
                                      Operands<StampHandOverOp> operands,
                                      StampInstructions &to) {
    to.handOver(operands.getCursor()[0], operands.getPlace()[0],
                operands.getBarrier()[0], operands.getWhen()[0], op.getRole());
  });
  ::add<StampWriteOp>(patterns, [](StampWriteOp op,
                                   Operands<StampWriteOp> operands,
                                   StampInstructions &to) {
    to.write(operands.getCursor()[0], operands.getPlace()[0], op.getRole());
  });
  ::add<StampEndOp>(patterns, [](StampEndOp op, Operands<StampEndOp> operands,
                                 StampInstructions &to) {
    to.end(operands.getCursor()[0], operands.getPlace()[0],
           operands.getLeader()[0], operands.getWarp()[0], op.getRole());
  });
}
