// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The structured kernel (phase 1) of a blockwise-scaled GEMM.
//
// Three roles run the same loop over output tiles and, inside it, over K
// blocks. The load role fills the input ring with A and B, and another ring
// with scales; the MMA role turns each input stage into a fresh accumulator;
// the epilogue role adds each accumulator, scaled, to the tile that it keeps in
// registers, and stores the tile after the last K block. It reads A's scales,
// and B's where each column has its own, in a ring of their own, where a slot
// has those of several K blocks. Under cluster launch control a fourth role,
// the scheduler, asks for the next tile. Where there is a residual or a bias,
// another role loads it for the epilogue.
//
// Without tensor memory the MMA role and the epilogue role are one, whose
// warpgroups multiply into registers; A, B and the scales share a ring.

#include "KernelBuilder.h"

using namespace mlir;
using namespace mlir::fp8;

namespace {

/// Makes the rings and deals their ends to the roles.
class StructuredKernel : public KernelBuilder {
public:
  using KernelBuilder::KernelBuilder;

  void build();

private:
  /// The roles where products are computed in tensor memory.
  void buildTensorMemoryRoles();
  /// The roles where they are computed in the registers of warpgroups.
  void buildWarpgroupRoles();
  /// The rings with the bias and the residual: their producer ends, and adds
  /// the consumer ends to `epilogue`.
  SmallVector<Value> makeAddendRings(SmallVectorImpl<Value> &epilogue);
  /// The producer end, then the consumer ends.
  ResultRange makeRing(PipelineType ring, int64_t consumers);
};

} // namespace

ResultRange StructuredKernel::makeRing(PipelineType ring, int64_t consumers) {
  MLIRContext *context = builder.getContext();
  SmallVector<Type> ends{ProducerType::get(context, ring)};
  ends.append(consumers, ConsumerType::get(context, ring));
  return PipelineOp::create(builder, loc, ends, nullptr, nullptr).getEnds();
}

SmallVector<Value>
StructuredKernel::makeAddendRings(SmallVectorImpl<Value> &epilogue) {
  SmallVector<Value> producers;
  for (PipelineType type : plan.getAddendRings()) {
    ResultRange ring = makeRing(type, 1);
    producers.push_back(ring[0]);
    epilogue.push_back(ring[1]);
  }
  return producers;
}

void StructuredKernel::build() {
  if (plan.usesWarpgroups)
    buildWarpgroupRoles();
  else
    buildTensorMemoryRoles();
  gpu::ReturnOp::create(builder, loc);
}

void StructuredKernel::buildWarpgroupRoles() {
  ResultRange input = makeRing(plan.getInputRing(), 1);
  Value queue = StoreQueueOp::create(builder, loc, plan.getStoreQueue());
  SmallVector<Value> multiply{input[1], queue};
  SmallVector<Value> addends = makeAddendRings(multiply);
  if (plan.cluster.k > 1)
    multiply.push_back(ExchangeOp::create(builder, loc, plan.getExchange()));
  // First come whole warpgroups.
  buildMultiplyRole(*this, multiply);
  buildLoadRole(*this, input[0]);
  if (!addends.empty())
    buildEpilogueLoadRole(*this, addends);
}

void StructuredKernel::buildTensorMemoryRoles() {
  MLIRContext *context = builder.getContext();
  ResultRange input = makeRing(plan.getInputRing(), 1);
  ResultRange scales = makeRing(plan.getScaleRing(), 1);
  SmallVector<Value> producers{input[0], scales[0]};
  OutputPipelineType accumulators = plan.getAccumulatorRing();
  auto output = OutputPipelineOp::create(
      builder, loc, ProducerType::get(context, accumulators),
      ConsumerType::get(context, accumulators), nullptr, nullptr);
  Value queue = StoreQueueOp::create(builder, loc, plan.getStoreQueue());
  // Every role's last end is that of the work queue, if there is one.
  SmallVector<Value> epilogue{output.getConsumer(), scales[1], queue},
      mma{output.getProducer(), input[1]}, scheduler;
  SmallVector<Value> addends = makeAddendRings(epilogue);
  if (plan.isDynamic()) {
    Type work = WorkQueueType::get(context, GemmPlan::kWorkStages);
    Type reader = ConsumerType::get(context, work);
    SmallVector<Type> ends{ProducerType::get(context, work)};
    ends.append(addends.empty() ? 4 : 5, reader);
    auto answers = WorkQueueOp::create(builder, loc, ends);
    auto throttle = makeRing(
        PipelineType::get(context, GemmPlan::kWorkStages, {}, {}, 1), 1);
    producers.push_back(throttle[0]);
    scheduler = {answers.getEnds()[0], throttle[1]};
    ResultRange readers = answers.getEnds().drop_front();
    epilogue.push_back(readers[0]);
    producers.push_back(readers[1]);
    mma.push_back(readers[2]);
    scheduler.push_back(readers[3]);
    if (!addends.empty())
      addends.push_back(readers[4]);
  }
  buildEpilogueRole(*this, epilogue);
  buildLoadRole(*this, producers);
  buildMmaRole(*this, mma);
  if (plan.isDynamic())
    buildSchedulerRole(*this, scheduler);
  if (!addends.empty())
    buildEpilogueLoadRole(*this, addends);
}

gpu::GPUFuncOp mlir::fp8::buildStructuredKernel(OpBuilder &builder,
                                                Location loc,
                                                gpu::GPUModuleOp module,
                                                StringRef name,
                                                const GemmPlan &plan) {
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToEnd(module.getBody());
  SmallVector<Type> types;
  for (GemmParameter parameter : plan.getParameters())
    types.push_back(plan.getParameterType(parameter));
  auto kernel = gpu::GPUFuncOp::create(builder, loc, name,
                                       builder.getFunctionType(types, {}));
  kernel->setAttr(gpu::GPUDialect::getKernelFuncAttrName(),
                  builder.getUnitAttr());
  kernel->setAttr(Fp8Dialect::kLinearAttrName, builder.getUnitAttr());
  SmallVector<int64_t> shape{plan.cluster.m, plan.cluster.n};
  if (plan.cluster.k > 1)
    shape.push_back(plan.cluster.k);
  if (plan.cluster.getSize() > 1)
    kernel->setAttr(Fp8Dialect::kClusterAttrName,
                    builder.getDenseI64ArrayAttr(shape));
  if (plan.programmatic)
    kernel->setAttr(Fp8Dialect::kProgrammaticAttrName, builder.getUnitAttr());
  builder.setInsertionPointToStart(&kernel.getBody().front());
  StructuredKernel(builder, loc, plan, kernel).build();
  return kernel;
}
