// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The skeleton of a kernel: its channels, and a process for each role.

#include "fp8/Proof/Extract.h"

#include "Fills.h"
#include "PlainMemory.h"
#include "RoleWalker.h"
#include "Uniformity.h"
#include "fp8/Analysis/KernelPlan.h"

#include "llvm/Support/JSON.h"

using namespace mlir;
using llvm::json::fixUTF8; // names in MLIR are any bytes
using namespace mlir::fp8;
using namespace ::fp8::proof;

namespace {

class Extractor {
public:
  Extractor(FunctionOpInterface function, const KernelPlan &plan, Aspect aspect,
            ArrayRef<Mark> marks, bool byRank)
      : function(function), plan(plan), aspect(aspect), marks(marks),
        byRank(byRank), flow(function), ranges(function) {}

  KernelSkeleton extract();

private:
  /// Classes of CTAs, of which the first leads everywhere.
  void findClasses();
  /// The CTAs of a class, by their ranks.
  std::vector<int64_t> getRanks(unsigned cta) const;
  void addRing(Operation *maker);
  /// Adds a channel whose ends are those of the ring in the given classes, and
  /// returns the numbers of the ends by class and result.
  void addChannel(Operation *maker, const Twine &name, int64_t slots,
                  bool holdsData, bool swapped, unsigned offset,
                  ArrayRef<unsigned> classes);
  unsigned getEnd(Value end, unsigned cta) const {
    return ends.lookup(end) + cta * kEndsOfClass;
  }
  /// Finds out what the aspect is about.
  void follow();
  /// True if the aspect has no question that the roles' steps have to answer.
  bool isShownByText();
  /// True if a role chooses rows of A scales that may not be in their tile.
  bool choosesRows();
  /// Adds the process of a role in the CTAs of a class.
  void addProcess(RoleOp role, unsigned cta);
  /// Takes ends that no statement works on out of their channels.
  void dropUnused();

  /// A ring's end in a class, and what goes with it, have numbers that follow
  /// one another.
  static constexpr unsigned kEndsOfClass = 3;

  FunctionOpInterface function;
  const KernelPlan &plan;
  Aspect aspect;
  ArrayRef<Mark> marks;
  bool byRank; ///< each CTA of a cluster of two is a class
  HandleFlow flow;
  IntegerRanges ranges;
  KernelSkeleton result;
  SmallVector<CtaClass> classes;
  unsigned numRings = 0;
  std::optional<ComputedGemm> gemm;
  std::optional<SlotContents> contents;
  std::optional<PlainMemory> memory;
  /// The number of an end in the first class.
  llvm::DenseMap<Value, unsigned> ends;
};

} // namespace

void Extractor::findClasses() {
  classes.push_back({});
  bool ofPair = false, ofCluster = false;
  function->walk([&](LeadingCtaOp op) {
    (op.getGrouping() == CtaGrouping::Pair ? ofPair : ofCluster) = true;
  });
  ClusterShape cluster = getClusterShape(function);
  if (ofPair)
    classes.push_back({false, false});
  bool tellsApart = ofCluster || byRank;
  if (tellsApart && cluster.getSize() > (ofPair ? 2 : 1))
    classes.push_back({true, false});
  for (auto [rank, its] : llvm::enumerate(classes)) {
    its.isOfPair = ofPair;
    if (byRank)
      its.rank = rank;
  }
}

std::vector<int64_t> Extractor::getRanks(unsigned cta) const {
  // The first class leads everywhere. Of pairs, every second CTA does not.
  auto isOf = [](const CtaClass &its, int64_t rank) {
    return its.leadsPair ? rank != 0 : rank % 2 == 1;
  };
  std::vector<int64_t> ranks;
  for (int64_t rank = 0; rank < result.clusterSize; ++rank) {
    unsigned its = 1;
    while (its < classes.size() && !isOf(classes[its], rank))
      ++its;
    if (its % classes.size() == cta)
      ranks.push_back(rank);
  }
  return ranks;
}

static RoleOp getRoleOf(Value end) {
  for (Operation *user : end.getUsers())
    if (auto role = dyn_cast<RoleOp>(user))
      return role;
  return {};
}

