// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// tcgen05.ld and tcgen05.st (PTX ISA 9.7.16.8): fragments of warps.

#include "ISA/TensorCore/Tcgen05.h"

#include "Machine/Machine.h"

using namespace fp8::sim;

namespace {

enum class Shape : uint32_t { L32x32, L16x64, L16x128, L16x256, L16x32x2 };

/// Where register `n` of lane `t` lies, counted from the address: lane and
/// column.
void fragment(Shape shape, uint32_t t, uint32_t n, uint32_t split,
              uint32_t &lane, uint32_t &column) {
  switch (shape) {
  case Shape::L32x32:
    lane = t;
    column = n;
    return;
  case Shape::L16x64:
    lane = t / 4 + 8 * (t % 2);
    column = n * 2 + t / 2 % 2;
    return;
  case Shape::L16x128:
    lane = t / 4 + 8 * (n % 2);
    column = n / 2 * 4 + t % 4;
    return;
  case Shape::L16x256:
    lane = t / 4 + 8 * (n / 2 % 2);
    column = n / 4 * 8 + t % 4 * 2 + n % 2;
    return;
  case Shape::L16x32x2:
    // Two accesses to the same 16 lanes, by 16 threads each.
    lane = t % 16;
    column = t < 16 ? n : n + split;
    return;
  }
}

/// The region that the instruction touches; false after an error.
bool region(Warp &w, const Inst &i, uint32_t address, bool write,
            TensorRegion &out, uint32_t &firstLane) {
  Shape shape = Shape(i.aux);
  uint32_t lanes = shape == Shape::L32x32 ? 32 : 16;
  // The columns between the two halves of 16x32bx2 count as touched.
  uint32_t columns = i.aux2 + i.target;
  firstLane = address >> 16;
  uint32_t column = address & 0xffff;
  uint32_t quarter = w.id % 4;
  if (firstLane / 32 != quarter || (firstLane % 32) + lanes > 32 ||
      firstLane % 16) {
    w.machine.error(
        ErrorKind::OutOfBounds,
        "'" + Machine::mnemonic(&i) + "' of warp " + std::to_string(w.id) +
            " accesses tensor memory lanes from " + std::to_string(firstLane) +
            "; warp " + std::to_string(w.id) + " may access lanes " +
            std::to_string(quarter * 32) + " to " +
            std::to_string(quarter * 32 + 31) + " (32 * (warp % 4))",
        &w, &i, -1, true);
    return false;
  }
  if (column >= kTensorColumns || column + columns > kTensorColumns) {
    w.machine.error(ErrorKind::OutOfBounds,
                    "'" + Machine::mnemonic(&i) +
                        "' accesses tensor memory columns " +
                        std::to_string(column) + " to " +
                        std::to_string(column + columns - 1) + " of 512",
                    &w, &i, -1, true);
    return false;
  }
  uint8_t units = uint8_t((lanes == 32 ? 3 : 1) << firstLane / 16);
  out = {units, uint16_t(column), uint16_t(columns), write, w.cta.rank};
  return true;
}

// aux: shape; aux2: columns; imm: packed or unpacked 16-bit; target: the split
// of 16x32bx2.
Flow tensorLoad(Warp &w, const Inst &i, uint32_t mask) {
  Machine &m = w.machine;
  uint32_t address =
      sameInAllLanes(w, i, mask, i.s[0], "address") + uint32_t(i.offset);
  TensorRegion r;
  uint32_t firstLane;
  if (m.stopped || !region(w, i, address, false, r, firstLane))
    return Flow::Next;
  AccessTag tag(w.agent(Role::TensorLoad), ++w.tensorLoadTime, i.index);
  if (!w.cta.tensor.check(w, i, r, tag, -1))
    return Flow::Next;
  const uint32_t *rows = &m.program.lists[i.list];
  // What no accumulator covers (lanes 16 to 31 with M 64) is read, but means
  // nothing.
  uint32_t defined = mask;
  if (r.units >> firstLane / 16 == 3)
    for (uint32_t half = 0; half < 2; ++half)
      if (!w.cta.tensor.anyInitialised(firstLane / 16 + half, r))
        defined &= ~(0xffffu << (16 * half));
  for (uint32_t n = 0; n < i.listCount; ++n) {
    w.ready[rows[n]] &= ~mask;
    if (m.checksOrder)
      w.rowsInFlight.push_back({rows[n], defined, &i});
    else
      w.ready[rows[n]] |= defined;
  }
  ++w.tensorLoadsPending;
  auto op = std::make_unique<AsyncOp>(i, w, 0, Engine::TensorLoad);
  op->tensor.push_back(r);
  Warp *warp = &w;
  uint32_t column = r.column;
  op->complete = [warp, &i, rows, firstLane, column, mask] {
    TensorMemory &tensor = warp->cta.tensor;
    for (uint32_t n = 0; n < i.listCount; ++n) {
      uint64_t *row = warp->row(rows[n]);
      forLanes(mask, [&](int t) {
        uint32_t lane = 0, c = 0;
        if (!i.imm) {
          fragment(Shape(i.aux), uint32_t(t), n, i.target, lane, c);
          row[t] = tensor.cell(firstLane + lane, column + c);
          return;
        }
        // .pack::16b: two neighbouring columns' low halves.
        uint32_t value = 0;
        for (uint32_t half = 0; half < 2; ++half) {
          fragment(Shape(i.aux), uint32_t(t), n * 2 + half, i.target, lane, c);
          value |= (tensor.cell(firstLane + lane, column + c) & 0xffff)
                   << (16 * half);
        }
        row[t] = value;
      });
    }
    if (--warp->tensorLoadsPending == 0)
      warp->wake(WaitKind::TensorLoads);
  };
  m.issue(std::move(op));
  return Flow::Next;
}

Flow tensorStore(Warp &w, const Inst &i, uint32_t mask) {
  Machine &m = w.machine;
  uint32_t address =
      sameInAllLanes(w, i, mask, i.s[0], "address") + uint32_t(i.offset);
  TensorRegion r;
  uint32_t firstLane;
  if (m.stopped || !region(w, i, address, true, r, firstLane))
    return Flow::Next;
  AccessTag tag(w.agent(Role::TensorStore), ++w.tensorStoreTime, i.index);
  if (!w.cta.tensor.check(w, i, r, tag, -1))
    return Flow::Next;
  const uint32_t *rows = &m.program.lists[i.list];
  ++w.tensorStoresPending;
  // The registers are read at issue: a thread may overwrite them at once.
  auto values =
      std::make_shared<std::vector<uint32_t>>(size_t(i.listCount) * 32);
  for (uint32_t n = 0; n < i.listCount; ++n)
    for (uint32_t t = 0; t < 32; ++t)
      (*values)[n * 32 + t] = uint32_t(w.row(rows[n])[t]);
  auto op = std::make_unique<AsyncOp>(i, w, 0, Engine::TensorLoad);
  op->tensor.push_back(r);
  Warp *warp = &w;
  op->complete = [warp, &i, values, firstLane, r, mask] {
    TensorMemory &tensor = warp->cta.tensor;
    for (uint32_t n = 0; n < i.listCount; ++n)
      forLanes(mask, [&](int t) {
        uint32_t lane = 0, c = 0, value = (*values)[n * 32 + uint32_t(t)];
        if (!i.imm) {
          fragment(Shape(i.aux), uint32_t(t), n, i.target, lane, c);
          tensor.cell(firstLane + lane, r.column + c) = value;
          return;
        }
        for (uint32_t half = 0; half < 2; ++half) {
          fragment(Shape(i.aux), uint32_t(t), n * 2 + half, i.target, lane, c);
          tensor.cell(firstLane + lane, r.column + c) =
              value >> (16 * half) & 0xffff;
        }
      });
    tensor.markInitialised(r);
    if (--warp->tensorStoresPending == 0)
      warp->wake(WaitKind::TensorStores);
  };
  m.issue(std::move(op));
  return Flow::Next;
}

/// The columns from the first half of 16x32bx2 to the second.
bool takeSplit(Decoder &d, Inst &i) {
  i.target = 0;
  if (Shape(i.aux) != Shape::L16x32x2)
    return true;
  uint64_t split;
  if (!d.immediate(split))
    return false;
  if (split >= kTensorColumns)
    return d.fail("splits its columns by " + std::to_string(split) +
                  ", but there are 512");
  i.target = uint32_t(split);
  return true;
}

} // namespace

