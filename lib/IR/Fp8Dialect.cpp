// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The dialect object: registration, the hook that checks linearity, printing of
// type aliases, inlining.

#include "fp8/IR/Fp8.h"
#include "fp8/IR/Linearity.h"

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
    else
      return AliasResult::NoAlias;
    return AliasResult::OverridableAlias;
  }
};

/// Linear values move through calls by ownership (L5), so inlining a call keeps
/// every rule.
struct Fp8InlinerInterface : public DialectInlinerInterface {
  using DialectInlinerInterface::DialectInlinerInterface;

  bool isLegalToInline(Operation *, Region *, bool, IRMapping &) const final {
    return true;
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
  addInterfaces<Fp8AliasInterface, Fp8InlinerInterface>();
}

LogicalResult Fp8Dialect::verifyOperationAttribute(Operation *op,
                                                   NamedAttribute attribute) {
  if (attribute.getName() != kLinearAttrName)
    return success();
  if (!isa<UnitAttr>(attribute.getValue()))
    return op->emitOpError()
           << "attribute '" << kLinearAttrName << "' must be a unit attribute";
  if (!isa<FunctionOpInterface>(op))
    return op->emitOpError()
           << "attribute '" << kLinearAttrName << "' belongs on a function";
  return verifyLinearity(op);
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
             << "' (L6); add the attribute, so that the function is checked";
    }
  return op->emitOpError() << "handles linear values outside a function (L6)";
}