void Extractor::addChannel(Operation *maker, const Twine &name, int64_t slots,
                           bool holdsData, bool swapped, unsigned offset,
                           ArrayRef<unsigned> members) {
  Skeleton &skeleton = result.skeleton;
  Channel channel;
  channel.name = fixUTF8(name.str());
  channel.slots = slots;
  channel.holdsData = holdsData;
  channel.part = static_cast<Channel::Part>(offset);
  channel.ring = numRings;
  result.sites.push_back(maker);
  channel.site = result.sites.size() - 1;
  for (unsigned cta : members)
    for (Value value : maker->getResults()) {
      unsigned number = getEnd(value, cta) + offset;
      bool fills = cast<EndTypeInterface>(value.getType()).isProducer();
      (fills != swapped ? channel.producers : channel.consumers)
          .push_back(number);
      RoleOp role = getRoleOf(value);
      End &end = skeleton.ends[number];
      end.name = "role \"" + (role ? fixUTF8(role.getName()) : "") + "\"";
      if (classes.size() > 1)
        end.name += cta ? " of the other CTA" : " of the leading CTA";
      end.isProducer = fills != swapped;
      end.channel = skeleton.channels.size();
    }
  skeleton.channels.push_back(std::move(channel));
}

void Extractor::addRing(Operation *maker) {
  Skeleton &skeleton = result.skeleton;
  for (Value end : maker->getResults()) {
    ends[end] = skeleton.ends.size();
    skeleton.ends.resize(skeleton.ends.size() + kEndsOfClass * classes.size());
  }
  auto type = cast<RingTypeInterface>(cast<RingOpInterface>(maker).getRing());
  const PlannedRing &ring = plan.getRing(maker);
  auto pipeline = dyn_cast<PipelineType>(Type(type));
  bool holdsData = !pipeline || !pipeline.getTiles().empty();
  bool isShared = ring.ctaGroup == 2 || ring.sharedAlongM ||
                  ring.sharedAlongN || isa<WorkQueueOp>(maker);
  skeleton.coupled |= isShared;
  std::string name = getRingName(type);
  SmallVector<SmallVector<unsigned>> groups;
  for (unsigned cta = 0; cta < classes.size(); ++cta)
    if (isShared && cta)
      groups[0].push_back(cta);
    else
      groups.push_back({cta});
  for (ArrayRef<unsigned> group : groups) {
    addChannel(maker, name, type.getNumStages(), holdsData, /*swapped=*/false,
               0, group);
    skeleton.channels.back().isOfQuestions =
        aspect == Aspect::Progress && isa<WorkQueueOp>(maker);
    if (!isa<OutputPipelineOp>(maker))
      continue;
    addChannel(maker, "the tensor memory of " + name, 1, false,
               /*swapped=*/false, kAllocation, group);
    addChannel(maker, "the end of the tensor memory of " + name, 1, false,
               /*swapped=*/true, kDeallocation, group);
  }
  ++numRings;
}

void Extractor::dropUnused() {
  Skeleton &skeleton = result.skeleton;
  std::vector<bool> isUsed(skeleton.ends.size());
  bool isDynamic = false;
  std::function<void(const ::fp8::proof::Block &)> visit =
      [&](const ::fp8::proof::Block &block) {
        for (const Statement &statement : block) {
          visit(statement.first);
          visit(statement.second);
          bool isStep = statement.kind <= Statement::Kind::Signal;
          if (!isStep)
            continue;
          ExprId id = statement.end;
          int64_t offset = 0;
          const ExprTable &table = skeleton.expressions;
          if (table[id].kind == ExprKind::Add) {
            offset = table[table[id].operands[1]].value;
            id = table[id].operands[0];
          }
          if (table[id].kind == ExprKind::Constant)
            isUsed[table[id].value + offset] = true;
          else
            isDynamic = true;
        }
      };
  for (const Process &process : skeleton.processes)
    visit(process.body);
  // In a kernel of one class every end is used, or its role leaves it to wait.
  if (isDynamic || classes.size() == 1)
    return;
  auto drop = [&](std::vector<unsigned> &list) {
    // Where nobody works on a side, the other one waits for it.
    if (llvm::any_of(list, [&](unsigned end) { return isUsed[end]; }))
      llvm::erase_if(list, [&](unsigned end) { return !isUsed[end]; });
  };
  for (Channel &channel : skeleton.channels) {
    drop(channel.producers);
    drop(channel.consumers);
  }
}

void Extractor::follow() {
  switch (aspect) {
  case Aspect::Progress:
  case Aspect::Marks:
    return;
  case Aspect::Numbers:
    gemm = ComputedGemm::get(function);
    return;
  case Aspect::Ownership:
  case Aspect::Accesses:
    contents.emplace(function, flow, classes);
    return;
  case Aspect::Arrays:
    memory.emplace(function, plan, flow);
    result.undecided.assign(memory->getUndecided());
    return;
  }
}

