// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What tests of the replay have in common: GPUs, and traces made by hand.

#ifndef FP8_TEST_SIMULATOR_TIMING_REPLAYTEST_H
#define FP8_TEST_SIMULATOR_TIMING_REPLAYTEST_H

#include "Timing/Replay.h"

#include "Kernels.h"

namespace fp8::sim::test {

/// An H200 whose memory overlaps with all else without loss.
inline const chip::Timing &h200() {
  static const chip::Timing exact = [] {
    chip::Timing timing = *chip::lookupTiming("sm_90a");
    timing.dramNorm = 1e12;
    return timing;
  }();
  return exact;
}

/// A program of two additions: 0 reads its own result, 1 does not.
class Additions {
public:
  Additions() {
    text.opcode = "fma";
    text.qualifiers = {"rn", "f32"};
    program.registers = 4;
    program.code.resize(2);
    for (Inst &inst : program.code) {
      inst.text = &text;
      inst.destinations = inst.sources = 1;
    }
    program.code[0].d[0] = program.code[0].s[0] = 0;
    program.code[1].d[0] = 1;
    program.code[1].s[0] = 2;
  }
  /// They load from shared memory in place of adding.
  void makeLoads() {
    text.opcode = "ld";
    text.qualifiers = {"shared", "b32"};
  }
  Costs costs(const chip::Timing &timing = h200()) const {
    return Costs(program, timing);
  }

private:
  ast::Instruction text;
  Program program;
};

inline TraceEvent event(TraceEvent::Kind kind, uint32_t phase = 0) {
  TraceEvent e;
  e.kind = kind;
  e.phase = phase;
  return e;
}

/// An H200 whose L2 is no limit.
inline const chip::Timing &fastL2() {
  static const chip::Timing fast = [] {
    chip::Timing timing = h200();
    timing.l2BytesOfOne = timing.l2Bytes = 1e6;
    return timing;
  }();
  return fast;
}

class ReplayTest : public testing::Test {
protected:
  Additions additions;
  Trace trace;
  TracedLaunch launch;
  const chip::Timing *gpu = &h200();

  void addWarps(uint32_t count) {
    for (uint32_t id = 0; id < count; ++id)
      trace.warps.push_back({0, id, {}});
  }
  TraceEvent load(uint32_t bytes) {
    TraceEvent e = event(TraceEvent::Kind::Load, trace.phase(0, 0));
    e.buffer = trace.buffer(4096, bytes);
    e.bytes = e.inside = bytes;
    trace.buffers[e.buffer].loaded += bytes;
    return e;
  }
  /// One warp copies so many bytes, and another waits for them.
  void waitForCopy(uint32_t bytes) {
    TraceEvent copy = load(bytes);
    trace.add(0, copy);
    trace.add(1, event(TraceEvent::Kind::Wait, copy.phase));
  }
  /// A warpgroup starts so many products of 64x256, and waits for the last.
  void addProducts(uint32_t count, uint32_t bytes = 0) {
    addWarps(4);
    for (uint32_t warp = 0; warp < 4; ++warp) {
      TraceEvent product = event(TraceEvent::Kind::Mma);
      product.rows = 64;
      product.columns = 256;
      product.bytes = bytes;
      for (product.count = 1; product.count <= count; ++product.count)
        trace.add(warp, product);
      TraceEvent wait = event(TraceEvent::Kind::MmaWait);
      wait.count = count;
      trace.add(warp, wait);
    }
  }
  double cycles() {
    std::optional<KernelTime> time =
        replay(trace, additions.costs(), *gpu, launch);
    EXPECT_TRUE(time);
    return time ? time->cycles : 0;
  }
};

} // namespace fp8::sim::test

#endif // FP8_TEST_SIMULATOR_TIMING_REPLAYTEST_H