bool fp8::sim::decodeTcgen05Transfer(Decoder &d, Inst &i, bool load) {
  if (!takeSyncAligned(d, i))
    return false;
  if (d.hasQualifier("red"))
    return d.fail("is not supported with .red");
  int shape =
      d.takeOneOf({"32x32b", "16x64b", "16x128b", "16x256b", "16x32bx2"});
  int count =
      d.takeOneOf({"x1", "x2", "x4", "x8", "x16", "x32", "x64", "x128"});
  if (shape < 0 || count < 0)
    return d.fail("needs a shape and a number of repetitions");
  i.imm = d.take(load ? "pack::16b" : "unpack::16b");
  if (!d.take("b32"))
    return d.fail("needs .b32");
  uint32_t repeat = 1u << count;
  static const uint32_t registersPerRepeat[] = {1, 1, 2, 4, 1};
  static const uint32_t columnsPerRepeat[] = {1, 2, 4, 8, 1};
  uint32_t registers = registersPerRepeat[shape] * repeat;
  if (registers > 128)
    return d.fail("has more than 128 registers");
  i.aux = uint32_t(shape);
  i.aux2 = columnsPerRepeat[shape] * repeat * (i.imm ? 2 : 1);
  i.fn = load ? tensorLoad : tensorStore;
  i.keepsReady = load;
  if (load && !d.list(i, registers, Type::B32, true))
    return false;
  if (!d.address(i) || !takeSplit(d, i))
    return false;
  return load || d.list(i, registers, Type::B32, false);
}
