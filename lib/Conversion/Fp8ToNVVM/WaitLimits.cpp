// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Waits that give up, and the record that they leave.
//
// What the kernel writes has to outlive it: after a trap the driver answers
// every call with an error, copies from device memory as well. So records lie
// in memory of the host that the launcher maps, and a variable of the module
// says where; as long as that is 0, a wait that gives up only traps. A record
// says which barrier by its place in shared memory, and the table does the
// rest: the kernel is the same whatever the names are.
//
// fp8/Launch/WaitRecords.h describes variable and records to those who read
// them.

#include "../WaitRecords.h"
#include "Instructions.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
using namespace mlir::fp8;

static constexpr unsigned kGlobal = 1; // NVPTX address space

// The variable: the address of the records, and how many waits gave up.
static constexpr int64_t kCountOffset = 8;
// The records.
static constexpr int64_t kRecords = 64;
static constexpr int64_t kRecordBytes = 64;

//===----------------------------------------------------------------------===//
// The kernel's side
//===----------------------------------------------------------------------===//

void mlir::fp8::declareWaitRecords(Operation *gpuModule, Location loc) {
  if (SymbolTable::lookupSymbolIn(gpuModule, kWaitRecordsName))
    return;
  OpBuilder builder = OpBuilder::atBlockBegin(&gpuModule->getRegion(0).front());
  auto type = LLVM::LLVMArrayType::get(builder.getI64Type(), 2);
  auto global = LLVM::GlobalOp::create(
      builder, loc, type, /*isConstant=*/false, LLVM::Linkage::External,
      kWaitRecordsName, Attribute(), /*alignment=*/8, kGlobal);
  builder.createBlock(&global.getInitializerRegion());
  Value zero = LLVM::ZeroOp::create(builder, loc, type);
  LLVM::ReturnOp::create(builder, loc, zero);
}

/// A special register, read here: LLVM would read it once for all waits, and
/// keep it in a register that a kernel has better uses for.
static Value readSpecial(OpBuilder &builder, Location loc, StringRef name) {
  return LLVM::InlineAsmOp::create(
             builder, loc, builder.getI32Type(), ValueRange(),
             ("mov.u32 $0, %" + name + ";").str(), "=r",
             /*has_side_effects=*/true, /*is_align_stack=*/false,
             LLVM::TailCallKind::None, LLVM::AsmDialectAttr(), ArrayAttr())
      .getResult(0);
}

Value Instructions::checkDeadline(Value address, Value parity, Value deadline,
                                  int64_t limit) {
  // Real time, which clock64 is not: its ticks are as long as the GPU's mood.
  Value now = NVVM::GlobalTimerOp::create(builder, loc, builder.getI64Type());
  Value isFirst = compare(arith::CmpIPredicate::eq, deadline, i64(0));
  Value until = select(isFirst, add(now, i64(limit)), deadline);
  Value isLate = compare(arith::CmpIPredicate::uge, now, until);
  // All lanes of a warp wait for the same phase: one of them tells.
  Value tells = arith::AndIOp::create(
      builder, loc, isLate, equal(readSpecial(builder, loc, "laneid"), 0));
  ifThen(tells, [&](Instructions &teller) {
    Value begin = teller.sub(until, teller.i64(limit));
    teller.giveUp(address, parity, teller.sub(now, begin));
  });
  // Never again: the warp that traps may take a while.
  return select(isLate, i64(-1), until);
}

void Instructions::giveUp(Value address, Value parity, Value waited) {
  auto pointerType = LLVM::LLVMPointerType::get(builder.getContext(), kGlobal);
  Type word = builder.getI32Type();
  Value variable =
      LLVM::AddressOfOp::create(builder, loc, pointerType, kWaitRecordsName);
  auto offset = [&](Value pointer, Value bytes) -> Value {
    return LLVM::GEPOp::create(builder, loc, pointerType, builder.getI8Type(),
                               pointer, ArrayRef<LLVM::GEPArg>{bytes});
  };
  // Counted on the device, since what the host maps has no atomic operations
  // (CUDA C++ Programming Guide, "Mapped Memory").
  Value number = LLVM::AtomicRMWOp::create(
      builder, loc, LLVM::AtomicBinOp::add, offset(variable, i64(kCountOffset)),
      i32(1), LLVM::AtomicOrdering::monotonic, "device");
  Value records = LLVM::LoadOp::create(builder, loc, builder.getI64Type(),
                                       variable, /*alignment=*/8,
                                       /*isVolatile=*/true);
  Value hasRoom = arith::AndIOp::create(
      builder, loc, compare(arith::CmpIPredicate::ne, records, i64(0)),
      compare(arith::CmpIPredicate::ult, number, i32(kRecords)));
  ifThen(hasRoom, [&](Instructions &) {
    Value record = LLVM::IntToPtrOp::create(builder, loc, pointerType, records);
    Value bytes = LLVM::MulOp::create(builder, loc, number, i32(kRecordBytes));
    record = offset(record, bytes);
    auto write = [&](int64_t at, Value value) {
      LLVM::StoreOp::create(builder, loc, value, offset(record, i64(at)),
                            /*alignment=*/value.getType() == word ? 4 : 8,
                            /*isVolatile=*/true);
    };
    auto fence = [&] {
      LLVM::FenceOp::create(builder, loc, LLVM::AtomicOrdering::seq_cst, "");
    };
    write(4, sub(address, sharedMemory()));
    write(8, parity);
    write(12, shiftRight(readSpecial(builder, loc, "tid.x"), 5));
    write(16, readSpecial(builder, loc, "ctaid.x"));
    write(20, readSpecial(builder, loc, "ctaid.y"));
    write(24, readSpecial(builder, loc, "ctaid.z"));
    write(32, waited);
    fence();
    write(0, i32(1));
    fence();
  });
  // The wait that began first gives up first, and is the one that others wait
  // for; who they are tells more, though, so it gives them the time to say.
  ifThen(equal(number, 0), [&](Instructions &) {
    scf::ForOp::create(builder, loc, i32(0), i32(500), i32(1), ValueRange(),
                       [&](OpBuilder &body, Location, Value, ValueRange) {
                         Value time = arith::ConstantOp::create(
                             body, loc, body.getI32IntegerAttr(100'000));
                         NVVM::NanosleepOp::create(body, loc, time);
                         scf::YieldOp::create(body, loc);
                       });
    LLVM::Trap::create(builder, loc);
  });
}
