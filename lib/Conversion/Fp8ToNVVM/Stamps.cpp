// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Stamps: what a role writes down, and where.
//
// All stamps of a kernel lie in one variable of its module, so that nobody
// allocates. A unit is a role of a sampled CTA. Heads of the units come first.
// The i-th stamps of all units follow one another: the place of a unit's next
// stamp is one number, which grows by a constant, and one comparison with
// another constant says whether there is room. Threads that write nothing begin
// where there is none. The kernel finds its CTA's place once, at its entry.
//
// Nothing branches, and nothing is read that is not written: a role that waits
// for the timer or for a special register waits before its first work.
//
// fp8/Launch/Profile.h describes the variable to those who read it.

#include "Stamps.h"
#include "../WaitRecords.h"
#include "Lowering.h"
#include "fp8/IR/Profile.h"

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"

using namespace mlir;
using namespace mlir::fp8;

static constexpr unsigned kGlobal = 1; // NVPTX address space
// Where a place stays that has grown past all room: sums do not wrap.
static constexpr int64_t kLastPlace = 0xf0000000;

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
/// Instructions that write stamps. `cursor` is a memref of one i32: where the
/// thread's next stamp goes.
class StampInstructions : public Instructions {
public:
  StampInstructions(OpBuilder &builder, Location loc, const StampLayout &layout)
      : Instructions(builder, loc), layout(layout) {}

  Value readClock() { return readSpecial("clock"); }
  /// The timer, in CTAs that are sampled.
  Value readTimer(Value place);
  /// The place of the CTA's first stamp behind the heads, and one behind all
  /// room if it is not sampled.
  Value findPlace();
  void begin(Value cursor, Value place, Value time, Value since, Value leader,
             Value warp, int64_t role);
  /// Writes the clock and a word.
  void stamp(Value cursor, Value word);
  void end(Value cursor, Value place, Value leader, Value warp, int64_t role);

private:
  /// A special register of 32 bits, read here.
  Value readSpecial(StringRef name);
  /// The place of the unit's first stamp behind the heads, if this thread
  /// writes.
  Value findUnit(Value place, Value leader, Value warp, int64_t role);
  /// The address in the variable.
  Value addressOf(Value place);
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

Value StampInstructions::addressOf(Value place) {
  auto type = LLVM::LLVMPointerType::get(builder.getContext(), kGlobal);
  Value base = LLVM::AddressOfOp::create(builder, loc, type, kStampsName);
  Value bytes = LLVM::ZExtOp::create(builder, loc, builder.getI64Type(), place);
  Value address = LLVM::GEPOp::create(builder, loc, type, builder.getI8Type(),
                                      base, ArrayRef<LLVM::GEPArg>{bytes});
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
  memref::StoreOp::create(builder, loc, add(unit, layout.getHeadsBytes()),
                          cursor, ValueRange());
  runBelow(layout.getRowBytes(),
           ".reg .b32 low, high, c; mov.b64 {low, high}, $2; "
           "@p mov.u32 c, %clock; "
           "@p st.global.v4.b32 [$1], {low, high, $3, c};",
           "r,l,l,r", ValueRange{unit, addressOfHead(unit), time, since});
}

void StampInstructions::stamp(Value cursor, Value word) {
  Value place = memref::LoadOp::create(builder, loc, cursor, ValueRange());
  runBelow(layout.getBytes(),
           ".reg .b32 c; @p mov.u32 c, %clock; "
           "@p st.global.v2.b32 [$1], {c, $2};",
           "r,l,r", ValueRange{place, addressOf(place), word});
  Value next = add(place, layout.getRowBytes());
  next = arith::MinUIOp::create(builder, loc, next, i32(kLastPlace));
  memref::StoreOp::create(builder, loc, next, cursor, ValueRange());
}

void StampInstructions::end(Value cursor, Value place, Value leader, Value warp,
                            int64_t role) {
  Value unit = findUnit(place, leader, warp, role);
  Value next = memref::LoadOp::create(builder, loc, cursor, ValueRange());
  runBelow(layout.getRowBytes(),
           ".reg .b64 t; .reg .b32 low, high, c, m; "
           "@p mov.u32 m, %smid; @p mov.u64 t, %globaltimer; "
           "@p mov.u32 c, %clock; @p mov.b64 {low, high}, t; "
           "@p st.global.v2.b32 [$1+16], {m, $3}; "
           "@p st.global.v4.b32 [$1+32], {low, high, c, $2};",
           "r,l,r,r",
           ValueRange{unit, addressOfHead(unit), next, sharedMemory()});
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
  patterns.add<StampClockOp>([](StampClockOp op, auto, Instructions &to) {
    return StampInstructions(to.getBuilder(), op.getLoc(), {}).readClock();
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
  ::add<StampOp>(patterns, [](StampOp op, Operands<StampOp> operands,
                              StampInstructions &to) {
    to.stamp(operands.getCursor()[0],
             to.add(operands.getBarrier()[0], int64_t(op.getEvent())));
  });
  ::add<StampEndOp>(patterns, [](StampEndOp op, Operands<StampEndOp> operands,
                                 StampInstructions &to) {
    to.end(operands.getCursor()[0], operands.getPlace()[0],
           operands.getLeader()[0], operands.getWarp()[0], op.getRole());
  });
}
