// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A kernel in which one thread issues operations to the tensor core, for one
// CTA or a pair: it loads an image into shared memory, issues, commits, waits,
// and stores columns of tensor memory.

#ifndef FP8_TEST_SIMULATOR_ISA_TENSORCORE_ISSUEKERNEL_H
#define FP8_TEST_SIMULATOR_ISA_TENSORCORE_ISSUEKERNEL_H

#include "Kernels.h"

namespace fp8::sim::test {

struct IssueKernel {
  bool pair = false;
  uint32_t bytes = 0;     ///< of the image, 1024-byte aligned in shared memory
  uint32_t allocated = 0; ///< columns of tensor memory
  uint32_t columns = 0;   ///< those that are stored, a multiple of 8
  bool halfLanes = false; ///< only 16 of 32 lanes are
  uint32_t firstLane = 0; ///< of these: 0 or 16

  /// PTX that all threads execute before. %r4: the columns' address, %r9 that
  /// of the warp's quarter; %v0 to %v15 are free.
  std::string before;
  /// PTX of the one thread. %d2: a descriptor's bits of the image's address;
  /// %d3 to %d7 and %r11 are free; %p3 is false, %p6 true.
  std::string issue;

  uint32_t ctas() const { return pair ? 2 : 1; }
  const char *group() const { return pair ? "2" : "1"; }
  /// Waits for all threads of the CTA, or of the pair.
  const char *meet() const {
    return pair ? "barrier.cluster.arrive.aligned; "
                  "barrier.cluster.wait.aligned;"
                : "bar.sync 0;";
  }
  std::string text() const;

private:
  std::string prologue() const;
  std::string commit() const;
  std::string epilogue() const;
};

/// Runs such a kernel with an image for each CTA, one behind the other. Returns
/// the columns as [cta][lane][column].
std::vector<uint32_t> runIssueKernel(const IssueKernel &kernel,
                                     const std::string &text,
                                     const std::vector<uint8_t> &images,
                                     const Options &options, Report &report);

} // namespace fp8::sim::test

#endif // FP8_TEST_SIMULATOR_ISA_TENSORCORE_ISSUEKERNEL_H
