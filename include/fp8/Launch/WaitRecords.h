// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The records that a kernel writes when a wait times out (fp8-debug-waits), and
// their meaning. lib/Conversion/Fp8ToNVVM/WaitLimits.cpp writes them.
//
// A variable of the kernel's module holds the address of the records (u64, 0 if
// there is no memory for them), followed by the number of waits that have timed
// out (u32). That memory must outlive the kernel, which ends with a trap.
#ifndef FP8_LAUNCH_WAITRECORDS_H
#define FP8_LAUNCH_WAITRECORDS_H

#include <cstdint>
#include <string>
#include <vector>

namespace fp8::launch {

/// The names of the barriers that a kernel waits for: `debug_waits` of its
/// manifest.
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

/// A wait that has timed out.
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

/// The number of records that fit; later waits write none.
constexpr uint32_t kWaitRecords = 64;

/// Describes the records in words. Records of one role at one kind of barrier
/// form one line. The wait that timed out first comes first, since it waited
/// longest.
std::vector<std::string> describe(const WaitTable &table,
                                  const WaitRecord *records);

} // namespace fp8::launch

#endif // FP8_LAUNCH_WAITRECORDS_H
