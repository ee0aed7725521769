// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What a kernel computes, as an attribute of the kernel.

#include "fp8/IR/ComputedGemm.h"

#include "mlir/Interfaces/FunctionInterfaces.h"
#include "llvm/ADT/STLExtras.h"

using namespace mlir;
using namespace mlir::fp8;

static constexpr StringLiteral kBBlock = "b_block", kKBlock = "k_block",
                               kBlocks = "blocks", kBatchTiles = "batch_tiles",
                               kKGroup = "k_group", kRest = "d_rest";

/// What follows the operand's name in that of its map of the first tiles.
static constexpr StringLiteral kFirst = "_first";

static std::optional<gemm::Operand> findOperand(StringRef name) {
  if (name == kRest)
    return gemm::Operand::D;
  for (const gemm::OperandInfo &info : gemm::getOperands())
    if (info.name == std::string_view(name))
      return info.operand;
  return std::nullopt;
}

std::optional<ComputedGemm> ComputedGemm::get(Operation *kernel) {
  auto attribute = kernel->getAttrOfType<DictionaryAttr>(kAttrName);
  if (!attribute)
    return std::nullopt;
  ComputedGemm gemm;
  for (NamedAttribute entry : attribute) {
    int64_t value = cast<IntegerAttr>(entry.getValue()).getInt();
    if (entry.getName() == kBBlock)
      gemm.scaling.bBlock = value;
    else if (entry.getName() == kKBlock)
      gemm.scaling.kBlock = value;
    else if (entry.getName() == kKGroup)
      gemm.kGroup = value;
    else if (entry.getName() == kBlocks)
      gemm.blocks = value;
    else if (entry.getName() == kBatchTiles)
      gemm.batchTiles = value;
    else if (StringRef name = entry.getName(); name.consume_back(kFirst))
      gemm.firsts.push_back({value, *findOperand(name)});
    else
      gemm.operands.push_back({value, *findOperand(name)});
  }
  return gemm;
}

DictionaryAttr ComputedGemm::toAttribute(MLIRContext *context) const {
  Builder builder(context);
  NamedAttrList entries;
  auto add = [&](StringRef name, int64_t value) {
    entries.set(name, builder.getI64IntegerAttr(value));
  };
  for (auto [argument, operand] : operands) {
    std::string_view name = gemm::getOperand(operand).name;
    add(entries.get(StringRef(name)) ? StringRef(kRest) : StringRef(name),
        argument);
  }
  for (auto [argument, operand] : firsts)
    add((StringRef(gemm::getOperand(operand).name) + kFirst).str(), argument);
  add(kBlocks, blocks);
  if (batchTiles >= 0)
    add(kBatchTiles, batchTiles);
  if (kGroup > 1)
    add(kKGroup, kGroup);
  add(kBBlock, scaling.bBlock);
  if (scaling.kBlock != gemm::kScaleBlock)
    add(kKBlock, scaling.kBlock);
  return entries.getDictionary(context);
}

std::optional<gemm::OperandInfo>
ComputedGemm::getOperand(int64_t argument) const {
  for (auto [number, operand] :
       llvm::concat<const std::pair<int64_t, gemm::Operand>>(operands, firsts))
    if (number == argument)
      return gemm::getOperand(operand, scaling);
  return std::nullopt;
}

bool ComputedGemm::isFirst(int64_t argument) const {
  return llvm::is_contained(llvm::make_first_range(firsts), argument);
}

bool ComputedGemm::hasFirst(gemm::Operand operand) const {
  return llvm::is_contained(llvm::make_second_range(firsts), operand);
}

bool ComputedGemm::has(gemm::Operand operand) const {
  return llvm::any_of(operands,
                      [&](auto entry) { return entry.second == operand; });
}

LogicalResult mlir::fp8::verifyComputedGemm(Operation *op, Attribute value) {
  auto dictionary = dyn_cast<DictionaryAttr>(value);
  auto function = dyn_cast<FunctionOpInterface>(op);
  if (!dictionary || !function)
    return op->emitOpError()
           << "attribute '" << ComputedGemm::kAttrName
           << "' must be a dictionary of numbers of arguments, on a kernel";
  for (NamedAttribute entry : dictionary) {
    StringRef name = entry.getName();
    auto number = dyn_cast<IntegerAttr>(entry.getValue());
    if (!number || !number.getType().isSignlessIntOrIndex())
      return op->emitOpError()
             << "'" << name << "' of attribute '" << ComputedGemm::kAttrName
             << "' must be an integer";
    constexpr unsigned kMostBits = 64;
    if (number.getValue().getSignificantBits() > kMostBits)
      return op->emitOpError()
             << "'" << name << "' of attribute '" << ComputedGemm::kAttrName
             << "' must be an integer of 64 bits";
    int64_t value = number.getValue().getSExtValue();
    if (name == kBBlock) {
      if (llvm::is_contained(gemm::kBBlocks, value))
        continue;
      InFlightDiagnostic diagnostic =
          op->emitOpError() << "'" << name << "' of attribute '"
                            << ComputedGemm::kAttrName << "' must be one of ";
      llvm::interleaveComma(gemm::kBBlocks, diagnostic);
      return diagnostic;
    }
    if (name == kKBlock) {
      if (value == gemm::kMxBlock)
        continue;
      return op->emitOpError()
             << "'" << name << "' of attribute '" << ComputedGemm::kAttrName
             << "' must be " << gemm::kMxBlock << ", or be left out";
    }
    if (name == kKGroup) {
      if (value > 0)
        continue;
      return op->emitOpError()
             << "'" << name << "' of attribute '" << ComputedGemm::kAttrName
             << "' must be positive";
    }
    StringRef operand = name;
    if (operand.consume_back(kFirst) && operand != "c" && operand != "d")
      operand = "";
    if (name != kBlocks && name != kBatchTiles && !findOperand(operand))
      return op->emitOpError() << "attribute '" << ComputedGemm::kAttrName
                               << "' has an unknown entry '" << name << "'";
    if (value < 0 || value >= function.getNumArguments())
      return op->emitOpError()
             << "'" << name << "' of attribute '" << ComputedGemm::kAttrName
             << "' must be the number of an argument, but the kernel has "
             << function.getNumArguments();
  }
  auto requireEntry = [&](StringRef name, const Twine &condition) {
    return LogicalResult(op->emitOpError()
                         << "attribute '" << ComputedGemm::kAttrName
                         << "' must say which argument '" << name << "' is"
                         << condition);
  };
  for (StringRef name : {"a", "b", "d", "blocks"})
    if (!dictionary.get(name))
      return requireEntry(name, "");
  // Scales are of both operands, or of neither.
  for (auto [name, other] :
       {std::pair<StringRef, StringRef>{"a_scale", "b_scale"},
        {"b_scale", "a_scale"}})
    if (dictionary.get(other) && !dictionary.get(name))
      return requireEntry(name, ", since there is a '" + other + "'");
  return success();
}
