// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// tcgen05.cp and tcgen05.shift (PTX ISA 9.7.16.9): from shared to tensor
// memory, and one lane further there. They complete with tcgen05.commit.

#include "ISA/TensorCore/Tcgen05.h"
#include "ISA/TensorCore/Tcgen05Issue.h"

#include <cstring>

using namespace fp8::sim;

namespace {

/// A shape of tcgen05.cp: `rows` rows of `bytes` bytes. Rows go to groups of
/// `group` lanes that begin `groupStep` apart, and so again `copies` times,
/// `copyStep` lanes further (PTX ISA 9.7.16.2.3, 9.7.16.9.1).
struct CopyShape {
  const char *name, *multicast;
  uint32_t rows, bytes;
  uint32_t group, groupStep;
  uint32_t copies, copyStep;

  uint32_t lane(uint32_t row, uint32_t copy) const {
    return row / group * groupStep + row % group + copy * copyStep;
  }
  uint32_t columns() const { return bytes / 4; }
  /// Lanes from the first to the last.
  uint32_t lanes() const { return lane(rows - 1, copies - 1) + 1; }
};
const CopyShape kShapes[] = {
    {"128x256b", nullptr, 128, 32, 128, 0, 1, 0},
    {"4x256b", nullptr, 4, 32, 1, 32, 1, 0},
    {"128x128b", nullptr, 128, 16, 128, 0, 1, 0},
    {"64x128b", "warpx2::02_13", 64, 16, 64, 0, 2, 64},
    {"64x128b", "warpx2::01_23", 64, 16, 32, 64, 2, 32},
    {"32x128b", "warpx4", 32, 16, 32, 0, 4, 32},
};

/// A format of the source that .b8x16 unpacks: 16 elements of so many bits, and
/// padding, in 16 bytes.
struct Packing {
  const char *name;
  unsigned bits;
};
const Packing kPackings[] = {{"b6x16_p32", 6}, {"b4x16_p64", 4}};

/// Payload of tcgen05.cp. Sources: address in tensor memory, descriptor.
struct CopyForm {
  bool pair; ///< .cta_group::2
  uint8_t shape;
  uint8_t bits; ///< of an element that is unpacked; 0: as it is
};

/// What the complete operation does.
struct CopyOperation {
  const CopyShape &shape;
  unsigned bits;
  std::shared_ptr<const OperandLayout> source;
  uint32_t firstLane, column;

  void run(Cta &cta) const {
    const uint32_t *chunk = source->chunks.data();
    for (uint32_t row = 0; row < shape.rows; ++row)
      for (uint32_t byte = 0; byte < shape.bytes; byte += 16) {
        const uint8_t *at = cta.shared.data() + *chunk++;
        std::array<uint8_t, 16> unpacked;
        if (bits) {
          unpacked = unpackCodes(bits, at);
          for (uint8_t &code : unpacked)
            code = toContainer(bits, code);
          at = unpacked.data();
        }
        for (uint32_t copy = 0; copy < shape.copies; ++copy)
          std::memcpy(cta.tensor.lane(firstLane + shape.lane(row, copy)) +
                          column + byte / 4,
                      at, 16);
      }
  }
};

class CopyIssue : TensorCoreIssue {
public:
  CopyIssue(Warp &w, const Inst &i, int lane)
      : TensorCoreIssue(w, i, lane, i.get<CopyForm>().pair) {}

