// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The values of special registers (PTX ISA, chapter 10).

#include "Machine/Machine.h"

#include <cstdlib>

using namespace fp8::sim;

uint64_t Warp::specialValue(const ConstantRow &constant, unsigned lane) const {
  const std::string &name = constant.name;
  const LaunchConfig &config = machine.config;
  const auto &block = config.block, &grid = config.grid,
             &cluster = config.cluster;
  uint32_t thread = id * 32 + lane;
  auto component = [&](const std::array<uint32_t, 3> &value) -> uint64_t {
    return value[size_t(name.back() - 'x')];
  };
  if (name.rfind("%tid.", 0) == 0)
    return component({thread % block[0], thread / block[0] % block[1],
                      thread / block[0] / block[1]});
  if (name.rfind("%ntid.", 0) == 0)
    return component(block);
  if (name.rfind("%ctaid.", 0) == 0)
    return component(cta.index);
  if (name.rfind("%nctaid.", 0) == 0)
    return component(grid);
  if (name.rfind("%clusterid.", 0) == 0)
    return component({cta.index[0] / cluster[0], cta.index[1] / cluster[1],
                      cta.index[2] / cluster[2]});
  if (name.rfind("%nclusterid.", 0) == 0)
    return component(
        {grid[0] / cluster[0], grid[1] / cluster[1], grid[2] / cluster[2]});
  if (name.rfind("%cluster_ctaid.", 0) == 0)
    return component(cta.indexInCluster);
  if (name.rfind("%cluster_nctaid.", 0) == 0)
    return component(cluster);
  if (name == "%laneid")
    return lane;
  if (name == "%warpid")
    return id;
  if (name == "%nwarpid")
    return (uint64_t(block[0]) * block[1] * block[2] + 31) / 32;
  if (name == "%cluster_ctarank")
    return cta.rank;
  if (name == "%cluster_nctarank")
    return cluster[0] * cluster[1] * cluster[2];
  if (name == "%is_explicit_cluster")
    return cluster[0] * cluster[1] * cluster[2] > 1;
  if (name == "%smid")
    return (cta.index[0] +
            uint64_t(grid[0]) *
                (cta.index[1] + uint64_t(grid[1]) * cta.index[2])) %
           machine.options.multiprocessorCount;
  if (name == "%nsmid")
    return machine.options.multiprocessorCount;
  if (name == "%lanemask_eq")
    return 1u << lane;
  if (name == "%lanemask_lt")
    return (1u << lane) - 1;
  if (name == "%lanemask_le")
    return (2u << lane) - 1;
  if (name == "%lanemask_gt")
    return uint32_t(~((2u << lane) - 1));
  if (name == "%lanemask_ge")
    return uint32_t(~((1u << lane) - 1));
  if (name == "%dynamic_smem_size")
    return config.dynamicSharedBytes;
  if (name == "%total_smem_size" || name == "%aggr_smem_size")
    return machine.program.staticSharedEnd - kSharedReserved +
           config.dynamicSharedBytes;
  // Cooperative groups need 288 bytes there
  // (cooperative_groups/details/memory.h of CUDA 13.0).
  if (name == "%reserved_smem_offset_1")
    return kSharedReserved - 288;
  constexpr size_t prefix = sizeof("%envreg") - 1;
  if (name.compare(0, prefix, "%envreg") == 0) {
    size_t number = std::strtoul(name.c_str() + prefix, nullptr, 10);
    return number < config.environment.size() ? config.environment[number] : 0;
  }
  return 0; // %gridid, %current_graph_exec
}
