// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Stamps: what a role writes down, and where.
//
// All stamps of a kernel lie in one variable of its module, so that nobody
// allocates. A unit is a role of a sampled CTA. The i-th stamps of all units
// follow one another: the place of a unit's next stamp is one number, which
// grows by a constant, and one comparison with another constant says whether
// there is room. Threads that write nothing begin where there is none. Heads
// of units follow the stamps.
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

  /// A special register of 32 bits, read here.
  Value readSpecial(StringRef name);
  void begin(Value cursor, Value since, Value leader, Value warp, int64_t role);
  /// Writes the clock and a word.
  void stamp(Value cursor, Value word);
  void end(Value cursor, Value leader, Value warp, int64_t role);

private:
  /// Whether this thread writes stamps, and of which unit.
  struct Unit {
    Value writes, number;
  };
  Unit findUnit(Value leader, Value warp, int64_t role);
  /// The address in the variable.
  Value addressOf(Value place);
  /// Writes values, 8 bytes apart, to a unit's head from byte `at` on.
  void writeHead(Value unit, int64_t at, ArrayRef<Value> values);
  Value readTimer() {
    return NVVM::GlobalTimerOp::create(builder, loc, builder.getI64Type());
  }

  const StampLayout &layout;
};
} // namespace

Value StampInstructions::addressOf(Value place) {
  auto type = LLVM::LLVMPointerType::get(builder.getContext(), kGlobal);
  Value base = LLVM::AddressOfOp::create(builder, loc, type, kStampsName);
  Value bytes = LLVM::ZExtOp::create(builder, loc, builder.getI64Type(), place);
  return LLVM::GEPOp::create(builder, loc, type, builder.getI8Type(), base,
                             ArrayRef<LLVM::GEPArg>{bytes});
}

Value StampInstructions::readSpecial(StringRef name) {
  return LLVM::InlineAsmOp::create(
             builder, loc, builder.getI32Type(), ValueRange(),
             ("mov.u32 $0, %" + name + ";").str(), "=r",
             /*has_side_effects=*/true, /*is_align_stack=*/false,
             LLVM::TailCallKind::None, LLVM::AsmDialectAttr(), ArrayAttr())
      .getResult(0);
}

StampInstructions::Unit StampInstructions::findUnit(Value leader, Value warp,
                                                    int64_t role) {
  auto times = [&](Value lhs, Value rhs) {
    return arith::MulIOp::create(builder, loc, lhs, rhs);
  };
  Value row = add(times(readSpecial("ctaid.z"), readSpecial("nctaid.y")),
                  readSpecial("ctaid.y")),
        cta = add(times(row, readSpecial("nctaid.x")), readSpecial("ctaid.x"));
  Value isTeller = bitAnd(leader, equal(warp, 0));
  return {bitAnd(isTeller, below(cta, layout.ctas)),
          add(mul(cta, layout.roles), role)};
}

void StampInstructions::writeHead(Value unit, int64_t at,
                                  ArrayRef<Value> values) {
  Value head =
      add(mul(unit, StampLayout::kHeadBytes), layout.getStampsBytes() + at);
  for (auto [i, value] : llvm::enumerate(values))
    LLVM::StoreOp::create(builder, loc, value,
                          addressOf(add(head, 8 * int64_t(i))),
                          value.getType().isInteger(64) ? 8 : 4,
                          /*isVolatile=*/true);
}

void StampInstructions::begin(Value cursor, Value since, Value leader,
                              Value warp, int64_t role) {
  Unit unit = findUnit(leader, warp, role);
  Value place = select(unit.writes, mul(unit.number, StampLayout::kStampBytes),
                       i32(layout.getStampsBytes()));
  memref::StoreOp::create(builder, loc, place, cursor, ValueRange());
  ifThen(unit.writes, [&](Instructions &) {
    writeHead(unit.number, 0,
              {readTimer(), readSpecial("clock"), since, readSpecial("smid"),
               sharedMemory()});
  });
}

void StampInstructions::stamp(Value cursor, Value word) {
  Value place = memref::LoadOp::create(builder, loc, cursor, ValueRange());
  Value address = LLVM::PtrToIntOp::create(builder, loc, builder.getI64Type(),
                                           addressOf(place));
  // A predicate: ptxas would set up a meeting of the warp behind a branch.
  std::string text =
      "{ .reg .pred p; .reg .b32 c; setp.lt.u32 p, $0, " +
      std::to_string(layout.getStampsBytes()) +
      "; mov.u32 c, %clock; @p st.global.v2.b32 [$1], {c, $2}; }";
  LLVM::InlineAsmOp::create(builder, loc, TypeRange(),
                            ValueRange{place, address, word}, text, "r,l,r",
                            /*has_side_effects=*/true, /*is_align_stack=*/false,
                            LLVM::TailCallKind::None, LLVM::AsmDialectAttr(),
                            ArrayAttr());
  Value next = add(place, layout.getUnits() * StampLayout::kStampBytes);
  next = arith::MinUIOp::create(builder, loc, next, i32(kLastPlace));
  memref::StoreOp::create(builder, loc, next, cursor, ValueRange());
}

void StampInstructions::end(Value cursor, Value leader, Value warp,
                            int64_t role) {
  Unit unit = findUnit(leader, warp, role);
  Value place = memref::LoadOp::create(builder, loc, cursor, ValueRange());
  ifThen(unit.writes, [&](Instructions &) {
    writeHead(unit.number, 40, {readTimer(), readSpecial("clock"), place});
  });
}

//===----------------------------------------------------------------------===//
// Patterns
//===----------------------------------------------------------------------===//

/// Adds a pattern for an op of a kernel with a profile table.
template <typename OpT>
static void add(SpellingPatterns &patterns,
                void (*spell)(OpT, Operands<OpT>, StampInstructions &)) {
  patterns.add<OpT>([spell](OpT op, auto operands, Instructions &to) {
    StampLayout layout =
        *getStampLayout(op->template getParentOfType<FunctionOpInterface>());
    StampInstructions stamps(to.getBuilder(), op.getLoc(), layout);
    spell(op, operands, stamps);
  });
}

void mlir::fp8::populateStampPatterns(const TypeConverter &converter,
                                      RewritePatternSet &all) {
  SpellingPatterns patterns{converter, all};
  patterns.add<StampClockOp>([](StampClockOp op, auto, Instructions &to) {
    return StampInstructions(to.getBuilder(), op.getLoc(), {})
        .readSpecial("clock");
  });
  ::add<StampBeginOp>(patterns, [](StampBeginOp op,
                                   Operands<StampBeginOp> operands,
                                   StampInstructions &to) {
    to.begin(operands.getCursor()[0], operands.getSince()[0],
             operands.getLeader()[0], operands.getWarp()[0], op.getRole());
  });
  ::add<StampOp>(patterns, [](StampOp op, Operands<StampOp> operands,
                              StampInstructions &to) {
    to.stamp(operands.getCursor()[0],
             to.add(operands.getBarrier()[0], int64_t(op.getEvent())));
  });
  ::add<StampEndOp>(patterns, [](StampEndOp op, Operands<StampEndOp> operands,
                                 StampInstructions &to) {
    to.end(operands.getCursor()[0], operands.getLeader()[0],
           operands.getWarp()[0], op.getRole());
  });
}
