// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Statements for accesses.

#include "Accesses.h"

#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Interfaces/FunctionInterfaces.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace mlir::fp8;
using namespace ::fp8::proof;

/// True if threads may learn by the op what others have done. The ops that work
/// on rings are known.
static bool mayOrderThreads(Operation *op) {
  if (op->getNumRegions() || isMemoryEffectFree(op) ||
      isa<memref::LoadOp, memref::StoreOp>(op))
    return false;
  return !isa_and_present<Fp8Dialect>(op->getDialect()) ||
         (llvm::none_of(op->getOperandTypes(),
                        [](Type type) {
                          return isLinear(type) || isa<TensorMapType>(type);
                        }) &&
          getViewOperands(op).empty() && op->getNumResults() == 0);
}

bool mlir::fp8::ringsOrderArrays(FunctionOpInterface kernel) {
  if (getClusterShape(kernel).getSize() > 1)
    return false;
  return !kernel
              ->walk([](RoleOp role) {
                return role.walk([](Operation *op) {
                  return mayOrderThreads(op) ? WalkResult::interrupt()
                                             : WalkResult::advance();
                });
              })
              .wasInterrupted();
}

//===----------------------------------------------------------------------===//
// Labels
//===----------------------------------------------------------------------===//

unsigned Accesses::getSize(Type type) const {
  if (isa<FragmentType, PendingType>(type))
    return 1;
  Type ring = getRingOf(type);
  return ring && !contents.getParts(ring).empty() ? 1 : 0;
}

bool Accesses::follows(Operation *op) const {
  return contents.getCopied(op) || isa<MmaOp>(op) ||
         !contents.getRead(op).empty() ||
         isa<memref::LoadOp, memref::StoreOp, StoreOp>(op) ||
         (isa<CloseOp>(op) && isa<StoreQueueType>(op->getOperand(0).getType()));
}

SmallVector<Value> Accesses::getIntegers(Operation *op) const {
  SmallVector<Value> integers;
  if (follows(op) && followsArrays)
    for (Value operand : op->getOperands())
      if (operand.getType().isIntOrIndexOrFloat())
        integers.push_back(operand);
  if (auto mma = dyn_cast<MmaOp>(op); mma && mma.getAccumulate())
    integers.push_back(mma.getAccumulate());
  return integers;
}

Labels::Label Accesses::compute(Value value) {
  if (isa_and_nonnull<ZeroOp>(value.getDefiningOp()))
    return {constant(0)};
  // Each other value has a name of its own.
  return {table.getOpaque("a value (" +
                              std::to_string(table.getNames().size()) + ")",
                          {}, Scope::Launch)};
}

//===----------------------------------------------------------------------===//
// Statements
//===----------------------------------------------------------------------===//

void Accesses::add(Access access, ArrayRef<ExprId> indices, ExprId end) {
  Statement statement{Statement::Kind::Access};
  statement.site = site;
  statement.end = end;
  statement.rule = kernel.skeleton.accesses.size();
  for (auto [number, index] : llvm::enumerate(indices))
    statement.assigned.push_back({number, index});
  kernel.skeleton.accesses.push_back(std::move(access));
  out->push_back(std::move(statement));
}

/// The indices in a slot: its number, the class of CTAs in whose memory it is,
/// and the class that copies this share of it.
void Accesses::addSlot(const SlotUse &use, Access::Agent agent, bool writes,
                       bool readsPair) {
  Type ring = getRingOf(use.stage.getType());
  ExprId end = getEnd(use.stage), slot = get(use.stage)[0];
  for (unsigned part : use.parts) {
    Access access;
    access.agent = agent;
    access.writes = writes;
    access.isInSlot = true;
    access.place = part;
    access.name = contents.getName(ring, part);
    bool isShared = contents.isMulticast(ring, part);
    unsigned classes = contents.getNumClasses();
    auto addAt = [&](unsigned owner, unsigned share) {
      add(access, {slot, constant(owner), constant(share)}, end);
    };
    if (writes && isShared) {
      for (unsigned owner = 0; owner < classes; ++owner)
        addAt(owner, cta);
    } else if (writes) {
      addAt(cta, 0);
    } else if (isShared) {
      for (unsigned share = 0; share < classes; ++share)
        addAt(cta, share);
    } else {
      for (unsigned source : contents.getSources(use, cta, readsPair))
        addAt(source, 0);
    }
  }
}

void Accesses::addArray(Value array, ValueRange indices, Access access) {
  auto argument = dyn_cast<BlockArgument>(array);
  if (!followsArrays || !argument ||
      !isa<FunctionOpInterface>(argument.getOwner()->getParentOp()))
    return;
  access.place = argument.getArgNumber();
  SmallVector<ExprId> its;
  for (Value index : indices)
    its.push_back(expressions.get(index));
  access.name = (access.extents.empty() ? "element {} of argument "
                                        : "the box at {} of argument ") +
                std::to_string(access.place);
  add(std::move(access), its);
}

void Accesses::addBox(Value map, ValueRange coordinates,
                      ArrayRef<int64_t> shape, Access access) {
  access.agent = Access::Agent::Copies;
  access.extents.assign(coordinates.size() - shape.size(), 1);
  llvm::append_range(access.extents, shape);
  addArray(map, coordinates, std::move(access));
}

void Accesses::walkOp(Operation *op) {
  if (std::optional<SlotUse> use = contents.getCopied(op))
    addSlot(*use, Access::Agent::Copies, /*writes=*/true, false);
  auto mma = dyn_cast<MmaOp>(op);
  auto agent = mma ? Access::Agent::Mma : Access::Agent::Warps;
  for (const SlotUse &use : contents.getRead(op))
    addSlot(use, agent, /*writes=*/false, /*readsPair=*/mma != nullptr);
  llvm::TypeSwitch<Operation *>(op)
      .Case([&](MmaOp mma) {
        std::optional<SlotUse> use = contents.getAccumulated(mma);
        if (!use)
          return;
        ::fp8::proof::Block *outer = out;
        if (Value condition = mma.getAccumulate()) {
          Statement branch{Statement::Kind::Branch};
          branch.site = site;
          branch.condition = expressions.get(condition);
          out = &branch.first;
          addSlot(*use, agent, /*writes=*/false, false);
          out = outer;
          out->push_back(std::move(branch));
        }
        addSlot(*use, agent, /*writes=*/true, false);
      })
      .Case([&](TmaLoadOp load) {
        addBox(load.getMap(), load.getCoordinates(), load.getTile().getShape(),
               {});
      })
      .Case([&](LoadElementOp load) {
        addArray(load.getSource(), load.getIndices(), {});
      })
      .Case([&](memref::LoadOp load) {
        addArray(load.getMemRef(), load.getIndices(), {});
      })
      .Case([&](memref::StoreOp store) {
        Access access;
        access.writes = true;
        access.value = expressions.get(store.getValue());
        addArray(store.getMemRef(), store.getIndices(), std::move(access));
      })
      .Case([&](StoreOp store) {
        Access access;
        access.writes = true;
        access.value = get(store.getFragment())[0];
        addBox(store.getMap(), store.getCoordinates(),
               store.getFragment().getType().getShape(), std::move(access));
      })
      .Case([&](CloseOp) {
        Access access;
        access.settles = true;
        add(std::move(access), {});
      });
}
