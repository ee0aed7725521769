// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Scopes (PTX ISA 8.5): what synchronises two CTAs of a cluster must state one
// that includes both.

#include "ClusterKernels.h"

#include <gmock/gmock.h>

using namespace fp8::sim;
using namespace fp8::sim::test;
using testing::HasSubstr;

namespace {

void expectRight(const std::string &body, const std::string &chip = "sm_90a") {
  for (uint64_t seed = 0; seed < 4; ++seed) {
    std::vector<uint32_t> out;
    Report report = runPair(body, out, seed, chip);
    EXPECT_TRUE(report.ok()) << body << report.str();
    EXPECT_EQ(out, (std::vector<uint32_t>{1, 0})) << body;
  }
}

void expectRace(const std::string &body, const std::string &message,
                const std::string &chip = "sm_90a") {
  for (uint64_t seed = 0; seed < 4; ++seed) {
    std::vector<uint32_t> out;
    Report report = runPair(body, out, seed, chip);
    EXPECT_TRUE(has(report, ErrorKind::Race)) << body << report.str();
    EXPECT_THAT(report.str(), HasSubstr(message)) << body;
  }
}

const std::string kNarrow =
    "; what orders the two in time is relaxed, or its scope leaves one of the "
    "CTAs out: use a barrier, or .release and .acquire of a scope with both";

/// Each CTA stores its rank to the peer, arrives there, and waits for the
/// peer's arrival. `before` comes before the arrival, `behind` behind the wait.
std::string handedOver(const std::string &arrive, const std::string &wait,
                       const std::string &before = "",
                       const std::string &behind = "") {
  return std::string(kInit) + kSync + R"(
  mapa.shared::cluster.u32 %r5, %r2, %r1; mapa.shared::cluster.u32 %r4, %r3, %r1;
  st.shared::cluster.u32 [%r5], %r0;
  )" + before +
         "mbarrier.arrive" + arrive + ".shared::cluster.b64 _, [%r4];\n" +
         "L: mbarrier.try_wait.parity" + wait +
         ".shared::cta.b64 %p0, [%r3], 0; @!%p0 bra L;\n" + behind +
         "ld.shared.u32 %r6, [%r2]; st.global.u32 [%d0], %r6;\n" + kSync;
}

/// The same by a copy of 16 bytes, to the peer or to the CTA itself, that
/// completes on the mbarrier beside them.
std::string copied(const std::string &wait, bool toPeer) {
  return std::string(kInit) + kSync + "mov.u32 %r7, " +
         (toPeer ? "%r1" : "%r0") + R"(;
  mapa.shared::cluster.u32 %r5, %r2, %r7; mapa.shared::cluster.u32 %r4, %r3, %r7;
  xor.b32 %r8, %r7, 1; add.u32 %r9, %r2, 512;
  st.shared.v4.u32 [%r9], {%r8, %r8, %r8, %r8};
  fence.proxy.async.shared::cta;
  mbarrier.arrive.expect_tx.shared::cta.b64 _, [%r3], 16;
)" + kSync +
         R"(
  cp.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes [%r5], [%r9], 16, [%r4];
)" + "L: mbarrier.try_wait.parity" +
         wait + R"(.shared::cta.b64 %p0, [%r3], 0; @!%p0 bra L;
  ld.shared.u32 %r6, [%r2]; st.global.u32 [%d0], %r6;
)" + kSync;
}

/// The same with a word of the peer's shared memory in place of the mbarrier.
std::string flagged(const std::string &set, const std::string &poll,
                    const std::string &before = "",
                    const std::string &behind = "") {
  return "st.shared.u32 [%r2+4], 0;\n" + std::string(kSync) + R"(
  mapa.shared::cluster.u32 %r5, %r2, %r1;
  st.shared::cluster.u32 [%r5], %r0;
  )" + before +
         set + " [%r5+4], 1;\nL: " + poll +
         " %r7, [%r2+4]; setp.eq.u32 %p0, %r7, 0; @%p0 bra L;\n" + behind +
         "ld.shared.u32 %r6, [%r2]; st.global.u32 [%d0], %r6;\n" + kSync;
}

} // namespace

TEST(Scope, OfArrivalsAndWaits) {
  expectRight(handedOver(".release.cluster", ".acquire.cluster"));
  expectRace(handedOver(".release.cta", ".acquire.cluster"), kNarrow);
  expectRace(handedOver(".release.cluster", ".acquire.cta"), kNarrow);
  // Without a scope, as CUTLASS has it.
  expectRight(handedOver("", ""));
}

TEST(Scope, OfWaitsForCopies) {
  for (bool toPeer : {false, true}) {
    expectRight(copied(".acquire.cluster", toPeer));
    // Without a scope, as CUTLASS waits for multicast copies.
    expectRight(copied("", toPeer));
  }
  expectRight(copied(".acquire.cta", false));
  expectRace(copied(".acquire.cta", true), kNarrow);
}

