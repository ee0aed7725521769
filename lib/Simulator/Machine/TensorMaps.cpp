// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Tensor maps as kernels use them: 128 bytes in parameters, constant or global
// memory.

#include "Machine/TensorMaps.h"

#include "Machine/Machine.h"

#include <cstring>

using namespace fp8::sim;

const TensorMaps::Decoded &TensorMaps::decode(const uint8_t *bytes) {
  if (latest && std::memcmp(latest->first.data(), bytes, kTensorMapBytes) == 0)
    return *latest->second;
  std::string key(reinterpret_cast<const char *>(bytes), kTensorMapBytes);
  auto [place, isNew] = decoded.try_emplace(std::move(key));
  if (isNew) {
    place->second = std::make_unique<Decoded>();
    Decoded &made = *place->second;
    made.problem = TensorMap::decode(bytes, made.map);
    if (!made.problem)
      if (auto broken = made.map.validate())
        made.problem = "takes a broken map: " + *broken;
  }
  latest = &*place;
  return *latest->second;
}

const TensorMap *Machine::tensorMapAt(Warp &warp, const Inst &inst, int lane,
                                      uint64_t address) {
  auto fail = [&](const std::string &problem) {
    error(ErrorKind::TensorMap, "'" + mnemonic(&inst) + "' " + problem, &warp,
          &inst, lane, true);
    return nullptr;
  };
  if (address % kTensorMapAlignment)
    return fail("takes a tensor map that is not aligned to " +
                std::to_string(kTensorMapAlignment) + " bytes");
  uint8_t bytes[kTensorMapBytes];
  if (address >= kParamWindow &&
      address - kParamWindow + kTensorMapBytes <= parameters.size())
    std::memcpy(bytes, parameters.data() + (address - kParamWindow),
                kTensorMapBytes);
  else if (address >= kLocalWindow)
    return fail("takes a tensor map in local or shared memory; it must be a "
                "kernel parameter (.param, grid constant), or lie in constant "
                "or global memory");
  else if (!device.read(address, bytes, kTensorMapBytes))
    return fail("takes an address that is in no buffer for a tensor map");
  const TensorMaps::Decoded &decoded = grid.tensorMaps.decode(bytes);
  if (decoded.problem)
    return fail("takes an address that " + *decoded.problem);
  return &decoded.map;
}
