// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// tcgen05: allocation, loads and stores, waits and fences (PTX ISA 9.7.16). The
// MMA is in Tcgen05Mma.cpp.

#include "Tcgen05.h"

#include "Alu.h"
#include "Memory.h"

#include <cstring>

using namespace fp8::sim;

namespace {

uint32_t sameInAllLanes(Warp &w, const Inst &i, uint32_t mask, uint32_t row,
                        const char *what) {
  const uint64_t *values = w.row(row);
  uint32_t first = uint32_t(values[__builtin_ctz(mask)]);
  forLanes(mask, [&](int l) {
    if (uint32_t(values[l]) != first && !w.machine.stopped)
      w.machine.error(ErrorKind::InvalidOperation,
                      "'" + Machine::mnemonic(&i) + "' needs the same " + what +
                          " in all lanes",
                      &w, &i, l, true);
  });
  return first;
}

bool validColumns(uint32_t count) {
  return count >= 32 && count <= kTensorColumns && !(count & (count - 1));
}

SimulationError &allocationError(Warp &w, const Inst &i, std::string message) {
  return w.machine.error(ErrorKind::TensorMemoryAllocation,
                         "'" + Machine::mnemonic(&i) + "' " +
                             std::move(message),
                         &w, &i, -1, true);
}

Flow alloc(Warp &w, const Inst &i, uint32_t mask) {
  Machine &m = w.machine;
  uint32_t count = sameInAllLanes(w, i, mask, i.s[1], "number of columns");
  if (m.stopped)
    return Flow::Next;
  if (!validColumns(count)) {
    allocationError(w, i,
                    "asks for " + std::to_string(count) +
                        " columns; the rule is a power of two from 32 to 512");
    return Flow::Next;
  }
  if (w.cta.tensor.permitRelinquished) {
    allocationError(w, i,
                    "follows tcgen05.relinquish_alloc_permit, after which the "
                    "CTA may not allocate");
    return Flow::Next;
  }
  int column = w.cta.tensor.allocate(count, i);
  if (column < 0) {
    w.group().arrived = true;
    return w.waitFor(WaitKind::TensorAlloc);
  }
  int lane = __builtin_ctz(mask);
  uint64_t address = w.row(i.s[0])[lane] + uint64_t(i.offset);
  uint32_t value = uint32_t(column);
  uint8_t bytes[4];
  std::memcpy(bytes, &value, 4);
  AccessSpace space = i.aux ? AccessSpace::Generic : AccessSpace::Shared;
  if (uint8_t *target =
          access(w, i, lane, space, address, 4, true, Strength::Weak, bytes))
    std::memcpy(target, bytes, 4);
  m.progress();
  return Flow::Next;
}

Flow dealloc(Warp &w, const Inst &i, uint32_t mask) {
  Machine &m = w.machine;
  uint32_t address = sameInAllLanes(w, i, mask, i.s[0], "address");
  uint32_t count = sameInAllLanes(w, i, mask, i.s[1], "number of columns");
  if (m.stopped)
    return Flow::Next;
  uint32_t column = address & 0xffff;
  if (address >> 16 || !validColumns(count) ||
      !w.cta.tensor.release(column, count)) {
    allocationError(w, i,
                    "frees " + std::to_string(count) + " columns at address " +
                        std::to_string(address) +
                        ", which no tcgen05.alloc of this CTA returned (or "
                        "which are free already)");
    return Flow::Next;
  }
  if (m.checksOrder && w.cta.tensor.anyBusy(column, count))
    m.error(ErrorKind::MemoryInFlight,
            "'" + Machine::mnemonic(&i) +
                "' frees tensor memory that an unfinished operation still "
                "uses; wait for it "
                "before",
            &w, &i);
  m.progress();
  m.wakeAll(WaitKind::TensorAlloc);
  return Flow::Next;
}

Flow relinquish(Warp &w, const Inst &, uint32_t) {
  w.cta.tensor.permitRelinquished = true;
  w.machine.progress();
  return Flow::Next;
}

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
    lane = t;
    column = t < 16 ? n : n + split;
    return;
  }
}

