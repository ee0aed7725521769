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

/// Parses `field = value`, one of the fields after the tile.
static ParseResult parseConfigField(AsmParser &parser, int64_t &ctaGroup,
                                    int64_t &clusterM, int64_t &clusterN,
                                    int64_t &splitK, int64_t &stages,
                                    int64_t &accumulators,
                                    SchedulerKind &scheduler,
                                    bool &programmatic) {
  StringRef field, kind;
  SMLoc loc = parser.getCurrentLocation();
  if (parser.parseKeyword(&field) || parser.parseEqual())
    return failure();
  if (field == "stages")
    return parser.parseInteger(stages);
  if (field == "accumulators")
    return parser.parseInteger(accumulators);
  if (field == "split_k")
    return parser.parseInteger(splitK);
  if (field == "cta_group")
    return parser.parseInteger(ctaGroup);
  if (field == "cluster")
    return failure(parser.parseInteger(clusterM) || parser.parseKeyword("x") ||
                   parser.parseInteger(clusterN));
  if (field == "launch" && succeeded(parser.parseKeyword(&kind)) &&
      (kind == "programmatic" || kind == "serial")) {
    programmatic = kind == "programmatic";
    return success();
  }
  std::optional<SchedulerKind> parsed;
  if (field == "scheduler" && succeeded(parser.parseKeyword(&kind)))
    parsed = symbolizeSchedulerKind(kind);
  if (!parsed)
    return parser.emitError(loc,
                            "expected cta_group, cluster, split_k, stages, "
                            "accumulators, a launch that is serial or "
                            "programmatic, or a scheduler that is one_tile, "
                            "persistent or clc");
  scheduler = *parsed;
  return success();
}

Attribute GemmConfigAttr::parse(AsmParser &parser, Type) {
  SMLoc loc = parser.getCurrentLocation();
  int64_t tileM, tileN, tileK, ctaGroup = 1, clusterM = 0, clusterN = 0;
  int64_t splitK = 1, stages = 0, accumulators = 0;
  SchedulerKind scheduler = SchedulerKind::Persistent;
  bool programmatic = false;
  if (parser.parseLess() || parser.parseKeyword("tile") ||
      parser.parseEqual() || parser.parseInteger(tileM) ||
      parser.parseKeyword("x") || parser.parseInteger(tileN) ||
      parser.parseKeyword("x") || parser.parseInteger(tileK))
    return {};
  while (succeeded(parser.parseOptionalComma()))
    if (parseConfigField(parser, ctaGroup, clusterM, clusterN, splitK, stages,
                         accumulators, scheduler, programmatic))
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
  constexpr int64_t kMaxStages = kMaxSharedMemoryBytes / 16;
  if (stages < 0 || stages > kMaxStages)
    return emitError() << "stages must be 0 to " << kMaxStages
                       << ", as many as fit if each takes 16 bytes of shared "
                          "memory, but got "
                       << stages;
  if (accumulators < 0 || accumulators > kTmemColumns)
    return emitError() << "accumulators must be 0 to " << kTmemColumns
                       << ", the columns of tensor memory, but got "
                       << accumulators;
  return success();
}
