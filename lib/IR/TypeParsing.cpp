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
                                               AccumulatorOptions &options) {
  // In this order, each if it is there.
  static constexpr StringRef kKeywords[] = {"cta_group", "scale_slots",
                                            "swapped"};
  ArrayRef<StringRef> keywords = kKeywords;
  while (succeeded(parser.parseOptionalComma())) {
    SMLoc loc = parser.getCurrentLocation();
    if (keywords.empty())
      return parser.emitError(loc, "expected nothing behind ") << kKeywords[2];
    StringRef keyword;
    if (failed(parser.parseOptionalKeyword(&keyword, keywords))) {
      InFlightDiagnostic error = parser.emitError(loc, "expected ");
      llvm::interleaveComma(keywords.drop_back(), error,
                            [&](StringRef each) { error << each; });
      return error << (keywords.size() > 1 ? " or " : "") << keywords.back();
    }
    while (keywords.front() != keyword)
      keywords = keywords.drop_front();
    keywords = keywords.drop_front();
    if (keyword == "swapped") {
      options.swapped = true;
    } else if (keyword == "cta_group") {
      if (parseCtaGroupValue(parser, options.ctaGroup))
        return failure();
    } else if (parser.parseEqual() || parser.parseInteger(options.scaleSlots)) {
      return failure();
    }
  }
  return success();
}

void mlir::fp8::printCtaGroup(AsmPrinter &printer, int64_t ctaGroup) {
  if (ctaGroup != 1)
    printer << ", cta_group = " << ctaGroup;
}

void mlir::fp8::printAccumulatorOptions(AsmPrinter &printer,
                                        const AccumulatorOptions &options) {
  printCtaGroup(printer, options.ctaGroup);
  if (options.scaleSlots)
    printer << ", scale_slots = " << options.scaleSlots;
  if (options.swapped)
    printer << ", swapped";
}
