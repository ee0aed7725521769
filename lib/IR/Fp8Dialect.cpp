// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The dialect object: registration, the hook that checks linearity, printing of
// type aliases, inlining.

#include "BoxBytes.h"
#include "Fp8Bytecode.h"

#include "fp8/IR/ComputedGemm.h"
#include "fp8/IR/KernelCertificate.h"
#include "fp8/IR/Linearity.h"
#include "fp8/IR/Profile.h"

#include "mlir/Interfaces/FunctionInterfaces.h"
#include "mlir/Transforms/InliningUtils.h"

using namespace mlir;
using namespace mlir::fp8;

#include "fp8/IR/Fp8Dialect.cpp.inc"

namespace {

/// Prints rings, tiles and fragments under short names: a kernel repeats them
/// on every line.
struct Fp8AliasInterface : public OpAsmDialectInterface {
  using OpAsmDialectInterface::OpAsmDialectInterface;

  AliasResult getAlias(Type type, raw_ostream &os) const final {
    if (isa<PipelineType>(type))
      os << "pipeline";
    else if (isa<OutputPipelineType>(type))
      os << "output_pipeline";
    else if (isa<TileType>(type))
      os << "tile";
    else if (isa<StoreQueueType>(type))
      os << "store_queue";
    else if (isa<ExchangeType>(type))
      os << "exchange";
    else
      return AliasResult::NoAlias;
    return AliasResult::OverridableAlias;
  }
};

/// Linear values move through calls by ownership (L5), so inlining a call keeps
/// every rule.
struct Fp8InlinerInterface : public DialectInlinerInterface {
  using DialectInlinerInterface::DialectInlinerInterface;

  /// What handles linear values stays where it is checked.
  bool isLegalToInline(Operation *call, Operation *callable, bool) const final {
    auto caller = call->getParentOfType<FunctionOpInterface>();
    return !callable->hasAttr(Fp8Dialect::kLinearAttrName) ||
           (caller && caller->hasAttr(Fp8Dialect::kLinearAttrName));
  }
  /// What belongs in a kernel's entry block (P3, R1) goes nowhere else.
  bool isLegalToInline(Operation *op, Region *target, bool,
                       IRMapping &) const final {
    return !op->hasTrait<mlir::fp8::OpTrait::InEntryBlock>() ||
           isa<FunctionOpInterface>(target->getParentOp());
  }
  bool isLegalToInline(Region *, Region *, bool, IRMapping &) const final {
    return true;
  }
};

} // namespace

void Fp8Dialect::initialize() {
  registerTypes();
  registerAttributes();
  addOperations<
#define GET_OP_LIST
#include "fp8/IR/Fp8Ops.cpp.inc"
      >();
  addOperations<
#define GET_OP_LIST
#include "fp8/IR/Profile.cpp.inc"
      >();
  addInterfaces<Fp8AliasInterface, Fp8InlinerInterface>();
  addBytecodeInterface(*this);
}

static LogicalResult verifyCluster(Operation *op, Attribute value) {
  auto shape = dyn_cast<DenseI64ArrayAttr>(value);
  if (!shape || (shape.size() != 2 && shape.size() != 3) ||
      !isa<FunctionOpInterface>(op))
    return op->emitOpError()
           << "attribute '" << Fp8Dialect::kClusterAttrName
           << "' must be an array of two or three i64, the CTAs of a cluster "
              "along M and N and those that divide K, on a function";
  int64_t m = shape[0], n = shape[1], k = shape.size() == 3 ? shape[2] : 1;
  if (k < 1 || k > kMaxClusterSize)
    return op->emitOpError() << "1 to " << kMaxClusterSize
                             << " CTAs of a cluster divide K (CUDA programming "
                                "guide, thread block clusters), but got "
                             << k;
  if (k > 1 && (m != 1 || n != 1))
    return op->emitOpError()
           << "a cluster whose CTAs divide K has one along M and N, but got "
           << m << " x " << n;
  if (m < 1 || n < 1 || m > kMaxClusterSize || n > kMaxClusterSize ||
      m * n > kMaxClusterSize)
    return op->emitOpError()
           << "a cluster must have 1 to " << kMaxClusterSize
           << " CTAs (CUDA programming guide, thread block clusters), but got "
           << m << " x " << n;
  return success();
}

static bool areIntegers(Attribute value) {
  auto dictionary = dyn_cast<DictionaryAttr>(value);
  return dictionary && llvm::all_of(dictionary, [](NamedAttribute entry) {
           return isa<IntegerAttr>(entry.getValue());
         });
}

