// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// multimem.ld_reduce, multimem.st and multimem.red (PTX ISA 9.7.9.14). A
// multimem address stands for one place in the memory of each of several
// devices. Here there is one device, so the address is that of the place: a
// load has nothing to combine.

#include "ISA/Families.h"

#include "ISA/Access/Atomic.h"

using namespace fp8::sim;

static bool decodeMultimem(Decoder &d, Inst &i) {
  if (d.hasQualifier("cp"))
    return d.fail("is not supported as a bulk copy");
  if (d.takeOneOf({"shared", "shared::cta", "shared::cluster"}) >= 0)
    return d.fail("works on global memory");
  if (d.take("red"))
    return decodeAtomic(d, i, /*result=*/false);
  if (d.take("st"))
    return decodeAccess(d, i, /*isLoad=*/false);
  if (!d.take("ld_reduce"))
    return d.fail("needs .ld_reduce, .st or .red");
  if (d.takeOneOf({"add", "min", "max", "and", "or", "xor"}) < 0)
    return d.fail("needs an operation such as .add");
  // How precisely the devices' values are added up.
  d.takeOneOf({"acc::f32", "acc::f16"});
  return decodeAccess(d, i, /*isLoad=*/true);
}

void fp8::sim::addMultimemOpcodes(OpcodeTable &t) {
  t.add("multimem", decodeMultimem);
}
