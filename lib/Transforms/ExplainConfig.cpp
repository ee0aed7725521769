// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Prints what configuration each GEMM op gets, and why.

#include "Gemm/ConfigChooser.h"
#include "OutputFile.h"
#include "fp8/Transforms/Passes.h"

#include "mlir/Interfaces/FunctionInterfaces.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/JSON.h"

namespace mlir::fp8 {
#define GEN_PASS_DEF_FP8EXPLAINCONFIG
#include "fp8/Transforms/Passes.h.inc"
} // namespace mlir::fp8

using namespace mlir;
using namespace mlir::fp8;
using llvm::formatv;

//===----------------------------------------------------------------------===//
// Words
//===----------------------------------------------------------------------===//

namespace {
struct Term {
  StringRef name;
  double us;
  bool isBound = false; ///< of the loops: only the largest counts
};
} // namespace

static SmallVector<Term> getTerms(const tuning::Prediction &prediction) {
  // 0 less `ahead`, for its negation may be -0.
  SmallVector<Term> terms = {
      {"launch", prediction.launch},   {"epilogue", prediction.epilogue},
      {"fill", prediction.fill},       {"wait", prediction.fillWait},
      {"ahead", 0 - prediction.ahead}, {"correction", prediction.correction}};
  for (int bound = 0; bound < tuning::kNumBounds; ++bound)
    terms.push_back({getName(static_cast<tuning::Bound>(bound)),
                     prediction.bounds[bound], /*isBound=*/true});
  return terms;
}

/// What the other falls behind by, of what its time is mostly made of.
static std::string compare(const RankedConfig &best,
                           const RankedConfig &other) {
  std::string text = formatv("'{0}' would take {1:F2}", stringify(other.config),
                             other.prediction.total);
  if (other.prediction.total < best.prediction.total &&
      other.aloneUs > best.aloneUs)
    return text + formatv(", but alone {0:F2} instead of {1:F2}",
                          other.aloneUs, best.aloneUs)
                      .str();
  if (other.prediction.total <= best.prediction.total)
    return text + formatv(", which is as fast, but has {0} tiles",
                          other.prediction.tiles)
                      .str();
  StringRef bound = getName(other.prediction.getLargest());
  Term most{"", 0}, instead{"", 0};
  for (auto [mine, its] :
       llvm::zip_equal(getTerms(best.prediction), getTerms(other.prediction))) {
    bool counts = !its.isBound || its.name == bound;
    if (!counts || its.us - mine.us <= most.us - instead.us)
      continue;
    most = its;
    instead = mine;
  }
  if (!most.name.empty())
    text += formatv(", its {0} {1:F2} instead of {2:F2}", most.name, most.us,
                    instead.us);
  return text;
}

static std::string describe(const RankedConfig &config) {
  const tuning::Prediction &prediction = config.prediction;
  tuning::Bound bound = prediction.getLargest();
  double fill = double(prediction.tiles) /
                (double(prediction.waves) * prediction.resident);
  return formatv("'{0}': {1} tiles in {2} wave{3} of {4} CTAs, {5:P0} full; "
                 "{6:F2} us, bound by {7} ({8:F2}), launch {9:F2}",
                 stringify(config.config), prediction.tiles, prediction.waves,
                 prediction.waves == 1 ? "" : "s", prediction.resident, fill,
                 prediction.total, getName(bound), prediction.get(bound),
                 prediction.launch);
}

/// Why the op has its configuration.
static std::string getReason(const ConfigChoice &choice) {
  if (!choice.extents)
    return choice.source == ConfigSource::Pinned
               ? "pinned by the op; M, N and K are unknown"
               : "M, N and K are unknown, so the lowering uses tiles of 128 x "
                 "128; state them with problem=MxNxK";
  if (choice.ranked.empty())
    return "no candidate fits the chip; the error of the lowering gives the "
           "reason";
  const RankedConfig &best = choice.ranked.front();
  switch (choice.source) {
  case ConfigSource::Pinned:
    return "pinned by the op; the model would choose " + describe(best);
  case ConfigSource::Table:
    return "from the tuned table; the model would choose " + describe(best);
  default:
    // The same with the other edge says little.
    auto other = llvm::find_if(llvm::drop_begin(choice.ranked),
                               [&](const RankedConfig &one) {
                                 GemmConfig config = one.config;
                                 config.edge = best.config.edge;
                                 return !(config == best.config);
                               });
    return describe(best) + (other == choice.ranked.end()
                                 ? std::string()
                                 : "; " + compare(best, *other));
  }
}

//===----------------------------------------------------------------------===//
// Formats
//===----------------------------------------------------------------------===//

static StringRef getFunctionName(BlockwiseGemmOp op) {
  auto function = op->getParentOfType<FunctionOpInterface>();
  return function ? function.getName() : "";
}

