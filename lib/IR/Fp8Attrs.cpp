// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Enumerations, interfaces and attributes.

#include "fp8/IR/Fp8.h"

#include "mlir/IR/DialectImplementation.h"
#include "llvm/ADT/StringSwitch.h"
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

namespace {

/// Reads the fields of a configuration.
class ConfigParser {
public:
  explicit ConfigParser(AsmParser &parser) : parser(parser) {}

  Attribute parse();

private:
  ParseResult parseTile();
  /// Parses `field = value`, one of the fields after the tile.
  ParseResult parseField();
  ParseResult parseValue(StringRef field);
  /// Parses one of the words, and gives its number.
  FailureOr<size_t> parseWord(ArrayRef<StringRef> words);
  ParseResult emitUnexpected(SMLoc loc) {
    return parser.emitError(loc,
                            "expected cta_group, cluster, split_k, stages, "
                            "accumulators, a launch that is serial or "
                            "programmatic, or a scheduler that is one_tile, "
                            "persistent or clc");
  }

  AsmParser &parser;
  llvm::SmallDenseSet<StringRef, 8> given;
  int64_t tileM = 0, tileN = 0, tileK = 0, ctaGroup = 1, clusterM = 0,
          clusterN = 0, splitK = 1, stages = 0, accumulators = 0;
  SchedulerKind scheduler = SchedulerKind::Persistent;
  bool programmatic = false;
};

} // namespace

Attribute ConfigParser::parse() {
  SMLoc loc = parser.getCurrentLocation();
  if (parser.parseLess() || parseTile())
    return {};
  while (succeeded(parser.parseOptionalComma()))
    if (parseField())
      return {};
  if (parser.parseGreater())
    return {};
  // A pair is the smallest cluster that has one.
  if (clusterM == 0 && clusterN == 0) {
    clusterM = ctaGroup;
    clusterN = 1;
  }
  return parser.getChecked<GemmConfigAttr>(
      loc, parser.getContext(), tileM, tileN, tileK, ctaGroup, clusterM,
      clusterN, splitK, stages, accumulators, scheduler, programmatic);
}

ParseResult ConfigParser::parseTile() {
  return failure(parser.parseKeyword("tile") || parser.parseEqual() ||
                 parser.parseInteger(tileM) || parser.parseKeyword("x") ||
                 parser.parseInteger(tileN) || parser.parseKeyword("x") ||
                 parser.parseInteger(tileK));
}

ParseResult ConfigParser::parseField() {
  static constexpr StringRef fields[] = {
      "cta_group",    "cluster",   "split_k", "stages",
      "accumulators", "scheduler", "launch"};
  SMLoc loc = parser.getCurrentLocation();
  FailureOr<size_t> index = parseWord(fields);
  if (failed(index))
    return emitUnexpected(loc);
  if (!given.insert(fields[*index]).second)
    return parser.emitError(loc)
           << "a configuration has each field once, but '" << fields[*index]
           << "' is given twice; remove one";
  if (parser.parseEqual())
    return failure();
  return parseValue(fields[*index]);
}

ParseResult ConfigParser::parseValue(StringRef field) {
  if (field == "cluster")
    return failure(parser.parseInteger(clusterM) || parser.parseKeyword("x") ||
                   parser.parseInteger(clusterN));
  if (field != "scheduler" && field != "launch")
    return parser.parseInteger(*llvm::StringSwitch<int64_t *>(field)
                                    .Case("cta_group", &ctaGroup)
                                    .Case("split_k", &splitK)
                                    .Case("stages", &stages)
                                    .Case("accumulators", &accumulators));
  SMLoc loc = parser.getCurrentLocation();
  SmallVector<StringRef> words{"serial", "programmatic"};
  if (field == "scheduler") {
    words.clear();
    for (uint32_t kind = 0; kind <= getMaxEnumValForSchedulerKind(); ++kind)
      words.push_back(stringifySchedulerKind(SchedulerKind(kind)));
  }
  FailureOr<size_t> word = parseWord(words);
  if (failed(word))
    return emitUnexpected(loc);
  if (field == "launch")
    programmatic = *word == 1;
  else
    scheduler = SchedulerKind(*word);
  return success();
}

