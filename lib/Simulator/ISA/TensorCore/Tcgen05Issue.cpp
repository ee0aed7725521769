// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What tcgen05.mma, .cp and .shift have in common.

#include "ISA/TensorCore/Tcgen05Issue.h"

using namespace fp8::sim;

TensorCoreIssue::TensorCoreIssue(Warp &w, const Inst &i, int lane, bool pair)
    : w(w), i(i), lane(lane), m(w.machine), pair(pair),
      op(std::make_unique<AsyncOp>(i, w, lane, Engine::Mma)) {}

bool TensorCoreIssue::bad(ErrorKind kind, const std::string &message) {
  m.error(kind, "'" + Machine::mnemonic(&i) + "': " + message, &w, &i, lane,
          true);
  return false;
}

/// Either CTA of a pair may issue, while the other has not exited (PTX
/// ISA 9.7.16.5).
bool TensorCoreIssue::begin(TensorIssue issue) {
  ctas.push_back(&w.cta);
  if (pair) {
    Cta *peer = m.pairPeer(w, i, lane);
    if (!peer)
      return false;
    ctas.insert(peer->rank < w.cta.rank ? ctas.begin() : ctas.end(), peer);
  }
  op->pipe = tensorCorePipe(w, lane);
  issue.lane = lane;
  tag = AccessTag(m.mmaAgent(w, lane), w.tensorIssues.add(issue), i.index);
  return true;
}

bool TensorCoreIssue::checkTensor(TensorRegion region) {
  for (Cta *cta : ctas) {
    region.cta = cta->rank;
    if (!cta->tensor.check(w, i, region, tag, op->pipe))
      return false;
  }
  return true;
}

bool TensorCoreIssue::takeTensor(TensorRegion region) {
  if (!checkTensor(region))
    return false;
  for (Cta *cta : ctas) {
    region.cta = cta->rank;
    op->tensor.push_back(region);
  }
  return true;
}

bool TensorCoreIssue::takeShared(unsigned source, const std::string &name,
                                 bool mnMajor, unsigned elementBytes,
                                 uint32_t rows, uint32_t count, uint32_t used,
                                 std::shared_ptr<const OperandLayout> &layout) {
  MatrixDescriptor descriptor;
  if (auto wrong = decodeMatrixDescriptor(w.row(i.s[source])[lane], mnMajor,
                                          elementBytes, descriptor))
    return bad(ErrorKind::BadDescriptor,
               "in the descriptor of " + name + " " + *wrong);
  layout = layoutOf(descriptor, rows, count, used);
  for (Cta *cta : ctas)
    op->shared.push_back(OperandLayout::access(layout, cta->rank));
  return true;
}

bool TensorCoreIssue::checkShared(std::vector<bool> *undefined) {
  for (const auto &[cta, footprint] : op->shared) {
    bool finds = false;
    if (!m.ctas[cta]->shared.checkAsync(w, i, lane, *footprint, tag, op->pipe,
                                        Proxy::Async,
                                        undefined ? &finds : nullptr))
      return false;
    if (undefined)
      undefined->push_back(finds);
  }
  return true;
}

void TensorCoreIssue::finish(std::function<void()> complete) {
  for (Cta *cta : ctas)
    m.touchRemote(*cta, w, i, tag.agent(), w.tensorIssues.lastOf(lane));
  std::vector<TensorRegion> results;
  for (const TensorRegion &region : op->tensor)
    if (region.write)
      results.push_back(region);
  Machine *machine = &m;
  op->complete = [machine, complete = std::move(complete),
                  results = std::move(results)] {
    for (const TensorRegion &region : results)
      machine->ctas[region.cta]->tensor.markInitialised(region);
    complete();
  };
  m.issue(std::move(op));
}
