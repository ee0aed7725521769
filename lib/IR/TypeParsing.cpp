// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What the syntax of several types has in common.

#include "TypeParsing.h"

using namespace mlir;
using namespace mlir::fp8;

ParseResult mlir::fp8::parseShapedElement(AsmParser &parser,
                                          SmallVectorImpl<int64_t> &shape,
                                          Type &elementType) {
  SMLoc loc = parser.getCurrentLocation();
  if (parser.parseDimensionList(shape, /*allowDynamic=*/false))
    return failure();
  if (shape.size() != 2)
    return parser.emitError(
        loc, "expected a shape of two extents, such as 128x128xf32");
  return parser.parseType(elementType);
}

void mlir::fp8::printShapedElement(AsmPrinter &printer, ArrayRef<int64_t> shape,
                                   Type elementType) {
  printer << shape[0] << 'x' << shape[1] << 'x' << elementType;
}

ParseResult mlir::fp8::parseCtaGroupValue(AsmParser &parser,
                                          int64_t &ctaGroup) {
  SMLoc loc = parser.getCurrentLocation();
  if (parser.parseEqual() || parser.parseInteger(ctaGroup))
    return failure();
  if (ctaGroup != 1 && ctaGroup != 2)
    return parser.emitError(loc)
           << "a CTA group has 1 or 2 CTAs, but got " << ctaGroup;
  return success();
}

ParseResult mlir::fp8::parseAccumulatorOptions(AsmParser &parser,
                                               int64_t &ctaGroup,
                                               int64_t &scaleSlots) {
  ctaGroup = 1;
  scaleSlots = 0;
  if (failed(parser.parseOptionalComma()))
    return success();
  if (succeeded(parser.parseOptionalKeyword("cta_group"))) {
    if (parseCtaGroupValue(parser, ctaGroup))
      return failure();
    if (failed(parser.parseOptionalComma()))
      return success();
  }
  SMLoc loc = parser.getCurrentLocation();
  if (failed(parser.parseOptionalKeyword("scale_slots")))
    return parser.emitError(loc, "expected ")
           << (ctaGroup == 1 ? "cta_group or " : "") << "scale_slots";
  return failure(parser.parseEqual() || parser.parseInteger(scaleSlots));
}

void mlir::fp8::printCtaGroup(AsmPrinter &printer, int64_t ctaGroup) {
  if (ctaGroup != 1)
    printer << ", cta_group = " << ctaGroup;
}

void mlir::fp8::printAccumulatorOptions(AsmPrinter &printer, int64_t ctaGroup,
                                        int64_t scaleSlots) {
  printCtaGroup(printer, ctaGroup);
  if (scaleSlots)
    printer << ", scale_slots = " << scaleSlots;
}
