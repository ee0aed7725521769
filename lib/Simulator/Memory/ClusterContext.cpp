// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Reports of a cluster, and the names that they use.

#include "Memory/ClusterContext.h"

using namespace fp8::sim;

static uint32_t volume(const std::array<uint32_t, 3> &extents) {
  return extents[0] * extents[1] * extents[2];
}

ClusterContext::ClusterContext(const Program &program,
                               const LaunchConfig &config,
                               const Options &options, const Report &reported,
                               uint32_t ordinal)
    : program(program), config(config), options(options), reported(reported),
      ordinal(ordinal), checksOrder(options.completion == Completion::Late),
      ctasInCluster(volume(config.cluster)),
      warpsInCta((volume(config.block) + 31) / 32),
      warpsInCluster(warpsInCta * ctasInCluster),
      async(options.scheduleSeed + (uint64_t(ordinal) << 32)) {}

SourcePoint ClusterContext::point(const Inst *inst) const {
  SourcePoint p;
  if (!inst || !inst->text)
    return p;
  p.ptxLine = inst->text->line;
  const ast::Location &location =
      program.function->locations[inst->text->location];
  auto file = program.module->files.find(location.file);
  if (location.line && file != program.module->files.end()) {
    p.file = file->second;
    p.line = location.line;
  }
  return p;
}

std::string ClusterContext::mnemonic(const Inst *inst) {
  return inst && inst->text ? inst->text->mnemonic() : "?";
}

SimulationError &ClusterContext::error(Rule rule, std::string message,
                                       const WarpOrder *warp, const Inst *inst,
                                       int lane, bool fatal) {
  static thread_local SimulationError repeated;
  const RuleInfo &info = infoOf(rule);
  const Severity severity = options.strict ? Severity::Error : info.severity;
  const bool isError = severity == Severity::Error;
  SimulationError e{info.kind, rule, severity};
  e.where = point(inst);
  if (fatal && isError)
    stopped = true;
  if (reported.has(rule, severity, e.where.ptxLine) ||
      report.has(rule, severity, e.where.ptxLine))
    return repeated = std::move(e);
  e.message = std::move(message);
  if (warp) {
    e.inThread = true;
    e.block = warp->block;
    e.warp = int(warp->id);
    e.lane = lane;
  }
  std::vector<SimulationError> &said =
      isError ? report.errors : report.warnings;
  said.push_back(std::move(e));
  if (isError && reported.errors.size() + said.size() >= options.maxErrors)
    stopped = true;
  return said.back();
}

/// What a use of undefined data breaks.
static Rule undefinedRule(const Origin &origin, const Inst *use) {
  bool branches = use && use->text && use->text->opcode == "bra";
  return branches && origin.isOfMemory() ? Rule::UndefinedBranch
                                         : ruleOf(origin.kind);
}

void ClusterContext::reportUndefined(OriginId id, std::string message,
                                     const WarpOrder *warp, const Inst *inst,
                                     int lane) {
  Origin &origin = origins[id];
  Rule rule = undefinedRule(origin, inst);
  bool warns = !options.strict && infoOf(rule).severity == Severity::Warning;
  bool &said = warns ? origin.warned : origin.told;
  if (!said)
    error(rule, std::move(message), warp, inst, lane)
        .notes.push_back(note(origin.inst, origin.message));
  said = true;
}

std::string ClusterContext::sharedName(uint64_t offset) const {
  std::string name = "shared memory offset " + std::to_string(offset);
  if (const SharedSymbol *best = program.symbolAt(offset))
    name +=
        " (" + best->name + "+" + std::to_string(offset - best->offset) + ")";
  return name;
}

uint32_t ClusterContext::whenWaited(uint32_t agent) const {
  Role role = roleOf(agent);
  if (role != Role::TensorLoad && role != Role::TensorStore)
    return agent;
  return inRole(agent, role == Role::TensorLoad ? Role::TensorLoadWaited
                                                : Role::TensorStoreWaited);
}

std::optional<uint32_t> ClusterContext::whenIssued(uint32_t agent) const {
  Role role = roleOf(agent);
  if (role != Role::TensorLoad && role != Role::TensorStore)
    return std::nullopt;
  return inRole(agent, role == Role::TensorLoad ? Role::TensorLoadIssued
                                                : Role::TensorStoreIssued);
}

bool ClusterContext::knowsRead(const WarpOrder &warp, AccessTag load) const {
  return roleOf(load.agent()) == Role::TensorLoad &&
         warp.knows(inRole(load.agent(), Role::TensorLoadRead), load.time());
}

bool ClusterContext::isMorallyStrong(const WarpOrder &warp, const Inst &inst,
                                     AccessTag other) const {
  return inst.strong && other.strong() &&
         (rankOf(other.agent()) == warp.ctaRank ||
          (inst.scope != Scope::Cta &&
           program.code[other.instruction()].scope != Scope::Cta));
}

std::string ClusterContext::agentName(uint32_t agent) const {
  if (!isWarp(agent))
    return "by a copy that completes on an mbarrier";
  uint32_t warp = warpOf(agent);
  std::string name = "by warp " + std::to_string(warp % warpsInCta);
  return ctasInCluster > 1
             ? name + " of CTA rank " + std::to_string(warp / warpsInCta)
             : name;
}
