// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The supported chips, and every fact about them that the compiler, the cost
// model, the simulator, the checker or a launcher uses. No other code compares
// the name of a chip or states what a chip has.
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

/// Where the sums of a matrix product are, and which threads start it.
enum class MmaEngine {
  Warp,        ///< in the registers of a warp: mma.sync, which every chip has
  Warpgroup,   ///< in the registers of a warpgroup: wgmma
  TensorMemory ///< in tensor memory, one thread starts it: tcgen05.mma
};

/// A feature that only some chips have.
enum class Feature : uint32_t {
  TensorMemory = 1,
  WarpgroupMma = 2,
  ClusterLaunchControl = 4,
};

/// A set of features, one bit for each.
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

/// The name of a feature in diagnostics, and the prefix of its instructions.
struct FeatureInfo {
  Feature feature;
  std::string_view name;     ///< "tensor memory"
  std::string_view mnemonic; ///< of PTX, and of the NVVM dialect's ops
  std::string_view cure;     ///< beside another chip; may be empty
};

struct Chip {
  /// The name in `chip=`, in `.target` of PTX, and of LLVM's processor. It ends
  /// in `a` (one chip) or `f` (a family), since no other target has the
  /// instructions of tensor cores.
  const char *name;
  const char *llvmFeatures; ///< LLVM's feature string: the PTX ISA version
  MmaEngine engine;
  FeatureSet features;
  /// Bytes of shared memory that one CTA can have, static and dynamic (CUDA
  /// programming guide, technical specifications): 228 KiB minus the 1 KiB that
  /// the system reserves.
  int64_t sharedMemoryPerCta;
  /// Columns of tensor memory of a multiprocessor (PTX ISA 9.7.16.1); 0 if it
  /// has none.
  int64_t tensorMemoryColumns;
  /// The constants of the cost model for a GPU with the chip.
  const Machine *machine;

  bool has(FeatureSet others) const { return features.contains(others); }
};

/// Every chip, in the order in which messages list them.
Table<Chip> getChips();

/// The chip called `name`, or null.
const Chip *lookup(std::string_view name);

/// The multiprocessors of the GPU that stands for the chip called `name`, with
/// or without the `a` or `f` at its end; of an unknown one, a B200's.
int getMultiprocessors(std::string_view name);

/// "sm_90a, sm_100a": the chips that have all of `features`, for messages.
std::string getNames(FeatureSet features = {});

/// Every feature, in the order in which diagnostics report that one is missing.
Table<FeatureInfo> getFeatures();

/// The text of a diagnostic for code that requires `required`, which `chip`
/// lacks: "requires tensor memory, which sm_90a lacks; lower for sm_100a or
/// sm_103a". Empty if the chip has all of it.
std::string describeLack(FeatureSet required, const Chip &chip);

/// The largest budgets of any chip. Type verifiers use these, since a type has
/// no chip.
int64_t getMostSharedMemory();
int64_t getMostTensorMemoryColumns();

} // namespace fp8::chip

#endif // FP8_CHIP_CHIP_H
