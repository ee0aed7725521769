// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// SIMD video instructions: integers of 8 or 16 bits in a word (PTX ISA 9.7.18).

#include "ISA/Families.h"

#include "ISA/Alu/Alu.h"

#include <algorithm>

using namespace fp8::sim;

namespace {

enum class VideoOp : uint8_t { Add, Sub, Average, Distance, Min, Max, Compare };
enum class Relation : uint8_t {
  Equal,
  NotEqual,
  Less,
  LessEqual,
  Greater,
  GreaterEqual
};

struct VideoOpcode {
  std::string_view name;
  VideoOp op;
  uint8_t elements;
};
const VideoOpcode kOpcodes[] = {
    {"vadd2", VideoOp::Add, 2},          {"vadd4", VideoOp::Add, 4},
    {"vsub2", VideoOp::Sub, 2},          {"vsub4", VideoOp::Sub, 4},
    {"vavrg2", VideoOp::Average, 2},     {"vavrg4", VideoOp::Average, 4},
    {"vabsdiff2", VideoOp::Distance, 2}, {"vabsdiff4", VideoOp::Distance, 4},
    {"vmin2", VideoOp::Min, 2},          {"vmin4", VideoOp::Min, 4},
    {"vmax2", VideoOp::Max, 2},          {"vmax4", VideoOp::Max, 4},
    {"vset2", VideoOp::Compare, 2},      {"vset4", VideoOp::Compare, 4},
};

/// Payload.
struct Video {
  VideoOp op;
  Relation relation;
  uint8_t elements;
  bool signedD, signedA, signedB, saturates;
  bool adds; ///< the sum of the elements and C; else the elements

  int bits() const { return 32 / elements; }
  int64_t element(uint64_t word, int index, bool isSigned) const {
    int64_t value =
        int64_t(word >> (index * bits()) & lowBits(unsigned(bits())));
    return isSigned && value >> (bits() - 1) ? value - (int64_t(1) << bits())
                                             : value;
  }
  bool holds(int64_t a, int64_t b) const {
    switch (relation) {
    case Relation::Equal:
      return a == b;
    case Relation::NotEqual:
      return a != b;
    case Relation::Less:
      return a < b;
    case Relation::LessEqual:
      return a <= b;
    case Relation::Greater:
      return a > b;
    case Relation::GreaterEqual:
      return a >= b;
    }
    return false;
  }
  int64_t of(int64_t a, int64_t b) const {
    switch (op) {
    case VideoOp::Add:
      return a + b;
    case VideoOp::Sub:
      return a - b;
    case VideoOp::Average: // halves away from zero
      return a + b >= 0 ? (a + b + 1) >> 1 : (a + b) >> 1;
    case VideoOp::Distance:
      return a > b ? a - b : b - a;
    case VideoOp::Min:
      return std::min(a, b);
    case VideoOp::Max:
      return std::max(a, b);
    case VideoOp::Compare:
      return holds(a, b);
    }
    return 0;
  }
  uint32_t compute(uint64_t a, uint64_t b, uint64_t c) const {
    const int64_t least = signedD ? -(int64_t(1) << (bits() - 1)) : 0;
    const int64_t most = least + int64_t(lowBits(unsigned(bits())));
    uint64_t result = adds ? c : 0;
    for (int index = 0; index < elements; ++index) {
      int64_t value =
          of(element(a, index, signedA), element(b, index, signedB));
      if (saturates)
        value = std::clamp(value, least, most);
      result += adds ? uint64_t(value)
                     : (uint64_t(value) & lowBits(unsigned(bits())))
                           << (index * bits());
    }
    return uint32_t(result);
  }
};

Flow video(Warp &w, const Inst &i, uint32_t mask) {
  uint64_t *d = w.row(i.d[0]);
  const uint64_t *a = w.row(i.s[0]), *b = w.row(i.s[1]), *c = w.row(i.s[2]);
  const Video &form = i.get<Video>();
  forLanes(mask, [&](int l) { d[l] = form.compute(a[l], b[l], c[l]); });
  return Flow::Next;
}

/// The next type; false where it is none of 32-bit integers.
bool takeSign(Decoder &d, bool &isSigned) {
  Type type = d.takeType();
  isSigned = type == Type::S32;
  return type == Type::U32 || isSigned;
}

bool decodeVideo(Decoder &d, Inst &i) {
  const VideoOpcode &opcode = *std::find_if(
      std::begin(kOpcodes), std::end(kOpcodes),
      [&](const VideoOpcode &row) { return row.name == d.text().opcode; });
  Video &form = i.make<Video>();
  const VideoOp op = form.op = opcode.op;
  form.elements = opcode.elements;
  // Comparisons give no signed result, and have no type for it.
  if ((op != VideoOp::Compare && !takeSign(d, form.signedD)) ||
      !takeSign(d, form.signedA) || !takeSign(d, form.signedB))
    return d.fail("needs the types .u32 or .s32 of its operands");
  if (op == VideoOp::Compare) {
    int relation = d.takeOneOf({"eq", "ne", "lt", "le", "gt", "ge"});
    if (relation < 0)
      return d.fail("needs a comparison");
    form.relation = Relation(relation);
  } else {
    form.saturates = d.take("sat");
  }
  form.adds = d.take("add");
  if (form.adds && form.saturates)
    return d.fail("cannot saturate and add");
  i.fn = video;
  if (!form.adds)
    spreadElements(i, form.elements, unsigned(form.bits()),
                   unsigned(form.bits()));
  return operands(d, i, Type::B32, 3);
}

} // namespace

void fp8::sim::addVideoOpcodes(OpcodeTable &t) {
  for (const VideoOpcode &row : kOpcodes)
    t.add(row.name, decodeVideo);
}
