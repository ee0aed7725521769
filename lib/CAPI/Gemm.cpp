// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The description of the GEMM, as JSON.
#include "fp8-c/Gemm.h"

#include "fp8/Gemm/Accuracy.h"
#include "fp8/Gemm/Operands.h"

#include <algorithm>
#include <nlohmann/json.hpp>

using namespace fp8;
using nlohmann::ordered_json;

namespace {
ordered_json describe(const gemm::Extent &extent) {
  return {{"axis", gemm::Extent{extent.axis}.str()}, {"block", extent.block}};
}

ordered_json describe(const gemm::OperandInfo &info) {
  ordered_json dtypes;
  for (tensor::ElementType type : info.types)
    dtypes.push_back(spelling(type));
  ordered_json described = {{"name", info.name},
                            {"dtypes", std::move(dtypes)},
                            {"rows", describe(info.rows)},
                            {"columns", describe(info.columns)},
                            {"optional", info.optional},
                            {"batched", info.batched},
                            {"by_tma", info.byTma},
                            {"written", info.written},
                            {"rule", info.rule}};
  if (info.tiled)
    described["tile"] = gemm::kMxTile;
  return described;
}

std::string listOperands(gemm::Scaling scaling) {
  ordered_json list;
  for (const gemm::OperandInfo &info : gemm::getOperands(scaling))
    list.push_back(describe(info));
  return list.dump();
}

ordered_json describe(const gemm::FrobeniusFloors *floors) {
  if (!floors)
    return nullptr;
  return {{"float32", floors->float32},
          {"fourteen_bits", floors->fourteenBits},
          {"tanh", floors->tanh}};
}

std::string listElementTypes() {
  ordered_json list;
  for (tensor::ElementType type : tensor::kElementTypes)
    if (const tensor::FloatFormat *format = floatFormat(type))
      list.push_back({{"dtype", spelling(type)},
                      {"name", arrayName(type)},
                      {"bytes", byteSize(type)},
                      {"exponent_bits", format->exponentBits},
                      {"mantissa_bits", format->mantissaBits},
                      {"has_infinity", format->hasInfinity},
                      {"saturates", format->saturates},
                      {"largest", format->largest()},
                      {"floors", describe(gemm::frobeniusFloors(type))}});
  return list.dump();
}
} // namespace

const char *fp8GemmOperands(int64_t b_block) {
  static const auto texts = [] {
    std::array<std::string, gemm::kBBlocks.size()> texts;
    std::transform(gemm::kBBlocks.begin(), gemm::kBBlocks.end(), texts.begin(),
                   [](int64_t bBlock) { return listOperands({bBlock}); });
    return texts;
  }();
  auto found = std::find(gemm::kBBlocks.begin(), gemm::kBBlocks.end(), b_block);
  return found == gemm::kBBlocks.end()
             ? nullptr
             : texts[found - gemm::kBBlocks.begin()].c_str();
}

const char *fp8GemmMxOperands(void) {
  static const std::string text = listOperands(gemm::Scaling::mx());
  return text.c_str();
}

const char *fp8ElementTypes(void) {
  static const std::string text = listElementTypes();
  return text.c_str();
}

double fp8MagnitudeShare(void) { return gemm::kMagnitudeShare; }
