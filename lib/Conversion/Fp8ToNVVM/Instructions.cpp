// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The instructions that a lowered kernel is made of: threads, shared memory,
// barriers. Others are in files of their own: arithmetic, copies, tensor
// memory, warpgroups.

#include "Instructions.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
using namespace mlir::fp8;

// NVPTX address spaces.
static constexpr unsigned kShared = 3;
static constexpr unsigned kSharedCluster = 7;

static constexpr StringLiteral kSharedMemoryName = "fp8_shared_memory";

Type mlir::fp8::getTensorMapPointerType(MLIRContext *context) {
  return LLVM::LLVMPointerType::get(context);
}

void mlir::fp8::declareSharedMemory(Operation *gpuModule, Location loc) {
  if (SymbolTable::lookupSymbolIn(gpuModule, kSharedMemoryName))
    return;
  OpBuilder builder = OpBuilder::atBlockBegin(&gpuModule->getRegion(0).front());
  auto type = LLVM::LLVMArrayType::get(builder.getI8Type(), 0);
  // 1024: the pattern of the 128-byte swizzle (PTX ISA, swizzling modes).
  LLVM::GlobalOp::create(builder, loc, type, /*isConstant=*/false,
                         LLVM::Linkage::External, kSharedMemoryName,
                         Attribute(), /*alignment=*/1024, kShared);
}

//===----------------------------------------------------------------------===//
// Threads
//===----------------------------------------------------------------------===//

Value Instructions::threadId() {
  return NVVM::ThreadIdXOp::create(builder, loc, builder.getI32Type());
}
Value Instructions::laneId() { return bitAnd(threadId(), 31); }
Value Instructions::warpId() {
  // Through shfl, so that ptxas knows the value to be the same in all lanes and
  // keeps roles in uniform registers.
  return NVVM::ShflOp::create(builder, loc, builder.getI32Type(), i32(-1),
                              shiftRight(threadId(), 5), i32(0), i32(31),
                              NVVM::ShflKind::idx,
                              /*return_value_and_is_valid=*/UnitAttr());
}
Value Instructions::keepInLoop(Value value) {
  return LLVM::InlineAsmOp::create(
             builder, loc, value.getType(), value, "mov.b32 $0, $1;", "=r,r",
             /*has_side_effects=*/true, /*is_align_stack=*/false,
             LLVM::TailCallKind::None, LLVM::AsmDialectAttr(), ArrayAttr())
      .getResult(0);
}
void Instructions::pin(MutableArrayRef<Value> pairs) {
  std::string constraints, ties;
  SmallVector<Value> registers;
  for (auto [i, pair] : llvm::enumerate(pairs)) {
    constraints += "=l,";
    ties += (i ? "," : "") + std::to_string(i);
    registers.push_back(
        LLVM::BitcastOp::create(builder, loc, builder.getI64Type(), pair));
  }
  auto resultType = LLVM::LLVMStructType::getLiteral(
      builder.getContext(),
      SmallVector<Type>(ValueRange(registers).getTypes()));
  Value pinned =
      LLVM::InlineAsmOp::create(
          builder, loc, resultType, registers, "", constraints + ties,
          /*has_side_effects=*/true, /*is_align_stack=*/false,
          LLVM::TailCallKind::None, LLVM::AsmDialectAttr(), ArrayAttr())
          .getRes();
  for (auto [i, pair] : llvm::enumerate(pairs))
    pair = LLVM::BitcastOp::create(
        builder, loc, pair.getType(),
        LLVM::ExtractValueOp::create(builder, loc, pinned, i));
}
Value Instructions::ctaId() {
  return NVVM::BlockIdXOp::create(builder, loc, builder.getI32Type());
}
Value Instructions::elect() {
  return NVVM::ElectSyncOp::create(builder, loc, builder.getI1Type(),
                                   /*membermask=*/Value());
}
Value Instructions::allLanes(Value condition) {
  return NVVM::VoteSyncOp::create(
      builder, loc, builder.getI1Type(), i32(-1), condition,
      NVVM::VoteSyncKindAttr::get(builder.getContext(),
                                  NVVM::VoteSyncKind::all));
}
void Instructions::syncThreads() { NVVM::BarrierOp::create(builder, loc); }
void Instructions::meetCluster() {
  UnitAttr aligned = builder.getUnitAttr();
  // Relaxed: a release would wait for all memory.
  NVVM::ClusterArriveRelaxedOp::create(builder, loc, aligned);
  NVVM::ClusterWaitOp::create(builder, loc, aligned);
}
void Instructions::leaveCluster() {
  NVVM::ClusterArriveOp::create(builder, loc, UnitAttr());
  NVVM::ClusterWaitOp::create(builder, loc, UnitAttr());
}
void Instructions::waitForEarlierKernels() {
  NVVM::GriddepcontrolOp::create(builder, loc, NVVM::GridDepActionKind::wait);
}
void Instructions::startNextKernel() {
  NVVM::GriddepcontrolOp::create(builder, loc,
                                 NVVM::GridDepActionKind::launch_dependents);
}
void Instructions::syncWarp() {
  NVVM::SyncWarpOp::create(builder, loc, i32(-1));
}
void Instructions::syncNamedBarrier(Value id, int64_t threads) {
  NVVM::BarrierOp::create(builder, loc, TypeRange(), id, i32(threads),
                          NVVM::BarrierReductionAttr(), Value());
}
void Instructions::arriveNamedBarrier(Value id, int64_t threads) {
  // nvvm.barrier.arrive is an inline asm that is neither convergent nor a
  // memory clobber; the intrinsic is both.
  LLVM::CallIntrinsicOp::create(
      builder, loc,
      builder.getStringAttr("llvm.nvvm.barrier.cta.arrive.aligned.count"),
      ValueRange{id, i32(threads)});
}
void Instructions::ifThen(Value condition,
                          function_ref<void(Instructions &)> body) {
  auto op =
      scf::IfOp::create(builder, loc, condition, /*withElseRegion=*/false);
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToStart(op.thenBlock());
  body(*this);
}

