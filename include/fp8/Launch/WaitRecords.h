// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What a kernel leaves when a wait gives up (fp8-debug-waits), and what it
// means. The kernel's side is lib/Conversion/Fp8ToNVVM/WaitLimits.cpp.
//
// A variable of the kernel's module holds the address of the records, u64, 0 if
// nobody wants them, and behind it the number of waits that have given up, u32.
// The memory that it points to must outlive the kernel, which ends by a trap.
#ifndef FP8_LAUNCH_WAITRECORDS_H
#define FP8_LAUNCH_WAITRECORDS_H

#include <cstdint>
#include <string>
#include <vector>

namespace fp8::launch {

/// The names of what a kernel waits for: `debug_waits` of its manifest.
struct WaitTable {
  struct Role {
    std::string name;
    uint32_t firstWarp = 0, warps = 0;
  };
  struct Arrival {
    std::string role;
    uint32_t count = 0;
    std::string how;
  };
  /// The mbarriers of one kind of a ring, one for each stage.
  struct Barrier {
    std::string ring, name;
    uint32_t offset = 0; ///< in the kernel's dynamic shared memory
    uint32_t depth = 0;
    std::vector<Arrival> arrivals;
    uint32_t bytes = 0; ///< that complete a phase beside the arrivals
  };

  std::string variable;
  uint32_t limitMs = 0;
  std::vector<Role> roles;
  std::vector<Barrier> barriers;
};

/// A wait that has given up.
struct WaitRecord {
  uint32_t isWritten; ///< 1, written last
  uint32_t offset;    ///< of the barrier in dynamic shared memory
  uint32_t parity;
  uint32_t warp;
  uint32_t cta[3];
  uint32_t padding;
  uint64_t waited; ///< ns
  uint64_t unused[3];
};
static_assert(sizeof(WaitRecord) == 64, "as kernels write it");

/// How many there is room for; later ones leave none.
constexpr uint32_t kWaitRecords = 64;

/// What the records say, those of one role at one kind of barrier together, the
/// first to give up first: it is the one that has waited longest.
std::vector<std::string> describe(const WaitTable &table,
                                  const WaitRecord *records);

} // namespace fp8::launch

#endif // FP8_LAUNCH_WAITRECORDS_H
