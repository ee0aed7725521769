// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The qualifiers of mma.sync.

#include "ISA/TensorCore/MmaSyncForm.h"

#include <algorithm>

using namespace fp8::sim;

namespace {

/// Whether D or C of `type` fits operands of `element`.
bool fits(Type type, const MmaElement &element) {
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

} // namespace

bool fp8::sim::takeMmaSyncForm(Decoder &d, MmaSyncForm &mma, bool sparse) {
  const std::vector<std::string> &q = d.text().qualifiers;
  auto at = std::find_if(q.begin(), q.end(), [](const std::string &s) {
    return s.size() > 1 && s[0] == 'm' && s[1] >= '0' && s[1] <= '9';
  });
  if (at == q.end())
    return d.fail("needs a shape .mMnNkK");
  const std::string shape = *at;
  d.take(shape);
  if (!d.take("row") || !d.take("col"))
    return d.fail("needs .row.col");
  mma.saturate = d.take("satfinite");
  // The four types come in the order D, A, B, C, whatever stands between.
  std::vector<std::string> types;
  for (const std::string &name : q)
    if (typeByName(name) != Type::None ||
        std::any_of(std::begin(kMmaTypes), std::end(kMmaTypes),
                    [&](const MmaElement &t) { return t.name == name; }))
      types.push_back(name);
  if (types.size() != 4)
    return d.fail("needs the types of D, A, B and C");
  for (const std::string &name : types)
    d.take(name);
  auto index = [](const std::string &name) {
    return uint8_t(
        std::find_if(std::begin(kMmaTypes), std::end(kMmaTypes),
                     [&](const MmaElement &t) { return t.name == name; }) -
        std::begin(kMmaTypes));
  };
  mma.a = index(types[1]);
  mma.b = index(types[2]);
  if (mma.a == std::size(kMmaTypes) || mma.b == std::size(kMmaTypes))
    return d.fail("is not supported with operands of ." + types[1] + " and ." +
                  types[2]);
  const MmaElement &a = mma.typeA(), &b = mma.typeB();
  if (a.operands != b.operands ||
      (a.operands == MmaOperands::Float16 && a.format != b.format))
    return d.fail("cannot multiply ." + types[1] + " by ." + types[2]);
  mma.d = typeByName(types[0]);
  mma.c = typeByName(types[3]);
  if (!fits(mma.d, a) || !fits(mma.c, a))
    return d.fail("cannot add up products of ." + types[1] + " in ." +
                  types[0]);
  auto found = std::find_if(
      std::begin(kMmaShapes), std::end(kMmaShapes), [&](const MmaSyncShape &s) {
        return s.name == shape && s.operands == a.operands &&
               s.sparse == sparse;
      });
  if (found == std::end(kMmaShapes))
    return d.fail("is not supported with shape ." + shape +
                  " and operands of ." + types[1] +
                  (sparse ? " with .sp" : ""));
  mma.shape = uint8_t(found - std::begin(kMmaShapes));
  return true;
}
