// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Undefined data: what nothing has written, and what is computed from it. It
// spreads from place to place with its origin, and is an error where it has an
// effect: in global memory, as an address, where control flow depends on it.

#ifndef FP8_LIB_SIMULATOR_MEMORY_UNDEFINED_H
#define FP8_LIB_SIMULATOR_MEMORY_UNDEFINED_H

#include "fp8/Simulator/Report.h"

#include <array>
#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

namespace fp8::sim {

struct Inst;

/// Where undefined data comes from: an index into Origins. 0: it is defined.
using OriginId = uint32_t;

/// The instruction that first read what nothing has written.
struct Origin {
  ErrorKind kind; ///< UninitialisedRegister or UninitialisedMemory
  const Inst *inst;
  std::string message;        ///< what it read
  bool inMemory = false;      ///< the data came through shared memory
  OriginId throughMemory = 0; ///< the same origin of such data; 0: none yet
  /// Where it had an effect first. Behind a warning there may be an error.
  bool warned = false, told = false;

  bool isOfMemory() const {
    return inMemory || kind == ErrorKind::UninitialisedMemory;
  }
};

class Origins {
public:
  /// Register rows are the keys of an instruction's origins; this one is of all
  /// the memory that it reads.
  static constexpr uint32_t kMemory = ~0u;

  /// The origin at an instruction that `key` tells from its others. `describe`
  /// makes the message of a new one.
  template <typename F>
  OriginId add(ErrorKind kind, const Inst &inst, uint32_t key, F describe) {
    OriginId &id = ids[{&inst, key}];
    if (!id) {
      origins.push_back({kind, &inst, describe()});
      id = OriginId(origins.size());
    }
    return id;
  }
  Origin &operator[](OriginId id) { return origins[id - 1]; }
  /// The same origin, of data that were stored and loaded again.
  OriginId throughMemory(OriginId id) {
    const Origin &origin = (*this)[id];
    if (origin.isOfMemory() || origin.throughMemory)
      return origin.isOfMemory() ? id : origin.throughMemory;
    Origin copy = origin;
    copy.inMemory = true;
    origins.push_back(std::move(copy));
    return (*this)[id].throughMemory = OriginId(origins.size());
  }

private:
  std::vector<Origin> origins;
  std::map<std::pair<const Inst *, uint32_t>, OriginId> ids;
};

/// The bytes or cells of a memory to which undefined data was written. There
/// are few, so that to ask costs little where there are none.
class UndefinedPlaces {
public:
  bool empty() const { return places.empty(); }
  void mark(uint32_t place, OriginId origin) { places[place] = origin; }
  void clear(uint32_t begin, uint32_t count) {
    if (!places.empty())
      places.erase(places.lower_bound(begin),
                   places.lower_bound(begin + count));
  }
  OriginId at(uint32_t place) const {
    auto found = places.find(place);
    return found == places.end() ? 0 : found->second;
  }
  /// The first of these places that is undefined, or null.
  const std::pair<const uint32_t, OriginId> *find(uint32_t begin,
                                                  uint32_t count) const {
    auto found = places.lower_bound(begin);
    return found == places.end() || found->first >= begin + count ? nullptr
                                                                  : &*found;
  }

private:
  std::map<uint32_t, OriginId> places;
};

/// Of the bytes of one lane's access, those that are undefined.
struct UndefinedPart {
  static constexpr uint32_t kMostBytes = 64; ///< that one access has

  uint64_t bytes = 0;                       ///< a bit a byte
  std::array<OriginId, kMostBytes> origins; ///< of these bytes; else without
                                            ///< meaning

  void add(uint32_t byte, OriginId origin) {
    bytes |= uint64_t(1) << byte;
    origins[byte] = origin;
  }
  /// Of a part that is not empty.
  uint32_t firstByte() const { return uint32_t(__builtin_ctzll(bytes)); }
  OriginId first() const { return origins[firstByte()]; }
};

} // namespace fp8::sim

#endif // FP8_LIB_SIMULATOR_MEMORY_UNDEFINED_H