LogicalResult Fp8Dialect::verifyOperationAttribute(Operation *op,
                                                   NamedAttribute attribute) {
  StringRef name = attribute.getName();
  Attribute value = attribute.getValue();
  auto expect = [&](bool holds, const Twine &what) -> LogicalResult {
    if (holds)
      return success();
    return op->emitOpError() << "attribute '" << name << "' must be " << what;
  };
  if (name == kProblemAttrName)
    return expect(isa<StringAttr>(value), "a string");
  if (name == kProblemOptionsAttrName)
    return expect(areIntegers(value) &&
                      op->getName().getStringRef() == "gpu.launch_func",
                  "a dictionary of integers, on a gpu.launch_func");
  if (name == kPlanAttrName)
    return expect(isa<CtaPlanAttr, RolePlanAttr, RingPlanAttr, StagePlanAttr,
                      SumPlanAttr, WaitPlanAttr>(value),
                  "a plan; --fp8-plan-kernels writes it");
  if (name == kTensorMapArgsAttrName)
    return expect(isa<DenseI32ArrayAttr>(value), "an array of i32");
  if (name == kSharedMemoryAttrName)
    return expect(isa<IntegerAttr>(value), "an integer");
  if (name == kClusterAttrName)
    return verifyCluster(op, value);
  if (name == ComputedGemm::kAttrName)
    return verifyComputedGemm(op, value);
  if (name == kProgrammaticAttrName)
    return failure(
        failed(expect(isa<UnitAttr>(value), "a unit attribute")) ||
        failed(expect(isa<FunctionOpInterface>(op) ||
                          op->getName().getStringRef() == "gpu.launch_func",
                      "on a kernel or its launch")));
  if (name == kSignalsAtWaitAttrName)
    return failure(
        failed(expect(isa<UnitAttr>(value), "a unit attribute")) ||
        failed(expect(isa<FunctionOpInterface>(op) &&
                          op->hasAttr(kProgrammaticAttrName),
                      "on a kernel with '" + kProgrammaticAttrName + "'")));
  if (name == kDebugWaitsAttrName) {
    auto limit = dyn_cast<IntegerAttr>(value);
    return expect(limit && limit.getType().isSignlessIntOrIndex() &&
                      limit.getValue().sge(1) &&
                      limit.getValue().sle(kMaxDebugWaits) && isa<ModuleOp>(op),
                  "1 to " + Twine(kMaxDebugWaits) +
                      " milliseconds, on a module");
  }
  if (name == kProfileAttrName) {
    auto size = dyn_cast<DictionaryAttr>(value);
    auto isPositive = [&](StringRef part) {
      auto number = size ? size.getAs<IntegerAttr>(part) : IntegerAttr();
      constexpr unsigned kMostBits = 31;
      return number && number.getValue().isStrictlyPositive() &&
             number.getValue().getActiveBits() <= kMostBits;
    };
    return expect(
        isPositive("ctas") && isPositive("stamps") && size.size() == 2 &&
            isa<ModuleOp>(op),
        "{ctas, stamps}, both at least 1 and below 2^31, on a module");
  }
  if (name == kWaitTableAttrName || name == kProfileTableAttrName)
    return expect(isa<DictionaryAttr>(value) && isa<FunctionOpInterface>(op),
                  "a dictionary, on a function");
  if (name == kCertificateAttrName)
    return expect(isa<StringAttr>(value) && isa<FunctionOpInterface>(op),
                  "a string, on a function");
  if (name != kLinearAttrName && name != kBarriersAttrName)
    return op->emitOpError() << "has an unknown attribute '" << name << "'";
  if (failed(expect(isa<UnitAttr>(value), "a unit attribute")) ||
      failed(expect(isa<FunctionOpInterface>(op), "on a function")))
    return failure();
  return name == kLinearAttrName ? verifyLinearity(op) : verifyBarriers(op);
}

static LogicalResult verifyName(Operation *op, unsigned argument,
                                Attribute value) {
  auto name = dyn_cast<StringAttr>(value);
  if (name && !name.empty())
    return success();
  return op->emitOpError() << "attribute '" << Fp8Dialect::kNameAttrName
                           << "' of argument " << argument
                           << " must be a string, and not an empty one";
}

LogicalResult Fp8Dialect::verifyRegionArgAttribute(Operation *op, unsigned,
                                                   unsigned argument,
                                                   NamedAttribute attribute) {
  StringRef name = attribute.getName();
  if (name == kNameAttrName)
    return verifyName(op, argument, attribute.getValue());
  auto function = dyn_cast<FunctionOpInterface>(op);
  auto expect = [&](bool holds, StringRef what) -> LogicalResult {
    if (holds && function)
      return success();
    return op->emitOpError() << "attribute '" << name << "' must be " << what
                             << ", on an argument of a kernel";
  };
  if (name == kConstantsAttrName) {
    auto constants = dyn_cast<DenseI64ArrayAttr>(attribute.getValue());
    return failure(failed(expect(!!constants, "an array of i64")) ||
                   failed(verifyNumbers(function, argument, name, constants)));
  }
  if (name == kBoxBytesAttrName) {
    auto number = dyn_cast<IntegerAttr>(attribute.getValue());
    bool isNumber = number && number.getType().isInteger(64);
    return failure(failed(expect(isNumber, "an i64")) ||
                   failed(verifyBoxBytes(function, argument, number.getInt())));
  }
  return success();
}

LogicalResult mlir::fp8::OpTrait::impl::verifyInLinearFunction(Operation *op) {
  auto handlesLinear = [](auto types) { return llvm::any_of(types, isLinear); };
  if (!handlesLinear(op->getOperandTypes()) &&
      !handlesLinear(op->getResultTypes()))
    return success();
  for (Operation *parent = op->getParentOp(); parent;
       parent = parent->getParentOp())
    if (isa<FunctionOpInterface>(parent)) {
      if (parent->hasAttr(Fp8Dialect::kLinearAttrName))
        return success();
      return op->emitOpError()
             << "handles linear values in a function without '"
             << Fp8Dialect::kLinearAttrName
             << "' (L6); add the attribute, so that the verifier checks the "
                "function";
    }
  return op->emitOpError() << "handles linear values outside a function (L6)";
}
