// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Tensor maps as kernels use them: 128 bytes in parameters, constant or global
// memory.

#include "Machine/TensorMaps.h"

#include "Machine/Machine.h"

#include <cstring>

using namespace fp8::sim;

const TensorMapDecoder::Decoded &
TensorMapDecoder::decode(const uint8_t *bytes) {
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
        made.problem = "holds a broken map: " + *broken;
  }
  latest = &*place;
  return *latest->second;
}

void TensorMaps::beforeWrite(uint64_t address, const uint8_t *bytes) {
  original.try_emplace(address, bytes, bytes + kTensorMapBytes);
}

void TensorMaps::acquire(Reader reader, uint64_t address, uint32_t before,
                         const uint8_t *bytes) {
  views[{reader, address}] = {before, Bytes(bytes, bytes + kTensorMapBytes)};
}

bool TensorMaps::hasAcquired(Reader reader, uint64_t address,
                             uint32_t write) const {
  auto view = views.find({reader, address});
  return view != views.end() && write < view->second.before;
}

const uint8_t *TensorMaps::staleBytes(Reader reader, uint64_t address) const {
  auto view = views.find({reader, address});
  if (view != views.end())
    return view->second.bytes.data();
  auto bytes = original.find(address);
  return bytes == original.end() ? nullptr : bytes->second.data();
}

void Machine::writeTensorMap(uint64_t address) {
  meetOthers();
  if (device.find(address, kTensorMapBytes))
    grid.tensorMaps.beforeWrite(address, device.data(address));
}

void Machine::releaseTensorMap(uint64_t address) {
  meetOthers();
  grid.tensorMaps.release(address,
                          grid.memory.lastWrite(address, kTensorMapBytes));
}

void Machine::releaseTensorMaps(const Warp &warp, const Inst &inst) {
  meetOthers();
  // As of a lane alone: each lane knows of its own fence.
  const AccessTag tag(warp.agent(Role::OneLane), warp.time(), inst.index);
  grid.tensorMaps.releaseAll(grid.memory.recorded(),
                             {tag, ordinal, accesses.recorded(), false});
}

bool Machine::comesBefore(const Warp &warp, const GlobalAccess &access) const {
  return access.cluster == ordinal
             ? warp.isOwnAccess(access.tag.agent()) || warp.knows(access.tag)
             : grid.memory.comesBefore(ordinal, access);
}

// An acquire that nothing orders after the write and its release may come
// before them, in whatever order they are here.
void Machine::acquireTensorMap(Warp &warp, uint64_t address) {
  meetOthers();
  if (!device.find(address, kTensorMapBytes))
    return;
  auto isKnown = [&](const GlobalAccess &access) {
    return comesBefore(warp, access);
  };
  const uint32_t write =
      checksOrder ? grid.memory.lastWrite(address, kTensorMapBytes) : 0;
  if (write) {
    const GlobalAccess &writer = grid.memory.accessAt(write);
    if (!isKnown(writer) ||
        !grid.tensorMaps.isReleased(address, write, writer.cluster, isKnown))
      return;
  }
  grid.tensorMaps.acquire({ordinal, warp.cta.rank}, address,
                          grid.memory.recorded(), device.data(address));
}

/// The bytes of a map in global memory that the warp's CTA sees; null after an
/// error that leaves none.
const uint8_t *Machine::globalTensorMap(Warp &warp, const Inst &inst, int lane,
                                        uint64_t address) {
  const uint8_t *bytes =
      accessGlobal(warp, inst, lane, {warp.tag(inst), false, &warp, {}},
                   address, kTensorMapBytes, false);
  if (accesses.lastWrite(address, kTensorMapBytes))
    meetOthers();
  uint32_t write = bytes && checksOrder
                       ? grid.memory.lastWrite(address, kTensorMapBytes)
                       : 0;
  if (!write)
    return bytes;
  TensorMaps &maps = grid.tensorMaps;
  const GlobalAccess &writer = grid.memory.accessAt(write);
  const TensorMaps::Reader reader{ordinal, warp.cta.rank};
  if (maps.hasAcquired(reader, address, write))
    return bytes;
  const bool isReleased =
      maps.isReleased(address, write, writer.cluster,
                      [](const GlobalAccess &) { return true; });
  const Inst *change = &program.code[writer.tag.instruction()];
  SimulationError &e = error(
      ErrorKind::StaleTensorMap,
      "'" + mnemonic(&inst) + "' uses a tensor map in global memory that '" +
          mnemonic(change) + "' has written, and " +
          (isReleased
               ? "the CTA has not acquired it since; execute "
                 "fence.proxy.tensormap::generic.acquire on its address, after "
                 "it has synchronised with the thread that has released it"
               : "nothing has released it since; let the writer use "
                 "tensormap.cp_fenceproxy, or execute "
                 "fence.proxy.tensormap::generic.release behind the write"),
      &warp, &inst, lane);
  e.notes.push_back(note(change, "the write is here"));
  const uint8_t *stale = maps.staleBytes(reader, address);
  return stale ? stale : bytes;
}

const TensorMap *Machine::tensorMapAt(Warp &warp, const Inst &inst, int lane,
                                      uint64_t address, bool isUsed) {
  auto fail = [&](const std::string &problem) {
    error(ErrorKind::TensorMap, "'" + mnemonic(&inst) + "' " + problem, &warp,
          &inst, lane, true);
    return nullptr;
  };
  if (address % kTensorMapAlignment)
    return fail("takes a tensor map that is not aligned to " +
                std::to_string(kTensorMapAlignment) + " bytes");
  const uint8_t *bytes = nullptr;
  if (address >= kParamWindow &&
      address - kParamWindow + kTensorMapBytes <= parameters.size())
    bytes = parameters.data() + (address - kParamWindow);
  else if (address >= kLocalWindow)
    return fail("takes a tensor map in local or shared memory; it must be a "
                "kernel parameter (.param, grid constant), or lie in constant "
                "or global memory");
  else if (!device.find(address, kTensorMapBytes))
    return fail("takes an address that is in no buffer for a tensor map");
  else if (isUsed)
    bytes = globalTensorMap(warp, inst, lane, address);
  // A prefetch is a hint, which brings the proxy nothing that it must see.
  else
    return nullptr;
  if (!bytes)
    return nullptr;
  const TensorMapDecoder::Decoded &decoded = decoder.decode(bytes);
  if (decoded.problem)
    return fail("takes an address that " + *decoded.problem);
  return &decoded.map;
}
