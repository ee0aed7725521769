// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The text of a plan: `<field = number, flag>`.

#include "fp8/IR/Fp8.h"

#include "mlir/IR/DialectImplementation.h"
#include "llvm/ADT/StringExtras.h"

using namespace mlir;
using namespace mlir::fp8;

/// The names of a record's fields, for messages.
template <typename Record>
static std::string listFields() {
  Record record;
  SmallVector<StringRef> names;
  Record::forEachField(record,
                       [&](StringRef name, auto) { names.push_back(name); });
  return llvm::join(names, ", ");
}

/// Parses `name` or `name = number` into the record.
template <typename Record>
static ParseResult parseField(AsmParser &parser, Record &record,
                              llvm::SmallDenseSet<StringRef> &given) {
  SMLoc loc = parser.getCurrentLocation();
  StringRef keyword;
  if (parser.parseKeyword(&keyword))
    return failure();
  if (!given.insert(keyword).second)
    return parser.emitError(loc, "field '" + keyword + "' is given twice");
  ParseResult result = failure();
  bool known = false;
  Record::forEachField(record, [&](StringRef name, auto &member) {
    if (name != keyword)
      return;
    known = true;
    if constexpr (std::is_same_v<decltype(member), bool &>) {
      member = true;
      result = success();
    } else {
      result = failure(parser.parseEqual() || parser.parseInteger(member));
    }
  });
  if (!known)
    return parser.emitError(loc, "expected one of " + listFields<Record>());
  return result;
}

template <typename Attr, typename Record>
static Attribute parseRecord(AsmParser &parser) {
  Record record;
  llvm::SmallDenseSet<StringRef> given;
  if (parser.parseCommaSeparatedList(AsmParser::Delimiter::LessGreater, [&] {
        return parseField(parser, record, given);
      }))
    return {};
  return Attr::get(parser.getContext(), record);
}

template <typename Record>
static void printRecord(AsmPrinter &printer, const Record &record) {
  printer << '<';
  StringRef separator;
  Record::forEachField(record, [&](StringRef name, auto value) {
    if (value == decltype(value)())
      return;
    printer << separator << name;
    if constexpr (!std::is_same_v<decltype(value), bool>)
      printer << " = " << value;
    separator = ", ";
  });
  printer << '>';
}

#define FP8_PLAN_TEXT(RECORD)                                                  \
  Attribute RECORD##Attr::parse(AsmParser &parser, Type) {                     \
    return parseRecord<RECORD##Attr, RECORD>(parser);                          \
  }                                                                            \
  void RECORD##Attr::print(AsmPrinter &printer) const {                        \
    printRecord(printer, getPlan());                                           \
  }
FP8_PLAN_TEXT(CtaPlan)
FP8_PLAN_TEXT(RolePlan)
FP8_PLAN_TEXT(RingPlan)
FP8_PLAN_TEXT(StagePlan)
FP8_PLAN_TEXT(SumPlan)
FP8_PLAN_TEXT(WaitPlan)
