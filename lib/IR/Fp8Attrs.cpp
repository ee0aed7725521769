// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Enumerations, interfaces and attributes.

#include "fp8/IR/Fp8.h"

#include "mlir/IR/DialectImplementation.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace mlir::fp8;

#include "fp8/IR/Fp8Enums.cpp.inc"
#include "fp8/IR/Fp8OpInterfaces.cpp.inc"
#include "fp8/IR/Fp8TypeInterfaces.cpp.inc"

#define GET_ATTRDEF_CLASSES
#include "fp8/IR/Fp8Attrs.cpp.inc"

void Fp8Dialect::registerAttributes() {
  addAttributes<
#define GET_ATTRDEF_LIST
#include "fp8/IR/Fp8Attrs.cpp.inc"
      >();
}

Attribute GemmConfigAttr::parse(AsmParser &parser, Type) {
  SMLoc loc = parser.getCurrentLocation();
  int64_t tileM, tileN, tileK, stages = 0, accumulators = 0;
  SchedulerKind scheduler = SchedulerKind::Persistent;
  if (parser.parseLess() || parser.parseKeyword("tile") ||
      parser.parseEqual() || parser.parseInteger(tileM) ||
      parser.parseKeyword("x") || parser.parseInteger(tileN) ||
      parser.parseKeyword("x") || parser.parseInteger(tileK))
    return {};
  while (succeeded(parser.parseOptionalComma())) {
    StringRef field, kind;
    SMLoc fieldLoc = parser.getCurrentLocation();
    if (parser.parseKeyword(&field) || parser.parseEqual())
      return {};
    if (field == "stages" || field == "accumulators") {
      if (parser.parseInteger(field == "stages" ? stages : accumulators))
        return {};
      continue;
    }
    std::optional<SchedulerKind> parsed;
    if (field == "scheduler" && succeeded(parser.parseKeyword(&kind)))
      parsed = symbolizeSchedulerKind(kind);
    if (!parsed) {
      parser.emitError(fieldLoc, "expected stages, accumulators, or a "
                                 "scheduler that is one_tile or persistent");
      return {};
    }
    scheduler = *parsed;
  }
  if (parser.parseGreater())
    return {};
  return parser.getChecked<GemmConfigAttr>(loc, parser.getContext(), tileM,
                                           tileN, tileK, stages, accumulators,
                                           scheduler);
}

void GemmConfigAttr::print(AsmPrinter &printer) const {
  printer << "<tile = " << getTileM() << " x " << getTileN() << " x "
          << getTileK();
  if (getStages())
    printer << ", stages = " << getStages();
  if (getAccumulators())
    printer << ", accumulators = " << getAccumulators();
  if (getScheduler() != SchedulerKind::Persistent)
    printer << ", scheduler = " << stringifySchedulerKind(getScheduler());
  printer << '>';
}

LogicalResult
GemmConfigAttr::verify(function_ref<InFlightDiagnostic()> emitError,
                       int64_t tileM, int64_t tileN, int64_t tileK,
                       int64_t stages, int64_t accumulators, SchedulerKind) {
  if (tileM != 128)
    return emitError() << "tile M must be 128, but got " << tileM;
  if (tileN < 16 || tileN > 256 || tileN % 16)
    return emitError() << "tile N must be a multiple of 16 in 16..256, but got "
                       << tileN;
  if (tileK != 128)
    return emitError()
           << "tile K must be 128, the depth of a scale block, but got "
           << tileK;
  if (stages < 0 || accumulators < 0)
    return emitError() << "stages and accumulators must not be negative";
  return success();
}
