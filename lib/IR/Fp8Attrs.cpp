// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Enumerations, interfaces and attributes.

#include "fp8/IR/Fp8.h"

#include "mlir/IR/DialectImplementation.h"
#include "llvm/ADT/SmallPtrSet.h"
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

//===----------------------------------------------------------------------===//
// The scheduler of tiles
//===----------------------------------------------------------------------===//

FailureOr<SchedulerKind> mlir::fp8::parseScheduler(AsmParser &parser) {
  const std::vector<std::string_view> &words = config::getSchedulerWords();
  SMLoc loc = parser.getCurrentLocation();
  StringRef word;
  if (parser.parseKeyword(&word))
    return failure();
  auto place = llvm::find(words, std::string_view(word));
  if (place == words.end())
    return parser.emitError(loc)
           << "expected " << config::list(words) << ", but got " << word;
  return SchedulerKind(place - words.begin());
}

Attribute SchedulerKindAttr::parse(AsmParser &parser, Type) {
  if (parser.parseLess())
    return {};
  FailureOr<SchedulerKind> kind = parseScheduler(parser);
  if (failed(kind) || parser.parseGreater())
    return {};
  return get(parser.getContext(), *kind);
}

void SchedulerKindAttr::print(AsmPrinter &printer) const {
  printer << '<' << config::stringify(getValue()) << '>';
}

//===----------------------------------------------------------------------===//
// The configuration of a GEMM
//===----------------------------------------------------------------------===//

namespace fp8::config {

llvm::hash_code hash_value(const GemmConfig &config) {
  llvm::hash_code hash(0);
  for (const Field &field : getFields())
    for (const Number &number : field.numbers)
      hash = llvm::hash_combine(hash, number.get(config));
  return hash;
}

} // namespace fp8::config

namespace {

/// Reads the fields of a configuration, by their table.
class ConfigParser {
public:
  explicit ConfigParser(AsmParser &parser) : parser(parser) {}

  Attribute parse();

private:
  /// Parses `name = value` of a field that may be left out.
  ParseResult parseField();
  ParseResult parseValue(const config::Field &field);
  ParseResult parseWord(const config::Field &field);

  AsmParser &parser;
  GemmConfig config;
  llvm::SmallPtrSet<const config::Field *, 8> given;
};

} // namespace

static SmallVector<StringRef> toStringRefs(ArrayRef<std::string_view> words) {
  return SmallVector<StringRef>(words);
}

Attribute ConfigParser::parse() {
  ArrayRef<config::Field> fields = config::getFields();
  SMLoc loc = parser.getCurrentLocation();
  if (parser.parseLess() || parser.parseKeyword(fields.front().name) ||
      parser.parseEqual() || parseValue(fields.front()))
    return {};
  while (succeeded(parser.parseOptionalComma()))
    if (parseField())
      return {};
  if (parser.parseGreater())
    return {};
  for (const config::Field &field : fields.drop_front())
    if (!given.contains(&field))
      field.setDefault(config);
  return parser.getChecked<GemmConfigAttr>(loc, parser.getContext(), config);
}

ParseResult ConfigParser::parseField() {
  ArrayRef<config::Field> fields(config::getFields());
  fields = fields.drop_front();
  std::vector<std::string_view> names;
  for (const config::Field &field : fields)
    names.push_back(field.name);
  SMLoc loc = parser.getCurrentLocation();
  StringRef name;
  // The names are what an editor offers to complete.
  if (parser.parseOptionalKeyword(&name, toStringRefs(names)))
    return parser.emitError(loc) << "expected " << config::list(names);
  const config::Field &field =
      *llvm::find_if(fields, [&](const config::Field &candidate) {
        return StringRef(candidate.name) == name;
      });
  if (!given.insert(&field).second)
    return parser.emitError(loc) << "a configuration has each field once, but '"
                                 << name << "' is given twice; remove one";
  return failure(parser.parseEqual() || parseValue(field));
}

ParseResult ConfigParser::parseValue(const config::Field &field) {
  if (!field.words.empty())
    return parseWord(field);
  for (const config::Number &number : field.numbers) {
    int64_t value;
    if ((&number != &field.numbers.front() && parser.parseKeyword("x")) ||
        parser.parseInteger(value))
      return failure();
    number.set(config, value);
  }
  return success();
}

ParseResult ConfigParser::parseWord(const config::Field &field) {
  SMLoc loc = parser.getCurrentLocation();
  StringRef word;
  if (parser.parseOptionalKeyword(&word, toStringRefs(field.words)))
    return parser.emitError(loc) << "expected a " << StringRef(field.name)
                                 << " that is " << config::list(field.words);
  auto place = llvm::find(field.words, std::string_view(word));
  field.numbers.front().set(config, place - field.words.begin());
  return success();
}

Attribute GemmConfigAttr::parse(AsmParser &parser, Type) {
  return ConfigParser(parser).parse();
}

void GemmConfigAttr::print(AsmPrinter &printer) const {
  printer << '<' << config::stringify(getValue()) << '>';
}

LogicalResult
GemmConfigAttr::verify(function_ref<InFlightDiagnostic()> emitError,
                       GemmConfig config) {
  std::string fault = config::findFault(config);
  return fault.empty() ? success() : LogicalResult(emitError() << fault);
}
