// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The output-pipeline family: the ring of tensor-memory accumulators between the MMA warp and the epilogue warps.

#ifndef FP8_IR_OUTPUTPIPELINE
#define FP8_IR_OUTPUTPIPELINE

include "fp8/IR/Pipeline.td"

def Fp8_OutputPipelineOp
    : Fp8_Op<"output_pipeline", [InEntryBlock, Fp8_RingOpInterface, InLinearFunction, Fp8_LinearOpInterface, Fp8_Requires<"TensorMemory">, MemoryEffects<[MemAlloc<Fp8_BarrierResource>]>]> {
  let summary = "makes a ring of accumulators and its two ends";
  let description = [{
    Yields the producer end, from which one role makes an MMA warp, and the consumer end, from which another role makes its epilogue warps.
    The MMA warp allocates the tensor memory. The arrival counts are derived and may be stated, as for `fp8.pipeline`.

    ```mlir
    !acc = !fp8.output_pipeline<2, 128x128xf32>
    func.func @ends() attributes {fp8.linear} {
      %mma, %epilogue = fp8.output_pipeline : !acc
      fp8.close %mma : !fp8.producer<!acc>
      fp8.close %epilogue : !fp8.consumer<!acc>
      return
    }
    ```
  }];
  let arguments = (ins OptionalAttr<ConfinedAttr<I64Attr, [IntPositive]>>:$producer_arrivals,
                       OptionalAttr<ConfinedAttr<I64Attr, [IntPositive]>>:$consumer_arrivals);
  let results = (outs Fp8_ProducerType:$producer, Fp8_ConsumerType:$consumer);
  let hasCustomAssemblyFormat = 1;
  let hasVerifier = 1;
}

def Fp8_AccumulatorOp : Fp8_BorrowingOp<"accumulator", [Pure, DeclareOpInterfaceMethods<InferTypeOpInterface>]> {
  let summary = "lends the view of a stage's accumulator";
  let description = [{
    Borrows the stage and lends its accumulator in tensor memory (L9).

    ```mlir
    !acc = !fp8.output_pipeline<2, 128x64xf32>
    !sum = !fp8.fragment<128x64xf32, 4>
    func.func @whole(%warp: !fp8.epilogue_warp<!acc>) -> !fp8.epilogue_warp<!acc> attributes {fp8.linear} {
      %stage = fp8.acquire %warp : !fp8.epilogue_warp<!acc>
      %accumulator = fp8.accumulator %stage : !fp8.epilogue_stage<!acc>
      %sum = fp8.read %accumulator : !fp8.tmem<128x64xf32> -> !sum
      %next = fp8.release %stage : !fp8.epilogue_stage<!acc>
      return %next : !fp8.epilogue_warp<!acc>
    }
    ```
  }];
  let arguments = (ins Fp8_AccumulatorStage:$stage);
  let results = (outs Fp8_TmemType:$accumulator);
  let assemblyFormat = "$stage attr-dict `:` type($stage)";
}

def Fp8_PerKStageOp : Fp8_StageScopeOp<"per_k_stage"> {
  let summary = "computes one K block: a stage of an output pipeline, together with its input stages";
  let description = [{
    The first operand is an MMA warp or epilogue warps; the others are consumer ends of pipelines. Acquires a stage of each, in that order,
    runs the body, then releases the stages in the opposite order. The body borrows the stages. Results: the advanced handle and ends, then
    the values that the body yields.

    ```mlir
    !a = !fp8.tile<128x128xf8E4M3FN, swizzle_128b>
    !ring = !fp8.pipeline<3, a: !a, b: !a>
    !acc = !fp8.output_pipeline<2, 128x128xf32>
    func.func @block(%warp: !fp8.mma_warp<!acc>, %in: !fp8.consumer<!ring>) -> (!fp8.mma_warp<!acc>, !fp8.consumer<!ring>)
        attributes {fp8.linear} {
      %warp2, %in2 = fp8.per_k_stage(%stage = %warp, %input = %in) : !fp8.mma_warp<!acc>, !fp8.consumer<!ring>
          -> (!fp8.mma_warp<!acc>, !fp8.consumer<!ring>) {
        %accumulator = fp8.accumulator %stage : !fp8.mma_stage<!acc>
        %at = fp8.tile %input["a"] : !fp8.consumer_stage<!ring>
        %bt = fp8.tile %input["b"] : !fp8.consumer_stage<!ring>
        fp8.mma %accumulator, %at, %bt : !fp8.tmem<128x128xf32>, !a, !a
      }
      return %warp2, %in2 : !fp8.mma_warp<!acc>, !fp8.consumer<!ring>
    }
    ```
  }];
}

#endif // FP8_IR_OUTPUTPIPELINE
