// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Takes kernels to phase 3 with one op's lowering left out, to learn whether a
// test would notice.
//
// The op's location gets a name, which everything that is made of it inherits:
// the acquire and the release of a scope, the instructions of an op. What bears
// the name is not lowered: its linear operands pass through to its results,
// other results have all bits set, and no instruction is made.

#include "fp8/Conversion/Fp8ToNVVM.h"
#include "fp8/Conversion/Passes.h"
#include "fp8/IR/Fp8.h"
#include "fp8/Transforms/Passes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Pass/Pass.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Transforms/Passes.h"
#include "llvm/Support/Regex.h"

using namespace mlir;
using namespace mlir::fp8;

namespace {

constexpr StringLiteral kName = "no-op";

bool isNamed(Operation *op) {
  auto name = op->getLoc()->findInstanceOf<NameLoc>();
  return name && name.getName() == kName;
}

/// Ops of one name that have an operand or a result whose type matches a
/// regular expression.
struct Selection {
  StringRef op;
  llvm::Regex of;

  Selection(StringRef op, StringRef of) : op(op), of(of.empty() ? "." : of) {}

  bool contains(Operation *other) const {
    auto matches = [this](Type type) {
      std::string text;
      llvm::raw_string_ostream(text) << type;
      return of.match(text);
    };
    if (other->getName().getStringRef() != op)
      return false;
    return llvm::any_of(other->getOperandTypes(), matches) ||
           llvm::any_of(other->getResultTypes(), matches);
  }
};

/// A value that nobody has computed: all bits set.
TypedAttr getNonsense(Type type) {
  if (auto vector = dyn_cast<VectorType>(type))
    return DenseElementsAttr::get(vector, getNonsense(vector.getElementType()));
  if (auto real = dyn_cast<FloatType>(type))
    return FloatAttr::get(
        real, llvm::APFloat::getAllOnesValue(real.getFloatSemantics()));
  unsigned width = type.isIndex() ? IndexType::kInternalStorageBitWidth
                                  : type.getIntOrFloatBitWidth();
  return IntegerAttr::get(type, llvm::APInt::getAllOnes(width));
}

Value makeNonsense(Type type, Location loc, OpBuilder &builder) {
  bool isView = isa<TileType, TmemType>(type);
  TypedAttr bits = getNonsense(isView ? builder.getI32Type() : type);
  Value value = arith::ConstantOp::create(builder, loc, bits);
  return isView ? ViewAtOp::create(builder, loc, type, value).getResult()
                : value;
}

/// Lowers a named op to nothing.
struct LowerToNothing : public ConversionPattern {
  LowerToNothing(const TypeConverter &converter, StringRef op,
                 MLIRContext *context,
                 llvm::function_ref<bool(Operation *)> isChosen)
      : ConversionPattern(converter, op, /*benefit=*/2, context),
        isChosen(isChosen) {}

  LogicalResult
  matchAndRewrite(Operation *op, ArrayRef<ValueRange> operands,
                  ConversionPatternRewriter &rewriter) const override {
    if (!isChosen(op))
      return failure();
    SmallVector<SmallVector<Value>> results;
    for (Type type : op->getResultTypes()) {
      SmallVector<Type> types;
      if (failed(getTypeConverter()->convertTypes(type, types)))
        return failure();
      const ValueRange *same = llvm::find_if(operands, [&](ValueRange values) {
        return values.getTypes() == TypeRange(types);
      });
      SmallVector<Value> &values = results.emplace_back();
      if (types.size() > 1 && same != operands.end())
        values.assign(same->begin(), same->end());
      else
        for (Type converted : types)
          values.push_back(makeNonsense(converted, op->getLoc(), rewriter));
    }
    rewriter.replaceOpWithMultiple(op, std::move(results));
    return success();
  }

private:
  llvm::function_ref<bool(Operation *)> isChosen;
};

struct TestNoOpPass
    : public PassWrapper<TestNoOpPass, OperationPass<ModuleOp>> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(TestNoOpPass)

  TestNoOpPass() = default;
  TestNoOpPass(const TestNoOpPass &other) : PassWrapper(other) {}

  StringRef getArgument() const final { return "test-fp8-no-op"; }
  StringRef getDescription() const final {
    return "takes kernels to phase 3 without what an op lowers to";
  }
  void getDependentDialects(DialectRegistry &registry) const override {
    OpPassManager passes(ModuleOp::getOperationName());
    addStructure(passes);
    addFlatten(passes);
    passes.addPass(createConvertFp8ToNVVM());
    passes.getDependentDialects(registry);
  }

  void runOnOperation() override {
    OpPassManager structure(ModuleOp::getOperationName());
    addStructure(structure);
    OpPassManager flatten(ModuleOp::getOperationName());
    addFlatten(flatten);
    if (failed(runPipeline(structure, getOperation())))
      return signalPassFailure();
    nameOps();
    if (failed(runPipeline(flatten, getOperation())) || failed(lower()))
      return signalPassFailure();
    if (left)
      return;
    getOperation().emitError()
        << "has no '" << op << "' that it could leave out";
    signalPassFailure();
  }

private:
  static void addStructure(OpPassManager &passes) {
    passes.addPass(createFp8StructureGemm());
    passes.addPass(createInlinerPass());
  }
  static void addFlatten(OpPassManager &passes) {
    passes.addPass(createFp8FlattenScopes());
    passes.addPass(createFp8LowerTileLoops());
  }

  void nameOps() {
    Selection selection(op, of);
    auto name = StringAttr::get(&getContext(), kName);
    getOperation().walk([&](Operation *other) {
      if (selection.contains(other))
        other->setLoc(NameLoc::get(name, other->getLoc()));
    });
  }

  LogicalResult lower() {
    Selection chosen(part, partOf);
    auto isChosen = [&](Operation *other) {
      return isNamed(other) && (part.empty() || chosen.contains(other));
    };
    auto dialect = Fp8Dialect::getDialectNamespace();
    auto populate = [&](const TypeConverter &converter,
                        RewritePatternSet &patterns) {
      for (RegisteredOperationName name :
           getContext().getRegisteredOperationsByDialect(dialect))
        patterns.add<LowerToNothing>(converter, name.getStringRef(),
                                     &getContext(), isChosen);
    };
    getOperation().walk([&](Operation *other) {
      left += isa<Fp8Dialect>(other->getDialect()) && isChosen(other);
    });
    if (failed(convertFp8ToNVVM(getOperation(), populate)))
      return failure();
    // Of instructions those that give no result are left out.
    getOperation().walk([&](Operation *other) {
      if (part.empty() || !isChosen(other) || other->getNumResults() != 0)
        return;
      left++;
      other->erase();
    });
    return success();
  }

  Option<std::string> op{*this, "op",
                         llvm::cl::desc("the op, in phase 1 or 2")};
  Option<std::string> of{
      *this, "of",
      llvm::cl::desc("only those with a type that matches this expression")};
  Option<std::string> part{
      *this, "part",
      llvm::cl::desc("leave out this of what is made of the op, and keep the "
                     "rest: an op of phase 2, or an instruction")};
  Option<std::string> partOf{
      *this, "part-of",
      llvm::cl::desc("only those parts with a type that matches this")};
  int64_t left = 0; // ops and instructions left out
};

} // namespace

namespace mlir::fp8 {
void registerTestNoOpPass() { PassRegistration<TestNoOpPass>(); }
} // namespace mlir::fp8
