// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// call and ret (PTX ISA 9.7.12.5, 9.7.12.6). A function's code lies behind the
// kernel's; a call gives each lane a frame for the function's variables and
// parameters.

#include "ISA/Families.h"

#include "ISA/Control/Control.h"
#include "Program/Decoder.h"

#include <algorithm>

using namespace fp8::sim;
using ast::Operand;

namespace {

Flow callDirect(Warp &w, const Inst &i, uint32_t mask) {
  const Program &program = w.machine.program;
  const CallSite &site = program.calls[i.get<CalledSite>().index];
  const Function &callee = program.functions[site.callee];
  if (!w.enter(i, mask, site, callee))
    return Flow::Next;
  w.branch(mask, callee.pc);
  return Flow::Jump;
}

/// Null if there is none but the entry.
const Function *functionAt(const Program &program, uint64_t address) {
  auto found = std::find_if(
      program.functions.begin() + 1, program.functions.end(),
      [&](const Function &function) { return function.address == address; });
  return found == program.functions.end() ? nullptr : &*found;
}

/// Why the call cannot be of this function; empty: it can.
std::string refusal(const CallSite &site, const Function &callee) {
  auto same = [](const std::vector<CallValue> &a,
                 const std::vector<CallValue> &b) {
    return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                      [](const CallValue &x, const CallValue &y) {
                        return x.bytes == y.bytes;
                      });
  };
  if (!same(callee.parameters, site.arguments) ||
      !same(callee.results, site.results))
    return "calls '" + callee.name +
           "', whose parameters or results are not those of the call";
  return "";
}

Flow callIndirect(Warp &w, const Inst &i, uint32_t mask) {
  const Program &program = w.machine.program;
  const CallSite &site = program.calls[i.get<CalledSite>().index];
  const uint64_t *address = w.row(i.s[0]);
  std::array<uint32_t, 32> targets{};
  for (uint32_t left = mask; left;) {
    int lane = __builtin_ctz(left);
    uint64_t callee = address[lane];
    uint32_t same = 0;
    forLanes(left, [&](int l) { same |= uint32_t(address[l] == callee) << l; });
    const Function *function = functionAt(program, callee);
    std::string problem = function ? refusal(site, *function)
                                   : "calls address " + std::to_string(callee) +
                                         ", where no function is";
    if (!problem.empty()) {
      w.machine.error(ErrorKind::InvalidOperation,
                      "'" + Machine::mnemonic(&i) + "' " + problem, &w, &i,
                      lane, true);
      return Flow::Next;
    }
    if (!w.enter(i, same, site, *function))
      return Flow::Next;
    forLanes(same, [&](int l) { targets[size_t(l)] = function->pc; });
    left &= ~same;
  }
  return jump(w, mask, targets);
}

Flow returnFromCall(Warp &w, const Inst &i, uint32_t mask) {
  std::array<uint32_t, 32> targets{};
  forLanes(mask, [&](int l) { targets[size_t(l)] = w.leave(i, l); });
  return jump(w, mask, targets);
}

/// The value that an operand of a call names, which has `bytes` (0: as many as
/// it has itself).
bool callValue(Decoder &d, const Operand &operand, uint64_t bytes,
               bool isResult, CallValue &value) {
  if (operand.kind == Operand::Kind::Symbol)
    if (const CallValue *frame = d.frameValue(operand.name)) {
      value = *frame;
      value.offset += uint64_t(operand.offset);
      return true;
    }
  value.inRow = true;
  value.bytes = bytes ? bytes : d.registerBytes(operand);
  if (!bytes && operand.kind != Operand::Kind::Register)
    value.bytes = 8;
  Type type = value.bytes <= 8 ? Type::B8 : Type::B128;
  if (isResult)
    return d.destinationRow(operand, type, value.row);
  return d.row(operand, type, value.row);
}

