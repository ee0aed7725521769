// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// ldmatrix, stmatrix and movmatrix: tiles whose rows have 16 bytes in shared
// memory (PTX ISA 9.7.14.5.15 to 9.7.14.5.17).

#include "ISA/Families.h"

#include "ISA/Access/Access.h"
#include "ISA/Alu/Alu.h"

#include <algorithm>
#include <cstring>

using namespace fp8::sim;

namespace {

/// A byte of a tile in shared memory.
struct Place {
  uint32_t row, byte;
};

/// What is alike in the tiles of one form. `place`: where byte `j` of register
/// `r` of a lane lies, of the lane's number divided by 4 and the rest.
struct TileForm {
  std::string_view shape, type, packed; ///< qualifiers; empty: none
  bool transposed, loads, stores;
  uint32_t rows, registers;
  uint32_t packedBits; ///< of an element that a byte of a register holds; or 0
  Place (*place)(uint32_t quotient, uint32_t rest, uint32_t r, uint32_t j);
};

// The transposed forms of 8 bits are those that CUTLASS' copy traits describe
// (SM100_U8x8_LDSM_T, SM100_U8x4_STSM_T).
const TileForm kForms[] = {
    {"m8n8", "b16", "", false, true, true, 8, 1, 0,
     [](uint32_t q, uint32_t t, uint32_t, uint32_t j) -> Place {
       return {q, 4 * t + j};
     }},
    {"m8n8", "b16", "", true, true, true, 8, 1, 0,
     [](uint32_t q, uint32_t t, uint32_t, uint32_t j) -> Place {
       return {2 * t + j / 2, 2 * q + j % 2};
     }},
    {"m16n16", "b8", "", true, true, false, 16, 2, 0,
     [](uint32_t q, uint32_t t, uint32_t r, uint32_t j) -> Place {
       return {4 * t + j, q + 8 * r};
     }},
    {"m16n8", "b8", "", true, false, true, 8, 1, 0,
     [](uint32_t q, uint32_t t, uint32_t, uint32_t j) -> Place {
       return {2 * t + j % 2, q + 8 * (j / 2)};
     }},
    {"m8n16", "b8x16", "b6x16_p32", false, true, false, 8, 1, 6,
     [](uint32_t q, uint32_t t, uint32_t, uint32_t j) -> Place {
       return {q, 4 * t + j};
     }},
    {"m8n16", "b8x16", "b4x16_p64", false, true, false, 8, 1, 4,
     [](uint32_t q, uint32_t t, uint32_t, uint32_t j) -> Place {
       return {q, 4 * t + j};
     }},
    {"m16n16", "b8x16", "b6x16_p32", true, true, false, 16, 2, 6,
     [](uint32_t q, uint32_t t, uint32_t r, uint32_t j) -> Place {
       return {4 * t + j, q + 8 * r};
     }},
    {"m16n16", "b8x16", "b4x16_p64", true, true, false, 16, 2, 4,
     [](uint32_t q, uint32_t t, uint32_t r, uint32_t j) -> Place {
       return {4 * t + j, q + 8 * r};
     }},
};
constexpr uint32_t kRowBytes = 16, kMostRows = 16;

/// Payload of ldmatrix and stmatrix.
struct Tiles {
  const TileForm *form;
  AccessSpace space;
  uint32_t count;
};

/// A tile's bytes, each element of fewer bits in one of its own, and which of
/// them are undefined.
struct Tile {
  uint8_t bytes[kMostRows][kRowBytes];
  UndefinedPart undefined[kMostRows];

