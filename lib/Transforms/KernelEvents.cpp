// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What the PTX of kernels is expected to do, as JSON.

#include "LinearCopy.h"
#include "fp8/Analysis/KernelPlan.h"
#include "fp8/Planning/Planning.h"
#include "fp8/Proof/EventJSON.h"
#include "fp8/Proof/ExtractEvents.h"
#include "fp8/Transforms/Passes.h"
#include "fp8/Transforms/ProveKernels.h"

#include "mlir/Pass/PassManager.h"
#include "llvm/ADT/StringMap.h"
#include <deque>

using namespace mlir;
using namespace mlir::fp8;

LogicalResult mlir::fp8::addEvents(ModuleOp module, StringRef chip,
                                   llvm::json::Value &proofs) {
  OwningOpRef<ModuleOp> copy = makeLinearCopy(module, chip);
  if (!copy)
    return failure();
  // PTX is made of kernels whose loops are copied.
  PassManager passes(module.getContext());
  addLoopCopyPasses(passes);
  if (failed(passes.run(*copy)))
    return failure();
  // Kernels of several modules may have one name in JSON: they come in order.
  llvm::StringMap<std::deque<gpu::GPUFuncOp>> byName;
  copy->walk([&](gpu::GPUFuncOp kernel) {
    if (kernel.isKernel() && hasRings(kernel))
      byName[llvm::json::fixUTF8(kernel.getName())].push_back(kernel);
  });
  for (llvm::json::Value &value : *proofs.getAsObject()->getArray("kernels")) {
    llvm::json::Object &written = *value.getAsObject();
    auto &kernels = byName[*written.getString("kernel")];
    gpu::GPUFuncOp kernel = kernels.front();
    kernels.pop_front();
    if (failed(planKernel(kernel)))
      return failure();
    placeFences(kernel);
    reuseRegisters(kernel);
    ExtractedEvents its = extractEvents(kernel);
    if (its.obstacle)
      written["events_obstacle"] = its.reason;
    else
      written["events"] = ::fp8::proof::toJSON(its.events);
  }
  return success();
}
