// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The table of events. A kernel has no other spelling of them: a weaker one,
// such as a relaxed arrival, has no form and is reported.

#include "Forms.h"

#include <array>
#include <sstream>
#include <string_view>
#include <unordered_map>

using namespace fp8::prooftext;
using Kind = FormOperand::Kind;

namespace {

/// Operands, separated by blanks: `-` is ignored, `>` the outcome, `@x` an
/// address in shared memory, `#x` a number, `^x` a descriptor, `?x` a
/// predicate, `!x` the address of a parameter, `=N` always N.
struct Row {
  const char *pattern, *kind, *operands;
};

constexpr Row kRows[] = {
    // Barriers in shared memory.
    {"mbarrier.init.shared.b64", "init", "@at #count"},
    {"fence.mbarrier_init.release.cluster", "init fence", ""},
    {"mbarrier.try_wait.parity.shared.b64", "wait", "> @at #parity -"},
    {"mbarrier.try_wait.parity.acquire.cluster.shared.b64", "wait for cluster",
     "> @at #parity -"},
    {"mbarrier.test_wait.parity.shared.b64", "test", "> @at #parity"},
    {"mbarrier.arrive.shared.b64", "arrive", "- @at"},
    {"mbarrier.arrive.shared::cluster.b64", "arrive remotely", "- @at =1"},
    {"cp.async.mbarrier.arrive.noinc.shared.b64", "arrive after copies", "@at"},
    {"mbarrier.arrive.expect_tx.shared.b64", "arrive expecting",
     "- @at #bytes"},
    {"mbarrier.arrive.expect_tx.relaxed.cluster.shared::cluster.b64",
     "arrive expecting remotely", "- @at #bytes"},
    {"mbarrier.expect_tx.relaxed.cta.shared.b64", "expect", "@at #bytes"},
    // Copies.
    {"cp.async.bulk.tensor.*.shared::cluster.global.tile.mbarrier::"
     "complete_tx::bytes",
     "copy", "@to !map @at"},
    {"cp.async.bulk.tensor.*.shared::cluster.global.tile.mbarrier::"
     "complete_tx::bytes.multicast::cluster",
     "copy to several", "@to !map @at %mask"},
    {"cp.async.bulk.tensor.*.shared::cluster.global.tile.mbarrier::"
     "complete_tx::bytes.cta_group::2",
     "copy of pair", "@to !map @at"},
    {"cp.async.bulk.tensor.*.shared::cluster.global.tile.mbarrier::"
     "complete_tx::bytes.multicast::cluster.cta_group::2",
     "copy of pair to several", "@to !map @at %mask"},
    {"cp.async.ca.shared.global", "copy element", "@to - =4"},
    {"cp.async.ca.shared.global", "copy element", "@to - =4 -"},
    {"cp.async.bulk.tensor.*.global.shared::cta.tile.bulk_group", "store",
     "- @from"},
    {"cp.async.bulk.commit_group", "commit stores", ""},
    {"cp.async.bulk.wait_group", "wait for stores", "#pending"},
    {"cp.async.bulk.wait_group.read", "wait for reads of stores", "#pending"},
    {"st.async.shared::cluster.mbarrier::complete_tx::bytes.v4.f32", "send",
     "- - @at"},
    {"fence.proxy.async.shared::cta", "proxy fence", ""},
    // Threads that meet.
    {"bar.sync", "sync", "#id"},
    {"bar.sync", "named sync", "#id #threads"},
    {"bar.arrive", "named arrive", "#id #threads"},
    {"bar.warp.sync", "warp sync", "=4294967295"},
    {"barrier.cluster.arrive.relaxed.aligned", "arrive at start", ""},
    {"barrier.cluster.wait.aligned", "wait at start", ""},
    {"barrier.cluster.arrive", "arrive at end", ""},
    {"barrier.cluster.wait", "wait at end", ""},
    // Grids, registers.
    {"griddepcontrol.wait", "wait for earlier grids", ""},
    {"griddepcontrol.launch_dependents", "start next grid", ""},
    {"setmaxnreg.inc.sync.aligned.u32", "take registers", "#registers"},
    {"setmaxnreg.dec.sync.aligned.u32", "give registers", "#registers"},
    // Answers of the work queue.
    {"clusterlaunchcontrol.try_cancel.async.shared::cta.mbarrier::complete_tx::"
     "bytes.b128",
     "request", "@to @at"},
    {"clusterlaunchcontrol.try_cancel.async.shared::cta.mbarrier::complete_tx::"
     "bytes.multicast::cluster::all.b128",
     "request for all", "@to @at"},
    {"clusterlaunchcontrol.query_cancel.*", "", "- -"},
    // Tensor memory.
    {"tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32", "allocate",
     "@to #columns"},
    {"tcgen05.alloc.cta_group::2.sync.aligned.shared::cta.b32",
     "allocate for pair", "@to #columns"},
    {"tcgen05.relinquish_alloc_permit.cta_group::1.sync.aligned", "relinquish",
     ""},
    {"tcgen05.relinquish_alloc_permit.cta_group::2.sync.aligned",
     "relinquish for pair", ""},
    {"tcgen05.dealloc.cta_group::1.sync.aligned.b32", "free", "#from #columns"},
    {"tcgen05.dealloc.cta_group::2.sync.aligned.b32", "free for pair",
     "#from #columns"},
    {"tcgen05.fence::before_thread_sync", "tensor fence before", ""},
    {"tcgen05.fence::after_thread_sync", "tensor fence after", ""},
    {"tcgen05.ld.sync.aligned.32x32b.*", "tensor load", "- #from"},
    {"tcgen05.ld.sync.aligned.16x32bx2.*", "tensor load of halves",
     "- #from #half"},
    {"tcgen05.ld.sync.aligned.16x256b.*", "tensor load of matrices", "- #from"},
    {"tcgen05.wait::ld.sync.aligned", "tensor wait", ""},
    // Products.
    {"tcgen05.mma.cta_group::1.kind::*.collector::a::discard", "multiply",
     "#into ^a ^b #instruction ?accumulates"},
    {"tcgen05.mma.cta_group::2.kind::*.collector::a::discard",
     "multiply by pair", "#into ^a ^b #instruction ?accumulates"},
    {"tcgen05.cp.cta_group::1.32x128b.warpx4", "copy scales", "- ^from"},
    {"tcgen05.cp.cta_group::2.32x128b.warpx4", "copy scales of pair",
     "- ^from"},
    {"tcgen05.mma.cta_group::1.kind::*.block_scale.collector::a::discard",
     "multiply scaled", "#into ^a ^b #instruction - - ?accumulates"},
    {"tcgen05.mma.cta_group::2.kind::*.block_scale.collector::a::discard",
     "multiply scaled by pair", "#into ^a ^b #instruction - - ?accumulates"},
    {"tcgen05.commit.cta_group::1.mbarrier::arrive::one.shared::cluster.b64",
     "commit", "@at"},
    {"tcgen05.commit.cta_group::1.mbarrier::arrive::one.shared::cluster."
     "multicast::cluster.b64",
     "commit to several", "@at %mask"},
    {"tcgen05.commit.cta_group::2.mbarrier::arrive::one.shared::cluster."
     "multicast::cluster.b64",
     "commit of pair to several", "@at %mask"},
    {"wgmma.fence.sync.aligned", "product fence", ""},
    {"wgmma.mma_async.sync.aligned.*", "product", "- ^a ^b - =1 =1"},
    {"wgmma.mma_async.sync.aligned.*", "product", "- ^a ^b - =1 =1 =0 =0"},
    {"wgmma.commit_group.sync.aligned", "product commit", ""},
    {"wgmma.wait_group.sync.aligned", "product wait", "#pending"},
    // All lanes of a warp have a part in these, which change nothing. A mask
    // that names others waits for ever (PTX ISA, shfl.sync).
    {"elect.sync", "", "- =4294967295"},
    {"vote.sync.*", "", "- - =4294967295"},
    {"shfl.sync.*", "", "- - - - =4294967295"},
    {"redux.sync.*", "", "- - =4294967295"},
    {"match.*", "", "- - =4294967295"},
    // What brings data near changes nothing.
    {"cp.async.bulk.prefetch.*", "", "-"},
};

/// First words, of which each instruction must have a form.
constexpr std::string_view kFamilies[] = {"mbarrier",
                                          "cp",
                                          "bar",
                                          "barrier",
                                          "fence",
                                          "tcgen05",
                                          "red",
                                          "wgmma",
                                          "setmaxnreg",
                                          "griddepcontrol",
                                          "membar",
                                          "atom",
                                          "clusterlaunchcontrol",
                                          "elect",
                                          "vote",
                                          "shfl",
                                          "redux",
                                          "match"};

FormOperand parseOperand(const std::string &text) {
  switch (text[0]) {
  case '>':
    return {Kind::Outcome};
  case '@':
    return {Kind::Shared, text.substr(1)};
  case '#':
    return {Kind::Number, text.substr(1)};
  case '%':
    return {Kind::Number, text.substr(1), 0, 0xffff};
  case '?':
    return {Kind::Number, text.substr(1), 0, 1};
  case '^':
    return {Kind::Descriptor, text.substr(1), 0, 0x3fff};
  case '!':
    return {Kind::Parameter, text.substr(1)};
  case '=':
    return {Kind::Fixed, "", std::stoull(text.substr(1))};
  default:
    return {};
  }
}

std::vector<Form> makeForms() {
  std::vector<Form> forms;
  for (const Row &row : kRows) {
    Form form{row.pattern, row.kind, {}};
    std::istringstream operands(row.operands);
    for (std::string text; operands >> text;)
      form.operands.push_back(parseOperand(text));
    forms.push_back(std::move(form));
  }
  return forms;
}

/// `pattern` has at most one `*`.
bool matches(std::string_view pattern, std::string_view text) {
  size_t star = pattern.find('*');
  if (star == std::string_view::npos)
    return pattern == text;
  std::string_view end = pattern.substr(star + 1);
  return text.size() > pattern.size() - 1 &&
         text.substr(0, star) == pattern.substr(0, star) &&
         text.substr(text.size() - end.size()) == end;
}

} // namespace

std::string
fp8::prooftext::getVariant(const Form &form,
                           const sim::ast::Instruction &instruction) {
  size_t star = form.pattern.find('*');
  std::string mnemonic = instruction.mnemonic();
  if (star == std::string::npos)
    return "";
  return mnemonic.substr(star, mnemonic.size() - (form.pattern.size() - 1));
}

const Form *fp8::prooftext::findForm(const sim::ast::Instruction &instruction) {
  static const std::vector<Form> forms = makeForms();
  std::string mnemonic = instruction.mnemonic();
  for (const Form &form : forms)
    if (form.operands.size() == instruction.operands.size() &&
        matches(form.pattern, mnemonic))
      return &form;
  return nullptr;
}

bool fp8::prooftext::isOfProtocol(const sim::ast::Instruction &instruction) {
  if (instruction.opcode == "st" && !instruction.qualifiers.empty())
    return instruction.qualifiers[0] == "async";
  for (std::string_view family : kFamilies)
    if (instruction.opcode == family)
      return true;
  return false;
}
