// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What the memories of a cluster's CTAs share with the machine that runs it:
// the kernel, the asynchronous operations in flight, and the report.

#ifndef FP8_LIB_SIMULATOR_MEMORY_CLUSTERCONTEXT_H
#define FP8_LIB_SIMULATOR_MEMORY_CLUSTERCONTEXT_H

#include "Memory/Async.h"
#include "Memory/Undefined.h"
#include "Memory/WarpOrder.h"
#include "Program/Program.h"
#include "fp8/Simulator/Simulator.h"

#include <optional>
#include <string>
#include <unordered_map>

namespace fp8::sim {

class ClusterContext {
public:
  /// `ordinal`: how many clusters started before it. `reported`: of all
  /// clusters, which others read at the same time.
  ClusterContext(const Program &program, const LaunchConfig &config,
                 const Options &options, const Report &reported,
                 uint32_t ordinal);

  const Program &program;
  const LaunchConfig &config;
  const Options &options;
  const Report &reported;
  Report report; ///< of the cluster: what `reported` does not have yet
  const uint32_t ordinal;
  bool stopped = false; ///< the cluster goes on no further
  /// Ownership and happens-before are checked; not when work completes at
  /// issue.
  const bool checksOrder;
  const uint32_t ctasInCluster, warpsInCta, warpsInCluster;

  const AsyncQueue &queue() const { return async; }

  // Errors.
  /// Reports a broken rule, unless it was reported at this instruction. Of the
  /// severity that Rules.def gives it; the run stops at `fatal` errors and when
  /// there are enough. What a check keeps for later checks it must keep all the
  /// same, or these find what is only a consequence.
  SimulationError &error(Rule rule, std::string message, const WarpOrder *warp,
                         const Inst *inst, int lane = -1, bool fatal = false);
  SimulationError &error(ErrorKind kind, std::string message,
                         const WarpOrder *warp, const Inst *inst, int lane = -1,
                         bool fatal = false) {
    return error(ruleOf(kind), std::move(message), warp, inst, lane, fatal);
  }
  /// Reports undefined data where it has an effect first, with a note at its
  /// origin.
  void reportUndefined(OriginId origin, std::string message,
                       const WarpOrder *warp, const Inst *inst, int lane = -1);
  Origins origins;
  SourcePoint point(const Inst *inst) const;
  SimulationNote note(const Inst *inst, std::string message) const {
    return {point(inst), std::move(message)};
  }
  /// "opcode.q1.q2".
  static std::string mnemonic(const Inst *inst);
  /// Whether tcgen05.alloc made the access.
  bool isAllocation(AccessTag tag) const {
    return !tag.none() && program.code[tag.instruction()].allocates;
  }
  /// "shared memory offset 9216 (smem+1024)".
  std::string sharedName(uint64_t offset) const;

  // Agents: the warps, each in every role, then the mbarriers and the lanes
  // that issue MMAs beside the first of their warp.
  bool isWarp(uint32_t agent) const {
    return agent < kRoles * warpsInCluster || mmaLanes.count(agent);
  }
  /// Of a warp's agent.
  Role roleOf(uint32_t agent) const {
    return mmaLanes.count(agent) ? Role::Mma : Role(agent / warpsInCluster);
  }
  uint32_t warpOf(uint32_t agent) const {
    auto lane = mmaLanes.find(agent);
    return lane == mmaLanes.end() ? agent % warpsInCluster : lane->second;
  }
  uint32_t inRole(uint32_t agent, Role role) const {
    return uint32_t(role) * warpsInCluster + warpOf(agent);
  }
  /// The agent that knows when a tcgen05.ld or .st of another agent was waited
  /// for; of other work, the agent itself.
  uint32_t whenWaited(uint32_t agent) const;
  /// And when it was issued. Nothing for other work.
  std::optional<uint32_t> whenIssued(uint32_t agent) const;
  /// Whether every register of the tcgen05.ld had been read before what `warp`
  /// does now.
  bool knowsRead(const WarpOrder &warp, AccessTag load) const;
  uint32_t rankOf(uint32_t agent) const { return warpOf(agent) / warpsInCta; }
  /// Whether the access of `warp` and that one are morally strong: both are
  /// strong, and the scope of each includes the other's thread (PTX ISA 8.7).
  bool isMorallyStrong(const WarpOrder &warp, const Inst &inst,
                       AccessTag other) const;
  /// "by warp 2 of CTA rank 1".
  std::string agentName(uint32_t agent) const;

protected:
  AsyncQueue async;
  /// Lanes that have an agent of their own in Role::Mma, and their warps'
  /// global indices.
  std::unordered_map<uint32_t, uint32_t> mmaLanes;
};

} // namespace fp8::sim

#endif // FP8_LIB_SIMULATOR_MEMORY_CLUSTERCONTEXT_H
