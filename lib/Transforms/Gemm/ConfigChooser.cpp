// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Chooses the configuration of a GEMM op: by the op, by a table, or the one
// that is predicted to be the best.

#include "ConfigChooser.h"
#include "GemmSchedule.h"

#include "mlir/IR/Diagnostics.h"
#include "llvm/ADT/StringSwitch.h"

#include <numeric>

using namespace mlir;
using namespace mlir::fp8;

//===----------------------------------------------------------------------===//
// Choice
//===----------------------------------------------------------------------===//

StringRef mlir::fp8::stringifyConfigSource(ConfigSource source) {
  switch (source) {
  case ConfigSource::Pinned:
    return "pinned";
  case ConfigSource::Table:
    return "table";
  case ConfigSource::Model:
    return "model";
  case ConfigSource::Lowering:
    return "lowering";
  }
  llvm_unreachable("no other source");
}

/// Nothing for what is no choice.
static std::optional<LaunchChoice> parseLaunch(StringRef text) {
  return llvm::StringSwitch<std::optional<LaunchChoice>>(text)
      .Cases({"", "fastest"}, LaunchChoice::Fastest)
      .Case("serial", LaunchChoice::Serial)
      .Case("programmatic", LaunchChoice::Programmatic)
      .Default(std::nullopt);
}

/// MxNxK, each a number or a question mark.
static bool parseHint(StringRef text, std::array<int64_t, 3> &hint) {
  SmallVector<StringRef> parts;
  text.split(parts, 'x');
  if (parts.size() != hint.size())
    return false;
  for (auto [part, extent] : llvm::zip_equal(parts, hint))
    if (part != "?" && (part.getAsInteger(10, extent) || extent < 1 ||
                        extent >= gemm::kExtentLimit))
      return false;
  return true;
}

LogicalResult
ConfigChooser::setMachine(StringRef text,
                          function_ref<InFlightDiagnostic()> emitError) {
  FailureOr<const chip::Machine *> found = findMachine(text, chip, emitError);
  if (failed(found))
    return failure();
  if (*found) {
    chip.machine = *found;
    return success();
  }
  FailureOr<std::shared_ptr<const MachineFile>> file =
      MachineFile::read(text, chip, emitError);
  if (failed(file))
    return failure();
  measured = std::move(*file);
  chip.machine = &measured->machine;
  return success();
}

FailureOr<ConfigChooser> ConfigChooser::create(ModuleOp module, StringRef pass,
                                               const ChooserOptions &options) {
  auto fail = [&]() { return module.emitError() << "--" << pass << ": "; };
  ConfigChooser chooser;
  const chip::Chip *chip = chip::lookup(options.chip);
  if (!chip)
    return module.emitError() << "unknown chip '" << options.chip
                              << "'; known are " << chip::getNames();
  chooser.chip = *chip;
  if (!options.machine.empty() &&
      failed(chooser.setMachine(options.machine, fail)))
    return failure();
  chooser.hint.fill(ShapedType::kDynamic);
  if (!options.problem.empty() && !parseHint(options.problem, chooser.hint))
    return fail() << "problem must be MxNxK, such as 64x7168x2048, or "
                     "?x7168x2048 where M is unknown, but got '"
                  << options.problem << "'";
  std::optional<LaunchChoice> launch = parseLaunch(options.launch);
  if (!launch)
    return fail() << "launch must be serial, programmatic or fastest, but got '"
                  << options.launch << "'";
  chooser.launch = *launch;
  chooser.hintIsExact = options.exact;
  if (options.tuned.empty())
    return chooser;
  FailureOr<TunedTable> table =
      TunedTable::read(options.tuned, chooser.chip, module.getContext(), fail);
  if (failed(table))
    return failure();
  chooser.table = std::move(*table);
  return chooser;
}

static int64_t dim(Value memref, int64_t axis) {
  return cast<MemRefType>(memref.getType()).getDimSize(axis);
}

static int64_t firstKnown(std::initializer_list<int64_t> extents) {
  for (int64_t extent : extents)
    if (!ShapedType::isDynamic(extent))
      return extent;
  return ShapedType::kDynamic;
}