FailureOr<size_t> ConfigParser::parseWord(ArrayRef<StringRef> words) {
  StringRef word;
  // The words are what an editor offers to complete.
  if (parser.parseOptionalKeyword(&word, words))
    return failure();
  return llvm::find(words, word) - words.begin();
}

Attribute GemmConfigAttr::parse(AsmParser &parser, Type) {
  return ConfigParser(parser).parse();
}

void GemmConfigAttr::print(AsmPrinter &printer) const {
  printer << "<tile = " << getTileM() << " x " << getTileN() << " x "
          << getTileK();
  if (getCtaGroup() != 1)
    printer << ", cta_group = " << getCtaGroup();
  if (getClusterM() != getCtaGroup() || getClusterN() != 1)
    printer << ", cluster = " << getClusterM() << " x " << getClusterN();
  if (getSplitK() != 1)
    printer << ", split_k = " << getSplitK();
  if (getStages())
    printer << ", stages = " << getStages();
  if (getAccumulators())
    printer << ", accumulators = " << getAccumulators();
  if (getScheduler() != SchedulerKind::Persistent)
    printer << ", scheduler = " << stringifySchedulerKind(getScheduler());
  if (getProgrammatic())
    printer << ", launch = programmatic";
  printer << '>';
}

LogicalResult GemmConfigAttr::verify(
    function_ref<InFlightDiagnostic()> emitError, int64_t tileM, int64_t tileN,
    int64_t tileK, int64_t ctaGroup, int64_t clusterM, int64_t clusterN,
    int64_t splitK, int64_t stages, int64_t accumulators, SchedulerKind, bool) {
  if (ctaGroup != 1 && ctaGroup != 2)
    return emitError() << "cta_group must be 1 or 2, but got " << ctaGroup;
  // What some chip computes; which does is the lowering's to say.
  bool swapsOperands =
      ctaGroup == 1 && tileM > 0 && tileM < 64 && tileM % 8 == 0;
  if (tileM != 64 * ctaGroup && tileM != 128 * ctaGroup && tileM != 256 &&
      !swapsOperands)
    return emitError() << "tile M must be "
                       << (ctaGroup == 1
                               ? "64, 128 or 256, or a multiple of 8 below 64"
                               : "128 or 256")
                       << " with cta_group = " << ctaGroup << ", but got "
                       << tileM;
  if (tileN < 8 || tileN > 256 || tileN % 8)
    return emitError() << "tile N must be a multiple of 8 in 8..256, but got "
                       << tileN;
  if (swapsOperands && tileN % 64)
    return emitError() << "tile N must be a multiple of 64 with a tile M below "
                          "64, for columns are then the MMA's rows, but got "
                       << tileN;
  if (tileK != 128)
    return emitError()
           << "tile K must be 128, the depth of a scale block, but got "
           << tileK;
  if (clusterM < 1 || clusterN < 1 || clusterM > kMaxClusterSize ||
      clusterN > kMaxClusterSize || clusterM * clusterN > kMaxClusterSize)
    return emitError() << "a cluster has 1 to " << kMaxClusterSize
                       << " CTAs, but got " << clusterM << " x " << clusterN;
  if (clusterM % ctaGroup)
    return emitError() << "a cluster has a whole number of CTA pairs along M, "
                          "but got "
                       << clusterM << " CTAs";
  if (splitK < 1 || splitK > kMaxClusterSize)
    return emitError() << "split_k must be 1 to " << kMaxClusterSize
                       << ", the CTAs of a cluster, but got " << splitK;
  if (splitK > 1 && clusterM * clusterN > 1)
    return emitError() << "the CTAs that divide K are a cluster of their own; "
                          "leave cluster and cta_group out beside split_k";
  const int64_t kMaxStages = chip::getMostSharedMemory() / 16;
  if (stages < 0 || stages > kMaxStages)
    return emitError() << "stages must be 0 to " << kMaxStages
                       << ", as many as fit if each takes 16 bytes of shared "
                          "memory, but got "
                       << stages;
  if (accumulators < 0 || accumulators > chip::getMostTensorMemoryColumns())
    return emitError() << "accumulators must be 0 to "
                       << chip::getMostTensorMemoryColumns()
                       << ", the columns of tensor memory, but got "
                       << accumulators;
  return success();
}
