// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The element types of tensors in global memory: the only table of their names,
// sizes and floating-point formats.
#ifndef FP8_TENSOR_ELEMENTTYPE_H
#define FP8_TENSOR_ELEMENTTYPE_H

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace fp8::tensor {

enum class ElementType {
  F8E4M3FN,
  F8E5M2,
  F8E8M0FNU,
  BF16,
  F16,
  F32,
  F64,
  I8,
  I16,
  I32,
  I64
};

/// A binary floating-point format with subnormal numbers and the usual bias.
/// The 8-bit formats are in PTX ISA, "Alternate Floating-Point Data Formats".
struct FloatFormat {
  int exponentBits, mantissaBits;
  /// Infinities and NaNs as in IEEE 754. Without them, only the pattern of all
  /// ones is a NaN, and the rest of the highest binade are numbers.
  bool hasInfinity;
  /// Conversions to the format turn numbers past the largest number into the
  /// largest (cvt.satfinite); otherwise into infinity.
  bool saturates;

  int bias() const { return (1 << (exponentBits - 1)) - 1; }
  /// The exponent of the smallest normal number.
  int lowestExponent() const { return 1 - bias(); }
  /// 2 to this exponent is the first power of two past the largest finite
  /// number.
  int overflowExponent() const { return bias() + (hasInfinity ? 1 : 2); }
  /// The largest finite number.
  double largest() const;
};

/// The MLIR spelling, such as "f8E4M3FN".
std::string_view spelling(ElementType type);

/// The name in NumPy, with ml_dtypes, and PyTorch: "float8_e4m3fn".
std::string_view arrayName(ElementType type);

/// The size of an element in bytes.
unsigned byteSize(ElementType type);

/// The format of a floating-point type; null for integers, and for F8E8M0FNU,
/// whose elements are powers of two: code c is 2^(c - 127), and 255 is NaN (OCP
/// Microscaling Formats, E8M0).
const FloatFormat *floatFormat(ElementType type);

/// The type with that MLIR spelling, if there is one.
std::optional<ElementType> parseElementType(std::string_view text);

/// A list of types in the order of error messages.
class ElementTypes {
public:
  template <typename... Types>
  constexpr ElementTypes(ElementType first, Types... rest)
      : types{first, rest...}, count(1 + sizeof...(rest)) {}

  constexpr const ElementType *begin() const { return types.data(); }
  constexpr const ElementType *end() const { return types.data() + count; }
  constexpr size_t size() const { return count; }
  bool contains(ElementType type) const;
  /// The spellings: "bf16, f16 or f32", where `last` is "or". Without `last`,
  /// commas separate all of them.
  std::string str(std::string_view last = {}) const;

private:
  std::array<ElementType, 11> types;
  size_t count;
};

constexpr ElementTypes kElementTypes = {
    ElementType::F8E4M3FN, ElementType::F8E5M2, ElementType::F8E8M0FNU,
    ElementType::BF16,     ElementType::F16,    ElementType::F32,
    ElementType::F64,      ElementType::I8,     ElementType::I16,
    ElementType::I32,      ElementType::I64};

} // namespace fp8::tensor

#endif // FP8_TENSOR_ELEMENTTYPE_H
