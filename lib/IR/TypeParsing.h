// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What the syntax of several types has in common.

#ifndef FP8_LIB_IR_TYPEPARSING_H
#define FP8_LIB_IR_TYPEPARSING_H

#include "fp8/IR/Fp8.h"
#include "mlir/IR/OpImplementation.h"

namespace mlir::fp8 {

/// Parses `2 x 3 x type` into a shape of rank 2 and an element type.
ParseResult parseShapedElement(AsmParser &parser,
                               SmallVectorImpl<int64_t> &shape,
                               Type &elementType);
void printShapedElement(AsmPrinter &printer, ArrayRef<int64_t> shape,
                        Type elementType);

/// Parses the rest of `= 1` or `= 2` after the keyword `cta_group`.
ParseResult parseCtaGroupValue(AsmParser &parser, int64_t &ctaGroup);
/// Prints `, cta_group = 2`; nothing for 1.
void printCtaGroup(AsmPrinter &printer, int64_t ctaGroup);

/// What an accumulator has beside its shape.
struct AccumulatorOptions {
  int64_t ctaGroup = 1, scaleSlots = 0;
  bool swapped = false;
};
/// Parses `, cta_group = 2`, `, scale_slots = 4` and `, swapped`, each if it is
/// there.
ParseResult parseAccumulatorOptions(AsmParser &parser,
                                    AccumulatorOptions &options);
void printAccumulatorOptions(AsmPrinter &printer,
                             const AccumulatorOptions &options);

/// Parses `, keyword` of an enum if a comma follows, else leaves `value` as it
/// is. `keywords` names the choices in the error; `symbolize` knows them.
template <typename EnumT>
ParseResult parseOptionalKeyword(
    AsmParser &parser, StringRef keywords, EnumT &value,
    std::optional<EnumT> (*symbolize)(StringRef) = symbolizeEnum<EnumT>) {
  if (failed(parser.parseOptionalComma()))
    return success();
  StringRef keyword;
  SMLoc loc = parser.getCurrentLocation();
  if (parser.parseKeyword(&keyword))
    return failure();
  std::optional<EnumT> parsed = symbolize(keyword);
  if (!parsed)
    return parser.emitError(loc, "expected ") << keywords;
  value = *parsed;
  return success();
}

} // namespace mlir::fp8

#endif // FP8_LIB_IR_TYPEPARSING_H
