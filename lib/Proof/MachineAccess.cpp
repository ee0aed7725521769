// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Accesses to memory in a run with given arguments.

#include "Machine.h"

#include "llvm/Support/SaveAndRestore.h"

using namespace fp8::proof;

static constexpr int64_t kLanes = 32;

/// Collects the parameters that differ among the threads of a role.
static void addThreadParameters(const ExprTable &table, ExprId id,
                                std::set<int64_t> &found) {
  const Expr &expr = table[id];
  if (expr.kind == ExprKind::Parameter &&
      table.getParameters()[expr.value].scope == Scope::Thread)
    found.insert(expr.value);
  for (ExprId operand : expr.operands)
    addThreadParameters(table, operand, found);
}

std::optional<Race> Machine::recordAccess(State &state, unsigned process,
                                          const Statement &statement,
                                          unsigned warp, bool isOfSame) {
  const Access &access = skeleton.accesses[statement.rule];
  AccessLog::Request request{
      {process, statement.site, statement.rule, std::nullopt, warp},
      access,
      {},
      0,
      std::nullopt};
  auto isConstant = [](const Value &value) {
    return value.sum && value.sum->isConstant();
  };
  for (auto [number, id] : statement.assigned) {
    Value index = evaluate(state, process, id);
    // Where data decide which element it is, nothing is claimed.
    if (!isConstant(index))
      return std::nullopt;
    request.indices.push_back(index.sum->constant);
  }
  if (access.isInSlot) {
    unsigned end = getEnd(state, process, statement);
    if (end >= skeleton.ends.size())
      return std::nullopt;
    request.channel = skeleton.ends[end].channel;
    int64_t slots = skeleton.channels[request.channel].slots,
            number = request.indices.front();
    request.party.slot = {number % slots, number / slots};
  }
  if (access.value) {
    Value value = evaluate(state, process, *access.value);
    if (!value.sum)
      return std::nullopt;
    request.value = std::move(value.sum);
  }
  return state.log->record(request, isOfSame);
}

Step Machine::access(State &state, unsigned process, Frame &frame,
                     const Statement &statement) {
  ++frame.next;
  if (!state.log)
    return {StepKind::Moved, {}};
  const Access &access = skeleton.accesses[statement.rule];
  if (access.settles) {
    state.log->settle(process);
    return {StepKind::Moved, {}};
  }
  std::set<int64_t> ofThreads;
  for (auto [number, id] : statement.assigned)
    addThreadParameters(skeleton.expressions, id, ofThreads);
  if (access.value)
    addThreadParameters(skeleton.expressions, *access.value, ofThreads);
  llvm::SaveAndRestore kept(parameters);
  bool isByWarps = access.agent == Access::Agent::Warps;
  int64_t warps = isByWarps ? skeleton.processes[process].numWarps : 1,
          lanes = isByWarps && !ofThreads.empty() ? kLanes : 1;
  for (int64_t thread = 0; thread < warps * lanes; ++thread) {
    int64_t warp = thread / lanes, lane = thread % lanes;
    for (int64_t number : ofThreads) {
      const Parameter &its = skeleton.expressions.getParameters()[number];
      int64_t range = its.most.value_or(kLanes - 1) - its.least + 1;
      parameters[number] = its.least + (kLanes * warp + lane) % range;
    }
    race = recordAccess(state, process, statement, warp, /*isOfSame=*/lane);
    if (race)
      return fail(statement, "", /*goesWrong=*/true);
    if (!failure.empty())
      return {StepKind::Failed, {}};
  }
  return {StepKind::Moved, {}};
}
