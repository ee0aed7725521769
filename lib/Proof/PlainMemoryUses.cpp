// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What calls and launches say of the arrays of a kernel.

#include "PlainMemory.h"

#include "fp8/IR/ArgumentAccess.h"
#include "fp8/IR/Assembly.h"
#include "fp8/IR/ComputedGemm.h"

#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/Interfaces/CallInterfaces.h"
#include "mlir/Interfaces/FunctionInterfaces.h"

using namespace mlir;
using namespace mlir::fp8;

/// True if the function works on numbers alone.
static bool hasNoArrays(FunctionOpInterface callee) {
  auto isArray = [](Type type) {
    return isa<BaseMemRefType, TensorMapType>(type) ||
           type.getDialect().getNamespace() == "llvm";
  };
  return !callee
              ->walk([&](Operation *op) {
                bool has = llvm::any_of(op->getResultTypes(), isArray) ||
                           llvm::any_of(op->getOperandTypes(), isArray) ||
                           isa<CallOpInterface>(op) || getAssembly(op);
                return has ? WalkResult::interrupt() : WalkResult::advance();
              })
              .wasInterrupted();
}

/// Functions of numbers change no array, as those of the device library.
void PlainMemory::decideCall(Operation *op) {
  auto call = dyn_cast<CallOpInterface>(op);
  if (!call)
    return;
  auto callee = dyn_cast_or_null<FunctionOpInterface>(
      call.resolveCallableInTable(nullptr));
  bool isDefined = callee && !callee.isExternal();
  bool isOfNumbers = llvm::all_of(op->getOperandTypes(), [](Type type) {
    return type.isIntOrIndexOrFloat() || isa<VectorType>(type);
  });
  if (isDefined ? hasNoArrays(callee) : callee && isOfNumbers)
    return;
  undecided.push_back({op, "it calls a function whose accesses to arrays are "
                           "not followed; let it be inlined, or write them in "
                           "the role"});
}

/// True if the numbers of the GEMM decide what is stored by one argument and
/// accessed by the other: both are D, or one is the residual, of which each box
/// is read before it is stored.
static bool areOfResult(const std::optional<ComputedGemm> &gemm,
                        unsigned argument, unsigned other) {
  using gemm::Operand;
  return gemm && llvm::all_of(ArrayRef({argument, other}), [&](unsigned its) {
           auto info = gemm->getOperand(its);
           return info &&
                  (info->operand == Operand::D || info->operand == Operand::C);
         });
}

/// Different arguments do not overlap, as is taken for granted, unless a launch
/// of the module shows that they do.
void PlainMemory::decideLaunches() {
  std::optional<ComputedGemm> gemm = ComputedGemm::get(kernel);
  auto module = kernel->getParentOfType<ModuleOp>();
  while (module && module->getParentOfType<ModuleOp>())
    module = module->getParentOfType<ModuleOp>();
  if (!module)
    return;
  module->walk([&](gpu::LaunchFuncOp launch) {
    if (SymbolTable::lookupNearestSymbolFrom(launch, launch.getKernelAttr()) !=
        kernel)
      return;
    for (auto &[argument, use] : uses)
      for (auto &[other, its] : uses) {
        bool isChange = !use.writes.empty() || !use.stores.empty();
        if (argument == other || !isChange ||
            areOfResult(gemm, argument, other) ||
            getMemory(launch.getKernelOperands()[argument]) !=
                getMemory(launch.getKernelOperands()[other]))
          continue;
        undecided.push_back({use.getAll().back(),
                             "a launch passes one array as arguments " +
                                 std::to_string(std::min(argument, other)) +
                                 " and " +
                                 std::to_string(std::max(argument, other)) +
                                 ", of which one is written; pass it once"});
        return;
      }
  });
}
