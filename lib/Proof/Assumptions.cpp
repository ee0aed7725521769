// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What a proof takes for granted (docs/Proof.md has the same list).

#include "fp8/Proof/Prover.h"

#include "llvm/ADT/STLExtras.h"

using namespace fp8::proof;

static bool readsAnswers(const Block &block) {
  return llvm::any_of(block, [](const Statement &statement) {
    return statement.kind == Statement::Kind::Answer ||
           readsAnswers(statement.first) || readsAnswers(statement.second);
  });
}

std::vector<std::string> fp8::proof::getAssumptions(const Skeleton &skeleton,
                                                    int64_t clusterSize) {
  std::vector<std::string> assumptions = {
      "issued copies and products complete",
      "every warp is scheduled in the end",
      "launch arguments are not negative, and index arithmetic does not wrap",
      "loops in which no role waits or signals end, and their steps are "
      "positive"};
  if (clusterSize > 1)
    assumptions.push_back("the CTAs of a cluster run at the same time");
  if (llvm::any_of(skeleton.processes, [](const Process &process) {
        return readsAnswers(process.body);
      }))
    assumptions.push_back("the work queue has a last answer");
  if (skeleton.isOneOrder)
    assumptions.push_back(
        "a role that looks for a slot again and again sees that it is there");
  auto isData = [](const ExprTable::Name &name) { return name.isData; };
  if (llvm::any_of(skeleton.expressions.getNames(), isData))
    assumptions.push_back(
        "data that roles decide by do not change while the kernel runs");
  return assumptions;
}