//===----------------------------------------------------------------------===//
// Shared memory
//===----------------------------------------------------------------------===//

Value Instructions::sharedPointer(Value address) {
  return LLVM::IntToPtrOp::create(
      builder, loc, LLVM::LLVMPointerType::get(builder.getContext(), kShared),
      address);
}
Value Instructions::clusterPointer(Value address) {
  return LLVM::IntToPtrOp::create(
      builder, loc,
      LLVM::LLVMPointerType::get(builder.getContext(), kSharedCluster),
      address);
}
Value Instructions::mapToCta(Value address, Value rank) {
  Value pointer = NVVM::MapaOp::create(
      builder, loc,
      LLVM::LLVMPointerType::get(builder.getContext(), kSharedCluster),
      sharedPointer(address), rank);
  return LLVM::PtrToIntOp::create(builder, loc, builder.getI32Type(), pointer);
}
Value Instructions::sharedMemory() {
  Value pointer = LLVM::AddressOfOp::create(
      builder, loc, LLVM::LLVMPointerType::get(builder.getContext(), kShared),
      kSharedMemoryName);
  return LLVM::PtrToIntOp::create(builder, loc, builder.getI32Type(), pointer);
}
Value Instructions::loadShared(Value address, Type type) {
  return LLVM::LoadOp::create(builder, loc, type, sharedPointer(address));
}
Value Instructions::loadSharedFloat(Value address, Type element) {
  Value value = loadShared(address, element);
  if (element.isF32())
    return value;
  return LLVM::FPExtOp::create(builder, loc, builder.getF32Type(), value);
}
SmallVector<Value> Instructions::loadSharedPairs(Value address, Type element,
                                                 int64_t count) {
  auto type = VectorType::get(count, element);
  Value loaded = LLVM::LoadOp::create(
      builder, loc, type, sharedPointer(address), /*alignment=*/
      count * element.getIntOrFloatBitWidth() / 8);
  SmallVector<Value> pairs;
  for (int64_t i = 0; i < count; i += 2) {
    Value pair = undefPair();
    for (int64_t j : {0, 1}) {
      Value value = extract(loaded, i + j);
      if (!element.isF32())
        value =
            LLVM::FPExtOp::create(builder, loc, builder.getF32Type(), value);
      pair = insert(pair, value, j);
    }
    pairs.push_back(pair);
  }
  return pairs;
}
void Instructions::storeShared(Value address, Value value, bool alone) {
  Type type = value.getType();
  int64_t elements = 1;
  if (auto vector = dyn_cast<VectorType>(type)) {
    elements = vector.getNumElements();
    type = vector.getElementType();
  }
  int64_t bytes = elements * type.getIntOrFloatBitWidth() / 8;
  LLVM::StoreOp::create(builder, loc, value, sharedPointer(address),
                        /*alignment=*/bytes, /*isVolatile=*/alone);
}