/// The region that the instruction touches; false after an error.
bool region(Warp &w, const Inst &i, uint32_t address, bool write,
            TensorRegion &out, uint32_t &firstLane) {
  Shape shape = Shape(i.aux);
  uint32_t lanes = shape == Shape::L32x32 || shape == Shape::L16x32x2 ? 32 : 16;
  uint32_t columns = i.aux2;
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
  out = {units, uint16_t(column), uint16_t(columns), write};
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
  if (m.checksOrder)
    for (uint32_t n = 0; n < i.listCount; ++n) {
      w.ready[rows[n]] &= ~mask;
      w.rowsInFlight.push_back({rows[n], &i});
    }
  else
    for (uint32_t n = 0; n < i.listCount; ++n)
      w.ready[rows[n]] |= mask;
  ++w.tensorLoadsPending;
  auto op = std::make_unique<AsyncOp>();
  op->inst = &i;
  op->issuer = &w;
  op->engine = Engine::TensorLoad;
  op->tensor.push_back(r);
  op->tensorCta = w.cta.rank;
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
  auto op = std::make_unique<AsyncOp>();
  op->inst = &i;
  op->issuer = &w;
  op->engine = Engine::TensorLoad;
  op->tensor.push_back(r);
  op->tensorCta = w.cta.rank;
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

Flow waitLoads(Warp &w, const Inst &, uint32_t) {
  if (w.tensorLoadsPending) {
    w.group().arrived = true;
    return w.waitFor(WaitKind::TensorLoads);
  }
  for (const Warp::RowInFlight &flight : w.rowsInFlight)
    w.ready[flight.row] = w.lanes;
  w.rowsInFlight.clear();
  w.clocks.all.raise(w.agent(Role::TensorLoadWaited), w.tensorLoadTime);
  w.clocks.tensor.raise(w.agent(Role::TensorLoadWaited), w.tensorLoadTime);
  w.machine.progress();
  return Flow::Next;
}

Flow waitStores(Warp &w, const Inst &, uint32_t) {
  if (w.tensorStoresPending) {
    w.group().arrived = true;
    return w.waitFor(WaitKind::TensorStores);
  }
  w.clocks.all.raise(w.agent(Role::TensorStoreWaited), w.tensorStoreTime);
  w.machine.progress();
  return Flow::Next;
}

/// Publishes the tcgen05 accesses that were waited for.
Flow fenceBefore(Warp &w, const Inst &, uint32_t) {
  w.clocks.all.raise(w.agent(Role::TensorLoad),
                     w.clocks.all.get(w.agent(Role::TensorLoadWaited)));
  w.clocks.all.raise(w.agent(Role::TensorStore),
                     w.clocks.all.get(w.agent(Role::TensorStoreWaited)));
  return Flow::Next;
}

Flow fenceAfter(Warp &w, const Inst &, uint32_t) {
  w.clocks.tensor.join(w.clocks.all);
  return Flow::Next;
}

bool takeCtaGroup(Decoder &d) {
  if (d.take("cta_group::1"))
    return true;
  return d.fail(d.hasQualifier("cta_group::2")
                    ? "is not supported with .cta_group::2 yet"
                    : "needs .cta_group::1");
}

bool takeSyncAligned(Decoder &d, Inst &i) {
  i.convergence = Convergence::Aligned;
  return (d.take("sync") && d.take("aligned")) || d.fail("needs .sync.aligned");
}

bool decodeTransfer(Decoder &d, Inst &i, bool load) {
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
  if (Shape(shape) == Shape::L16x32x2)
    return d.fail("is not supported with shape .16x32bx2 yet");
  i.fn = load ? tensorLoad : tensorStore;
  i.keepsReady = load;
  return load ? d.list(i, registers, Type::B32, true) && d.address(i)
              : d.address(i) && d.list(i, registers, Type::B32, false);
}

bool decodeTcgen05(Decoder &d, Inst &i) {
  if (d.take("alloc")) {
    if (!takeCtaGroup(d) || !takeSyncAligned(d, i))
      return false;
    i.aux = d.takeOneOf({"shared::cta"}) < 0;
    i.fn = alloc;
    return d.take("b32") && d.address(i) && d.source(i, Type::U32);
  }
  if (d.take("dealloc")) {
    i.fn = dealloc;
    return takeCtaGroup(d) && takeSyncAligned(d, i) && d.take("b32") &&
           d.source(i, Type::B32) && d.source(i, Type::U32);
  }
  if (d.take("relinquish_alloc_permit")) {
    i.fn = relinquish;
    return takeCtaGroup(d) && takeSyncAligned(d, i);
  }
  if (d.take("ld"))
    return decodeTransfer(d, i, true);
  if (d.take("st"))
    return decodeTransfer(d, i, false);
  int wait = d.takeOneOf({"wait::ld", "wait::st"});
  if (wait >= 0) {
    i.fn = wait == 0 ? waitLoads : waitStores;
    return takeSyncAligned(d, i);
  }
  int fence =
      d.takeOneOf({"fence::before_thread_sync", "fence::after_thread_sync"});
  if (fence >= 0) {
    i.fn = fence == 0 ? fenceBefore : fenceAfter;
    return true;
  }
  if (d.take("mma"))
    return takeCtaGroup(d) && decodeTcgen05Mma(d, i);
  if (d.take("commit"))
    return takeCtaGroup(d) && decodeTcgen05Commit(d, i);
  return d.fail("is not supported yet");
}

} // namespace

void fp8::sim::addTcgen05Decoders(DecodeTable &t) {
  t["tcgen05"] = decodeTcgen05;
}
