// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Tensor maps as kernels see them: 128 opaque bytes.

#include "Machine/Machine.h"

#include <cstring>

using namespace fp8::sim;

/// What a tensor map parameter holds: a handle that a copy of the bytes keeps,
/// and nothing else has.
static constexpr char kHandleMagic[8] = {'f', 'p', '8', 't',
                                         'm', 'a', 'p', '\1'};

void Grid::passTensorMap(const TensorMap &map, uint8_t *target) {
  uint64_t index = tensorMaps.size();
  tensorMaps.push_back(map);
  std::memset(target, 0x5a, 128);
  std::memcpy(target, kHandleMagic, 8);
  std::memcpy(target + 8, &index, 8);
}

const TensorMap *Machine::tensorMapAt(Warp &warp, const Inst &inst, int lane,
                                      uint64_t address) {
  uint8_t handle[16];
  bool found = false;
  if (address % 64) {
    error(ErrorKind::TensorMap,
          "'" + mnemonic(&inst) +
              "' takes a tensor map that is not aligned to 64 bytes",
          &warp, &inst, lane, true);
    return nullptr;
  }
  if (address >= kParamWindow &&
      address - kParamWindow + 128 <= parameters.size()) {
    std::memcpy(handle, parameters.data() + (address - kParamWindow), 16);
    found = true;
  } else if (address >= kLocalWindow) {
    error(ErrorKind::TensorMap,
          "'" + mnemonic(&inst) +
              "' takes a tensor map in local or shared memory; it must be a "
              "kernel parameter (.param, grid constant), "
              "or lie in constant or global memory",
          &warp, &inst, lane, true);
    return nullptr;
  } else {
    found = device.read(address, handle, 16);
  }
  uint64_t index;
  std::memcpy(&index, handle + 8, 8);
  if (!found || std::memcmp(handle, kHandleMagic, 8) != 0 ||
      index >= grid.tensorMaps.size()) {
    error(ErrorKind::TensorMap,
          "'" + mnemonic(&inst) + "' takes an address that holds no tensor map",
          &warp, &inst, lane, true);
    return nullptr;
  }
  return &grid.tensorMaps[index];
}
