// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// clusterlaunchcontrol (PTX ISA 9.7.13.17, 9.7.13.18): a running cluster takes
// over one that has not started.

#include "ISA/Families.h"

#include "ISA/Access/Access.h"
#include "ISA/Alu/Alu.h"
#include "ISA/Copy/Copy.h"

#include <cstring>

using namespace fp8::sim;

namespace {

// The 16 bytes of a response: x, y, z, and this word plus 1 on success. PTX
// leaves them opaque.
constexpr uint32_t kResponse = 0xc1c05ea0;
using Response = std::array<uint32_t, 4>;

/// Payload of clusterlaunchcontrol.try_cancel.
struct CancelRequest {
  bool multicast;
  bool generic;           ///< the addresses are
  uint64_t barrierOffset; ///< of the mbarrier's address
};

bool sharedOperand(Warp &w, const Inst &i, int lane, uint64_t &address) {
  bool isShared =
      !i.get<CancelRequest>().generic || genericToShared(address, address);
  if (isShared && address >> kSharedRankShift == w.cta.rank)
    return true;
  w.machine.error(ErrorKind::OutOfBounds,
                  "'" + Machine::mnemonic(&i) +
                      "' uses an address outside the CTA's own shared memory",
                  &w, &i, lane, true);
  return false;
}

/// A CTA that has observed a failed request may make no other (PTX ISA
/// 9.7.13.17). False after an error.
bool mayRequest(Warp &w, const Inst &i, int lane) {
  Machine &m = w.machine;
  const FailureSeen *seen = nullptr;
  bool isLater = false; // in every schedule
  for (const auto &[agent, failure] : w.cta.failuresSeen) {
    if (isLater)
      break;
    seen = &failure;
    isLater = w.isOwnAccess(agent)
                  ? (failure.lanes >> lane & 1) != 0 || w.knowsOwn(failure.wait)
                  : w.knows(failure.wait);
  }
  if (!seen || !(isLater || m.checksOrder))
    return true;
  SimulationError &e = m.error(
      isLater ? ruleOf(ErrorKind::InvalidOperation) : Rule::UnorderedRequest,
      "'" + Machine::mnemonic(&i) + "' makes a request " +
          (isLater ? "after a thread of the CTA has observed"
                   : "while another thread of the CTA may observe") +
          " a failed request of this cluster; stop at the first "
          "response that is not canceled",
      &w, &i, lane, isLater);
  e.notes.push_back(
      m.note(&m.program.code[seen->wait.instruction()],
             "observed here, " + m.agentName(seen->wait.agent())));
  return !m.stopped;
}

void tryCancelLane(Warp &w, const Inst &i, int lane) {
  Machine &m = w.machine;
  const CancelRequest &request = i.get<CancelRequest>();
  BulkLoad load;
  load.target = w.row(i.s[0])[lane] + uint64_t(i.offset);
  load.barrier = w.row(i.s[1])[lane] + request.barrierOffset;
  if (!sharedOperand(w, i, lane, load.target) ||
      !sharedOperand(w, i, lane, load.barrier))
    return;
  if (load.target % 16) {
    m.error(ErrorKind::Misaligned,
            "'" + Machine::mnemonic(&i) +
                "' writes its response to an address that is not a multiple "
                "of 16",
            &w, &i, lane, true);
    return;
  }
  if (!mayRequest(w, i, lane))
    return;
  Mbarrier *barrier = m.barrierAt(w, i, lane, load.barrier, true);
  if (!barrier)
    return;
  std::optional<ClusterIndex> taken = m.cancelCluster();
  if (!taken)
    m.requestFails(*barrier);
  Response response{0, 0, 0, kResponse};
  if (taken)
    response = {(*taken)[0], (*taken)[1], (*taken)[2], kResponse + 1};
  load.bytes = sizeof(Response);
  load.multicast = request.multicast;
  load.ctaMask = (1u << m.ctas.size()) - 1;
  load.engine = Engine::ClusterControl;
  issueLoad(w, i, lane, load, [response](auto &target, auto &) {
    std::memcpy(target.data(), response.data(), sizeof(Response));
  });
}

Flow tryCancel(Warp &w, const Inst &i, uint32_t mask) {
  forLanes(mask, [&](int lane) {
    if (!w.machine.stopped)
      tryCancelLane(w, i, lane);
  });
  return Flow::Next;
}

/// The response that a lane holds; false after an error.
bool responseOf(Warp &w, const Inst &i, int lane, Response &response) {
  uint64_t low = w.row(i.s[0])[lane], high = w.row(i.s[0] + 1)[lane];
  response = {uint32_t(low), uint32_t(low >> 32), uint32_t(high),
              uint32_t(high >> 32)};
  if (response[3] >> 1 == kResponse >> 1)
    return true;
  w.machine.error(ErrorKind::InvalidOperation,
                  "'" + Machine::mnemonic(&i) +
                      "' takes 16 bytes that clusterlaunchcontrol.try_cancel "
                      "did not write",
                  &w, &i, lane, true);
  return false;
}

Flow isCanceled(Warp &w, const Inst &i, uint32_t mask) {
  uint32_t result = 0;
  forLanes(mask, [&](int lane) {
    Response response;
    if (!w.machine.stopped && responseOf(w, i, lane, response))
      result |= (response[3] & 1) << lane;
  });
  w.setPredicate(i, 0, mask, result);
  return Flow::Next;
}

/// Payload of query_cancel.get_first_ctaid: the dimension asked for.
enum class Dimension { X, Y, Z, All };

/// All dimensions go to the list.
Flow firstCta(Warp &w, const Inst &i, uint32_t mask) {
  Dimension dimension = i.get<Dimension>();
  forLanes(mask, [&](int lane) {
    Response response;
    if (w.machine.stopped || !responseOf(w, i, lane, response))
      return;
    if (!(response[3] & 1)) {
      w.machine.error(ErrorKind::InvalidOperation,
                      "'" + Machine::mnemonic(&i) +
                          "' reads the first CTA of a failed request; test "
                          "query_cancel.is_canceled first",
                      &w, &i, lane, true);
      return;
    }
    response[3] = 0;
    if (dimension != Dimension::All) {
      w.row(i.d[0])[lane] = response[size_t(dimension)];
      return;
    }
    for (uint32_t n = 0; n < 4; ++n)
      w.row(w.machine.program.lists[i.list + n])[lane] = response[n];
  });
  return Flow::Next;
}

bool decodeTryCancel(Decoder &d, Inst &i) {
  if (!d.take("async") || !d.take("mbarrier::complete_tx::bytes"))
    return d.fail("needs .async and .mbarrier::complete_tx::bytes");
  CancelRequest &request = i.make<CancelRequest>();
  request.generic = !d.take("shared::cta");
  request.multicast = d.take("multicast::cluster::all");
  i.fn = tryCancel;
  i.exclusive = true;
  return d.take("b128") ? d.address(i) && d.address(i, request.barrierOffset)
                        : d.fail("needs .b128");
}

bool decodeQuery(Decoder &d, Inst &i) {
  if (d.take("is_canceled")) {
    i.fn = isCanceled;
    return d.take("pred") && d.take("b128") && d.predicateDestination(i) &&
           d.source(i, Type::B128);
  }
  i.fn = firstCta;
  if (d.take("get_first_ctaid")) {
    i.make<Dimension>() = Dimension::All;
    return d.take("v4") && d.take("b32") && d.take("b128") &&
           d.list(i, 4, Type::B32, true) && d.source(i, Type::B128);
  }
  int dimension = d.takeOneOf(
      {"get_first_ctaid::x", "get_first_ctaid::y", "get_first_ctaid::z"});
  if (dimension < 0)
    return d.fail("needs .is_canceled or .get_first_ctaid");
  i.make<Dimension>() = Dimension(dimension);
  return d.take("b32") && d.take("b128") && d.destination(i, Type::B32) &&
         d.source(i, Type::B128);
}

} // namespace

void fp8::sim::addClusterControlOpcodes(OpcodeTable &t) {
  t.add("clusterlaunchcontrol", [](Decoder &d, Inst &i) {
    if (d.take("try_cancel"))
      return decodeTryCancel(d, i);
    return d.take("query_cancel") ? decodeQuery(d, i)
                                  : d.fail("is not supported");
  });
}