void Instructions::storeRemote(Value address, ValueRange values,
                               Value barrier) {
  SmallVector<Value> operands{address};
  llvm::append_range(operands, values);
  operands.push_back(barrier);
  LLVM::InlineAsmOp::create(
      builder, loc, TypeRange(), operands,
      "st.async.shared::cluster.mbarrier::complete_tx::bytes.v4.f32 [$0], "
      "{$1, $2, $3, $4}, [$5];",
      "r,f,f,f,f,r,~{memory}", /*has_side_effects=*/true,
      /*is_align_stack=*/false, LLVM::TailCallKind::None,
      LLVM::AsmDialectAttr(), ArrayAttr());
}

//===----------------------------------------------------------------------===//
// Barriers
//===----------------------------------------------------------------------===//

void Instructions::initBarrier(Value address, int64_t arrivals) {
  NVVM::MBarrierInitOp::create(builder, loc, sharedPointer(address),
                               i32(arrivals), /*predicate=*/Value());
}
void Instructions::fenceBarrierInit() {
  NVVM::FenceMbarrierInitOp::create(builder, loc);
}
void Instructions::waitBarrier(Value address, Value parity, int64_t limit,
                               bool acquiresCluster) {
  // A loop of ours around one try_wait: nvvm.mbarrier.try_wait.parity hides the
  // loop in inline asm. With a limit it carries the time to give up, or 0
  // before a try has failed.
  SmallVector<Value> deadline;
  if (limit)
    deadline.push_back(i64(0));
  TypeRange types = ValueRange(deadline).getTypes();
  SmallVector<Location> locs(deadline.size(), loc);
  auto loop = scf::WhileOp::create(builder, loc, types, deadline);
  OpBuilder::InsertionGuard guard(builder);
  Block *before = builder.createBlock(&loop.getBefore(), {}, types, locs);
  // The time that the hardware may suspend the warp for before it answers
  // false, in ns (PTX ISA, mbarrier.try_wait).
  constexpr int64_t kSuspendTime = 10'000'000;
  Value done = NVVM::MBarrierTryWaitOp::create(
      builder, loc, builder.getI1Type(), sharedPointer(address), parity,
      i32(limit ? std::min(limit, kSuspendTime) : kSuspendTime),
      acquiresCluster ? NVVM::MemScopeKind::CLUSTER : NVVM::MemScopeKind::CTA);
  Value one =
      arith::ConstantOp::create(builder, loc, builder.getBoolAttr(true));
  scf::ConditionOp::create(builder, loc,
                           arith::XOrIOp::create(builder, loc, done, one),
                           before->getArguments());
  Block *after = builder.createBlock(&loop.getAfter(), {}, types, locs);
  if (limit)
    deadline = {checkDeadline(address, parity, after->getArgument(0), limit)};
  scf::YieldOp::create(builder, loc, deadline);
}
Value Instructions::testBarrier(Value address, Value parity,
                                bool acquiresCluster) {
  return NVVM::MBarrierTestWaitOp::create(
      builder, loc, builder.getI1Type(), sharedPointer(address), parity,
      acquiresCluster ? NVVM::MemScopeKind::CLUSTER : NVVM::MemScopeKind::CTA);
}
void Instructions::arrive(Value address) {
  NVVM::MBarrierArriveOp::create(builder, loc, TypeRange(),
                                 sharedPointer(address), /*count=*/Value());
}
void Instructions::arriveRemote(Value address) {
  // The default scope, .cta, is enough: what is handed back was only read, and
  // cluster scope would fence all memory.
  NVVM::MBarrierArriveOp::create(builder, loc, TypeRange(),
                                 clusterPointer(address), /*count=*/Value());
}
void Instructions::expectBytes(Value address, Value bytes) {
  NVVM::MBarrierExpectTxOp::create(builder, loc, sharedPointer(address), bytes);
}
void Instructions::arriveExpectBytes(Value address, int64_t bytes) {
  NVVM::MBarrierArriveExpectTxOp::create(
      builder, loc, TypeRange(), sharedPointer(address), i32(bytes),
      NVVM::MemScopeKind::CTA, /*relaxed=*/false, /*predicate=*/Value());
}

