// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The table of rules by which tensor cores add up products.
#include "fp8/Chip/SumRule.h"

#include <algorithm>

namespace fp8::chip {
namespace {

constexpr auto towardZero = SumRounding::TowardZero;
constexpr auto nearest = SumRounding::NearestEven;
constexpr int allBits = SumRule::kAllBits;

// Those of mma.sync and wgmma were measured on an H200; those of tcgen05.mma
// are of two published models of the B200, which agree. Only one of them has
// scales.
// clang-format off
constexpr SumRule kRules[] = {
    // engine                 kind                       products perTerm terms    result rounding
    {MmaEngine::Warp,         ProductKind::Float16,      16,      1,      25,      23,    towardZero},
    {MmaEngine::Warp,         ProductKind::TF32,         8,       1,      25,      23,    towardZero},
    {MmaEngine::Warpgroup,    ProductKind::Float8,       32,      1,      13,      13,    towardZero},
    {MmaEngine::Warpgroup,    ProductKind::Float16,      16,      1,      25,      23,    towardZero},
    {MmaEngine::Warpgroup,    ProductKind::TF32,         8,       1,      25,      23,    towardZero},
    {MmaEngine::Warpgroup,    ProductKind::Integer8,     32,      1,      allBits, 31,    nearest},
    {MmaEngine::TensorMemory, ProductKind::Float8,       32,      1,      25,      23,    towardZero},
    {MmaEngine::TensorMemory, ProductKind::Float16,      16,      1,      25,      23,    towardZero},
    {MmaEngine::TensorMemory, ProductKind::TF32,         8,       1,      25,      23,    towardZero},
    {MmaEngine::TensorMemory, ProductKind::Integer8,     32,      1,      allBits, 31,    nearest},
    {MmaEngine::TensorMemory, ProductKind::ScaledFloat8, 32,      1,      25,      23,    towardZero},
    {MmaEngine::TensorMemory, ProductKind::ScaledFloat4, 64,      16,     35,      23,    towardZero},
};
// clang-format on

} // namespace

Table<SumRule> getSumRules() { return kRules; }

const SumRule &getSumRule(MmaEngine engine, ProductKind kind) {
  return *std::find_if(std::begin(kRules), std::end(kRules),
                       [&](const SumRule &rule) {
                         return rule.engine == engine && rule.kind == kind;
                       });
}

} // namespace fp8::chip