/// M, if the op's types say it. Where an operand says nothing another may.
static int64_t getStaticM(BlockwiseGemmOp op) {
  int64_t axis = op.getBatchAxes();
  return firstKnown({dim(op.getD(), axis), dim(op.getA(), axis),
                     dim(op.getAScale(), axis + 1)});
}

std::optional<GemmExtents> ConfigChooser::getExtents(BlockwiseGemmOp op) const {
  constexpr int64_t kGuess = 4096;
  int64_t axis = op.getBatchAxes();
  std::array<int64_t, 3> extents = {
      firstKnown({getStaticM(op), hint[0]}),
      firstKnown({dim(op.getD(), axis + 1), dim(op.getB(), axis), hint[1]}),
      firstKnown(
          {dim(op.getA(), axis + 1), dim(op.getB(), axis + 1), hint[2]})};
  if (llvm::all_of(extents, ShapedType::isDynamic))
    return std::nullopt;
  int64_t batch = axis ? firstKnown({dim(op.getD(), 0), dim(op.getA(), 0),
                                     dim(op.getB(), 0), 1})
                       : 1;
  // An extent of 0 leaves nothing to choose by.
  auto orGuess = [](int64_t extent) {
    return ShapedType::isDynamic(extent) ? kGuess
                                         : std::max<int64_t>(extent, 1);
  };
  return GemmExtents{orGuess(extents[0]), orGuess(extents[1]),
                     orGuess(extents[2]), std::max<int64_t>(batch, 1)};
}

bool ConfigChooser::knowsM(BlockwiseGemmOp op) const {
  return !ShapedType::isDynamic(firstKnown(
      {getStaticM(op), hintIsExact ? hint[0] : ShapedType::kDynamic}));
}

GemmExtents ConfigChooser::roundUp(BlockwiseGemmOp op, GemmExtents extents) {
  constexpr int64_t kFew = 16, kMultiple = 8;
  if (extents.m > kFew && ShapedType::isDynamic(getStaticM(op)))
    extents.m = llvm::alignTo(extents.m, kMultiple);
  return extents;
}

double ConfigChooser::getTime(const TunedTable::Entry &entry) const {
  if (launch == LaunchChoice::Serial)
    return entry.serialConfig ? entry.serialUs : entry.aloneUs;
  bool asMeasured =
      launch == LaunchChoice::Fastest || entry.config.programmatic;
  return asMeasured ? entry.meanUs : 0;
}

/// Rows of the last row of tiles that M does not have.
static int64_t getRowsBeyond(const GemmConfig &config, int64_t m) {
  return llvm::alignTo(m, config.tileM) - m;
}

/// So many rows beyond M cost nothing (docs/Timing.md).
constexpr int64_t kFreeRows = 11;

std::optional<TimedConfig>
ConfigChooser::lookup(BlockwiseGemmOp op, const GemmExtents &extents) const {
  if (!table)
    return std::nullopt;
  for (const TunedTable::Entry *entry : table->lookup(extents)) {
    std::optional<GemmConfig> config = adapt(op, *entry, extents);
    // What was measured with another M says nothing of other rows of tiles.
    if (config && llvm::divideCeil(extents.m, config->tileM) ==
                      llvm::divideCeil(entry->m, config->tileM))
      return TimedConfig{config, getTime(*entry),
                         entry->serialConfig.has_value()};
  }
  return std::nullopt;
}

bool ConfigChooser::prefersMeasured(const TimedConfig &measured,
                                    const TimedConfig &predicted) const {
  return launch != LaunchChoice::Serial || measured.isFastestSerial ||
         !measured.us || !predicted.us || measured.us <= predicted.us;
}

std::optional<GemmConfig>
ConfigChooser::lookupFaster(BlockwiseGemmOp op, const GemmExtents &extents,
                            double us) const {
  if (!table)
    return std::nullopt;
  constexpr double kNoise = 0.01;
  for (const TunedTable::Entry *entry : table->lookupFaster(
           extents, us * (1 - kNoise),
           [&](const TunedTable::Entry &entry) { return getTime(entry); })) {
    std::optional<GemmConfig> config = adapt(op, *entry, extents);
    // It was measured with fewer rows beyond M.
    if (config && (config->edge != Edge::Last ||
                   getRowsBeyond(*config, extents.m) <= kFreeRows))
      return config;
  }
  return std::nullopt;
}

