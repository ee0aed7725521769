// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The types of the dialect, and the cycle end -> stage -> end. Views and rings
// have files of their own.

#include "fp8/IR/Fp8.h"

#include "mlir/IR/DialectImplementation.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace mlir::fp8;

/// Parses `<ring>`, the parameter of every handle of a ring.
template <typename HandleT>
static Type parseRingHandle(AsmParser &parser) {
  decltype(std::declval<HandleT>().getRing()) ring;
  if (parser.parseLess() || parser.parseType(ring) || parser.parseGreater())
    return {};
  return parser.getChecked<HandleT>(parser.getContext(), ring);
}

#define GET_TYPEDEF_CLASSES
#include "fp8/IR/Fp8Types.cpp.inc"

void Fp8Dialect::registerTypes() {
  addTypes<
#define GET_TYPEDEF_LIST
#include "fp8/IR/Fp8Types.cpp.inc"
      >();
}

bool mlir::fp8::isLinear(Type type) { return isa<LinearTypeInterface>(type); }

bool mlir::fp8::holdsHandles(Type type) {
  if (isLinear(type))
    return false;
  return type
      .walk<WalkOrder::PreOrder>([](Type part) {
        if (isa<FunctionType>(part))
          return WalkResult::skip(); // names a function and holds nothing
        return isLinear(part) ? WalkResult::interrupt() : WalkResult::advance();
      })
      .wasInterrupted();
}

//===----------------------------------------------------------------------===//
// Ends and stages
//===----------------------------------------------------------------------===//

static LogicalResult verifyRing(function_ref<InFlightDiagnostic()> emitError,
                                Type ring) {
  if (!isa<RingTypeInterface>(ring))
    return emitError() << "expected a ring, such as !fp8.pipeline or "
                          "!fp8.output_pipeline, but got "
                       << ring;
  return success();
}

LogicalResult ProducerType::verify(function_ref<InFlightDiagnostic()> emitError,
                                   Type ring) {
  return verifyRing(emitError, ring);
}
LogicalResult ConsumerType::verify(function_ref<InFlightDiagnostic()> emitError,
                                   Type ring) {
  return verifyRing(emitError, ring);
}

LogicalResult
ProducerStageType::verify(function_ref<InFlightDiagnostic()> emitError,
                          Type ring) {
  return verifyRing(emitError, ring);
}
LogicalResult
ConsumerStageType::verify(function_ref<InFlightDiagnostic()> emitError,
                          Type ring) {
  return verifyRing(emitError, ring);
}

Type ProducerType::getStageType() const {
  return ProducerStageType::get(getContext(), getRing());
}
Type ConsumerType::getStageType() const {
  return ConsumerStageType::get(getContext(), getRing());
}
Type MmaWarpType::getStageType() const {
  return MmaStageType::get(getContext(), getRing());
}
Type EpilogueWarpType::getStageType() const {
  return EpilogueStageType::get(getContext(), getRing());
}

Type ProducerStageType::getEndType() const {
  return ProducerType::get(getContext(), getRing());
}
Type ConsumerStageType::getEndType() const {
  return ConsumerType::get(getContext(), getRing());
}
Type MmaStageType::getEndType() const {
  return MmaWarpType::get(getContext(), getRing());
}
Type EpilogueStageType::getEndType() const {
  return EpilogueWarpType::get(getContext(), getRing());
}
