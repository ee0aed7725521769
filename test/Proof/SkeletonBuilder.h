// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Skeletons that are built by hand.

#ifndef FP8_TEST_PROOF_SKELETONBUILDER_H
#define FP8_TEST_PROOF_SKELETONBUILDER_H

#include "fp8/Proof/Skeleton.h"

namespace fp8::proof {

/// Adds what a skeleton consists of. An end is used by one process.
struct SkeletonBuilder {
  Skeleton skeleton;

  ExprTable &table() { return skeleton.expressions; }
  ExprId constant(int64_t value) { return table().getConstant(value); }
  /// A launch argument, at least 0.
  ExprId argument(std::string name) {
    Parameter parameter;
    parameter.name = std::move(name);
    return table().getParameter(parameter);
  }
  ExprId binary(ExprKind kind, ExprId a, ExprId b) {
    return table().get(kind, {a, b});
  }

  /// A ring with a producer and a consumer, whose numbers it returns.
  std::pair<unsigned, unsigned> addRing(int64_t slots, bool holdsData = true) {
    unsigned number = skeleton.channels.size(), end = skeleton.ends.size();
    Channel channel;
    channel.name = "ring " + std::to_string(number);
    channel.slots = slots;
    channel.holdsData = holdsData;
    channel.producers = {end};
    channel.consumers = {end + 1};
    skeleton.channels.push_back(std::move(channel));
    skeleton.ends.push_back({"producer", number, true});
    skeleton.ends.push_back({"consumer", number, false});
    return {end, end + 1};
  }

  Statement step(Statement::Kind kind, unsigned end) {
    Statement statement{kind};
    statement.end = constant(end);
    return statement;
  }
  /// Waits for a slot of the end, and hands it over.
  Block use(unsigned end) {
    return {step(Statement::Kind::Wait, end),
            step(Statement::Kind::Signal, end)};
  }
  /// A loop from 0 by `step`. Its variables are the process's from `variable`
  /// to `variable + 2`.
  Statement loop(unsigned variable, ExprId upper, Block body,
                 int64_t step = 1) {
    Statement statement{Statement::Kind::For};
    statement.lower = constant(0);
    statement.upper = upper;
    statement.step = constant(step);
    statement.variable = variable;
    statement.bound = variable + 1;
    statement.stride = variable + 2;
    statement.first = std::move(body);
    return statement;
  }
  Statement branch(ExprId condition, Block first, Block second = {}) {
    Statement statement{Statement::Kind::Branch};
    statement.condition = condition;
    statement.first = std::move(first);
    statement.second = std::move(second);
    return statement;
  }
  void addProcess(std::string name, Block body, unsigned numVariables = 0) {
    skeleton.processes.push_back(
        {std::move(name), 0, std::move(body), numVariables});
  }
};

inline Block operator+(Block a, Block b) {
  a.insert(a.end(), b.begin(), b.end());
  return a;
}

} // namespace fp8::proof

#endif // FP8_TEST_PROOF_SKELETONBUILDER_H
