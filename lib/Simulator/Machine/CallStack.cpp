// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Calls and returns: frames, arguments, and the registers of functions that
// call themselves.

#include "Machine/CallStack.h"

#include "Machine/Machine.h"

#include <cstring>

using namespace fp8::sim;

namespace {
// CUDA C++ Programming Guide, technical specifications: local memory.
constexpr uint64_t kMostLocalBytes = 512 * 1024;
constexpr size_t kMostCalls = 4096;
/// Of all lanes of a cluster, so that endless recursion ends in an error.
constexpr uint64_t kMostCallBytes = uint64_t(1) << 28;

uint64_t alignUp(uint64_t value, uint64_t align) {
  return (value + align - 1) / align * align;
}

/// Bits of the last word that is saved of a register.
enum : uint64_t { Low = 1, High = 2, Predicate = 4, PredicateReady = 8 };
} // namespace

void Warp::reserveLocal(int lane, uint64_t bytes) {
  if (local[size_t(lane)].size() < bytes)
    local[size_t(lane)].resize(bytes);
}

CallBytes Warp::readCallValue(const Inst &inst, int lane,
                              const CallValue &value) {
  CallBytes result;
  result.bytes.resize(value.bytes);
  result.origins.resize(value.bytes);
  if (value.inRow) {
    UndefinedBits undefined = undefinedBits(inst, value.row, lane);
    for (uint64_t at = 0; at < value.bytes; ++at) {
      uint32_t half = uint32_t(at / 8), shift = uint32_t(at % 8 * 8);
      result.bytes[at] = uint8_t(row(value.row + half)[lane] >> shift);
      if (undefined.bits[half] >> shift & 0xff)
        result.origins[at] = undefined.origin;
    }
    return result;
  }
  uint64_t from = stacks[size_t(lane)].frame() + value.offset;
  reserveLocal(lane, from + value.bytes);
  LocalMemory &memory = local[size_t(lane)];
  std::memcpy(result.bytes.data(), memory.data() + from, value.bytes);
  for (uint64_t at = 0; at < value.bytes; ++at) {
    UndefinedPart part;
    memory.read(from + at, 1, part, [&] {
      return machine.origins.add(
          ErrorKind::UninitialisedMemory, inst, Origins::kMemory, [&] {
            return "'" + Machine::mnemonic(&inst) +
                   "' passes a parameter that the thread has not written";
          });
    });
    if (part.bytes)
      result.origins[at] = part.first();
  }
  return result;
}

void Warp::writeCallValue(int lane, const CallValue &value,
                          const CallBytes &from) {
  if (value.inRow) {
    UndefinedBits bits;
    for (uint64_t at = 0; at < value.bytes; ++at) {
      uint32_t half = uint32_t(at / 8), shift = uint32_t(at % 8 * 8);
      uint64_t &target = row(value.row + half)[lane];
      target = (at % 8 ? target : 0) | uint64_t(from.bytes[at]) << shift;
      if (from.origins[at]) {
        bits.bits[half] |= uint64_t(0xff) << shift;
        bits.origin = from.origins[at];
      }
    }
    ready[value.row] |= 1u << lane;
    if (bits.any()) {
      ready[value.row] &= ~(1u << lane);
      undefined.set(value.row, lane, bits);
    }
    return;
  }
  uint64_t to = stacks[size_t(lane)].frame() + value.offset;
  reserveLocal(lane, to + value.bytes);
  LocalMemory &memory = local[size_t(lane)];
  std::memcpy(memory.data() + to, from.bytes.data(), value.bytes);
  for (uint64_t at = 0; at < value.bytes; ++at) {
    UndefinedPart part;
    if (from.origins[at])
      part.add(0, from.origins[at]);
    memory.write(to + at, 1, &part);
  }
}

void Warp::saveRegisters(int lane, const Function &function,
                         std::vector<uint64_t> &saved) const {
  for (uint32_t n = 0; n < function.registers; ++n) {
    uint32_t reg = function.firstRegister + n;
    auto bit = [&](uint32_t lanes, uint64_t flag) {
      return lanes >> lane & 1 ? flag : 0;
    };
    saved.push_back(row(2 * reg)[lane]);
    saved.push_back(row(2 * reg + 1)[lane]);
    saved.push_back(bit(ready[2 * reg], Low) | bit(ready[2 * reg + 1], High) |
                    bit(predicates[reg], Predicate) |
                    bit(predicateReady[reg], PredicateReady));
  }
  for (auto [frameRow, offset] : function.frameRows)
    saved.push_back(row(frameRow)[lane]);
}

