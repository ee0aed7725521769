// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Configurations that were the best where they were measured.

#include "TunedTable.h"
#include "LaunchRanking.h"
#include "ShallowJSON.h"
#include "fp8/Chip/Machine.h"

#include "mlir/AsmParser/AsmParser.h"
#include "mlir/IR/Diagnostics.h"
#include "llvm/Support/MathExtras.h"
#include "llvm/Support/MemoryBuffer.h"

using namespace mlir;
using namespace mlir::fp8;

/// None if the text is no configuration; what is wrong goes to `problem`.
static std::optional<GemmConfig>
parseConfig(StringRef text, MLIRContext *context, std::string &problem) {
  ScopedDiagnosticHandler handler(context, [&](Diagnostic &diagnostic) {
    problem = diagnostic.str();
    return success();
  });
  std::string attribute = ("#fp8.gemm_config<" + text + ">").str();
  auto config =
      dyn_cast_or_null<GemmConfigAttr>(parseAttribute(attribute, context));
  return config ? std::optional(config.getValue()) : std::nullopt;
}

/// False, with what is wrong in `problem`, if the entry is none.
static bool readEntry(const llvm::json::Value &value, MLIRContext *context,
                      TunedTable::Entry &entry, std::string &problem) {
  const llvm::json::Object *object = value.getAsObject();
  auto extent = [&](StringRef key) {
    return object ? object->getInteger(key).value_or(0) : 0;
  };
  entry = {extent("m"), extent("n"), extent("k"), {}, 0};
  auto config =
      object ? object->getString("config") : std::optional<StringRef>();
  auto number = [&](StringRef key) {
    return object ? object->getNumber(key) : std::optional<double>();
  };
  std::optional<double> us = number("us"), alone = number("alone_us");
  if (entry.m < 1 || entry.n < 1 || entry.k < 1 || !config || !us ||
      !(*us > 0) || (alone && !(*alone > 0))) {
    problem = "it needs m, n, k, config and us, and may have alone_us, more "
              "than 0 each";
    return false;
  }
  entry.us = *us;
  if (alone) {
    entry.aloneUs = *alone;
    entry.meanUs = getMeanTime(*us, *alone);
  }
  std::optional<GemmConfig> parsed = parseConfig(*config, context, problem);
  entry.config = parsed.value_or(GemmConfig());
  if (!parsed)
    return false;
  std::optional<StringRef> serial = object->getString("serial");
  std::optional<double> serialUs = number("serial_us");
  if (!serial && !serialUs)
    return true;
  if (!serial || !serialUs || !(*serialUs > 0)) {
    problem = "serial and serial_us need each other, and serial_us is more "
              "than 0";
    return false;
  }
  entry.serialUs = *serialUs;
  entry.serialConfig = parseConfig(*serial, context, problem);
  if (entry.serialConfig && entry.serialConfig->programmatic) {
    problem = "serial has 'launch = programmatic'; leave that out there";
    return false;
  }
  return entry.serialConfig.has_value();
}

/// The rows of a correction: M, N, K, and what the kernel took beyond its
/// predicted time, in thousandths of that.
static std::optional<std::vector<tuning::Corrections::Measured>>
readMeasured(const llvm::json::Array &rows) {
  std::vector<tuning::Corrections::Measured> measured;
  for (const llvm::json::Value &row : rows) {
    std::array<int64_t, 4> numbers;
    const llvm::json::Array *array = row.getAsArray();
    if (!array || array->size() != numbers.size())
      return std::nullopt;
    for (auto [value, number] : llvm::zip_equal(*array, numbers)) {
      std::optional<int64_t> integer = value.getAsInteger();
      if (!integer)
        return std::nullopt;
      number = *integer;
    }
    auto [m, n, k, thousandths] = numbers;
    if (m < 1 || n < 1 || k < 1 || thousandths <= -1000)
      return std::nullopt;
    measured.push_back({m, n, k, 1 + double(thousandths) / 1000});
  }
  return measured;
}

/// False, with what is wrong in `problem`, if the correction is none.
static bool readCorrection(const llvm::json::Value &value, MLIRContext *context,
                           tuning::Corrections &corrections,
                           std::string &problem) {
  const llvm::json::Object *object = value.getAsObject();
  auto text = object ? object->getString("config") : std::optional<StringRef>();
  const llvm::json::Array *rows =
      object ? object->getArray("measured") : nullptr;
  auto measured =
      rows ? readMeasured(*rows)
           : std::optional<std::vector<tuning::Corrections::Measured>>();
  if (!text || !measured) {
    problem = "it needs config, and in 'measured' rows of M, N, K, more than 0 "
              "each, and thousandths above -1000";
    return false;
  }
  std::optional<GemmConfig> config = parseConfig(*text, context, problem);
  if (config)
    corrections.add(*config, *measured);
  return config.has_value();
}

