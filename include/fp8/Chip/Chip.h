// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The chips that there is code for, and every fact about them that the
// compiler, the cost model, the simulator, the checker or a launcher uses.
// Nothing else compares a chip's name, or states what a chip has.
#ifndef FP8_CHIP_CHIP_H
#define FP8_CHIP_CHIP_H

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace fp8::chip {

struct Machine;

/// The rows of a constant table.
template <typename Row>
class Table {
public:
  template <size_t rows>
  constexpr Table(const Row (&table)[rows]) : first(table), count(rows) {}

  constexpr const Row *begin() const { return first; }
  constexpr const Row *end() const { return first + count; }
  constexpr size_t size() const { return count; }
  constexpr const Row &operator[](size_t index) const { return first[index]; }

private:
  const Row *first;
  size_t count;
};

/// Where a matrix product's sums lie, and which threads start it.
enum class MmaEngine {
  Warpgroup,   ///< in the registers of a warpgroup: wgmma
  TensorMemory ///< in tensor memory, one thread starts it: tcgen05.mma
};

/// What some chips have and others lack.
enum class Feature : uint32_t {
  TensorMemory = 1,
  WarpgroupMma = 2,
  ClusterLaunchControl = 4,
};

/// Some features: a bit each.
class FeatureSet {
public:
  constexpr FeatureSet() = default;
  constexpr FeatureSet(Feature feature)
      : bits(static_cast<uint32_t>(feature)) {}

  constexpr FeatureSet operator|(FeatureSet other) const {
    return FeatureSet(bits | other.bits);
  }
  constexpr bool contains(FeatureSet others) const {
    return !(others.bits & ~bits);
  }

private:
  constexpr explicit FeatureSet(uint32_t bits) : bits(bits) {}
  uint32_t bits = 0;
};

constexpr FeatureSet operator|(Feature lhs, Feature rhs) {
  return FeatureSet(lhs) | rhs;
}

/// How diagnostics speak of a feature, and how its instructions begin.
struct FeatureInfo {
  Feature feature;
  std::string_view name;     ///< "tensor memory"
  std::string_view mnemonic; ///< of PTX, and of the NVVM dialect's ops
  std::string_view cure;     ///< beside another chip; may be empty
};

/// What a chip's tensor cores keep of a sum of products of 8 bits.
enum class PartialSums {
  Float32,     ///< every bit of f32
  FourteenBits ///< 14 bits of the fraction (docs/Numerics.md)
};

struct Chip {
  /// The name of `chip=`, of `.target` in PTX, and of LLVM's processor. Only
  /// names of one chip (`a`) or family (`f`): the instructions of tensor cores
  /// exist on no other target.
  const char *name;
  const char *llvmFeatures; ///< LLVM's feature string: the PTX ISA version
  MmaEngine engine;
  FeatureSet features;
  PartialSums partialSums;
  /// Bytes of shared memory that one CTA can have, static and dynamic (CUDA
  /// programming guide, technical specifications): 228 KiB less the 1 KiB that
  /// the system keeps.
  int64_t sharedMemoryPerCta;
  /// Columns of tensor memory of a multiprocessor (PTX ISA 9.7.16.1); 0 where
  /// there is none.
  int64_t tensorMemoryColumns;
  /// What the cost model knows of a GPU with the chip.
  const Machine *machine;

  bool has(FeatureSet others) const { return features.contains(others); }
};

/// Every chip, in the order in which messages list them.
Table<Chip> getChips();

/// The chip called `name`, or null.
const Chip *lookup(std::string_view name);

/// "sm_90a, sm_100a": the chips that have all of `features`, for messages.
std::string getNames(FeatureSet features = {});

/// Every feature, the one that a lack is reported of first at the front.
Table<FeatureInfo> getFeatures();

/// What a diagnostic says about code for `chip` that requires `required`:
/// "requires tensor memory, which sm_90a lacks; lower for sm_100a or sm_103a".
/// Empty if the chip has all of it.
std::string describeLack(FeatureSet required, const Chip &chip);

/// The largest budgets of any chip. Types are checked against these: they know
/// of no chip.
int64_t getMostSharedMemory();
int64_t getMostTensorMemoryColumns();

} // namespace fp8::chip

#endif // FP8_CHIP_CHIP_H