/// `sizes`: of the formal parameters; null where they are not known.
bool callValues(Decoder &d, const Operand *list,
                const std::vector<uint64_t> *sizes, bool isResult,
                std::vector<CallValue> &values) {
  const std::string what = isResult ? "result" : "argument";
  size_t count = list ? list->elements.size() : 0;
  if (sizes && sizes->size() != count)
    return d.fail("gives " + std::to_string(count) + " " + what +
                  "(s), but the function has " + std::to_string(sizes->size()));
  values.resize(count);
  for (size_t n = 0; n < count; ++n) {
    if (!callValue(d, list->elements[n], sizes ? (*sizes)[n] : 0, isResult,
                   values[n]))
      return false;
    if (!values[n].bytes || (sizes && values[n].bytes != (*sizes)[n]))
      return d.fail(what + " " + std::to_string(n) + " has " +
                    std::to_string(values[n].bytes) +
                    " bytes, but the function's has " +
                    std::to_string(sizes ? (*sizes)[n] : 0));
  }
  return true;
}

/// The sizes of what a call gives and takes, as its callee or prototype says.
struct Sizes {
  std::vector<uint64_t> results, parameters;

  static std::vector<uint64_t> of(const std::vector<EntryParameter> &formals) {
    std::vector<uint64_t> sizes;
    for (const EntryParameter &formal : formals)
      sizes.push_back(formal.sizeBytes);
    return sizes;
  }
};

bool decodeIndirect(Decoder &d, Inst &i, const CallOperands &call,
                    CallSite &site, std::optional<Sizes> &sizes) {
  site.indirect = true;
  if (!d.row(*call.callee, Type::B64, i.s[i.sources++]))
    return false;
  const ast::Prototype *prototype =
      call.prototype ? d.prototype(call.prototype->name) : nullptr;
  if (!prototype)
    return d.fail("needs the label of a .callprototype or .calltargets list");
  for (const std::string &target : prototype->targets)
    if (!d.kernel.find(target))
      return d.fail("may call '" + target +
                    "', which the module does not define");
  if (prototype->targets.empty())
    sizes = {Sizes::of(prototype->returns), Sizes::of(prototype->parameters)};
  i.fn = callIndirect;
  return true;
}

bool decodeDirect(Decoder &d, Inst &i, const std::string &callee,
                  CallSite &site, std::optional<Sizes> &sizes) {
  if (std::optional<uint32_t> index = d.kernel.find(callee)) {
    const ast::Function &source = *d.kernel.functions()[*index].source;
    site.callee = *index;
    sizes = {Sizes::of(source.returns), Sizes::of(source.signature.parameters)};
    i.fn = callDirect;
    return true;
  }
  if (const SystemFunction *system = findSystemFunction(callee)) {
    sizes = {{}, system->parameterBytes};
    if (system->resultBytes)
      sizes->results.push_back(system->resultBytes);
    i.fn = system->run;
    return true;
  }
  return d.fail("calls '" + callee +
                "', which the module does not define; link the module with "
                "what defines it");
}

bool decodeCall(Decoder &d, Inst &i) {
  d.take("uni");
  CallOperands call(d.text());
  for (const Operand *operand :
       {call.results, call.callee, call.arguments, call.prototype})
    if (operand)
      d.takeOperand();
  if (!call.callee)
    return d.fail("needs the name or the address of a function");
  CallSite site;
  std::optional<Sizes> sizes;
  bool ok = call.callee->kind == Operand::Kind::Register
                ? decodeIndirect(d, i, call, site, sizes)
                : decodeDirect(d, i, call.callee->name, site, sizes);
  if (!ok ||
      !callValues(d, call.results, sizes ? &sizes->results : nullptr, true,
                  site.results) ||
      !callValues(d, call.arguments, sizes ? &sizes->parameters : nullptr,
                  false, site.arguments))
    return false;
  i.make<CalledSite>().index = uint32_t(d.program.calls.size());
  d.program.calls.push_back(std::move(site));
  return true;
}

} // namespace

void fp8::sim::addCallsOpcodes(OpcodeTable &t) {
  t.add("call", decodeCall);
  t.add("ret", [](Decoder &d, Inst &i) {
    d.take("uni");
    i.fn = d.functionIndex() ? returnFromCall : exitThread;
    i.leaves = true;
    return true;
  });
}
