// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Pass pipelines of the project.

#ifndef FP8_PIPELINES_PIPELINES_H
#define FP8_PIPELINES_PIPELINES_H

#include "mlir/Pass/PassManager.h"
#include "mlir/Pass/PassOptions.h"

namespace mlir::fp8 {

/// The phases of a kernel (docs/Phases.md).
enum class Phase { Op, Structured, Linear, Barriers, Instructions, LLVM };

/// Options of the pipeline from GEMM ops to kernels that are ready for PTX.
struct GemmToPTXOptions : public PassPipelineOptions<GemmToPTXOptions> {
  Option<std::string> chip{
      *this, "chip", llvm::cl::desc("the chip to lower for, such as sm_100a"),
      llvm::cl::init("sm_100a")};
  Option<int64_t> debugWaits{
      *this, "debug-waits",
      llvm::cl::desc(
          "milliseconds after which a wait times out, reports what it waited "
          "for and traps; 0: never (see --fp8-debug-waits)"),
      llvm::cl::init(0)};
  Option<bool> profile{
      *this, "profile",
      llvm::cl::desc("have kernels write stamps, of which fp8-run "
                     "--timeline makes a trace (see --fp8-profile)"),
      llvm::cl::init(false)};
  Option<std::string> problem{
      *this, "problem",
      llvm::cl::desc("MxNxK, the extents to assume where types leave them "
                     "open, such as ?x7168x2048")};
  Option<std::string> tuned{
      *this, "tuned",
      llvm::cl::desc("a table of measured configurations, which ./dev bench "
                     "--tune writes")};
  Option<std::string> machine{
      *this, "machine",
      llvm::cl::desc("the GPU whose constants the cost model takes: a name, or "
                     "a file that python3 -m fp8 calibrate wrote; the chip's "
                     "by default")};
  Option<std::string> launch{
      *this, "launch",
      llvm::cl::desc("how to launch kernels of chosen configurations: serial, "
                     "programmatic or fastest (the default)")};
  Option<bool> prove{
      *this, "prove",
      llvm::cl::desc("prove each kernel in phase 2; one that does not end for "
                     "some launch is an error (the default; see "
                     "--fp8-verify-protocol)"),
      llvm::cl::init(true)};
  Option<bool> requireProof{
      *this, "require-proof",
      llvm::cl::desc("a proof that is not complete is an error, not a remark; "
                     "implies prove"),
      llvm::cl::init(false)};
  Option<Phase> phase{
      *this, "phase", llvm::cl::desc("the last phase to reach"),
      llvm::cl::values(
          clEnumValN(Phase::Op, "op", "0: GEMM ops, with their configurations"),
          clEnumValN(Phase::Structured, "structured", "1: rings and roles"),
          clEnumValN(Phase::Linear, "linear", "2: scopes flattened"),
          clEnumValN(Phase::Barriers, "barriers", "3: rings as mbarriers"),
          clEnumValN(Phase::Instructions, "instructions",
                     "3: barriers and tiles as instructions"),
          clEnumValN(Phase::LLVM, "llvm", "4: ready for PTX (the default)")),
      llvm::cl::init(Phase::LLVM)};
};

/// Lowers GEMM ops, or kernels in phase 1 or 2, to the LLVM and NVVM dialects
/// (phase 4): choose, structure, flatten, prove, barriers, LLVM. Host functions
/// are unchanged, since the launch manifest is derived from them. An unknown
/// chip is an error when the pipeline runs.
void buildGemmToPTXPipeline(OpPassManager &pm, const GemmToPTXOptions &options);

/// Registers --fp8-gemm-to-ptx.
void registerGemmToPTXPipeline();

} // namespace mlir::fp8

#endif // FP8_PIPELINES_PIPELINES_H