  void run() {
    const CopyForm &form = i.get<CopyForm>();
    const CopyShape &shape = kShapes[form.shape];
    uint32_t address = uint32_t(w.row(i.s[0])[lane]) + uint32_t(i.offset);
    CopyOperation operation{
        shape, form.bits, {}, address >> 16, address & 0xffff};
    if (operation.firstLane + shape.lanes() > kTensorLanes) {
      bad(ErrorKind::OutOfBounds,
          "the destination ends at lane " +
              std::to_string(operation.firstLane + shape.lanes()) + " of 128");
      return;
    }
    if (operation.column + shape.columns() > kTensorColumns) {
      bad(ErrorKind::OutOfBounds,
          "the destination ends at column " +
              std::to_string(operation.column + shape.columns()) + " of 512");
      return;
    }
    if (!begin() ||
        !takeTensor({unitsOf(operation), uint16_t(operation.column),
                     uint16_t(shape.columns()), true, 0}) ||
        !takeShared(1, "the source", false, 1, shape.rows, shape.bytes,
                    form.bits ? form.bits * 2u : 16, operation.source) ||
        !checkShared())
      return;
    finish([operation, ctas = ctas] {
      for (Cta *cta : ctas)
        operation.run(*cta);
    });
  }

private:
  /// The 16-lane units that it writes to, of 4x256b one lane each.
  static uint8_t unitsOf(const CopyOperation &operation) {
    uint32_t units = 0;
    for (uint32_t row = 0; row < operation.shape.rows; ++row)
      for (uint32_t copy = 0; copy < operation.shape.copies; ++copy)
        units |=
            1u << (operation.firstLane + operation.shape.lane(row, copy)) / 16;
    return uint8_t(units);
  }
};

/// Payload of tcgen05.shift. Source: address in tensor memory.
struct ShiftForm {
  bool pair; ///< .cta_group::2
};

constexpr uint32_t kShiftColumns = 8; // 32 bytes

/// In each quarter of the lanes, all but the last take what the next one has.
/// So a B200 does it; the ISA says "all the rows, except the last".
void shiftDown(TensorMemory &tensor, uint32_t column) {
  for (uint32_t lane = 0; lane + 1 < kTensorLanes; ++lane)
    if (lane % 32 != 31)
      std::memcpy(tensor.lane(lane) + column, tensor.lane(lane + 1) + column,
                  kShiftColumns * sizeof(uint32_t));
}

class ShiftIssue : TensorCoreIssue {
public:
  ShiftIssue(Warp &w, const Inst &i, int lane)
      : TensorCoreIssue(w, i, lane, i.get<ShiftForm>().pair) {}

  void run() {
    uint32_t address = uint32_t(w.row(i.s[0])[lane]) + uint32_t(i.offset);
    uint32_t column = address & 0xffff;
    if (address >> 16 & 31) {
      bad(ErrorKind::Misaligned, "the address has lane " +
                                     std::to_string(address >> 16) +
                                     "; the rule is a multiple of 32");
      return;
    }
    if (column + kShiftColumns > kTensorColumns) {
      bad(ErrorKind::OutOfBounds, "the matrix ends at column " +
                                      std::to_string(column + kShiftColumns) +
                                      " of 512");
      return;
    }
    TensorRegion region{0xff, uint16_t(column), kShiftColumns, false, 0};
    TensorRegion result = region;
    result.write = true;
    if (!begin() || !checkTensor(region) || !takeTensor(result))
      return;
    finish([column, ctas = ctas] {
      for (Cta *cta : ctas)
        shiftDown(cta->tensor, column);
    });
  }
};

Flow copy(Warp &w, const Inst &i, uint32_t mask) {
  return issueByOneLane<CopyIssue>(w, i, mask, "a copy");
}
Flow shift(Warp &w, const Inst &i, uint32_t mask) {
  return issueByOneLane<ShiftIssue>(w, i, mask, "a shift");
}

bool takeShape(Decoder &d, CopyForm &form) {
  for (uint8_t n = 0; n < std::size(kShapes); ++n) {
    const CopyShape &shape = kShapes[n];
    if (!d.hasQualifier(shape.name) ||
        (shape.multicast && !d.hasQualifier(shape.multicast)))
      continue;
    d.take(shape.name);
    if (shape.multicast)
      d.take(shape.multicast);
    form.shape = n;
    return true;
  }
  return d.fail("needs a shape: .128x256b, .4x256b, .128x128b, "
                ".64x128b.warpx2::02_13, .64x128b.warpx2::01_23 or "
                ".32x128b.warpx4");
}

bool takePacking(Decoder &d, CopyForm &form) {
  if (!d.take("b8x16"))
    return true;
  for (const Packing &packing : kPackings)
    if (d.take(packing.name)) {
      form.bits = uint8_t(packing.bits);
      return true;
    }
  return d.fail("unpacks to .b8x16 from .b6x16_p32 or .b4x16_p64");
}

} // namespace

bool fp8::sim::decodeTcgen05Copy(Decoder &d, Inst &i) {
  CopyForm &form = i.make<CopyForm>();
  if (!takeCtaGroup(d, form.pair) || !takeShape(d, form) ||
      !takePacking(d, form))
    return false;
  i.fn = copy;
  i.tensorOp =
      kShapes[form.shape].rows == 4 ? TensorOp::CopyOfRows : TensorOp::Copy;
  return d.address(i) && d.source(i, Type::B64);
}

bool fp8::sim::decodeTcgen05Shift(Decoder &d, Inst &i) {
  ShiftForm &form = i.make<ShiftForm>();
  if (!takeCtaGroup(d, form.pair))
    return false;
  if (!d.take("down"))
    return d.fail("needs .down");
  i.fn = shift;
  i.tensorOp = TensorOp::Shift;
  return d.address(i);
}
