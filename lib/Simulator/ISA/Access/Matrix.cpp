// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// ldmatrix and stmatrix of 8x8 tiles of 16-bit elements (PTX ISA 9.7.14.5).

#include "ISA/Families.h"

#include "ISA/Access/Access.h"
#include "ISA/Alu/Alu.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <utility>

using namespace fp8::sim;

namespace {

/// Payload of ldmatrix and stmatrix.
struct Tiles {
  AccessSpace space;
  uint32_t count;
  bool transposed;
};

/// The element of a tile that a half of a lane's register holds: row and
/// column. Lane 4r + c has (r, 2c) and (r, 2c + 1); transposed the other way
/// round.
std::pair<int, int> elementOf(const Tiles &tiles, int lane, int half) {
  int r = lane / 4, c = lane % 4 * 2 + half;
  return tiles.transposed ? std::pair(c, r) : std::pair(r, c);
}

/// Which elements of a tile are undefined: by row, a part of its 16 bytes.
using UndefinedTile = std::array<UndefinedPart, 8>;

void gather(Warp &w, const Inst &i, const Tiles &tiles, uint32_t row,
            UndefinedTile &tile) {
  forLanes(w.undefinedLanes(&row, 1, ~0u), [&](int lane) {
    UndefinedBits undefined = w.undefinedBits(i, row, lane);
    for (int half = 0; half < 2; ++half) {
      auto [r, c] = elementOf(tiles, lane, half);
      for (int byte = 0; byte < 2; ++byte)
        if (undefined.bits[0] >> (16 * half + 8 * byte) & 0xff)
          tile[size_t(r)].add(uint32_t(2 * c + byte), undefined.origin);
    }
  });
}

void leave(Warp &w, const Tiles &tiles, uint32_t row,
           const UndefinedTile &tile) {
  for (int lane = 0; lane < 32; ++lane) {
    UndefinedBits undefined;
    for (int half = 0; half < 2; ++half) {
      auto [r, c] = elementOf(tiles, lane, half);
      const UndefinedPart &part = tile[size_t(r)];
      for (int byte = 0; byte < 2; ++byte)
        if (uint32_t at = uint32_t(2 * c + byte); part.bytes >> at & 1) {
          undefined.bits[0] |= uint64_t(0xff) << (16 * half + 8 * byte);
          undefined.origin = part.origins[at];
        }
    }
    if (undefined.any())
      w.leaveUndefined(row, lane, undefined);
  }
}

/// Lanes 8t to 8t+7 give the row addresses of tile t.
template <bool Store>
Flow matrix(Warp &w, const Inst &i, uint32_t mask) {
  const uint64_t *base = w.row(i.s[0]);
  const uint32_t *rows = &w.machine.program.lists[i.list];
  const Tiles &tiles = i.get<Tiles>();
  if (mask != w.lanes) {
    w.machine.error(ErrorKind::DivergentAligned,
                    "'" + Machine::mnemonic(&i) +
                        "' needs all lanes of the warp",
                    &w, &i, __builtin_ctz(mask), true);
    return Flow::Next;
  }
  if (Store)
    w.machine.progress();
  for (uint32_t tile = 0; tile < tiles.count; ++tile) {
    uint16_t elements[8][8];
    UndefinedTile undefined;
    uint64_t *fragment = w.row(rows[tile]);
    auto at = [&](int lane, int half) -> uint16_t & {
      auto [r, c] = elementOf(tiles, lane, half);
      return elements[r][c];
    };
    if (Store) {
      for (int lane = 0; lane < 32; ++lane)
        for (int half = 0; half < 2; ++half)
          at(lane, half) = uint16_t(fragment[lane] >> (16 * half));
      gather(w, i, tiles, rows[tile], undefined);
    }
    for (int r = 0; r < 8; ++r) {
      int lane = int(tile) * 8 + r;
      uint8_t value[16];
      if (Store)
        std::memcpy(value, elements[r], 16);
      uint8_t *row =
          access(w, i, lane, tiles.space, base[lane] + uint64_t(i.offset), 16,
                 Store, Strength::Weak, value, &undefined[size_t(r)]);
      if (!row)
        return Flow::Next;
      if (Store)
        std::memcpy(row, value, 16);
      else
        std::memcpy(elements[r], row, 16);
    }
    if (Store)
      continue;
    for (int lane = 0; lane < 32; ++lane)
      fragment[lane] = uint64_t(at(lane, 0)) | uint64_t(at(lane, 1)) << 16;
    if (std::any_of(undefined.begin(), undefined.end(),
                    [](const UndefinedPart &part) { return part.bytes; }))
      leave(w, tiles, rows[tile], undefined);
  }
  return Flow::Next;
}

bool decodeMatrix(Decoder &d, Inst &i, bool isStore) {
  if (!d.take("sync") || !d.take("aligned") || !d.take("m8n8"))
    return d.fail("is supported as .sync.aligned.m8n8 only");
  int count = d.takeOneOf({"x1", "x2", "x4"});
  if (count < 0)
    return d.fail("needs .x1, .x2 or .x4");
  Tiles &tiles = i.make<Tiles>();
  tiles.count = 1u << count;
  tiles.transposed = d.take("trans");
  tiles.space = d.takeOneOf({"shared", "shared::cta"}) < 0
                    ? AccessSpace::Generic
                    : AccessSpace::Shared;
  if (!d.take("b16"))
    return d.fail("is supported with .b16 only");
  i.convergence = Convergence::Aligned;
  i.checksList = true;
  i.fn = isStore ? matrix<true> : matrix<false>;
  return isStore ? d.address(i) && d.list(i, tiles.count, Type::B32, false)
                 : d.list(i, tiles.count, Type::B32, true) && d.address(i);
}

} // namespace

void fp8::sim::addMatrixOpcodes(OpcodeTable &t) {
  t.add("ldmatrix",
        [](Decoder &d, Inst &i) { return decodeMatrix(d, i, false); });
  t.add("stmatrix",
        [](Decoder &d, Inst &i) { return decodeMatrix(d, i, true); });
}
