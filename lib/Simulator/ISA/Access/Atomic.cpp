// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// atom and red (PTX ISA 9.7.13). Lanes of a warp take effect one after another.

#include "ISA/Families.h"

#include "ISA/Access/Access.h"
#include "ISA/Alu/Alu.h"

#include <algorithm>
#include <cmath>
#include <cstring>

using namespace fp8::sim;

namespace {

enum class Op { Add, Min, Max, And, Or, Xor, Exch, Cas, Inc, Dec };
const std::initializer_list<std::string_view> kOps = {
    "add", "min", "max", "and", "or", "xor", "exch", "cas", "inc", "dec"};

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

/// Payload of atom and red.
struct Atomic {
  AccessSpace space;
  Op op;
  Strength strength;
  uint32_t elementBytes; ///< of red's vectors
};

/// Where the bytes are that an operation combines with others; null after an
/// error. It reads and writes them, so they must be defined.
uint8_t *combined(Warp &w, const Inst &i, int lane, uint32_t bytes) {
  const Atomic &a = i.get<Atomic>();
  uint64_t address = w.row(i.s[0])[lane] + uint64_t(i.offset);
  return access(w, i, lane, a.space, address, bytes, false, a.strength)
             ? access(w, i, lane, a.space, address, bytes, true, a.strength)
             : nullptr;
}

template <typename T>
Flow atomic(Warp &w, const Inst &i, uint32_t mask) {
  const Atomic &a = i.get<Atomic>();
  const uint64_t *b = w.row(i.s[1]), *c = w.row(i.s[i.sources > 2 ? 2 : 1]);
  w.machine.progress();
  forLanes(mask, [&](int l) {
    if (w.machine.stopped)
      return;
    uint8_t *target = combined(w, i, l, sizeof(T));
    if (!target)
      return;
    T old;
    std::memcpy(&old, target, sizeof(T));
    T value = combine<T>(a.op, old, get<T>(b[l]), get<T>(c[l]));
    std::memcpy(target, &value, sizeof(T));
    if (i.destinations)
      w.row(i.d[0])[l] = put(old);
  });
  return Flow::Next;
}

/// Adds to pairs of 16-bit numbers, each by itself.
template <typename Format>
Flow atomicHalves(Warp &w, const Inst &i, uint32_t mask) {
  const uint64_t *b = w.row(i.s[1]);
  w.machine.progress();
  forLanes(mask, [&](int l) {
    if (w.machine.stopped)
      return;
    uint8_t *target = combined(w, i, l, 4);
    if (!target)
      return;
    uint32_t old, value = 0;
    std::memcpy(&old, target, 4);
    for (int shift = 0; shift < 32; shift += 16)
      value |=
          uint32_t(put(Format::from(double(float(get<Format>(old >> shift))) +
                                    double(float(get<Format>(b[l] >> shift))))))
          << shift;
    std::memcpy(target, &value, 4);
    if (i.destinations)
      w.row(i.d[0])[l] = old;
  });
  return Flow::Next;
}

float sum(float a, float b) { return a + b; }
template <typename Format>
Format sum(Format a, Format b) {
  return Format::from(double(float(a)) + double(float(b)));
}

/// red.add of vectors, and of single numbers of 16 bits. List: the vector; a
/// register holds as many numbers as fit, or one of 16 bits.
template <typename T>
Flow vectorAdd(Warp &w, const Inst &i, uint32_t mask) {
  const uint32_t *rows = &w.machine.program.lists[i.list];
  uint32_t elementBytes = i.get<Atomic>().elementBytes,
           bytes = elementBytes * i.listCount;
  w.machine.progress();
  forLanes(mask, [&](int l) {
    if (w.machine.stopped)
      return;
    uint8_t *target = combined(w, i, l, bytes);
    for (uint32_t at = 0; target && at < bytes; at += sizeof(T)) {
      T old;
      std::memcpy(&old, target + at, sizeof(T));
      uint64_t value = w.row(rows[at / elementBytes])[l];
      old = sum(old, get<T>(value >> at % elementBytes * 8));
      std::memcpy(target + at, &old, sizeof(T));
    }
  });
  return Flow::Next;
}

/// PTX ISA 9.7.13.6, red, the forms with .vec_16_bit and .vec_32_bit.
bool decodeVectorAdd(Decoder &d, Inst &i, Atomic &a, uint32_t count) {
  Type type = d.takeType();
  i.fn = type == Type::F32                            ? vectorAdd<float>
         : type == Type::F16 || type == Type::F16x2   ? vectorAdd<Half>
         : type == Type::BF16 || type == Type::BF16x2 ? vectorAdd<BFloat>
                                                      : nullptr;
  a.elementBytes = typeSize(type);
  if (!i.fn || a.op != Op::Add || count * a.elementBytes > 16)
    return d.fail("takes a vector only with .add, of f32, f16, bf16 or packed "
                  "pairs, and of at most 16 bytes");
  return d.address(i) && d.list(i, count, type, false) &&
         (!d.cacheHint || d.takeOperand());
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
  case Type::F16x2:
    return adds ? atomicHalves<Half> : nullptr;
  case Type::BF16x2:
    return adds ? atomicHalves<BFloat> : nullptr;
  default:
    return nullptr;
  }
}

bool decodeAtomic(Decoder &d, Inst &i, bool result) {
  if (d.hasQualifier("async"))
    return d.fail("red.async is not supported");
  Atomic &a = i.make<Atomic>();
  a.strength = d.takeOneOf({"relaxed", "acquire", "release", "acq_rel"}) > 0
                   ? Strength::Strong
                   : Strength::Relaxed;
  d.takeOneOf({"cta", "cluster", "gpu", "sys"});
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
  i.exclusive = mayBeGlobal(a.space);
  int op = d.takeOneOf(kOps);
  if (op < 0)
    return d.fail("needs an operation such as .add");
  d.take("noftz");
  d.dropCacheHints();
  a.op = Op(op);
  if (!result && (d.hasQualifier("f16") || d.hasQualifier("bf16")))
    return decodeVectorAdd(d, i, a,
                           1u << (d.takeOneOf({"v2", "v4", "v8"}) + 1));
  int vector = d.takeOneOf({"v2", "v4"});
  if (!result && vector >= 0)
    return decodeVectorAdd(d, i, a, 2u << vector);
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

} // namespace

void fp8::sim::addAtomicOpcodes(OpcodeTable &t) {
  t.add("atom", [](Decoder &d, Inst &i) { return decodeAtomic(d, i, true); });
  t.add("red", [](Decoder &d, Inst &i) { return decodeAtomic(d, i, false); });
}
