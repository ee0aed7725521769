// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Where an undefined register has an effect: one test a kind of use.

#include "Kernels.h"

#include <gmock/gmock.h>

using namespace fp8::sim;
using namespace fp8::sim::test;
using testing::HasSubstr;

namespace {

const char *const kShared =
    ".shared .align 1024 .b8 s[4096];\n.shared .align 8 .b64 bar;\n"
    ".shared .align 8 .b32 slot;\n";

/// An instruction that must not be given what is undefined: %r41, %d21, %d22
/// (an address in global memory), %p9 and %q9 come from %r40, which is `value`
/// in the right kernel.
struct Use {
  const char *name;
  std::string body;
  uint32_t value;
  const char *message;
};

std::string kernelOf(const Use &use, bool defined) {
  std::string value = std::to_string(use.value);
  return (defined ? "mov.u32 %r40, " + value + ";\n" : "") +
         "add.u32 %r41, %r40, 0; cvt.u64.u32 %d21, %r41;\n"
         "add.s64 %d22, %d21, %o; setp.eq.u32 %p9, %r41, " +
         value + ";\n" + use.body;
}

const char *const kAlloc =
    "tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [slot], 32;\n"
    "bar.warp.sync -1;\nld.shared.b32 %r50, [slot];\n";
const char *const kFree =
    "tcgen05.dealloc.cta_group::1.sync.aligned.b32 %r50, 32;\n";
const char *const kInit =
    "setp.eq.u32 %p0, %t, 0; @%p0 mbarrier.init.shared::cta.b64 [bar], 1;\n"
    "@%p0 fence.mbarrier_init.release.cluster; bar.warp.sync -1;\n";

const Use kUses[] = {
    {"store to global memory", "st.global.b32 [%o], %r41;", 1,
     "'st.global.b32' stores register %r41, which is undefined"},
    {"generic store", "st.b32 [%o], %r41;", 1, "'st.b32' stores register %r41"},
    {"element of a vector",
     "add.s64 %d1, %o, %o; sub.s64 %d1, %d1, %out;\n"
     "st.global.v2.b32 [%d1], {%t, %r41};",
     1, "'st.global.v2.b32' stores register %r41"},
    {"red", "red.global.add.u32 [%o], %r41;", 1,
     "'red.global.add.u32' needs register %r41"},
    {"red of a vector", "red.global.add.noftz.bf16x2 [%o], %r41;", 1,
     "needs register %r41"},
    {"atom", "atom.global.add.u32 %r1, [%o], %r41;", 1, "needs register %r41"},
    {"atom.cas", "atom.global.cas.b32 %r1, [%o], 7, %r41;", 1,
     "needs register %r41"},
    {"atom in shared memory",
     "st.shared.u32 [s], 1; atom.shared.add.u32 %r1, [s], %r41;", 1,
     "needs register %r41"},
    {"address of a load", "ld.global.u32 %r1, [%d22];", 0,
     "'ld.global.u32' takes an address from register %d22"},
    {"address of a store", "st.global.u32 [%d22], 1;", 0,
     "takes an address from register %d22"},
    {"address of a prefetch", "prefetch.global.L2 [%d22];", 0,
     "takes an address from register %d22"},
    {"guard", "@%p9 mov.u32 %r1, 1;", 1,
     "'mov.u32' is guarded by predicate %p9, which is undefined"},
    {"branch", "@!%p9 bra L; L:", 1, "'bra' is guarded by predicate %p9"},
    {"branch index", "T: .branchtargets A, B; brx.idx %r41, T; A: B:", 1,
     "'brx.idx' needs register %r41"},
    {"barrier", "bar.sync %r41;", 1, "'bar.sync' needs register %r41"},
    {"threads of a barrier", "bar.sync 1, %r41;", 32, "needs register %r41"},
    {"reduction by a barrier", "bar.red.popc.u32 %r1, 0, %p9;", 1,
     "'bar.red.popc.u32' depends on predicate %p9"},
    {"count of an mbarrier",
     "setp.eq.u32 %p0, %t, 0; @%p0 mbarrier.init.shared::cta.b64 [bar], %r41;",
     1, "'mbarrier.init.shared::cta.b64' needs register %r41"},
    {"bytes of an mbarrier",
     std::string(kInit) +
         "@%p0 mbarrier.expect_tx.relaxed.cta.shared::cta.b64 [bar], %r41;\n"
         "@%p0 mbarrier.complete_tx.relaxed.cta.shared::cta.b64 [bar], 16;",
     16, "needs register %r41"},
    {"parity",
     std::string(kInit) +
         "mbarrier.test_wait.parity.shared::cta.b64 %p1, [bar], %r41;",
     1, "needs register %r41"},
    {"vote", "vote.sync.any.pred %p1, %p9, -1;", 1,
     "'vote.sync.any.pred' depends on predicate %p9"},
    {"ballot", "vote.sync.ballot.b32 %r1, %p9, -1;", 1,
     "depends on predicate %p9"},
    {"match", "match.any.sync.b32 %r1, %r41, -1;", 1, "needs register %r41"},
    {"redux", "redux.sync.add.s32 %r1, %r41, -1;", 1, "needs register %r41"},
    {"lane of a shuffle", "shfl.sync.idx.b32 %r1, %t, %r41, 0x1f, -1;", 1,
     "needs register %r41"},
    {"member mask", "elect.sync %r1|%p1, %r41;", ~0u, "needs register %r41"},
    {"rank", "mapa.shared::cluster.u32 %r1, %t, %r41;", 0,
     "'mapa.shared::cluster.u32' needs register %r41"},
    {"size of cp.async",
     std::string(kInit) +
         "@%p0 cp.async.ca.shared.global [s], [%out], 4, %r41;\n"
         "cp.async.wait_all;",
     4, "needs register %r41"},
    {"size of a bulk copy", std::string(kInit) + R"(
  @%p0 mbarrier.arrive.expect_tx.shared::cta.b64 _, [bar], 16;
  mov.u32 %r2, s; mov.u32 %r3, bar;
  @%p0 cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%r2], [%out], %r41, [%r3];
L: mbarrier.try_wait.parity.shared::cta.b64 %p1, [bar], 0; @!%p1 bra L;)",
     16, "needs register %r41"},
    {"st.async", std::string(kInit) + R"(
  @%p0 mbarrier.arrive.expect_tx.shared::cta.b64 _, [bar], 4;
  mov.u32 %r2, s; mov.u32 %r3, bar;
  @%p0 st.async.shared::cluster.mbarrier::complete_tx::bytes.b32 [%r2], %r41, [%r3];
L: mbarrier.try_wait.parity.shared::cta.b64 %p1, [bar], 0; @!%p1 bra L;)",
     16, "needs register %r41"},
    {"columns of tensor memory",
     "tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [slot], %r41;\n"
     "bar.warp.sync -1; ld.shared.b32 %r50, [slot];\n" +
         std::string(kFree),
     32, "needs register %r41"},
    {"address in tensor memory",
     std::string(kAlloc) +
         "add.u32 %r51, %r50, %r41;\n"
         "tcgen05.st.sync.aligned.32x32b.x1.b32 [%r51], {%t};\n"
         "tcgen05.wait::st.sync.aligned;\n" +
         kFree,
     0, "takes an address from register %r51"},
    {"address of ldmatrix",
     "shl.b32 %r1, %t, 4; mov.u32 %r2, s; add.u32 %r1, %r1, %r2;\n"
     "mov.u64 %d1, 0; st.shared.v2.u64 [%r1], {%d1, %d1}; bar.warp.sync -1;\n"
     "add.u32 %r1, %r1, %r41;\n"
     "ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%r3}, [%r1];",
     0, "takes an address from register %r1"},
};

} // namespace

