// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The kernel's parameters as manifest entries.

#include "ManifestParameters.h"
#include "fp8/IR/Fp8.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"

using namespace mlir;
using namespace mlir::fp8;
using llvm::json::Array;
using llvm::json::Object;

namespace {
class ParameterEmitter {
public:
  ParameterEmitter(gpu::LaunchFuncOp launch, FunctionOpInterface kernel,
                   ManifestExpressions &expressions)
      : launch(launch), kernel(kernel), expressions(expressions) {}

  FailureOr<Array> emit();

private:
  LogicalResult addOperand(Value operand);
  LogicalResult addMemRef(Value operand);
  LogicalResult addDescriptor(BlockArgument argument);
  LogicalResult addPointer(Value pointer);
  LogicalResult addScalar(Value operand);
  LogicalResult addTensorMap(Value operand);
  LogicalResult addConstancy(IsConstantOp op);
  LogicalResult append(Object parameter, Type type);

  /// The type of the kernel's next parameter, null past the last.
  Type nextType() {
    auto types = kernel.getArgumentTypes();
    return parameters.size() < types.size() ? types[parameters.size()] : Type();
  }
  Object pointerTo(BlockArgument argument) const {
    return Object{
        {"kind", "pointer"},
        {"argument", expressions.getArgumentName(argument.getArgNumber())}};
  }
  LogicalResult appendIndex(llvm::json::Value value);

  gpu::LaunchFuncOp launch;
  FunctionOpInterface kernel;
  ManifestExpressions &expressions;
  Array parameters;
  bool usesBarePointers = false;
};
} // namespace

/// Adds one entry, whose type in the kernel must be `type`; null stands for any
/// pointer.
LogicalResult ParameterEmitter::append(Object parameter, Type type) {
  Type expected = nextType();
  bool matches = expected && (type ? expected == type
                                   : isa<LLVM::LLVMPointerType>(expected));
  if (matches) {
    parameters.push_back(std::move(parameter));
    return success();
  }
  InFlightDiagnostic error = launch.emitOpError("passes ");
  if (type)
    error << type;
  else
    error << "a pointer";
  error << " as parameter " << parameters.size() << " of kernel '"
        << kernel.getName() << "', which ";
  if (expected)
    error << "is " << expected;
  else
    error << "has only " << kernel.getNumArguments();
  error.attachNote(kernel.getLoc()) << "the kernel is defined here";
  return error;
}

/// Adds an index, as wide as the lowering made it.
LogicalResult ParameterEmitter::appendIndex(llvm::json::Value value) {
  Type expected = nextType();
  bool isNarrow = expected && expected.isInteger(32);
  return append(Object{{"kind", "scalar"},
                       {"type", isNarrow ? "i32" : "i64"},
                       {"value", std::move(value)}},
                IntegerType::get(launch.getContext(), isNarrow ? 32 : 64));
}

/// MLIR's descriptor of a memref that is passed by value: allocated and aligned
/// pointer, offset, sizes, strides.
LogicalResult ParameterEmitter::addDescriptor(BlockArgument argument) {
  if (failed(append(pointerTo(argument), nullptr)) ||
      failed(append(pointerTo(argument), nullptr)) ||
      failed(appendIndex(int64_t(0))))
    return failure();
  int64_t rank = cast<MemRefType>(argument.getType()).getRank();
  for (int64_t axis = 0; axis < rank; ++axis)
    if (failed(appendIndex(expressions.getDim(argument, axis))))
      return failure();
  for (int64_t axis = 0; axis < rank; ++axis)
    if (failed(appendIndex(expressions.getStride(argument, axis))))
      return failure();
  return success();
}

LogicalResult ParameterEmitter::addMemRef(Value operand) {
  FailureOr<BlockArgument> argument = expressions.getArgument(operand, launch);
  if (failed(argument))
    return failure();
  if (usesBarePointers)
    return append(pointerTo(*argument), nullptr);
  return addDescriptor(*argument);
}

/// A !llvm.ptr made of the address of an argument.
LogicalResult ParameterEmitter::addPointer(Value pointer) {
  Value address = pointer;
  while (Operation *op = address.getDefiningOp()) {
    if (!isa<LLVM::IntToPtrOp, arith::IndexCastOp, arith::IndexCastUIOp>(op))
      break;
    address = op->getOperand(0);
  }
  auto extract =
      address.getDefiningOp<memref::ExtractAlignedPointerAsIndexOp>();
  if (!extract)
    return launch.emitOpError("passes a pointer that is not the address of a "
                              "memref argument, which a launch manifest cannot "
                              "express");
  FailureOr<BlockArgument> argument =
      expressions.getArgument(extract.getSource(), launch);
  if (failed(argument))
    return failure();
  return append(pointerTo(*argument), nullptr);
}

LogicalResult ParameterEmitter::addScalar(Value operand) {
  FailureOr<llvm::json::Value> value =
      expressions.getExpression(operand, launch);
  if (failed(value))
    return failure();
  if (operand.getType().isIndex())
    return appendIndex(std::move(*value));
  std::string type;
  llvm::raw_string_ostream(type) << operand.getType();
  return append(
      Object{{"kind", "scalar"}, {"type", type}, {"value", std::move(*value)}},
      operand.getType());
}

