// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The operands of fp8.blockwise_gemm, looked up by their table.

#ifndef FP8_IR_GEMMOPERANDS_H
#define FP8_IR_GEMMOPERANDS_H

#include "fp8/Gemm/Operands.h"
#include "fp8/IR/Fp8.h"

namespace mlir::fp8 {

/// The compiler uses the table under this name.
namespace gemm = ::fp8::gemm;

/// The op's operand of that name; null if the op has none.
Value getOperand(BlockwiseGemmOp op, gemm::Operand operand);

/// What the op's scales cover: those of f8E8M0FNU are of MXFP8.
gemm::Scaling getScaling(BlockwiseGemmOp op);

/// The table's name of an element type; none for types that no tensor map can
/// describe.
std::optional<::fp8::tensor::ElementType> getElementType(Type type);

/// True if elements of the operand may have that type.
bool takes(const gemm::OperandInfo &operand, Type elementType);

} // namespace mlir::fp8

#endif // FP8_IR_GEMMOPERANDS_H
