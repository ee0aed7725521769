// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The integer expressions of a launch manifest: sizes of the actual arguments
// and of the device, combined by checked signed 64-bit arithmetic.
#ifndef FP8_LAUNCH_EXPRESSION_H
#define FP8_LAUNCH_EXPRESSION_H

#include "fp8/Chip/Chip.h"
#include "fp8/Launch/Expected.h"
#include "fp8/Tensor/ElementType.h"

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace fp8::launch {

using tensor::ElementType;

/// The properties of the device that runs the kernel.
struct DeviceProperties {
  int64_t multiprocessorCount = 1;
  /// Bytes of shared memory that a block may opt in to.
  int64_t maxSharedMemoryPerBlock = chip::getMostSharedMemory();
};

/// One argument of the call: a strided array in global memory.
struct ArgumentValue {
  ElementType dtype = ElementType::F32;
  std::vector<int64_t> shape;   ///< elements, outermost first
  std::vector<int64_t> strides; ///< elements, outermost first
  uint64_t address = 0;         ///< device address of element 0
};

/// An expression over arguments (by index) and the device. A value type: copies
/// are independent.
class Expression {
public:
  enum class Kind {
    Constant,
    Dim,    ///< extent of an argument's axis
    Stride, ///< stride of an argument's axis, in elements
    MultiprocessorCount,
    Add,
    Sub,
    Mul,
    FloorDiv, ///< rounds towards minus infinity
    CeilDiv,  ///< rounds towards plus infinity
    Rem,      ///< takes the dividend's sign, as arith.remsi
    Min,
    Max,
    Eq, ///< comparisons give 0 or 1
    Ne,
    Lt,
    Le,
    Gt,
    Ge,
    And, ///< of 0 and 1 only; both sides are evaluated
    Or,
    Select ///< condition (0 or 1), then, else; only the chosen one is evaluated
  };

  static Expression constant(int64_t value);
  static Expression dim(unsigned argument, unsigned axis);
  static Expression stride(unsigned argument, unsigned axis);
  static Expression multiprocessorCount();
  static Expression operation(Kind kind, std::vector<Expression> operands);

  Kind kind() const { return nodeKind; }
  unsigned argument() const { return argumentIndex; }
  unsigned axis() const { return axisIndex; }
  int64_t value() const { return constantValue; }
  const std::vector<Expression> &operands() const { return children; }

  /// The value, or an error for overflow, division by zero, or a truth value
  /// that is neither 0 nor 1. Arguments and axes must exist: the manifest
  /// reader checks them against the declarations, and the binding checks the
  /// ranks.
  Expected<int64_t> evaluate(const std::vector<ArgumentValue> &arguments,
                             const DeviceProperties &device) const;

  /// Readable form, such as `ceildiv(a.shape[0], 128)`.
  std::string str(const std::vector<std::string> &argumentNames) const;

private:
  Kind nodeKind = Kind::Constant;
  unsigned argumentIndex = 0, axisIndex = 0;
  int64_t constantValue = 0;
  std::vector<Expression> children;
};

/// The operator's name in a manifest ("floordiv"); empty for leaves.
std::string_view operatorName(Expression::Kind kind);

/// The operator with that name and its operand count; Kind::Constant when there
/// is none.
struct Operator {
  Expression::Kind kind = Expression::Kind::Constant;
  unsigned operandCount = 0;
};
Operator operatorNamed(std::string_view name);

} // namespace fp8::launch

#endif // FP8_LAUNCH_EXPRESSION_H
