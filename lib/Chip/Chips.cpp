// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The tables of chips and of features.
#include "fp8/Chip/Chip.h"

#include "fp8/Chip/Machine.h"

#include <algorithm>
#include <iterator>
#include <vector>

namespace fp8::chip {
namespace {

// Chapters of the PTX ISA 9.0: 9.7.15 wgmma (sm_90a), 9.7.16 tcgen05 (sm_100a,
// sm_100f, sm_103a, sm_110a), 9.7.13 clusterlaunchcontrol (sm_100 and later).
constexpr FeatureSet kHopper = Feature::WarpgroupMma;
constexpr FeatureSet kBlackwell =
    Feature::TensorMemory | Feature::ClusterLaunchControl;

// clang-format off
constexpr Chip kChips[] = {
    // name      LLVM      engine                   features    smem    tmem machine
    {"sm_90a",  "+ptx88", MmaEngine::Warpgroup,    kHopper,    232448, 0,   &machines::kH200},
    {"sm_100a", "+ptx88", MmaEngine::TensorMemory, kBlackwell, 232448, 512, &machines::kB200},
    {"sm_100f", "+ptx88", MmaEngine::TensorMemory, kBlackwell, 232448, 512, &machines::kB200},
    {"sm_103a", "+ptx88", MmaEngine::TensorMemory, kBlackwell, 232448, 512, &machines::kB200},
    {"sm_110a", "+ptx90", MmaEngine::TensorMemory, kBlackwell, 232448, 512, &machines::kThor},
};

constexpr FeatureInfo kFeatures[] = {
    // feature                      name                             mnemonic                 cure
    {Feature::TensorMemory,         "tensor memory",                 "tcgen05.",              ""},
    {Feature::WarpgroupMma,         "matrix products of warpgroups", "wgmma.",                ""},
    {Feature::ClusterLaunchControl, "cluster launch control",        "clusterlaunchcontrol.", "use another scheduler"},
};
// clang-format on

/// "a, b or c".
std::string list(const std::vector<std::string_view> &words,
                 std::string_view last) {
  std::string text;
  for (size_t i = 0; i < words.size(); ++i) {
    if (i)
      text += i + 1 == words.size() ? last : ", ";
    text += words[i];
  }
  return text;
}

std::vector<std::string_view> getChipsWith(FeatureSet features) {
  std::vector<std::string_view> names;
  for (const Chip &chip : kChips)
    if (chip.has(features))
      names.push_back(chip.name);
  return names;
}

template <typename Value>
Value getMost(Value Chip::*member) {
  Value most{};
  for (const Chip &chip : kChips)
    most = std::max(most, chip.*member);
  return most;
}

} // namespace

Table<Chip> getChips() { return kChips; }

const Chip *lookup(std::string_view name) {
  const Chip *found =
      std::find_if(std::begin(kChips), std::end(kChips),
                   [&](const Chip &chip) { return chip.name == name; });
  return found == std::end(kChips) ? nullptr : found;
}

int getMultiprocessors(std::string_view name) {
  // "sm_90" of sm_90, sm_90a and sm_90f.
  auto withoutSuffix = [](std::string_view chip) {
    return chip.substr(0, chip.find_last_of("0123456789") + 1);
  };
  for (const Chip &chip : kChips)
    if (withoutSuffix(chip.name) == withoutSuffix(name))
      return int(chip.machine->multiprocessors);
  return int(machines::kB200.multiprocessors);
}

std::string getNames(FeatureSet features) {
  return list(getChipsWith(features), ", ");
}

Table<FeatureInfo> getFeatures() { return kFeatures; }

std::string describeLack(FeatureSet required, const Chip &chip) {
  for (const FeatureInfo &info : kFeatures) {
    if (!required.contains(info.feature) || chip.has(info.feature))
      continue;
    std::string text = "requires " + std::string(info.name) + ", which " +
                       chip.name + " lacks; ";
    if (!info.cure.empty())
      text += std::string(info.cure) + ", or ";
    return text + "lower for " + list(getChipsWith(required), " or ");
  }
  return {};
}

int64_t getMostSharedMemory() { return getMost(&Chip::sharedMemoryPerCta); }
int64_t getMostTensorMemoryColumns() {
  return getMost(&Chip::tensorMemoryColumns);
}

} // namespace fp8::chip