static void printText(raw_ostream &os, BlockwiseGemmOp op,
                      const ConfigChooser &chooser, const ConfigChoice &choice,
                      ArrayRef<RankedConfig> shown) {
  os << "@" << getFunctionName(op) << " for " << chooser.getChip().name << " ("
     << chooser.getMachine().name;
  if (StringRef path = chooser.getMachinePath(); !path.empty())
    os << ", constants of '" << path << "'";
  os << ")";
  if (const auto &extents = choice.extents) {
    os << ": M=" << extents->m << " N=" << extents->n << " K=" << extents->k;
    if (extents->batch != 1)
      os << " batch=" << extents->batch;
  }
  os << "\n  ";
  if (choice.config)
    os << stringify(*choice.config) << ", by the "
       << (choice.source == ConfigSource::Pinned
               ? StringRef("op")
               : stringifyConfigSource(choice.source));
  else
    os << "no config";
  os << "\n  " << getReason(choice) << "\n";
  if (shown.empty())
    return;
  os << formatv("  {0,9} {1,9}", "us", "alone");
  for (const Term &term : getTerms(shown.front().prediction))
    os << formatv(" {0,10}", term.name);
  os << formatv(" {0,7} {1,5}  bound      config\n", "tiles", "waves");
  for (const RankedConfig &config : shown) {
    os << formatv("  {0,9:F2} {1,9:F2}", config.prediction.total,
                  config.aloneUs);
    for (const Term &term : getTerms(config.prediction))
      os << formatv(" {0,10:F2}", term.us);
    os << formatv(" {0,7} {1,5}  {2,-9}  {3}\n", config.prediction.tiles,
                  config.prediction.waves,
                  getName(config.prediction.getLargest()),
                  stringify(config.config));
  }
}

static llvm::json::Value toJSON(const RankedConfig &config) {
  llvm::json::Object terms;
  for (const Term &term : getTerms(config.prediction))
    terms[term.name] = term.us;
  const tuning::KernelShape &shape = *config.shape;
  llvm::json::Object kernel{{"stages", shape.config.stages},
                            {"blocks_per_stage", shape.blocksPerStage},
                            {"warpgroups", shape.warpgroups},
                            {"scale_parts", shape.scaleParts},
                            {"swapped", shape.swapped},
                            {"overlaps", shape.overlaps},
                            {"shares_a", shape.sharesA},
                            {"shares_b", shape.sharesB}};
  return llvm::json::Object{{"config", stringify(config.config)},
                            {"kernel", std::move(kernel)},
                            {"us", config.prediction.total},
                            {"alone_us", config.aloneUs},
                            {"terms", std::move(terms)},
                            {"tiles", config.prediction.tiles},
                            {"waves", config.prediction.waves},
                            {"bound", getName(config.prediction.getLargest())}};
}

static llvm::json::Value toJSON(BlockwiseGemmOp op,
                                const ConfigChooser &chooser,
                                const ConfigChoice &choice,
                                ArrayRef<RankedConfig> shown) {
  llvm::json::Array candidates;
  for (const RankedConfig &config : shown)
    candidates.push_back(toJSON(config));
  using llvm::json::fixUTF8; // names and paths are any bytes
  llvm::json::Object object{
      {"function", fixUTF8(getFunctionName(op))},
      {"chip", chooser.getChip().name},
      {"machine", chooser.getMachine().name},
      {"constants",
       fixUTF8(chooser.getMachinePath().empty() ? StringRef("built in")
                                                : chooser.getMachinePath())},
      {"source", stringifyConfigSource(choice.source)},
      {"reason", getReason(choice)},
      {"candidates", std::move(candidates)}};
  if (choice.config)
    object["config"] = stringify(*choice.config);
  if (const auto &extents = choice.extents) {
    object["m"] = extents->m;
    object["n"] = extents->n;
    object["k"] = extents->k;
    object["batch"] = extents->batch;
  }
  return object;
}

namespace {

struct ExplainConfigPass
    : public mlir::fp8::impl::Fp8ExplainConfigBase<ExplainConfigPass> {
  using Fp8ExplainConfigBase::Fp8ExplainConfigBase;

  void runOnOperation() override {
    markAllAnalysesPreserved();
    if (format != "text" && format != "json") {
      getOperation().emitError()
          << "--fp8-explain-config: format must be text or json, but got '"
          << format << "'";
      return signalPassFailure();
    }
    FailureOr<ConfigChooser> chooser =
        ConfigChooser::create(getOperation(), getArgument(),
                              {chip, problem, tuned, machine, launch, exact});
    if (failed(chooser) ||
        failed(writeOutput(getOperation(), getArgument(), output,
                           [&](raw_ostream &os) { print(*chooser, os); })))
      signalPassFailure();
  }

private:
  void print(const ConfigChooser &chooser, raw_ostream &os) {
    llvm::json::Array array;
    getOperation().walk([&](BlockwiseGemmOp op) {
      ConfigChoice choice = chooser.choose(op);
      ArrayRef<RankedConfig> shown(choice.ranked);
      if (top)
        shown = shown.take_front(top);
      if (format == "text")
        printText(os, op, chooser, choice, shown);
      else
        array.push_back(toJSON(op, chooser, choice, shown));
    });
    if (format == "json")
      os << formatv("{0:2}", llvm::json::Value(std::move(array))) << "\n";
  }
};

} // namespace
