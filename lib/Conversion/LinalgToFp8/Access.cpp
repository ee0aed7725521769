// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What ops do to the contents of a memref.

#include "Access.h"
#include "Views.h"

#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

using namespace mlir;
using namespace mlir::fp8;
using namespace mlir::fp8::fromlinalg;

/// True if an effect may be one on the memref.
static bool concerns(const MemoryEffects::EffectInstance &effect, Value memref,
                     AliasAnalysis &aliases) {
  Value value = effect.getValue();
  return !value || !isa<MemRefType>(value.getType()) ||
         !aliases.alias(getBase(value), memref).isNo();
}

ModRefResult fromlinalg::getAccess(Operation *op, Value memref,
                                   AliasAnalysis &aliases) {
  auto linalgOp = dyn_cast<linalg::LinalgOp>(op);
  auto isFree = [](Operation &inner) { return isMemoryEffectFree(&inner); };
  if (!linalgOp || !llvm::all_of(*linalgOp.getBlock(), isFree))
    return aliases.getModRef(op, memref);
  SmallVector<MemoryEffects::EffectInstance> effects;
  cast<MemoryEffectOpInterface>(op).getEffects(effects);
  ModRefResult result = ModRefResult::getNoModRef();
  for (const MemoryEffects::EffectInstance &effect : effects)
    if (concerns(effect, memref, aliases))
      result = result.merge(isa<MemoryEffects::Read>(effect.getEffect())
                                ? ModRefResult::getRef()
                                : ModRefResult::getMod());
  return result;
}

bool fromlinalg::frees(Operation *op, Value memref, AliasAnalysis &aliases) {
  auto effects = getEffectsRecursively(op);
  return effects &&
         llvm::any_of(*effects, [&](MemoryEffects::EffectInstance &effect) {
           return isa<MemoryEffects::Free>(effect.getEffect()) &&
                  concerns(effect, memref, aliases);
         });
}