FailureOr<TunedTable>
TunedTable::read(StringRef path, const chip::Chip &chip, MLIRContext *context,
                 function_ref<InFlightDiagnostic()> emitError) {
  auto file = llvm::MemoryBuffer::getFile(path, /*IsText=*/true);
  if (!file)
    return emitError() << "cannot read the tuned table '" << path
                       << "': " << file.getError().message();
  llvm::Expected<llvm::json::Value> json =
      parseShallowJSON((*file)->getBuffer());
  if (!json)
    return emitError() << "the tuned table '" << path << "' is not valid JSON: "
                       << llvm::toString(json.takeError());
  const llvm::json::Object *table = json->getAsObject();
  const llvm::json::Array *entries =
      table ? table->getArray("entries") : nullptr;
  std::optional<StringRef> name =
      table ? table->getString("chip") : std::optional<StringRef>();
  if (!entries || !name)
    return emitError() << "the tuned table '" << path
                       << "' needs a \"chip\" and \"entries\"; './dev bench "
                          "--tune' writes one";
  if (*name != chip.name)
    return emitError() << "the tuned table '" << path << "' is for " << *name
                       << ", but kernels are lowered for " << chip.name
                       << "; use a table that was measured on that chip";
  TunedTable result(*chip.machine);
  const llvm::json::Array *constants = table->getArray("constants");
  if (table->get("constants") && !constants)
    return emitError() << "'constants' of the tuned table '" << path
                       << "' must be a list of names";
  if (constants)
    for (const llvm::json::Value &constant : *constants) {
      result.constants.push_back(constant.getAsString().value_or("").str());
      if (llvm::none_of(chip::getMachineConstants(),
                        [&](const chip::MachineConstant &known) {
                          return known.isFitted &&
                                 known.name == result.constants.back();
                        }))
        return emitError() << "the tuned table '" << path << "' names '"
                           << result.constants.back()
                           << "', which is no constant that is fitted; name "
                              "such as 'launchUs', or leave 'constants' out";
    }
  for (auto [index, value] : llvm::enumerate(*entries)) {
    std::string problem;
    if (!readEntry(value, context, result.entries.emplace_back(), problem))
      return emitError() << "entry " << index << " of the tuned table '" << path
                         << "' is invalid: " << problem;
  }
  // They are of the model with the built-in constants of that GPU.
  const llvm::json::Array *corrections = table->getArray("corrections");
  std::optional<StringRef> gpu = table->getString("gpu");
  if (!corrections || !gpu || chip::lookupMachine(gpu->str()) != chip.machine)
    return result;
  for (auto [index, value] : llvm::enumerate(*corrections)) {
    std::string problem;
    if (!readCorrection(value, context, result.corrections, problem))
      return emitError() << "correction " << index << " of the tuned table '"
                         << path << "' is invalid: " << problem;
  }
  return result;
}

static bool hasColumnsOf(const TunedTable::Entry &entry,
                         const GemmExtents &extents) {
  return extents.batch == 1 && entry.n == extents.n && entry.k == extents.k;
}

SmallVector<const TunedTable::Entry *, 0>
TunedTable::lookup(const GemmExtents &extents) const {
  auto hasAsMany = [&](const Entry &entry, int64_t rows) {
    return llvm::divideCeil(entry.m, rows) == llvm::divideCeil(extents.m, rows);
  };
  SmallVector<const Entry *, 0> found;
  for (const Entry &entry : entries)
    if (hasColumnsOf(entry, extents) && hasAsMany(entry, 64))
      found.push_back(&entry);
  // Tiles may have fewer than 64 rows where M has. Of two that are as near the
  // larger M is the safer: with fewer rows a kernel takes no longer.
  auto place = [&](const Entry *entry) {
    return std::tuple(extents.m < 64 && !hasAsMany(*entry, 8),
                      std::abs(entry->m - extents.m), entry->m < extents.m);
  };
  llvm::stable_sort(found, [&](const Entry *one, const Entry *other) {
    return place(one) < place(other);
  });
  return found;
}

SmallVector<const TunedTable::Entry *, 0>
TunedTable::lookupFaster(const GemmExtents &extents, double us,
                         function_ref<double(const Entry &)> getTime) const {
  SmallVector<const Entry *, 0> found;
  for (const Entry &entry : entries)
    if (hasColumnsOf(entry, extents) && entry.m > extents.m &&
        entry.m <= 2 * extents.m && getTime(entry) && getTime(entry) < us)
      found.push_back(&entry);
  llvm::stable_sort(found, [&](const Entry *one, const Entry *other) {
    return getTime(*one) < getTime(*other);
  });
  return found;
}
