// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Arrays in files: those of NumPy (.npy), and bare bytes.
#ifndef FP8_LIB_SIMULATEDLAUNCH_ARRAYFILE_H
#define FP8_LIB_SIMULATEDLAUNCH_ARRAYFILE_H

#include "fp8/Launch/Expected.h"
#include "fp8/Tensor/ElementType.h"

#include <cstdint>
#include <limits>
#include <vector>

namespace fp8::simulated {

/// Holds every element of every type: integers have up to 64 bits.
using Number = long double;
static_assert(std::numeric_limits<Number>::digits >= 64);

/// What the elements of a file are. NumPy has no narrow floats: of those, and
/// of bare bytes, the type is unknown.
enum class NumberKind : uint8_t { Unknown, Signed, Unsigned, Float };

struct ArrayFile {
  std::vector<uint8_t> bytes;
  NumberKind kind = NumberKind::Unknown;
  unsigned elementBytes = 0; ///< 0: unknown

  /// The number at an index, of a known kind; of an unknown one, as `type`.
  Number at(uint64_t index, tensor::ElementType type) const;
  /// How many elements there are, which are of `type` if unknown.
  uint64_t elements(tensor::ElementType type) const;
  /// The element type that holds the same numbers, if there is one.
  std::optional<tensor::ElementType> dtype() const;
};

/// Reads a file, of NumPy if it begins as such.
launch::Expected<ArrayFile> readArrayFile(const std::string &path);

/// The element of `type` at an index; an integer is signed if not `isUnsigned`.
Number numberAt(tensor::ElementType type, const uint8_t *data, uint64_t index,
                bool isUnsigned = false);

/// Fills `bytes` with numbers from -1 to 1, rounded to the type, or with
/// integers of all bits.
void fillRandom(tensor::ElementType type, uint64_t seed,
                std::vector<uint8_t> &bytes);

} // namespace fp8::simulated

#endif // FP8_LIB_SIMULATEDLAUNCH_ARRAYFILE_H
