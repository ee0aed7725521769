// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The tensor maps that a grid has used, decoded once for each 128 bytes.

#ifndef FP8_LIB_SIMULATOR_MACHINE_TENSORMAPS_H
#define FP8_LIB_SIMULATOR_MACHINE_TENSORMAPS_H

#include "fp8/Simulator/TensorMap.h"

#include <memory>
#include <optional>
#include <string>
#include <unordered_map>

namespace fp8::sim {

class TensorMaps {
public:
  struct Decoded {
    TensorMap map;
    std::optional<std::string> problem; ///< why it cannot be used
  };
  /// What the 128 bytes say. The reference stays valid.
  const Decoded &decode(const uint8_t *bytes);

private:
  std::unordered_map<std::string, std::unique_ptr<Decoded>> decoded;
  const std::pair<const std::string, std::unique_ptr<Decoded>> *latest =
      nullptr;
};

} // namespace fp8::sim

#endif // FP8_LIB_SIMULATOR_MACHINE_TENSORMAPS_H