/// Lists run innermost dimension first, as cuTensorMapEncodeTiled takes them.
LogicalResult ParameterEmitter::addTensorMap(Value operand) {
  auto fit = operand.getDefiningOp<FitRowsOp>();
  auto map = (fit ? fit.getMap() : operand).getDefiningOp<TensorMapOp>();
  if (!map)
    return launch.emitOpError("passes a tensor map that does not come from an "
                              "fp8.tensor_map of the host function");
  FailureOr<BlockArgument> argument =
      expressions.getArgument(map.getSource(), map);
  if (failed(argument))
    return failure();
  auto mapType = cast<TensorMapType>(operand.getType());
  TileType tile = mapType.getTile();
  std::string element;
  llvm::raw_string_ostream(element) << tile.getElementType();
  int64_t elementBytes = tile.getElementType().getIntOrFloatBitWidth() / 8;
  auto getStrideBytes = [&](int64_t axis) -> llvm::json::Value {
    llvm::json::Value stride = expressions.getStride(*argument, axis);
    if (std::optional<int64_t> constant = stride.getAsInteger())
      return *constant * elementBytes;
    if (elementBytes == 1)
      return stride;
    return Object{{"mul", Array{std::move(stride), elementBytes}}};
  };
  FailureOr<llvm::json::Value> rows = expressions.getRows(map);
  if (failed(rows))
    return failure();
  auto getExtent = [&](int64_t axis) -> llvm::json::Value {
    if (axis + 2 == mapType.getRank())
      return *rows;
    llvm::json::Value dim = expressions.getDim(*argument, axis);
    if (!map.getWholeUnits() || axis + 1 < mapType.getRank())
      return dim;
    int64_t unit = 16 / elementBytes;
    llvm::json::Value rest = Object{{"rem", Array{dim, unit}}};
    llvm::json::Value whole =
        Object{{"sub", Array{std::move(dim), std::move(rest)}}};
    return Object{{"max", Array{std::move(whole), unit}}};
  };
  // Of the dimensions outside the matrix the box takes one place each.
  int64_t rank = mapType.getRank();
  Array dims, strides, box{tile.getColumns()}, elementStrides;
  FailureOr<llvm::json::Value> boxRows = expressions.getBoxRows(map, bool(fit));
  if (failed(boxRows))
    return failure();
  box.push_back(std::move(*boxRows));
  for (int64_t axis = rank - 1; axis >= 0; --axis) {
    dims.push_back(getExtent(axis));
    elementStrides.push_back(1);
    if (axis + 1 < rank)
      strides.push_back(getStrideBytes(axis));
    if (axis + 2 < rank)
      box.push_back(1);
  }
  Object parameter = pointerTo(*argument);
  parameter["kind"] = "tensor_map";
  parameter["dtype"] = element;
  parameter["dims"] = std::move(dims);
  parameter["strides_bytes"] = std::move(strides);
  parameter["box"] = std::move(box);
  parameter["element_strides"] = std::move(elementStrides);
  parameter["swizzle"] = StringRef(spelling(tile.getSwizzle()));
  parameter["interleave"] = "none";
  parameter["l2_promotion"] = std::to_string(map.getL2Promotion()) + "B";
  parameter["oob_fill"] = "zero";
  return append(std::move(parameter), nullptr);
}

LogicalResult ParameterEmitter::addConstancy(IsConstantOp op) {
  Array names;
  for (Value source : op.getSources()) {
    FailureOr<BlockArgument> argument = expressions.getArgument(source, op);
    if (failed(argument))
      return failure();
    names.push_back(expressions.getArgumentName(argument->getArgNumber()));
  }
  return append(Object{{"kind", "constant"}, {"arguments", std::move(names)}},
                IntegerType::get(launch.getContext(), 32));
}

LogicalResult ParameterEmitter::addOperand(Value operand) {
  // convert-fp8-to-nvvm casts tensor maps to the pointers that kernels take.
  if (auto cast = operand.getDefiningOp<UnrealizedConversionCastOp>();
      cast && cast.getInputs().size() == 1)
    operand = cast.getInputs().front();
  if (auto constancy = operand.getDefiningOp<IsConstantOp>())
    return addConstancy(constancy);
  Type type = operand.getType();
  if (isa<TensorMapType>(type))
    return addTensorMap(operand);
  if (isa<MemRefType>(type))
    return addMemRef(operand);
  if (isa<LLVM::LLVMPointerType>(type))
    return addPointer(operand);
  if (type.isIndex() || type.isInteger(8) || type.isInteger(16) ||
      type.isInteger(32) || type.isInteger(64))
    return addScalar(operand);
  return launch.emitOpError("passes ")
         << type << ", which a launch manifest cannot express; memrefs, "
         << "tensor maps, pointers to memrefs, index, i8, i16, i32 and i64 can "
         << "be passed";
}

FailureOr<Array> ParameterEmitter::emit() {
  usesBarePointers = launch.getNumKernelOperands() == kernel.getNumArguments();
  for (Value operand : launch.getKernelOperands())
    if (failed(addOperand(operand)))
      return failure();
  if (parameters.size() != kernel.getNumArguments())
    return launch.emitOpError("passes ")
           << parameters.size() << " parameters to kernel '" << kernel.getName()
           << "', which has " << kernel.getNumArguments();
  return std::move(parameters);
}

FailureOr<Array> mlir::fp8::emitParameters(gpu::LaunchFuncOp launch,
                                           FunctionOpInterface kernel,
                                           ManifestExpressions &expressions) {
  return ParameterEmitter(launch, kernel, expressions).emit();
}