std::optional<GemmConfig>
ConfigChooser::adapt(BlockwiseGemmOp op, const TunedTable::Entry &entry,
                     const GemmExtents &extents) const {
  GemmConfig config = launch == LaunchChoice::Serial
                          ? entry.serialConfig.value_or(entry.config)
                          : entry.config;
  EachEdge &edges = entries[op][&entry];
  // It was measured with its own edge, if M has one.
  bool isItself = entry.m == extents.m && extents.m % config.tileM != 0 &&
                  config.edge == Edge::Last && knowsM(op);
  const Candidate &candidate =
      isItself || config.edge == Edge::Fit
          ? edges.get(*this, op, config)
          : edges.getUsual(*this, op, config, extents.m);
  if (!candidate)
    return std::nullopt;
  if (launch != LaunchChoice::Fastest)
    config.programmatic = launch == LaunchChoice::Programmatic;
  config.signalsAtWait &= config.programmatic;
  // More than the free rows beyond M are as many as the entry has, or nearly.
  constexpr int64_t kFar = 8;
  if (config.edge == Edge::Last &&
      getRowsBeyond(config, extents.m) > kFreeRows &&
      entry.m - extents.m >= kFar)
    return std::nullopt;
  return config;
}

ConfigChoice ConfigChooser::choose(BlockwiseGemmOp op) const {
  ConfigChoice choice{
      ConfigSource::Lowering, op.getConfig(), getExtents(op), {}};
  if (choice.extents)
    choice.ranked = rank(op, *choice.extents);
  if (choice.config) {
    choice.source = ConfigSource::Pinned;
    return choice;
  }
  if (!choice.extents) {
    choice.config = chooseUnpredicted(choice.extents);
    return choice;
  }
  TimedConfig best{chooseUnpredicted(choice.extents)};
  if (!choice.ranked.empty()) {
    const RankedConfig &first = choice.ranked.front();
    best = {first.config, first.meanUs};
    choice.source = ConfigSource::Model;
  }
  if (std::optional<TimedConfig> measured = lookup(op, *choice.extents);
      measured && prefersMeasured(*measured, best)) {
    best = *measured;
    choice.source = ConfigSource::Table;
  }
  choice.config = best.config;
  if (auto faster = lookupFaster(op, *choice.extents, best.us)) {
    choice.config = faster;
    choice.source = ConfigSource::Table;
  }
  return choice;
}

std::optional<GemmConfig> ConfigChooser::chooseUnpredicted(
    const std::optional<GemmExtents> &extents) const {
  if (extents || launch != LaunchChoice::Programmatic)
    return std::nullopt;
  GemmConfig config;
  config.programmatic = true;
  return config;
}

std::optional<GemmConfig>
ConfigChooser::chooseConfig(BlockwiseGemmOp op) const {
  std::optional<GemmExtents> extents = getExtents(op);
  if (!extents)
    return chooseUnpredicted(extents);
  std::optional<TimedConfig> measured = lookup(op, *extents);
  TimedConfig best;
  if (!measured || launch == LaunchChoice::Serial)
    best = chooseKnown(op, *extents);
  if (measured && prefersMeasured(*measured, best))
    best = *measured;
  auto faster = lookupFaster(op, *extents, best.us);
  return faster ? faster : best.config;
}

const TimedConfig &
ConfigChooser::chooseKnown(BlockwiseGemmOp op,
                           const GemmExtents &extents) const {
  GemmExtents rounded = roundUp(op, extents);
  constexpr unsigned kMost = 1 << 16;
  if (chosen.size() >= kMost)
    chosen.clear();
  auto [known, isNew] = chosen.try_emplace(
      {op, knowsM(op), rounded.m, rounded.n, rounded.k, rounded.batch});
  if (isNew)
    known->second = chooseBest(op, rounded);
  return known->second;
}