void Instructions::arriveAfterCopies(Value barrier) {
  NVVM::CpAsyncMBarrierArriveOp::create(builder, loc, sharedPointer(barrier),
                                        /*noinc=*/true);
}

void Instructions::arriveExpectBytesRemote(Value address, int64_t bytes) {
  // Relaxed: the arrival hands nothing over, and a release of cluster scope
  // would fence all memory.
  NVVM::MBarrierArriveExpectTxOp::create(
      builder, loc, TypeRange(), clusterPointer(address), i32(bytes),
      NVVM::MemScopeKind::CLUSTER, /*relaxed=*/true, /*predicate=*/Value());
}

//===----------------------------------------------------------------------===//
// Cluster launch control
//===----------------------------------------------------------------------===//

void Instructions::requestWork(Value slot, Value barrier, bool multicast) {
  NVVM::ClusterLaunchControlTryCancelOp::create(
      builder, loc, multicast, sharedPointer(slot), sharedPointer(barrier));
}
std::pair<Value, Value> Instructions::readAnswer(Value slot) {
  Value answer = LLVM::LoadOp::create(builder, loc, builder.getIntegerType(128),
                                      sharedPointer(slot), /*alignment=*/16);
  Value more = NVVM::ClusterLaunchControlQueryCancelOp::create(
      builder, loc, builder.getI1Type(),
      NVVM::ClusterLaunchControlQueryType::IS_CANCELED, answer);
  // The CTA of an answer without work is undefined (PTX ISA,
  // clusterlaunchcontrol.query_cancel). LLVM 22 takes the intrinsic for
  // speculatable and would move it out of the branch; an asm stays.
  auto branch = scf::IfOp::create(
      builder, loc, more,
      [&](OpBuilder &then, Location) {
        Value cta =
            LLVM::InlineAsmOp::create(
                then, loc, then.getI32Type(), answer,
                "clusterlaunchcontrol.query_cancel.get_first_ctaid::x.b32.b128 "
                "$0, $1;",
                "=r,q", /*has_side_effects=*/true, /*is_align_stack=*/false,
                LLVM::TailCallKind::None, LLVM::AsmDialectAttr(), ArrayAttr())
                .getRes();
        scf::YieldOp::create(then, loc, cta);
      },
      [&](OpBuilder &otherwise, Location) {
        Value none = arith::ConstantOp::create(otherwise, loc,
                                               otherwise.getI32IntegerAttr(0));
        scf::YieldOp::create(otherwise, loc, none);
      });
  return {more, branch.getResult(0)};
}