TEST(UndefinedUses, AreErrorsWithTheirOrigin) {
  for (const Use &use : kUses) {
    SCOPED_TRACE(use.name);
    Report right, wrong;
    compute(kernelOf(use, true), 32, 256, kShared, &right);
    EXPECT_TRUE(right.ok()) << right.str();
    compute(kernelOf(use, false), 32, 256, kShared, &wrong);
    ASSERT_FALSE(wrong.ok());
    const SimulationError &e = wrong.errors[0];
    EXPECT_EQ(e.kind, ErrorKind::UninitialisedRegister) << e.str();
    EXPECT_THAT(e.message, HasSubstr(use.message));
    ASSERT_EQ(e.notes.size(), 1u) << e.str();
    EXPECT_EQ(e.notes[0].message, "register %r40 is read before it is written");
    EXPECT_LT(e.notes[0].where.ptxLine, e.where.ptxLine);
  }
}

TEST(UndefinedUses, PredicatesThatNothingWrote) {
  Report report;
  compute("@%p3 mov.b32 %r0, 1;", 32, 32, kShared, &report);
  ASSERT_EQ(report.errors.size(), 1u);
  EXPECT_THAT(report.str(),
              HasSubstr("predicate %p3 is read before it is written"));
}

TEST(UndefinedUses, ResponsesOfClusterLaunchControl) {
  // What nothing wrote is said before what is no response.
  Report report;
  compute(".reg .b128 %q; ld.shared.b128 %q, [s];\n"
          "clusterlaunchcontrol.query_cancel.is_canceled.pred.b128 %p1, %q;",
          32, 32, kShared, &report);
  ASSERT_FALSE(report.ok());
  EXPECT_EQ(report.errors[0].kind, ErrorKind::UninitialisedMemory);
  EXPECT_THAT(report.errors[0].message, HasSubstr("needs register %q"));
}
