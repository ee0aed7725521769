// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The groups in which a lane waits for its asynchronous copies (PTX
// ISA 9.7.9.25).

#ifndef FP8_LIB_SIMULATOR_MACHINE_COPYGROUPS_H
#define FP8_LIB_SIMULATOR_MACHINE_COPYGROUPS_H

#include <cstdint>
#include <vector>

namespace fp8::sim {

struct Inst;

/// Groups of asynchronous copies of one lane (bulk and non-bulk alike).
struct CopyGroups {
  uint32_t open = 0; ///< number of groups committed
  struct Pending {
    uint32_t group;
    uint32_t reads = 0;  ///< sources not yet read
    uint32_t writes = 0; ///< not yet complete
    bool waitedRead = false;
    uint32_t time = 0; ///< the agent's time of the latest operation
    const Inst *inst = nullptr;
  };
  std::vector<Pending> groups;

  Pending &current(const Inst &inst);
  /// Whether all but the `latest` most recent groups are complete (or read).
  bool complete(uint32_t latest, bool readOnly) const;
  /// Forgets complete groups that a wait covered; returns the latest time among
  /// the covered.
  uint32_t observe(uint32_t latest, bool readOnly);
};

} // namespace fp8::sim

#endif // FP8_LIB_SIMULATOR_MACHINE_COPYGROUPS_H