TEST(Scope, OfWaitsForCommits) {
  auto committed = [](const std::string &wait) {
    return replaced(handedOver("", wait),
                    "mbarrier.arrive.shared::cluster.b64 _, [%r4];",
                    "tcgen05.commit.cta_group::1.mbarrier::arrive::one"
                    ".shared::cluster.b64 [%r4];");
  };
  expectRight(committed(".acquire.cluster"), "sm_100a");
  expectRight(committed(""), "sm_100a");
  expectRace(committed(".acquire.cta"), kNarrow, "sm_100a");
}

TEST(Scope, OfFencesAroundRelaxedArrivals) {
  const std::string arrive = ".relaxed.cluster", wait = ".relaxed.cluster";
  auto fence = [](const std::string &scope) {
    return "fence.acq_rel." + scope + "; ";
  };
  expectRight(handedOver(arrive, wait, fence("cluster"), fence("cluster")));
  expectRight(handedOver(arrive, wait, fence("gpu"), fence("sys")));
  expectRace(handedOver(arrive, wait, fence("cta"), fence("cluster")), kNarrow);
  expectRace(handedOver(arrive, wait, fence("cluster"), fence("cta")), kNarrow);
  expectRace(handedOver(arrive, wait), kNarrow);
  expectRace(
      handedOver(".relaxed.cta", wait, fence("cluster"), fence("cluster")),
      kNarrow);
  // A later fence of the CTA takes nothing from an earlier one of the cluster.
  expectRight(handedOver(arrive, wait, fence("cluster") + fence("cta"),
                         fence("cta") + fence("cluster")));
}

TEST(Scope, OfACtasOwnMbarrier) {
  // Both ranks hand on within the CTA, and then to the peer.
  std::string body = std::string(kInit) + kSync + R"(
  xor.b32 %r8, %r0, 1; st.shared.u32 [%r2], %r8;
  mbarrier.arrive.release.cta.shared::cta.b64 _, [%r3];
L: mbarrier.try_wait.parity.acquire.cta.shared::cta.b64 %p0, [%r3], 0; @!%p0 bra L;
  ld.shared.u32 %r6, [%r2]; st.global.u32 [%d0], %r6;
)" + kSync;
  expectRight(body);
}

TEST(Scope, OfAFlagInSharedMemory) {
  expectRight(flagged("st.release.cluster.shared::cluster.u32",
                      "ld.acquire.cluster.shared.u32"));
  expectRight(flagged("st.release.gpu.shared::cluster.u32",
                      "ld.acquire.sys.shared.u32"));
  const std::string leftOut =
      " in another CTA, which the scope of one of the two leaves out; give "
      "both the scope .cluster or a wider one";
  expectRace(flagged("st.release.cta.shared::cluster.u32",
                     "ld.acquire.cluster.shared.u32"),
             leftOut);
  expectRace(flagged("st.release.cluster.shared::cluster.u32",
                     "ld.acquire.cta.shared.u32"),
             leftOut);
  const std::string set = "st.relaxed.cluster.shared::cluster.u32",
                    poll = "ld.relaxed.cluster.shared.u32",
                    fence = "fence.acq_rel.cluster; ",
                    near = "fence.acq_rel.cta; ";
  expectRight(flagged(set, poll, fence, fence));
  expectRace(flagged(set, poll, "", fence), kNarrow);
  expectRace(flagged(set, poll, fence, ""), kNarrow);
  expectRace(flagged(set, poll, near, fence), kNarrow);
  expectRace(flagged(set, poll, fence, near), kNarrow);
}

TEST(Scope, OfAtomicsOnOneWord) {
  // Both add to the word of rank 0.
  auto add = [](const std::string &scope) {
    return "st.shared.u32 [%r2], 0;\n" + std::string(kSync) +
           "mov.u32 %r4, 0; mapa.shared::cluster.u32 %r5, %r2, %r4;\n"
           "atom" +
           scope + ".shared::cluster.add.u32 %r6, [%r5], 1;\n" + kSync +
           "st.global.u32 [%d0], %r1;\n";
  };
  expectRight(add(""));
  expectRight(add(".relaxed.cluster"));
  expectRace(add(".relaxed.cta"), "which the scope of one of the two leaves "
                                  "out");
  expectRace(add(".acq_rel.cta"), "which the scope of one of the two leaves "
                                  "out");
  // In global memory.
  auto addGlobal = [](const std::string &scope) {
    return "st.global.u32 [%d0], %r1; ld.param.u64 %d2, [a];\n"
           "red" +
           scope + ".global.add.u32 [%d2+128], 1;\n";
  };
  expectRight(addGlobal(".relaxed.cluster"));
  expectRace(addGlobal(".relaxed.cta"),
             "which the scope of one of the two leaves out; give both a scope "
             "that includes the two CTAs, such as .gpu");
}
