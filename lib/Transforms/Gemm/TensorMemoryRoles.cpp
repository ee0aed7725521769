// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The roles where products are computed in tensor memory.
//
// Three roles run the same loop over output tiles and, inside it, over K
// blocks. The load role fills the input ring with A and B, and another ring
// with scales; the MMA role turns each input stage into a fresh accumulator;
// the epilogue role adds each accumulator, scaled, to the tile that it keeps in
// registers, and stores the tile after the last K block. It reads A's scales,
// and B's where each column has its own, in a ring of their own, where a slot
// has those of several K blocks. Where tensor cores apply the scales,
// ScaledRoles has the MMA role and the epilogue role. Under cluster launch
// control a fourth role, the scheduler, asks for the next tile. Where there is
// a residual or a bias, another role loads it for the epilogue.

#include "KernelBuilder.h"
#include "TensorMemorySchedule.h"

using namespace mlir;
using namespace mlir::fp8;

namespace {

/// Makes the rings and deals their ends to the roles.
class TensorMemoryRoles : public KernelBuilder {
public:
  TensorMemoryRoles(const KernelBuilder &base,
                    const TensorMemorySchedule &tensorMemorySchedule)
      : KernelBuilder(base), tensorMemorySchedule(tensorMemorySchedule) {}

  void build();

private:
  const TensorMemorySchedule &tensorMemorySchedule;
};

} // namespace

void TensorMemoryRoles::build() {
  MLIRContext *context = builder.getContext();
  ResultRange input = makeRing(schedule.getInputRing(), 1);
  SmallVector<Value> producers{input[0]}, scales;
  if (schedule.hasScaleRing()) {
    ResultRange ring = makeRing(tensorMemorySchedule.getScaleRing(), 1);
    producers.push_back(ring[0]);
    scales.push_back(ring[1]);
  }
  OutputPipelineType accumulators = tensorMemorySchedule.getAccumulatorRing();
  auto output = OutputPipelineOp::create(
      builder, loc, ProducerType::get(context, accumulators),
      ConsumerType::get(context, accumulators), nullptr, nullptr);
  Value queue = StoreQueueOp::create(builder, loc, schedule.getStoreQueue());
  // Every role's last end is that of the work queue, if there is one.
  SmallVector<Value> epilogue{output.getConsumer()},
      mma{output.getProducer(), input[1]}, scheduler;
  llvm::append_range(epilogue, scales);
  epilogue.push_back(queue);
  SmallVector<Value> addends = makeAddendRings(epilogue);
  if (schedule.cluster.k > 1)
    epilogue.push_back(
        ExchangeOp::create(builder, loc, schedule.getExchange()));
  if (schedule.isDynamic()) {
    Type work = WorkQueueType::get(context, GemmSchedule::kWorkStages);
    Type reader = ConsumerType::get(context, work);
    SmallVector<Type> ends{ProducerType::get(context, work)};
    ends.append(addends.empty() ? 4 : 5, reader);
    auto answers = WorkQueueOp::create(builder, loc, ends);
    auto throttle = makeRing(
        PipelineType::get(context, GemmSchedule::kWorkStages, {}, {}, 1), 1);
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
  tensorMemorySchedule.buildEpilogue(*this, epilogue);
  buildLoadRole(*this, producers);
  tensorMemorySchedule.buildMma(*this, mma);
  if (schedule.isDynamic())
    buildSchedulerRole(*this, scheduler);
  if (!addends.empty())
    buildEpilogueLoadRole(*this, addends);
}

void TensorMemorySchedule::buildEpilogue(const KernelBuilder &base,
                                         ValueRange ends) const {
  buildEpilogueRole(base, ends);
}
void TensorMemorySchedule::buildMma(const KernelBuilder &base,
                                    ValueRange ends) const {
  buildMmaRole(base, ends);
}
void TensorMemorySchedule::buildRoles(const KernelBuilder &base) const {
  TensorMemoryRoles(base, *this).build();
}