bool Extractor::choosesRows() {
  return function
      ->walk([&](PromoteOp promote) {
        return Fills::isRowShown(promote, ranges) ? WalkResult::advance()
                                                  : WalkResult::interrupt();
      })
      .wasInterrupted();
}

bool Extractor::isShownByText() {
  return (aspect == Aspect::Ownership && !contents->hasDoubts() &&
          !choosesRows()) ||
         (aspect == Aspect::Arrays && memory->getRules().empty());
}

static bool isDecision(const Statement &statement) {
  return statement.kind == Statement::Kind::Branch ||
         statement.kind == Statement::Kind::For ||
         statement.kind == Statement::Kind::While;
}

/// Marks what CTAs that meet might decide differently.
static void markPartings(::fp8::proof::Block &block,
                         const Uniformity &uniformity) {
  for (Statement &statement : block) {
    statement.mayPart = isDecision(statement) && statement.meets &&
                        uniformity.varies(statement);
    markPartings(statement.first, uniformity);
    markPartings(statement.second, uniformity);
  }
}

void Extractor::addProcess(RoleOp role, unsigned cta) {
  Skeleton &skeleton = result.skeleton;
  SmallVector<ExprId> operands;
  for (Value operand : role.getInits())
    operands.push_back(skeleton.expressions.getConstant(
        ends.contains(operand) ? getEnd(operand, cta) : -1));
  RoleWalker walker(result, plan, flow, classes[cta], role);
  if (gemm)
    walker.followNumbers(role, *gemm, ranges);
  else if (aspect == Aspect::Ownership)
    walker.followFills(role, *contents, cta, ranges);
  else if (aspect == Aspect::Accesses)
    walker.followAccesses(role, *contents, cta);
  else if (memory)
    walker.followArrays(*memory);
  else if (aspect == Aspect::Marks)
    walker.followMarks(marks);
  Process process = walker.walk(role, operands);
  if (result.clusterSize > 1)
    markPartings(process.body, Uniformity(skeleton.expressions, process.body,
                                          result.clusterSize));
  process.ranks = getRanks(cta);
  process.name = "role \"" + fixUTF8(role.getName()) + "\"";
  if (classes.size() > 1)
    process.name += cta ? " of the other CTA" : " of the leading CTA";
  skeleton.processes.push_back(std::move(process));
}

KernelSkeleton Extractor::extract() {
  result.skeleton.kernel = fixUTF8(SymbolTable::getSymbolName(function));
  result.clusterSize = getClusterShape(function).getSize();
  findClasses();
  follow();
  if (isShownByText())
    return std::move(result);
  mlir::Block &entry = function.getFunctionBody().front();
  for (Operation &op : entry)
    if (isa<RingOpInterface>(op))
      addRing(&op);
  for (auto [number, role] : llvm::enumerate(entry.getOps<RoleOp>()))
    for (unsigned cta = 0; cta < classes.size(); ++cta) {
      addProcess(role, cta);
      result.skeleton.processes.back().role = number;
    }
  dropUnused();
  return std::move(result);
}

static bool decidesByRank(const ::fp8::proof::Block &block,
                          const Uniformity &uniformity) {
  return llvm::any_of(block, [&](const Statement &statement) {
    return (isDecision(statement) && uniformity.varies(statement)) ||
           decidesByRank(statement.first, uniformity) ||
           decidesByRank(statement.second, uniformity);
  });
}

/// True if the CTAs of a cluster, which wait for one another, may take
/// different branches, and can be followed one by one.
static bool mustTellApart(const KernelSkeleton &kernel, Aspect aspect) {
  bool isOfSteps = aspect == Aspect::Progress || aspect == Aspect::Ownership;
  return isOfSteps && kernel.clusterSize == 2 && kernel.skeleton.coupled &&
         llvm::any_of(kernel.skeleton.processes, [&](const Process &process) {
           return decidesByRank(process.body,
                                Uniformity(kernel.skeleton.expressions,
                                           process.body, kernel.clusterSize));
         });
}

FailureOr<KernelSkeleton> mlir::fp8::extractSkeleton(FunctionOpInterface kernel,
                                                     Aspect aspect,
                                                     ArrayRef<Mark> marks) {
  FailureOr<KernelPlan> plan = KernelPlan::analyze(kernel);
  if (failed(plan))
    return failure();
  auto extract = [&](bool byRank) {
    return Extractor(kernel, *plan, aspect, marks, byRank).extract();
  };
  KernelSkeleton skeleton = extract(/*byRank=*/false);
  return mustTellApart(skeleton, aspect) ? extract(/*byRank=*/true)
                                         : std::move(skeleton);
}
