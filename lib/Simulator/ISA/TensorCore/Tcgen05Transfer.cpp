// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// tcgen05.ld and tcgen05.st (PTX ISA 9.7.16.8): fragments of warps.

#include "ISA/TensorCore/Tcgen05.h"

#include "Machine/Machine.h"

using namespace fp8::sim;

namespace {

enum class Shape : uint8_t { L32x32, L16x64, L16x128, L16x256, L16x32x2 };

/// Payload of tcgen05.ld and tcgen05.st.
struct Transfer {
  Shape shape;
  bool packed;      ///< .pack::16b, .unpack::16b: a register holds two columns
  uint32_t columns; ///< without the split
  uint32_t split;   ///< of 16x32bx2: columns from the first half to the second
};

/// Where register `n` of lane `t` lies, counted from the address: lane and
/// column.
inline void fragment(Shape shape, uint32_t t, uint32_t n, uint32_t split,
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

/// The cells of register `n` of lane `t`: calls f(lane, column, shift, bits),
/// lane and column counted from the address, for each cell and the `bits` of
/// the register from `shift` on that it holds.
template <typename F>
void eachCell(const Transfer &transfer, uint32_t t, uint32_t n, F f) {
  uint32_t lane = 0, column = 0;
  if (!transfer.packed) {
    fragment(transfer.shape, t, n, transfer.split, lane, column);
    f(lane, column, 0u, ~0u);
    return;
  }
  for (uint32_t half = 0; half < 2; ++half) {
    fragment(transfer.shape, t, n * 2 + half, transfer.split, lane, column);
    f(lane, column, 16 * half, 0xffffu);
  }
}

/// f(cell, n, t) for the cells of all registers of all lanes; `cells`: the
/// first.
template <Shape S, typename F>
void eachOfShape(uint32_t *cells, uint32_t registers, uint32_t split, F f) {
  for (uint32_t n = 0; n < registers; ++n)
    for (uint32_t t = 0; t < 32; ++t) {
      uint32_t lane = 0, column = 0;
      fragment(S, t, n, split, lane, column);
      f(cells[lane * TensorMemory::kPitch + column], n, t);
    }
}
template <typename F>
void eachWholeCell(const Transfer &transfer, uint32_t *cells,
                   uint32_t registers, F f) {
  switch (transfer.shape) {
  case Shape::L32x32:
    return eachOfShape<Shape::L32x32>(cells, registers, 0, f);
  case Shape::L16x64:
    return eachOfShape<Shape::L16x64>(cells, registers, 0, f);
  case Shape::L16x128:
    return eachOfShape<Shape::L16x128>(cells, registers, 0, f);
  case Shape::L16x256:
    return eachOfShape<Shape::L16x256>(cells, registers, 0, f);
  case Shape::L16x32x2:
    return eachOfShape<Shape::L16x32x2>(cells, registers, transfer.split, f);
  }
}

int64_t transferPipe(const Warp &w) {
  return int64_t(1) << 48 | w.cta.rank << 2 | w.id % 4;
}

/// What a warp's instruction touches.
struct Touched {
  TensorRegion region;
  uint32_t firstLane;
};

/// False after an error.
bool regionAt(Warp &w, const Inst &i, uint32_t address, bool write,
              Touched &out) {
  const Transfer &transfer = i.get<Transfer>();
  uint32_t lanes = transfer.shape == Shape::L32x32 ? 32 : 16;
  // The columns between the two halves of 16x32bx2 count as touched.
  uint32_t columns = transfer.columns + transfer.split;
  uint32_t given = address >> 16;
  uint32_t column = address & 0xffff;
  uint32_t quarter = w.id % 4;
  // The hardware takes the quarter from the warp.
  uint32_t firstLane = quarter * 32 + given % 32;
  bool inside = given % 32 + lanes <= 32 && given % 16 == 0;
  if (given != firstLane || !inside)
    w.machine.error(
        inside ? Rule::TensorLanes : Rule::OutOfBounds,
        "'" + Machine::mnemonic(&i) + "' of warp " + std::to_string(w.id) +
            " accesses tensor memory lanes from " + std::to_string(given) +
            "; warp " + std::to_string(w.id) + " may access lanes " +
            std::to_string(quarter * 32) + " to " +
            std::to_string(quarter * 32 + 31) + " (32 * (warp % 4))",
        &w, &i, -1, true);
  if (!inside || w.machine.stopped)
    return false;
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
  out = {{units, uint16_t(column), uint16_t(columns), write, w.cta.rank,
          /*needed=*/false},
         firstLane};
  return true;
}

/// Checks the access of a whole warp, and makes the operation that owns the
/// region; null after an error.
std::unique_ptr<AsyncOp> touch(Warp &w, const Inst &i, uint32_t mask, Role role,
                               uint32_t &time, Touched &touched) {
  uint32_t address =
      sameInAllLanes(w, i, mask, i.s[0], "address") + uint32_t(i.offset);
  bool write = role == Role::TensorStore;
  if (w.machine.stopped || !regionAt(w, i, address, write, touched))
    return nullptr;
  AccessTag tag(w.agent(role), ++time, i.index);
  if (!w.cta.tensor.check(w, i, touched.region, tag, -1))
    return nullptr;
  w.learn(write ? Role::TensorStoreIssued : Role::TensorLoadIssued, time);
  auto op = std::make_unique<AsyncOp>(i, w, 0, Engine::TensorLoad);
  // Those of one quarter of the lanes complete in the order of issue, on
  // hardware; by the letter in any.
  if (!w.machine.options.strict)
    op->pipe = transferPipe(w);
  op->tensor.push_back(touched.region);
  op->tag = tag;
  return op;
}

/// By register, the lanes of `mask` that a load defines. The others read cells
/// that are undefined, such as lanes 16 to 31 with M 64.
std::vector<uint32_t> definedLanes(Warp &w, const Inst &i,
                                   const Touched &touched, uint32_t mask) {
  std::vector<uint32_t> lanes(i.listCount, mask);
  TensorMemory &tensor = w.cta.tensor;
  if (tensor.isDefined(touched.region))
    return lanes;
  const uint32_t *rows = &w.machine.program.lists[i.list];
  for (uint32_t n = 0; n < i.listCount; ++n)
    forLanes(mask, [&](int t) {
      UndefinedBits undefined;
      eachCell(
          i.get<Transfer>(), uint32_t(t), n,
          [&](uint32_t lane, uint32_t column, uint32_t shift, uint32_t bits) {
            OriginId origin = tensor.undefinedAt(
                i, touched.firstLane + lane, touched.region.column + column);
            if (!origin)
              return;
            undefined.bits[0] |= uint64_t(bits) << shift;
            undefined.origin = origin;
          });
      if (!undefined.any())
        return;
      lanes[n] &= ~(1u << t);
      w.leaveUndefined(rows[n], t, undefined);
    });
  return lanes;
}

/// What a load finds: the lanes of `mask` get their registers.
void loadRegisters(Warp &w, const Inst &i, const Touched &touched,
                   uint32_t mask) {
  const Transfer &transfer = i.get<Transfer>();
  TensorMemory &tensor = w.cta.tensor;
  const uint32_t *rows = &w.machine.program.lists[i.list];
  if (mask == ~0u && !transfer.packed)
    return eachWholeCell(
        transfer, &tensor.cell(touched.firstLane, touched.region.column),
        i.listCount, [&](uint32_t cell, uint32_t n, uint32_t t) {
          w.row(rows[n])[t] = cell;
        });
  for (uint32_t n = 0; n < i.listCount; ++n) {
    uint64_t *row = w.row(rows[n]);
    forLanes(mask, [&](int t) {
      uint32_t value = 0;
      eachCell(
          transfer, uint32_t(t), n,
          [&](uint32_t lane, uint32_t column, uint32_t shift, uint32_t bits) {
            value |= (tensor.cell(touched.firstLane + lane,
                                  touched.region.column + column) &
                      bits)
                     << shift;
          });
      row[t] = value;
    });
  }
}

Flow tensorLoad(Warp &w, const Inst &i, uint32_t mask) {
  Machine &m = w.machine;
  Touched touched;
  auto op = touch(w, i, mask, Role::TensorLoad, w.tensorLoadTime, touched);
  if (!op)
    return Flow::Next;
  const uint32_t *rows = &m.program.lists[i.list];
  std::vector<uint32_t> defined = definedLanes(w, i, touched, mask);
  for (uint32_t n = 0; n < i.listCount; ++n) {
    w.ready[rows[n]] &= ~mask;
    if (m.checksOrder)
      w.rowsInFlight.add({rows[n], defined[n], &i, w.tensorLoadTime});
    else
      w.ready[rows[n]] |= defined[n];
  }
  ++w.tensorLoadsPending;
  Warp *warp = &w;
  op->complete = [warp, &i, rows, touched, mask, time = w.tensorLoadTime,
                  defined = std::move(defined)] {
    // By the letter only tcgen05.wait::ld says that they have landed.
    bool mayRead = !warp->machine.options.strict;
    for (RowInFlight &flight : warp->rowsInFlight)
      flight.landed |= mayRead && flight.time == time;
    if (mayRead)
      for (uint32_t n = 0; n < i.listCount; ++n)
        warp->ready[rows[n]] |= defined[n];
    loadRegisters(*warp, i, touched, mask);
    --warp->tensorLoadsPending;
    warp->wake(WaitKind::TensorLoads);
  };
  m.issue(std::move(op));
  return Flow::Next;
}

/// What a store finds undefined in its registers.
struct UndefinedRegister {
  uint32_t n; ///< in the list
  int lane;
  UndefinedBits bits;
};

std::vector<UndefinedRegister> undefinedRegisters(Warp &w, const Inst &i,
                                                  uint32_t mask) {
  std::vector<UndefinedRegister> found;
  const uint32_t *rows = &w.machine.program.lists[i.list];
  for (uint32_t n = 0; n < i.listCount; ++n)
    forLanes(w.undefinedLanes(&rows[n], 1, mask), [&](int t) {
      found.push_back({n, t, w.undefinedBits(i, rows[n], t)});
    });
  return found;
}

/// Stores them: the cells are undefined, too.
void storeUndefined(TensorMemory &tensor, const Transfer &transfer,
                    const Touched &touched,
                    const std::vector<UndefinedRegister> &found) {
  for (const UndefinedRegister &u : found)
    eachCell(
        transfer, uint32_t(u.lane), u.n,
        [&](uint32_t lane, uint32_t column, uint32_t shift, uint32_t bits) {
          if (u.bits.bits[0] >> shift & bits)
            tensor.markUndefined(touched.firstLane + lane,
                                 touched.region.column + column, u.bits.origin);
        });
}

/// The lanes of `mask` store `values`, 32 of each register.
void storeRegisters(TensorMemory &tensor, const Inst &i, const Touched &touched,
                    uint32_t mask, const uint32_t *values) {
  const Transfer &transfer = i.get<Transfer>();
  if (mask == ~0u && !transfer.packed)
    return eachWholeCell(
        transfer, &tensor.cell(touched.firstLane, touched.region.column),
        i.listCount, [&](uint32_t &cell, uint32_t n, uint32_t t) {
          cell = values[n * 32 + t];
        });
  for (uint32_t n = 0; n < i.listCount; ++n)
    forLanes(mask, [&](int t) {
      uint32_t value = values[n * 32 + uint32_t(t)];
      eachCell(
          transfer, uint32_t(t), n,
          [&](uint32_t lane, uint32_t column, uint32_t shift, uint32_t bits) {
            tensor.cell(touched.firstLane + lane,
                        touched.region.column + column) = value >> shift & bits;
          });
    });
}

Flow tensorStore(Warp &w, const Inst &i, uint32_t mask) {
  Touched touched;
  auto op = touch(w, i, mask, Role::TensorStore, w.tensorStoreTime, touched);
  if (!op)
    return Flow::Next;
  const uint32_t *rows = &w.machine.program.lists[i.list];
  ++w.tensorStoresPending;
  // The registers are read at issue: a thread may overwrite them at once.
  auto values =
      std::make_shared<std::vector<uint32_t>>(size_t(i.listCount) * 32);
  for (uint32_t n = 0; n < i.listCount; ++n)
    for (uint32_t t = 0; t < 32; ++t)
      (*values)[n * 32 + t] = uint32_t(w.row(rows[n])[t]);
  Warp *warp = &w;
  op->complete = [warp, &i, values, touched, mask,
                  undefined = undefinedRegisters(w, i, mask)] {
    const Transfer &transfer = i.get<Transfer>();
    TensorMemory &tensor = warp->cta.tensor;
    storeRegisters(tensor, i, touched, mask, values->data());
    tensor.markInitialised(touched.region);
    storeUndefined(tensor, transfer, touched, undefined);
    if (--warp->tensorStoresPending == 0)
      warp->wake(WaitKind::TensorStores);
  };
  w.machine.issue(std::move(op));
  return Flow::Next;
}

/// The columns from the first half of 16x32bx2 to the second.
bool takeSplit(Decoder &d, Transfer &transfer) {
  if (transfer.shape != Shape::L16x32x2)
    return true;
  uint64_t split;
  if (!d.immediate(split))
    return false;
  if (split >= kTensorColumns)
    return d.fail("splits its columns at an offset of " +
                  std::to_string(split) +
                  ", but tensor memory has 512 columns");
  transfer.split = uint32_t(split);
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
  Transfer &transfer = i.make<Transfer>();
  transfer.packed = d.take(load ? "pack::16b" : "unpack::16b");
  if (!d.take("b32"))
    return d.fail("needs .b32");
  uint32_t repeat = 1u << count;
  static const uint32_t registersPerRepeat[] = {1, 1, 2, 4, 1};
  static const uint32_t columnsPerRepeat[] = {1, 2, 4, 8, 1};
  uint32_t registers = registersPerRepeat[shape] * repeat;
  if (registers > 128)
    return d.fail("has more than 128 registers");
  transfer.shape = Shape(shape);
  transfer.columns =
      columnsPerRepeat[shape] * repeat * (transfer.packed ? 2 : 1);
  i.fn = load ? tensorLoad : tensorStore;
  i.keepsReady = i.writesLate = load;
  i.checksList = !load;
  if (load && !d.list(i, registers, Type::B32, true))
    return false;
  if (!d.address(i) || !takeSplit(d, transfer))
    return false;
  return load || d.list(i, registers, Type::B32, false);
}
