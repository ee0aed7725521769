// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// tensormap.replace and tensormap.cp_fenceproxy (PTX ISA 9.7.9.28, 9.7.13.9):
// changes of tensor maps in memory.

#include "ISA/Families.h"

#include "ISA/Access/Access.h"
#include "Program/Decoder.h"

#include <algorithm>
#include <cstddef>
#include <cstring>

using namespace fp8::sim;

namespace {

/// A field of tensormap.replace.
struct Field {
  const char *name;
  uint8_t offset;   ///< in TensorMapLayout
  uint8_t bytes;    ///< that it has there
  uint8_t ordinals; ///< 0: the instruction takes none
  bool wide;        ///< the value is .b64
  uint64_t most;    ///< largest value
};
constexpr uint64_t kAny = ~uint64_t(0);

#define PLACE(MEMBER) uint8_t(offsetof(TensorMapLayout, MEMBER))
constexpr Field kFields[] = {
    {"global_address", PLACE(globalAddress), 8, 0, true, kAny},
    {"rank", PLACE(rankMinusOne), 1, 0, false, 4},
    {"box_dim", PLACE(boxDim), 4, 5, false, kAny},
    {"global_dim", PLACE(globalDim), 4, 5, false, kAny},
    {"global_stride", PLACE(globalStride), 8, 4, true, kAny},
    {"element_stride", PLACE(elementStride), 4, 5, false, kAny},
    {"elemtype", PLACE(elementType), 1, 0, false, 15},
    {"interleave_layout", PLACE(interleave), 1, 0, false, 2},
    {"swizzle_mode", PLACE(swizzleMode), 1, 0, false, 3},
    {"swizzle_atomicity", PLACE(swizzleAtomicity), 1, 0, false, 3},
    {"fill_mode", PLACE(fillMode), 1, 0, false, 1},
};
#undef PLACE

/// Payload of tensormap.replace. Sources: 0 address, 1 value.
struct Replace {
  const Field *field;
  uint8_t ordinal;
  AccessSpace space;
};

/// Payload of tensormap.cp_fenceproxy. Sources: 0 target, 1 source.
struct CopyFence {
  uint64_t sourceOffset;
};

/// An operand in .shared::cta. PTX of several compilers gives the generic
/// address, of which the low word is the same.
uint64_t sharedAddress(uint64_t address) { return uint32_t(address); }

/// Accesses the 128 bytes of a map, a lane's. False after an error.
bool accessMap(Warp &w, const Inst &i, int lane, AccessSpace space,
               uint64_t address, uint8_t *bytes, bool write) {
  if (address % kTensorMapAlignment) {
    w.machine.error(ErrorKind::Misaligned,
                    "'" + Machine::mnemonic(&i) +
                        "' takes a tensor map that is not aligned to " +
                        std::to_string(kTensorMapAlignment) + " bytes",
                    &w, &i, lane, true);
    return false;
  }
  constexpr uint32_t half = kTensorMapBytes / 2;
  for (uint32_t at = 0; at < kTensorMapBytes; at += half) {
    uint8_t *place = access(w, i, lane, space, address + at, half, write,
                            Strength::Weak, write ? bytes + at : nullptr);
    if (!place)
      return false;
    std::memcpy(write ? place : bytes + at, write ? bytes + at : place, half);
  }
  return true;
}

/// Writes the value into a map. Returns why it cannot, or nothing.
std::optional<std::string> change(const Replace &replace, uint64_t value,
                                  uint8_t *bytes) {
  TensorMapLayout map;
  std::memcpy(&map, bytes, sizeof(map));
  bool isZero = std::all_of(bytes, bytes + kTensorMapBytes,
                            [](uint8_t byte) { return byte == 0; });
  if (map.signature != kTensorMapSignature && !isZero)
    return "changes bytes that are no tensor map of the simulator; start from "
           "a map that the launch describes, or from 128 zero bytes";
  const Field &field = *replace.field;
  if (value > field.most)
    return "sets " + std::string(field.name) + " to " + std::to_string(value) +
           "; the largest value that the simulator knows is " +
           std::to_string(field.most);
  map.signature = kTensorMapSignature;
  if (field.offset == offsetof(TensorMapLayout, globalDim))
    map.wholeDims &= uint8_t(~(1u << replace.ordinal));
  std::memcpy(bytes, &map, sizeof(map));
  std::memcpy(bytes + field.offset + replace.ordinal * field.bytes, &value,
              field.bytes);
  return std::nullopt;
}

Flow replaceField(Warp &w, const Inst &i, uint32_t mask) {
  const Replace &replace = i.get<Replace>();
  const bool isShared = replace.space == AccessSpace::Shared;
  w.machine.beginStore();
  forLanes(mask, [&](int l) {
    if (w.machine.stopped)
      return;
    uint64_t address = w.row(i.s[0])[l] + uint64_t(i.offset);
    if (isShared)
      address = sharedAddress(address);
    uint8_t bytes[kTensorMapBytes];
    if (!accessMap(w, i, l, replace.space, address, bytes, false))
      return;
    if (auto problem = change(replace, w.row(i.s[1])[l], bytes)) {
      w.machine.error(ErrorKind::TensorMap,
                      "'" + Machine::mnemonic(&i) + "' " + *problem, &w, &i, l,
                      true);
      return;
    }
    if (!isShared)
      w.machine.writeTensorMap(address);
    accessMap(w, i, l, replace.space, address, bytes, true);
  });
  return Flow::Next;
}

bool decodeReplace(Decoder &d, Inst &i) {
  Replace &replace = i.make<Replace>();
  if (!d.take("tile"))
    return d.fail("is supported in tile mode only");
  for (const Field &field : kFields)
    if (d.take(field.name))
      replace.field = &field;
  if (!replace.field)
    return d.fail("needs a field such as .global_address");
  const Field &field = *replace.field;
  int space = d.takeOneOf({"global", "shared::cta"});
  replace.space = space == 0   ? AccessSpace::Global
                  : space == 1 ? AccessSpace::Shared
                               : AccessSpace::Generic;
  if (!d.take("b1024") || !d.take(field.wide ? "b64" : "b32"))
    return d.fail(std::string("needs .b1024 and .") +
                  (field.wide ? "b64" : "b32"));
  i.fn = replaceField;
  if (!d.address(i))
    return false;
  if (field.ordinals) {
    uint64_t ordinal;
    if (!d.immediate(ordinal))
      return false;
    if (ordinal >= field.ordinals)
      return d.fail("takes ordinals 0 to " +
                    std::to_string(field.ordinals - 1));
    replace.ordinal = uint8_t(ordinal);
  }
  return d.source(i, field.wide ? Type::B64 : Type::B32);
}

Flow copyAndRelease(Warp &w, const Inst &i, uint32_t mask) {
  int lane = __builtin_ctz(mask);
  uint64_t to = w.row(i.s[0])[lane] + uint64_t(i.offset);
  uint64_t from =
      sharedAddress(w.row(i.s[1])[lane] + i.get<CopyFence>().sourceOffset);
  uint8_t bytes[kTensorMapBytes];
  if (!accessMap(w, i, lane, AccessSpace::Shared, from, bytes, false))
    return Flow::Next;
  w.machine.beginStore();
  w.machine.writeTensorMap(to);
  if (accessMap(w, i, lane, AccessSpace::Global, to, bytes, true))
    w.machine.releaseTensorMap(to);
  w.machine.fenceGrid(w);
  return Flow::Next;
}

bool decodeCopyFence(Decoder &d, Inst &i) {
  CopyFence &copy = i.make<CopyFence>();
  if (!d.take("global") || !d.take("shared::cta") ||
      !d.take("tensormap::generic") || !d.take("release"))
    return d.fail("needs .global.shared::cta.tensormap::generic.release");
  if (d.takeOneOf({"cta", "cluster", "gpu", "sys"}) < 0)
    return d.fail("needs a scope such as .gpu");
  if (!d.take("sync") || !d.take("aligned"))
    return d.fail("needs .sync.aligned");
  i.convergence = Convergence::Aligned;
  i.fn = copyAndRelease;
  uint64_t bytes;
  if (!d.address(i) || !d.address(i, copy.sourceOffset) || !d.immediate(bytes))
    return false;
  return bytes == kTensorMapBytes || d.fail("takes a size of 128 bytes");
}

} // namespace

void fp8::sim::addTensorMapUpdateOpcodes(OpcodeTable &t) {
  t.add("tensormap", [](Decoder &d, Inst &i) {
    if (d.take("replace"))
      return decodeReplace(d, i);
    if (d.take("cp_fenceproxy"))
      return decodeCopyFence(d, i);
    return d.fail("is not supported in this form");
  });
}
