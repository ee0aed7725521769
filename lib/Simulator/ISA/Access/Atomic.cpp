// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// atom and red (PTX ISA 9.7.13). Lanes of a warp take effect one after another.

#include "ISA/Families.h"

#include "ISA/Access/Atomic.h"
#include "ISA/Alu/Alu.h"
#include "ISA/Copy/Copy.h"
#include "Numerics/Formats.h"

#include <algorithm>
#include <cmath>
#include <cstring>

using namespace fp8::sim;

namespace {

using Op = AtomicOp;
const std::initializer_list<std::string_view> kOps = {
    "add", "min", "max", "and", "or", "xor", "exch", "cas", "inc", "dec"};

uint64_t address(Warp &w, const Inst &i, int lane) {
  return w.row(i.s[0])[lane] + uint64_t(i.offset);
}

template <typename T>
T combine(Op op, T old, T b, T c) {
  switch (op) {
  case Op::Add:
    return T(old + b);
  case Op::Min:
    return std::min(old, b);
  case Op::Max:
    return std::max(old, b);
  case Op::Exch:
    return b;
  case Op::Cas:
    return old == b ? c : old;
  default:
    break;
  }
  if constexpr (std::is_integral_v<T>) {
    switch (op) {
    case Op::And:
      return T(old & b);
    case Op::Or:
      return T(old | b);
    case Op::Xor:
      return T(old ^ b);
    case Op::Inc:
      return old >= b ? T(0) : T(old + 1);
    case Op::Dec:
      return old == 0 || old > b ? b : T(old - 1);
    default:
      break;
    }
  }
  return old;
}

template <typename T>
Flow atomic(Warp &w, const Inst &i, uint32_t mask) {
  const Atomic &a = i.get<Atomic>();
  const uint64_t *b = w.row(i.s[1]), *c = w.row(i.s[i.sources > 2 ? 2 : 1]);
  w.machine.goOn();
  notePoll(w, i, mask, a.space, sizeof(T));
  forLanes(mask, [&](int l) {
    if (w.machine.stopped)
      return;
    uint8_t *target = combined(w, i, l, sizeof(T));
    if (!target)
      return;
    T old;
    std::memcpy(&old, target, sizeof(T));
    T value;
    if constexpr (std::is_same_v<T, float>)
      value =
          addInMemory(old, get<T>(b[l]), isGlobal(a.space, address(w, i, l)));
    else
      value = combine<T>(a.op, old, get<T>(b[l]), get<T>(c[l]));
    if (std::memcmp(&value, &old, sizeof(T)))
      w.machine.progress();
    std::memcpy(target, &value, sizeof(T));
    if (i.destinations)
      w.row(i.d[0])[l] = put(old);
  });
  return Flow::Next;
}

/// Null where the type does not have the operation.
Handler handlerOf(Type type, Op op) {
  bool adds = op == Op::Add;
  switch (type) {
  case Type::U32:
  case Type::B32:
    return atomic<uint32_t>;
  case Type::S32:
    return atomic<int32_t>;
  case Type::U64:
  case Type::B64:
    return atomic<uint64_t>;
  case Type::S64:
    return atomic<int64_t>;
  case Type::B16:
    return op == Op::Cas || op == Op::Exch ? atomic<uint16_t> : nullptr;
  case Type::F32:
    return adds ? atomic<float> : nullptr;
  case Type::F64:
    return adds ? atomic<double> : nullptr;
  default:
    return nullptr;
  }
}

} // namespace

bool fp8::sim::decodeAtomic(Decoder &d, Inst &i, bool result) {
  if (d.hasQualifier("async") && !d.hasQualifier("release"))
    return decodeReduceAsync(d, i);
  // red.async.release, to global memory, may land at once.
  if (d.take("async") && !d.requiresChip(100))
    return false;
  d.take("mmio");
  Atomic &a = i.make<Atomic>();
  a.strength = d.takeOneOf({"relaxed", "acquire", "release", "acq_rel"}) > 0
                   ? Strength::Strong
                   : Strength::Relaxed;
  d.takeScope(i);
  switch (d.takeOneOf({"global", "shared", "shared::cta", "shared::cluster"})) {
  case 0:
    a.space = AccessSpace::Global;
    break;
  case 1:
  case 2:
    a.space = AccessSpace::Shared;
    break;
  case 3:
    a.space = AccessSpace::SharedCluster;
    break;
  default:
    a.space = AccessSpace::Generic;
  }
  i.strong = i.combines = true;
  i.exclusive = mayBeGlobal(a.space);
  int op = d.takeOneOf(kOps);
  if (op < 0)
    return d.fail("needs an operation such as .add");
  d.take("noftz");
  d.dropCacheHints();
  a.op = Op(op);
  int vector = d.takeOneOf({"v2", "v4", "v8"});
  if (vector >= 0)
    return decodeFloatAtomic(d, i, a, 2u << vector, result);
  for (const char *type : {"f16", "f16x2", "bf16", "bf16x2"})
    if (d.hasQualifier(type))
      return decodeFloatAtomic(d, i, a, 1, result);
  if (result && d.take("b128"))
    return decodeWideAtomic(d, i, a);
  Type type = d.takeType();
  i.fn = handlerOf(type, a.op);
  bool ok =
      (!result || d.destination(i, type)) && d.address(i) && d.source(i, type);
  if (ok && a.op == Op::Cas)
    ok = d.source(i, type);
  if (ok && d.cacheHint)
    d.takeOperand();
  return ok;
}

uint8_t *fp8::sim::combined(Warp &w, const Inst &i, int lane, uint32_t bytes) {
  const Atomic &a = i.get<Atomic>();
  uint64_t at = address(w, i, lane);
  return access(w, i, lane, a.space, at, bytes, false, a.strength)
             ? access(w, i, lane, a.space, at, bytes, true, a.strength)
             : nullptr;
}

void fp8::sim::addAtomicOpcodes(OpcodeTable &t) {
  t.add("atom", [](Decoder &d, Inst &i) { return decodeAtomic(d, i, true); });
  t.add("red", [](Decoder &d, Inst &i) { return decodeAtomic(d, i, false); });
}
