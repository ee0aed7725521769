// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Constants of the cost model that were measured on a GPU.

#include "MachineFile.h"
#include "ShallowJSON.h"

#include "mlir/IR/Diagnostics.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/MemoryBuffer.h"

#include <cmath>

using namespace mlir;
using namespace mlir::fp8;

/// Of the file. It grows when a constant comes, goes or changes its meaning.
static constexpr int64_t kVersion = 7;
static constexpr StringLiteral kCure =
    "; 'python3 -m fp8 calibrate' writes another";

/// What is wrong with the constants, if anything; else they are in `machine`.
static std::optional<std::string>
readConstants(const llvm::json::Object &constants, chip::Machine &machine) {
  size_t known = 0;
  for (const chip::MachineConstant &constant : chip::getMachineConstants()) {
    std::optional<double> value = constants.getNumber(constant.name);
    if (!value)
      return llvm::formatv("it lacks the constant '{0}'", constant.name).str();
    if (!(*value >= constant.least && *value <= constant.most))
      return llvm::formatv("the constant '{0}' is {1}, but must be {2} to {3}",
                           constant.name, *value, constant.least, constant.most)
          .str();
    constant.set(machine, *value);
    ++known;
  }
  if (constants.size() == known)
    return std::nullopt;
  for (const auto &entry : constants)
    if (llvm::none_of(chip::getMachineConstants(),
                      [&](const chip::MachineConstant &constant) {
                        return StringRef(entry.first) == constant.name;
                      }))
      return ("it has an unknown constant '" + StringRef(entry.first) + "'")
          .str();
  llvm_unreachable("an object has each key once");
}

FailureOr<std::shared_ptr<const MachineFile>>
MachineFile::read(StringRef path, const chip::Chip &chip,
                  function_ref<InFlightDiagnostic()> emitError) {
  auto file = llvm::MemoryBuffer::getFile(path, /*IsText=*/true);
  if (!file)
    return emitError() << "machine '" << path
                       << "' is none that is built in, and no file that can "
                          "be read: "
                       << file.getError().message();
  auto fail = [&]() {
    return emitError() << "the machine file '" << path << "' ";
  };
  llvm::Expected<llvm::json::Value> json =
      parseShallowJSON((*file)->getBuffer());
  if (!json)
    return fail() << "is not valid JSON: " << llvm::toString(json.takeError())
                  << kCure;
  const llvm::json::Object *object = json->getAsObject();
  const llvm::json::Object *constants =
      object ? object->getObject("constants") : nullptr;
  auto name = object ? object->getString("chip") : std::optional<StringRef>();
  auto gpu = object ? object->getString("gpu") : std::optional<StringRef>();
  if (!constants || !name || !gpu)
    return fail() << "needs a \"version\", \"chip\", \"gpu\" and \"constants\""
                  << kCure;
  if (std::optional<int64_t> version = object->getInteger("version");
      version != kVersion)
    return fail() << "is of version " << version.value_or(0)
                  << ", but this compiler reads version " << kVersion << kCure;
  if (*name != chip.name)
    return fail() << "is for " << *name << ", but kernels are lowered for "
                  << chip.name << "; use one that was measured on that chip";
  chip::Machine machine = *chip.machine;
  if (std::optional<std::string> problem = readConstants(*constants, machine))
    return fail() << "is invalid: " << *problem << kCure;
  return std::make_shared<const MachineFile>(machine, *gpu, path);
}

std::string MachineFile::print(const ::fp8::tuning::Fit &fit,
                               const chip::Chip &chip, StringRef gpu,
                               size_t kernels) {
  llvm::json::Object constants;
  for (const chip::MachineConstant &constant : chip::getMachineConstants()) {
    // Four digits are more than is known of any.
    double value = constant.get(fit.machine);
    double unit = value ? std::pow(10, std::floor(std::log10(value)) - 3) : 1;
    constants[constant.name] = std::round(value / unit) * unit;
  }
  return llvm::formatv(
      "{0:2}\n", llvm::json::Value(llvm::json::Object{
                     {"version", kVersion},
                     {"chip", chip.name},
                     {"gpu", gpu},
                     {"kernels", int64_t(kernels)},
                     {"median_error", std::round(fit.median * 1e4) / 1e4},
                     {"ninetieth_error", std::round(fit.ninetieth * 1e4) / 1e4},
                     {"constants", std::move(constants)}}));
}

FailureOr<const chip::Machine *>
mlir::fp8::findMachine(StringRef name, const chip::Chip &chip,
                       function_ref<InFlightDiagnostic()> emitError) {
  const chip::Machine *machine = chip::lookupMachine(name);
  // Chips of one kind of MMA share machines.
  if (machine && machine->mmaRows != chip.machine->mmaRows)
    return emitError() << "machine '" << name << "' does not have the chip "
                       << chip.name << "; use one that has, such as '"
                       << chip.machine->name << "'";
  return machine;
}
