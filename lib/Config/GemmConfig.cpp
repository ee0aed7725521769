// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The table of a configuration's fields, and what follows from it.
#include "fp8/Config/GemmConfig.h"

#include "fp8/Chip/Chip.h"

#include <algorithm>
#include <type_traits>

namespace fp8::config {

//===----------------------------------------------------------------------===//
// The table
//===----------------------------------------------------------------------===//

/// The number that a member, or a member of a member, is.
template <auto... members>
static Number makeNumber(std::string_view name,
                         std::optional<Limits> limits = std::nullopt) {
  return {[](const GemmConfig &config) {
            return static_cast<int64_t>((config.*....*members));
          },
          [](GemmConfig &config, int64_t value) {
            auto &member = (config.*....*members);
            member = static_cast<std::decay_t<decltype(member)>>(value);
          },
          name, limits};
}

/// Gives a member the value that a new configuration has.
template <auto... members>
static void takeInitial(GemmConfig &config) {
  (config.*....*members) = (GemmConfig().*....*members);
}

/// A field of one number.
template <auto... members>
static Field makeField(std::string_view name, Limits limits,
                       std::string_view documentation) {
  return {name,
          {makeNumber<members...>(name, limits)},
          {},
          documentation,
          takeInitial<members...>};
}

/// A field of one word.
template <auto... members>
static Field makeField(std::string_view name,
                       std::vector<std::string_view> words,
                       std::string_view documentation) {
  return {name,
          {makeNumber<members...>(name)},
          std::move(words),
          documentation,
          takeInitial<members...>};
}

const std::vector<std::string_view> &getSchedulerWords() {
  static const std::vector<std::string_view> words = {"one_tile", "persistent",
                                                      "clc"};
  return words;
}

std::string_view stringify(SchedulerKind kind) {
  return getSchedulerWords()[static_cast<size_t>(kind)];
}

static std::vector<Field> makeFields() {
  const Limits kStages{0, chip::getMostSharedMemory() / 16,
                       "the number of 16-byte slots in shared memory"};
  const Limits kAccumulators{0, chip::getMostTensorMemoryColumns(),
                             "the columns of tensor memory"};
  return {
      {"tile",
       {makeNumber<&GemmConfig::tileM>("tile M"),
        makeNumber<&GemmConfig::tileN>("tile N", Limits{8, 256, {}, 8}),
        makeNumber<&GemmConfig::tileK>(
            "tile K", Limits{128, 128, "the depth of a scale block"})},
       /*words=*/{},
       "M x N x K elements that a CTA, or a CTA pair, multiplies in a step",
       [](GemmConfig &) {}},
      makeField<&GemmConfig::ctaGroup>(
          "cta_group", Limits{1, 2}, "1, or 2 for a CTA pair, which shares B"),
      {"cluster",
       {makeNumber<&GemmConfig::cluster, &ClusterShape::m>("cluster"),
        makeNumber<&GemmConfig::cluster, &ClusterShape::n>("cluster")},
       /*words=*/{},
       "CTAs along M and N, which share their copies of A and B",
       // A pair is the smallest cluster that has one.
       [](GemmConfig &config) {
         config.cluster.m = config.ctaGroup;
         config.cluster.n = 1;
       }},
      makeField<&GemmConfig::cluster, &ClusterShape::k>(
          "split_k", Limits{1, kMaxClusterSize, "the CTAs of a cluster"},
          "CTAs that divide K and add up their sums; they form a cluster"),
      makeField<&GemmConfig::stages>(
          "stages", kStages,
          "slots of the ring of A and B; by default as many as fit"),
      makeField<&GemmConfig::accumulators>(
          "accumulators", kAccumulators,
          "slots of the ring of sums in tensor memory; by default as many as "
          "fit"),
      makeField<&GemmConfig::scheduler>(
          "scheduler", getSchedulerWords(),
          "how output tiles are assigned to CTAs; `clc` is cluster launch "
          "control"),
      makeField<&GemmConfig::band>(
          "band", Limits{0, 256, "more than the multiprocessors of a GPU"},
          "rows, or columns, of tiles that are computed together, so that they "
          "share reads in L2; chosen by default"),
      makeField<&GemmConfig::lanesLoadBScales>(
          "b_scales", {"ring", "lanes"},
          "how B scales reach a tile. `ring`: copies bring them with A and B, "
          "if that is faster for the schedule. `lanes`: the lanes that promote "
          "load them"),
      makeField<&GemmConfig::l2Promotion>(
          "l2_promotion",
          Limits{128, 256, "the largest that a tensor map has", 128},
          "bytes that L2 fetches from memory for each access of a copy of A "
          "or B: an aligned block of 128 or of 256"),
      makeField<&GemmConfig::programmatic>(
          "launch", {"serial", "programmatic"},
          "`programmatic`: the kernel may start before the preceding kernel in "
          "its stream has ended"),
      makeField<&GemmConfig::edge>(
          "edge", {"last", "first", "fit"},
          "the partial row of tiles, if tile M does not divide M. `first`: it "
          "comes first and overlaps the second; if M is at least tile M, "
          "copies of A read at most seven rows beyond M. `fit`: it comes "
          "last, and if M is at most tile M, copies of A read at most seven "
          "rows beyond M"),
      makeField<&GemmConfig::signalsAtWait>(
          "signal", {"store", "wait"},
          "where a programmatic kernel lets the following one start: in front "
          "of its last store, or right behind its wait for the preceding "
          "kernel. `wait` requires `launch = programmatic`"),
  };
}

const std::vector<Field> &getFields() {
  static const std::vector<Field> fields = makeFields();
  return fields;
}

//===----------------------------------------------------------------------===//
// What follows from it
//===----------------------------------------------------------------------===//

static bool agree(const Field &field, const GemmConfig &lhs,
                  const GemmConfig &rhs) {
  return std::all_of(
      field.numbers.begin(), field.numbers.end(),
      [&](const Number &number) { return number.get(lhs) == number.get(rhs); });
}

bool operator==(const GemmConfig &lhs, const GemmConfig &rhs) {
  const std::vector<Field> &fields = getFields();
  return std::all_of(fields.begin(), fields.end(), [&](const Field &field) {
    return agree(field, lhs, rhs);
  });
}

bool Field::isDefault(const GemmConfig &config) const {
  GemmConfig leftOut = config;
  setDefault(leftOut);
  return agree(*this, config, leftOut);
}

static std::string getValue(const Field &field, const GemmConfig &config) {
  if (!field.words.empty())
    return std::string(field.words[field.numbers.front().get(config)]);
  std::string text;
  for (const Number &number : field.numbers)
    text += (text.empty() ? "" : " x ") + std::to_string(number.get(config));
  return text;
}

std::string stringify(const GemmConfig &config) {
  std::string text;
  for (const Field &field : getFields()) {
    if (!text.empty() && field.isDefault(config))
      continue;
    text += (text.empty() ? "" : ", ") + std::string(field.name) + " = " +
            getValue(field, config);
  }
  return text;
}

std::string list(const std::vector<std::string_view> &words) {
  std::string text;
  for (size_t i = 0; i < words.size(); i++) {
    if (i)
      text += i + 1 == words.size() ? " or " : ", ";
    text += words[i];
  }
  return text;
}

//===----------------------------------------------------------------------===//
// Faults
//===----------------------------------------------------------------------===//

/// "64 to 128", "1 or 2", "128", "a multiple of 8 in 8..256"
static std::string getRange(const Limits &limits) {
  std::string least = std::to_string(limits.least),
              most = std::to_string(limits.most);
  if (limits.step != 1)
    return "a multiple of " + std::to_string(limits.step) + " in " + least +
           ".." + most;
  if (limits.least == limits.most)
    return most;
  return least + (limits.most == limits.least + 1 ? " or " : " to ") + most;
}

/// What is wrong with a number by itself.
static std::string findFault(const Number &number, int64_t value) {
  const std::optional<Limits> &limits = number.limits;
  if (!limits || (value >= limits->least && value <= limits->most &&
                  value % limits->step == 0))
    return {};
  std::string text = std::string(number.name) + " must be " + getRange(*limits);
  if (!limits->reason.empty())
    text += ", " + std::string(limits->reason);
  return text + ", but got " + std::to_string(value);
}

/// What no MMA of any chip has. The schedules say which MMA a chip has.
static std::string findFaultOfTile(const GemmConfig &config) {
  int64_t m = config.tileM, n = config.tileN, group = config.ctaGroup;
  bool swapsOperands = group == 1 && m > 0 && m < 128 && m != 64 && m % 8 == 0;
  bool isWhole = m == 64 * group || m == 128 * group || m == 256 ||
                 (group == 1 && m == 192);
  if (!isWhole && !swapsOperands)
    return std::string("tile M must be ") +
           (group == 1 ? "a multiple of 8 up to 128, 192 or 256"
                       : "128 or 256") +
           " with cta_group = " + std::to_string(group) + ", but got " +
           std::to_string(m);
  if (swapsOperands && n % 64)
    return "tile N must be a multiple of 64 with a tile M that is none, since "
           "its columns are then the MMA's rows, but got " +
           std::to_string(n);
  return {};
}

static std::string findFaultOfCluster(const GemmConfig &config) {
  auto [m, n, k] = config.cluster;
  if (m < 1 || n < 1 || m > kMaxClusterSize || n > kMaxClusterSize ||
      m * n > kMaxClusterSize)
    return "a cluster must have 1 to " + std::to_string(kMaxClusterSize) +
           " CTAs, but got " + std::to_string(m) + " x " + std::to_string(n);
  if (m % config.ctaGroup)
    return "a cluster must have a whole number of CTA pairs along M, but got " +
           std::to_string(m) + " CTAs";
  if (k > 1 && m * n > 1)
    return "the CTAs that divide K form a cluster by themselves; remove "
           "cluster and cta_group where split_k is set";
  return {};
}

std::string findFault(const GemmConfig &config) {
  for (const Field &field : getFields())
    for (const Number &number : field.numbers)
      if (std::string fault = findFault(number, number.get(config));
          !fault.empty())
        return fault;
  std::string fault = findFaultOfTile(config);
  return fault.empty() ? findFaultOfCluster(config) : fault;
}

} // namespace fp8::config
