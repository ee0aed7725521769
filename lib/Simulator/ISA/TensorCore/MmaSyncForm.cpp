// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The qualifiers of mma.sync.

#include "ISA/TensorCore/MmaSyncForm.h"

#include <algorithm>

using namespace fp8::sim;

namespace {

uint8_t indexOf(const std::string &type) {
  return uint8_t(
      std::find_if(std::begin(kMmaTypes), std::end(kMmaTypes),
                   [&](const MmaElement &t) { return t.name == type; }) -
      std::begin(kMmaTypes));
}

} // namespace

bool fp8::sim::addsUpIn(Type type, const MmaElement &element) {
  switch (element.operands) {
  case MmaOperands::F64:
    return type == Type::F64;
  case MmaOperands::Int8:
  case MmaOperands::Int4:
  case MmaOperands::Bit:
    return type == Type::S32;
  case MmaOperands::TF32:
    return type == Type::F32;
  case MmaOperands::Float8:
  case MmaOperands::Float16:
    return type == Type::F32 ||
           (type == Type::F16 && element.format != MmaFormat::BF16);
  }
  return false;
}

std::vector<std::string> fp8::sim::takeMmaTypes(Decoder &d) {
  std::vector<std::string> types;
  for (const std::string &name : d.text().qualifiers)
    if (typeByName(name) != Type::None || indexOf(name) < std::size(kMmaTypes))
      types.push_back(name);
  for (const std::string &name : types)
    d.take(name);
  return types;
}

std::string fp8::sim::takeMmaShape(Decoder &d) {
  const std::vector<std::string> &q = d.text().qualifiers;
  auto at = std::find_if(q.begin(), q.end(), [](const std::string &s) {
    return s.size() > 1 && s[0] == 'm' && s[1] >= '0' && s[1] <= '9';
  });
  if (at == q.end())
    return "";
  d.take(*at);
  return *at;
}

bool fp8::sim::setMmaTypes(Decoder &d, MmaSyncForm &mma,
                           const std::vector<std::string> &types) {
  mma.a = indexOf(types[1]);
  mma.b = indexOf(types[2]);
  if (mma.a == std::size(kMmaTypes) || mma.b == std::size(kMmaTypes))
    return d.fail("is not supported with operands of ." + types[1] + " and ." +
                  types[2]);
  const MmaElement &a = mma.typeA(), &b = mma.typeB();
  if (a.operands != b.operands ||
      (a.operands == MmaOperands::Float16 && a.format != b.format))
    return d.fail("cannot multiply ." + types[1] + " by ." + types[2]);
  mma.d = typeByName(types[0]);
  mma.c = typeByName(types[3]);
  return (addsUpIn(mma.d, a) && addsUpIn(mma.c, a)) ||
         d.fail("cannot add up products of ." + types[1] + " in ." + types[0]);
}

bool fp8::sim::setMmaShape(MmaSyncForm &mma, std::string_view shape,
                           bool sparse) {
  auto found = std::find_if(
      std::begin(kMmaShapes), std::end(kMmaShapes), [&](const MmaSyncShape &s) {
        return s.name == shape && s.operands == mma.typeA().operands &&
               s.sparse == sparse;
      });
  mma.shape = uint8_t(found - std::begin(kMmaShapes));
  return found != std::end(kMmaShapes);
}

bool fp8::sim::takeMmaSyncForm(Decoder &d, MmaSyncForm &mma, bool sparse) {
  const std::string shape = takeMmaShape(d);
  if (shape.empty())
    return d.fail("needs a shape .mMnNkK");
  if (!d.take("row") || !d.take("col"))
    return d.fail("needs .row.col");
  mma.saturate = d.take("satfinite");
  // The four types come in the order D, A, B, C, whatever stands between.
  std::vector<std::string> types = takeMmaTypes(d);
  if (types.size() != 4)
    return d.fail("needs the types of D, A, B and C");
  return setMmaTypes(d, mma, types) &&
         (setMmaShape(mma, shape, sparse) ||
          d.fail("is not supported with shape ." + shape +
                 " and operands of ." + types[1] +
                 (sparse ? " with .sp" : "")));
}