  void unpack(uint32_t row, uint32_t bits) {
    uint8_t packed[kRowBytes];
    std::memcpy(packed, bytes[row], kRowBytes);
    for (uint32_t e = 0; e < kRowBytes; ++e) {
      uint32_t at = e * bits;
      uint32_t two = packed[at / 8] | uint32_t(packed[at / 8 + 1]) << 8;
      bytes[row][e] = uint8_t(two >> at % 8 & ((1u << bits) - 1));
    }
    if (!undefined[row].bytes)
      return;
    UndefinedPart part;
    for (uint32_t e = 0; e < kRowBytes; ++e)
      for (uint32_t at : {e * bits / 8, (e * bits + bits - 1) / 8})
        if (undefined[row].bytes >> at & 1)
          part.add(e, undefined[row].origins[at]);
    undefined[row] = part;
  }
};

/// f(lane, shift, byte): each byte of the tile's register `r`.
template <typename F>
void eachByte(const TileForm &form, uint32_t r, Tile &tile, F f) {
  for (uint32_t lane = 0; lane < 32; ++lane)
    for (uint32_t j = 0; j < 4; ++j) {
      Place at = form.place(lane / 4, lane % 4, r, j);
      f(lane, 8 * j, tile.bytes[at.row][at.byte]);
    }
}

/// What a store finds undefined in a register of the tile.
void gather(Warp &w, const Inst &i, const TileForm &form, uint32_t r,
            uint32_t row, Tile &tile) {
  forLanes(w.undefinedLanes(&row, 1, ~0u), [&](int lane) {
    UndefinedBits undefined = w.undefinedBits(i, row, lane);
    for (uint32_t j = 0; j < 4; ++j) {
      Place at = form.place(uint32_t(lane) / 4, uint32_t(lane) % 4, r, j);
      if (undefined.bits[0] >> (8 * j) & 0xff)
        tile.undefined[at.row].add(at.byte, undefined.origin);
    }
  });
}

/// What a load leaves undefined in a register of the tile.
void leave(Warp &w, const TileForm &form, uint32_t r, uint32_t row,
           const Tile &tile) {
  for (int lane = 0; lane < 32; ++lane) {
    UndefinedBits undefined;
    for (uint32_t j = 0; j < 4; ++j) {
      Place at = form.place(uint32_t(lane) / 4, uint32_t(lane) % 4, r, j);
      const UndefinedPart &part = tile.undefined[at.row];
      if (!(part.bytes >> at.byte & 1))
        continue;
      undefined.bits[0] |= uint64_t(0xff) << (8 * j);
      undefined.origin = part.origins[at.byte];
    }
    if (undefined.any())
      w.leaveUndefined(row, lane, undefined);
  }
}

bool wholeWarp(Warp &w, const Inst &i, uint32_t mask) {
  if (mask == w.lanes)
    return true;
  w.machine.error(ErrorKind::DivergentAligned,
                  "'" + Machine::mnemonic(&i) + "' needs all lanes of the warp",
                  &w, &i, __builtin_ctz(mask), true);
  return false;
}

/// As many lanes as a tile has rows give the addresses of these, those of the
/// next tile behind those of the one before.
template <bool Store>
Flow matrix(Warp &w, const Inst &i, uint32_t mask) {
  const uint64_t *base = w.row(i.s[0]);
  const uint32_t *rows = &w.machine.program.lists[i.list];
  const Tiles &tiles = i.get<Tiles>();
  const TileForm &form = *tiles.form;
  if (!wholeWarp(w, i, mask))
    return Flow::Next;
  if (Store)
    w.machine.progress();
  for (uint32_t n = 0; n < tiles.count; ++n) {
    Tile tile;
    const uint32_t *registers = rows + n * form.registers;
    for (uint32_t r = 0; Store && r < form.registers; ++r) {
      eachByte(form, r, tile, [&](uint32_t l, uint32_t shift, uint8_t &byte) {
        byte = uint8_t(w.row(registers[r])[l] >> shift);
      });
      gather(w, i, form, r, registers[r], tile);
    }
    for (uint32_t row = 0; row < form.rows; ++row) {
      int lane = int(n * form.rows + row);
      uint8_t *bytes = access(
          w, i, lane, tiles.space, base[lane] + uint64_t(i.offset), kRowBytes,
          Store, Strength::Weak, tile.bytes[row], &tile.undefined[row]);
      if (!bytes)
        return Flow::Next;
      if (Store)
        std::memcpy(bytes, tile.bytes[row], kRowBytes);
      else
        std::memcpy(tile.bytes[row], bytes, kRowBytes);
      if (form.packedBits)
        tile.unpack(row, form.packedBits);
    }
    if (Store)
      continue;
    for (uint32_t r = 0; r < form.registers; ++r) {
      uint64_t *target = w.row(registers[r]);
      std::fill_n(target, 32, 0);
      eachByte(form, r, tile, [&](uint32_t l, uint32_t shift, uint8_t byte) {
        target[l] |= uint64_t(byte) << shift;
      });
      leave(w, form, r, registers[r], tile);
    }
  }
  return Flow::Next;
}

bool decodeMatrix(Decoder &d, Inst &i, bool isStore) {
  if (!d.take("sync") || !d.take("aligned"))
    return d.fail("needs .sync.aligned");
  Tiles &tiles = i.make<Tiles>();
  for (const TileForm &form : kForms)
    if ((isStore ? form.stores : form.loads) && d.hasQualifier(form.shape) &&
        d.hasQualifier(form.type) &&
        (form.packed.empty() || d.hasQualifier(form.packed)) &&
        form.transposed == d.hasQualifier("trans"))
      tiles.form = &form;
  if (!tiles.form)
    return d.fail("has no supported combination of shape, .trans and type");
  const TileForm &form = *tiles.form;
  for (std::string_view qualifier :
       {form.shape, form.type, form.packed, std::string_view("trans")})
    d.take(qualifier);
  int count = d.takeOneOf({"x1", "x2", "x4"});
  if (count < 0 || (form.rows << count) > 32)
    return d.fail("needs .x1, .x2 or, with rows for all, .x4");
  tiles.count = 1u << count;
  tiles.space = d.takeOneOf({"shared", "shared::cta"}) < 0
                    ? AccessSpace::Generic
                    : AccessSpace::Shared;
  i.convergence = Convergence::Aligned;
  i.checksList = true;
  i.fn = isStore ? matrix<true> : matrix<false>;
  uint32_t registers = tiles.count * form.registers;
  return isStore ? d.address(i) && d.list(i, registers, Type::B32, false)
                 : d.list(i, registers, Type::B32, true) && d.address(i);
}

/// Each lane's pair of elements of an 8x8 matrix, transposed.
Flow transpose(Warp &w, const Inst &i, uint32_t mask) {
  if (!wholeWarp(w, i, mask))
    return Flow::Next;
  uint16_t elements[8][8];
  const uint64_t *from = w.row(i.s[0]);
  for (uint32_t lane = 0; lane < 32; ++lane)
    for (uint32_t half = 0; half < 2; ++half)
      elements[lane / 4][lane % 4 * 2 + half] =
          uint16_t(from[lane] >> (16 * half));
  uint64_t *to = w.row(i.d[0]);
  for (uint32_t lane = 0; lane < 32; ++lane)
    to[lane] = elements[lane % 4 * 2][lane / 4] |
               uint64_t(elements[lane % 4 * 2 + 1][lane / 4]) << 16;
  return Flow::Next;
}

} // namespace

void fp8::sim::addMatrixOpcodes(OpcodeTable &t) {
  t.add("ldmatrix",
        [](Decoder &d, Inst &i) { return decodeMatrix(d, i, false); });
  t.add("stmatrix",
        [](Decoder &d, Inst &i) { return decodeMatrix(d, i, true); });
  t.add("movmatrix", [](Decoder &d, Inst &i) {
    i.fn = transpose;
    i.convergence = Convergence::Aligned;
    for (const char *part : {"sync", "aligned", "m8n8", "trans", "b16"})
      if (!d.take(part))
        return d.fail("is supported as .sync.aligned.m8n8.trans.b16");
    return operands(d, i, Type::B32, 1);
  });
}
