// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Look-up in the table of MMA kinds, MmaKinds.def.

#ifndef FP8_LIB_SIMULATOR_ISA_TENSORCORE_MMAKINDS_H
#define FP8_LIB_SIMULATOR_ISA_TENSORCORE_MMAKINDS_H

#include "fp8/Chip/SumRule.h"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace fp8::sim {

enum class MmaKind : uint8_t {
#define FP8_MMA_KIND(ID, NAME, K, PRODUCTS, TRAITS) ID,
#include "ISA/TensorCore/MmaKinds.def"
};
enum class MmaFormat : uint8_t {
#define FP8_MMA_FORMAT(ID, NAME, BITS, LEAST) ID,
#include "ISA/TensorCore/MmaKinds.def"
};
enum class MmaResult : uint8_t { F16, F32, S32 };
/// By bit 23 of the instruction descriptor.
enum class ScaleType : uint8_t { UE4M3, UE8M0 };

/// Traits of a kind.
enum : unsigned {
  kTransposes = 1,  ///< operands may be MN-major
  kNegates = 2,     ///< operands may be negated
  kScalesInput = 4, ///< scale-input-d may be given
  kSaturates = 8,   ///< sums may saturate
};

struct MmaKindRow {
  const char *name; ///< of .kind::NAME
  uint32_t k;
  chip::ProductKind products;
  unsigned traits;

  bool has(unsigned trait) const { return traits & trait; }
};
struct MmaFormatRow {
  const char *name;
  unsigned bits;
  int least; ///< exponent of normal numbers
  /// Whether its exponents fit findShortExponents().
  bool isShort() const { return bits <= 16 && least >= -14; }
};
const MmaKindRow &getRow(MmaKind kind);
const MmaFormatRow &getRow(MmaFormat format);

/// Of the qualifier without "kind::".
std::optional<MmaKind> findKind(std::string_view name);
/// The kind without scales whose operands may have the format.
MmaKind findKind(MmaFormat format);
std::optional<MmaFormat> findOperand(MmaKind kind, uint32_t code);
std::optional<MmaResult> findResult(MmaKind kind, uint32_t code);

bool hasScales(MmaKind kind);
/// The scales of a row for a qualifier "scale_vec::NX" or "blockN", or for none
/// (""), which is enough where the kind has one number of them only. 0: the
/// kind has no such scales.
uint32_t findScaleCount(MmaKind kind, std::string_view qualifier);
bool takesScales(MmaKind kind, uint32_t count, ScaleType type);

/// What a message says that the field may be: "0 (e4m3), 1 (e5m2) or ...".
std::string listOperands(MmaKind kind);
std::string listResults(MmaKind kind);
std::string listScaleTypes(MmaKind kind, uint32_t count);
std::string listScaleCounts(MmaKind kind);

} // namespace fp8::sim

#endif // FP8_LIB_SIMULATOR_ISA_TENSORCORE_MMAKINDS_H