void Warp::restoreRegisters(int lane, const Function &function,
                            const std::vector<uint64_t> &saved) {
  const uint64_t *next = saved.data();
  for (uint32_t n = 0; n < function.registers; ++n) {
    uint32_t reg = function.firstRegister + n;
    row(2 * reg)[lane] = *next++;
    row(2 * reg + 1)[lane] = *next++;
    uint64_t flags = *next++;
    auto put = [&](uint32_t &lanes, uint64_t flag) {
      lanes = (lanes & ~(1u << lane)) | uint32_t((flags & flag) != 0) << lane;
    };
    put(ready[2 * reg], Low);
    put(ready[2 * reg + 1], High);
    put(predicates[reg], Predicate);
    put(predicateReady[reg], PredicateReady);
  }
  for (auto [frameRow, offset] : function.frameRows)
    row(frameRow)[lane] = *next++;
}

bool Warp::enter(const Inst &inst, uint32_t mask, const CallSite &site,
                 const Function &function) {
  // The values of all lanes are read before the first lane's registers change.
  std::vector<std::vector<CallBytes>> arguments(32);
  forLanes(mask, [&](int l) {
    for (const CallValue &argument : site.arguments)
      arguments[size_t(l)].push_back(readCallValue(inst, l, argument));
  });
  bool ok = true;
  forLanes(mask, [&](int l) {
    CallStack &stack = stacks[size_t(l)];
    stack.top = stackTop(l);
    Call call{&function,      &site,
              inst.index + 1, alignUp(stack.top, function.frameAlign),
              stack.top,      {}};
    if (function.recursive)
      saveRegisters(l, function, call.saved);
    uint64_t top = call.frame + function.frameBytes;
    machine.callBytes += top - stack.top + call.saved.size() * 8;
    if (ok && (top > kMostLocalBytes || stack.calls.size() >= kMostCalls ||
               machine.callBytes > kMostCallBytes)) {
      machine.error(ErrorKind::LimitExceeded,
                    "the call of '" + function.name +
                        "' leaves no memory for the stack, " +
                        std::to_string(stack.calls.size()) +
                        " calls deep; end the recursion earlier",
                    this, &inst, l, true);
      ok = false;
    }
    stack.calls.push_back(std::move(call));
    stack.top = top;
  });
  if (!ok)
    return false;
  for (uint32_t n = 0; n < function.registers; ++n) {
    uint32_t reg = function.firstRegister + n;
    ready[2 * reg] &= ~mask;
    ready[2 * reg + 1] &= ~mask;
    predicateReady[reg] &= ~mask;
  }
  forLanes(mask, [&](int l) {
    uint64_t frame = stacks[size_t(l)].frame();
    reserveLocal(l, frame + function.frameBytes);
    for (auto [frameRow, offset] : function.frameRows)
      row(frameRow)[l] = frame + offset;
    for (size_t n = 0; n < site.arguments.size(); ++n)
      writeCallValue(l, function.parameters[n], arguments[size_t(l)][n]);
  });
  return true;
}

uint64_t Warp::stackTop(int lane) const {
  uint64_t top = stacks[size_t(lane)].top;
  return top ? top : machine.program.localBytes;
}

uint64_t Warp::allocateStack(const Inst &inst, int lane, uint64_t bytes,
                             uint64_t alignment) {
  const uint64_t before = stackTop(lane);
  const uint64_t address = alignUp(before, alignment);
  if (bytes > kMostLocalBytes || address + bytes > kMostLocalBytes ||
      machine.callBytes + bytes > kMostCallBytes) {
    machine.error(
        ErrorKind::LimitExceeded,
        "'" + Machine::mnemonic(&inst) + "' wants " + std::to_string(bytes) +
            " bytes of the stack, which has no room for them; a "
            "thread has " +
            std::to_string(kMostLocalBytes) + " bytes of local memory",
        this, &inst, lane, true);
    return address;
  }
  stacks[size_t(lane)].top = address + bytes;
  machine.callBytes += address + bytes - before;
  reserveLocal(lane, address + bytes);
  return address;
}

void Warp::restoreStack(const Inst &inst, int lane, uint64_t top) {
  const uint64_t now = stackTop(lane);
  if (top > now) {
    machine.error(ErrorKind::InvalidOperation,
                  "'" + Machine::mnemonic(&inst) +
                      "' sets the stack's end to " + std::to_string(top) +
                      ", but it is at " + std::to_string(now) +
                      "; pass what stacksave has given in the same function",
                  this, &inst, lane, true);
    return;
  }
  stacks[size_t(lane)].top = top;
  machine.callBytes -= now - top;
}

uint32_t Warp::leave(const Inst &inst, int lane) {
  CallStack &stack = stacks[size_t(lane)];
  Call call = std::move(stack.calls.back());
  const Function &function = *call.function;
  std::vector<CallBytes> results;
  for (const CallValue &result : function.results)
    results.push_back(readCallValue(inst, lane, result));
  if (function.recursive)
    restoreRegisters(lane, function, call.saved);
  machine.callBytes -= stack.top - call.callerTop + call.saved.size() * 8;
  stack.top = call.callerTop;
  stack.calls.pop_back();
  for (size_t n = 0; n < call.site->results.size(); ++n)
    writeCallValue(lane, call.site->results[n], results[n]);
  return call.returnTo;
}
