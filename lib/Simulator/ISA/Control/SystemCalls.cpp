// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Functions that the CUDA driver defines: vprintf, __assertfail, and those that
// the simulator lacks.

#include "ISA/Access/Access.h"
#include "ISA/Control/Control.h"
#include "ISA/Control/Printf.h"
#include "Program/Linker.h"

#include <algorithm>
#include <cstring>

using namespace fp8::sim;

namespace {

/// CUDA C++ Programming Guide: the default size of the printf buffer.
constexpr size_t kMostText = 64 * 1024;

/// One lane's call: its arguments, and what they point at.
class LaneCall {
public:
  LaneCall(Warp &warp, const Inst &inst, int lane)
      : warp(warp), inst(inst), lane(lane),
        site(warp.machine.program.calls[inst.get<CalledSite>().index]) {}

  uint64_t argument(size_t n) const {
    CallBytes read = warp.readCallValue(inst, lane, site.arguments[n]);
    uint64_t value = 0;
    std::memcpy(&value, read.bytes.data(), read.bytes.size());
    auto undefined = std::find_if(read.origins.begin(), read.origins.end(),
                                  [](OriginId origin) { return origin != 0; });
    if (undefined != read.origins.end())
      warp.machine.reportUndefined(
          *undefined,
          "'" + Machine::mnemonic(&inst) + "' passes argument " +
              std::to_string(n) + ", which is undefined; define it",
          &warp, &inst, lane);
    return value;
  }
  void giveResult(int32_t value) {
    for (const CallValue &result : site.results) {
      CallBytes given;
      given.bytes.resize(sizeof(value));
      given.origins.resize(sizeof(value));
      std::memcpy(given.bytes.data(), &value, sizeof(value));
      warp.writeCallValue(lane, result, given);
    }
  }
  /// The bytes at a generic address; 0 after an error.
  uint64_t load(uint64_t address, unsigned bytes) {
    const uint8_t *from = access(warp, inst, lane, AccessSpace::Generic,
                                 address, bytes, false, Strength::Weak);
    uint64_t value = 0;
    if (from)
      std::memcpy(&value, from, bytes);
    return value;
  }
  std::string text(uint64_t address) {
    std::string result;
    while (!warp.machine.stopped && result.size() < kMostText) {
      char c = char(load(address + result.size(), 1));
      if (!c)
        break;
      result += c;
    }
    return result;
  }
  std::array<uint32_t, 3> thread() const {
    const auto &block = warp.machine.config.block;
    uint32_t index = warp.id * 32 + uint32_t(lane);
    return {index % block[0], index / block[0] % block[1],
            index / block[0] / block[1]};
  }

private:
  Warp &warp;
  const Inst &inst;
  int lane;
  const CallSite &site;
};

void print(Warp &w, LaneCall &call) {
  uint64_t format = call.argument(0), next = call.argument(1);
  if (!format) {
    call.giveResult(-1);
    return;
  }
  PrintfSource source;
  source.next = [&](unsigned bytes) {
    next = (next + bytes - 1) / bytes * bytes;
    uint64_t value = w.machine.stopped ? 0 : call.load(next, bytes);
    next += bytes;
    return value;
  };
  source.text = [&](uint64_t address) { return call.text(address); };
  PrintfResult result = formatPrintf(call.text(format), source);
  if (w.machine.stopped)
    return;
  call.giveResult(int32_t(result.arguments));
  w.machine.report.printed.push_back(
      {w.block, call.thread(), std::move(result.text)});
}

Flow vprintf(Warp &w, const Inst &i, uint32_t mask) {
  forLanes(mask, [&](int l) {
    LaneCall call(w, i, l);
    if (!w.machine.stopped)
      print(w, call);
  });
  return Flow::Next;
}

Flow assertFail(Warp &w, const Inst &i, uint32_t mask) {
  int lane = __builtin_ctz(mask);
  LaneCall call(w, i, lane);
  std::string message = call.text(call.argument(0)),
              file = call.text(call.argument(1)),
              function = call.text(call.argument(3));
  auto [x, y, z] = call.thread();
  SimulationError &error =
      w.machine.error(ErrorKind::Trap,
                      file + ":" + std::to_string(uint32_t(call.argument(2))) +
                          ": " + function + ": thread (" + std::to_string(x) +
                          "," + std::to_string(y) + "," + std::to_string(z) +
                          "): assertion '" + message + "' failed",
                      &w, &i, lane, true);
  error.isAssertion = true;
  return Flow::Next;
}

/// Only a lane that calls it is at fault: destructors that nobody runs name
/// `free`.
Flow callMissing(Warp &w, const Inst &i, uint32_t mask) {
  const std::string &name = CallOperands(*i.text).callee->name;
  w.machine.error(ErrorKind::Unsupported,
                  "the simulator has no function '" + name + "'; " +
                      std::string(findSystemFunction(name)->cure),
                  &w, &i, __builtin_ctz(mask), true);
  return Flow::Next;
}

} // namespace

const SystemFunction *fp8::sim::findSystemFunction(std::string_view name) {
  constexpr std::string_view allocate =
                                 "allocate on the host, and pass the address",
                             launch = "launch from the host";
  static const SystemFunction functions[] = {
      {"vprintf", {8, 8}, 4, vprintf, ""},
      {"__assertfail", {8, 8, 4, 8, 8}, 0, assertFail, ""},
      {"malloc", {8}, 8, callMissing, allocate},
      {"free", {8}, 0, callMissing, allocate},
      {"cudaLaunchDeviceV2", {8, 8}, 4, callMissing, launch},
      {"cudaGetParameterBufferV2", {8, 12, 12, 4}, 8, callMissing, launch},
  };
  for (const SystemFunction &function : functions)
    if (function.name == name)
      return &function;
  return nullptr;
}
