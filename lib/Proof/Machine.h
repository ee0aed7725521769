// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Runs the processes of a skeleton, with symbolic values.

#ifndef FP8_LIB_PROOF_MACHINE_H
#define FP8_LIB_PROOF_MACHINE_H

#include "AccessLog.h"

#include "llvm/ADT/DenseMap.h"

#include <set>
#include <unordered_set>

namespace fp8::proof {

/// A block in execution, and the statement that is next, or in execution.
struct Frame {
  const Block *block;
  unsigned next = 0;
  /// Of a loop: that its guard is to be decided.
  bool atGuard = false;
  /// Of a loop: that no turn has begun.
  bool isFresh = false;

  const Statement &get() const { return (*block)[next]; }
  bool isDone() const { return next == block->size(); }
  bool operator==(const Frame &other) const {
    return block == other.block && next == other.next &&
           atGuard == other.atGuard;
  }
};

struct ProcessState {
  llvm::SmallVector<Frame, 6> stack;
  std::vector<std::optional<Linear>> values;

  bool isFinished() const { return stack.empty(); }
};

/// How many slots an end has waited for, and how many it has signalled.
struct EndState {
  int64_t waits = 0, signals = 0;
};

/// Processes in the order in which they go, and how many steps each takes.
using Moves = std::vector<std::pair<unsigned, unsigned>>;

/// Where the record of a run goes on from a state.
struct Trail {
  unsigned node = 0; ///< of the witness
  Moves moves;       ///< since the node was begun
};

struct State {
  std::vector<ProcessState> processes;
  std::vector<EndState> ends;
  /// Fields of slots that consumers have still to get, by channel, slot and
  /// field.
  std::map<std::tuple<unsigned, int64_t, unsigned>, Linear> fields;
  /// Answers of work queues, by channel and slot.
  std::map<std::pair<unsigned, int64_t>, bool> answers;
  Facts facts;
  /// How often a branch of a process was decided in this turn.
  std::map<std::pair<unsigned, const Statement *>, unsigned> decisions;
  /// How often a process has entered a loop.
  std::map<std::pair<unsigned, const Statement *>, unsigned> entries;
  /// Loops that are left behind even if it is known that they go on.
  std::set<std::pair<unsigned, const Statement *>> runaways;
  Trail trail;
  /// Of a run that watches accesses.
  std::optional<AccessLog> log = std::nullopt;
};

/// What an expression is worth, or the sum whose sign decides that first.
struct Value {
  std::optional<Linear> sum;
  Linear pivot;
};

/// A truth value, or the sum that decides it: true if it is at least 0.
struct Truth {
  std::optional<bool> known;
  Linear pivot;
};

enum class StepKind : uint8_t { Moved, Finished, Blocked, Undecided, Failed };

/// The slot that a Wait or a Drain is about, as the other side counts slots,
/// and the ends of that side that have still to signal it.
struct Awaited {
  int64_t slot;
  llvm::SmallVector<unsigned> late;
};

/// A channel with data whose slots were not all emptied.
struct Leftover {
  const Channel *channel;
  unsigned producer, consumer; ///< numbers of ends
};

struct Step {
  StepKind kind;
  /// Undecided: the sum whose sign decides; not of an Answer.
  Linear pivot;
};

/// Executes statements. Values of parameters may be given.
class Machine {
public:
  Machine(const Skeleton &skeleton, AtomTable &atoms, int64_t clusterSize)
      : skeleton(skeleton), atoms(atoms), clusterSize(clusterSize) {}

  State getInitial() const;
  /// Executes the next statement of a process, if it can go on.
  Step step(State &state, unsigned process);
  /// Runs every process until each is finished, blocked, undecided or held
  /// back. False if one fails: `failure` says why.
  bool run(
      State &state, llvm::function_ref<bool(unsigned)> isHeldBack =
                        [](unsigned) { return false; });
  /// The sum that is at least 0 as long as a loop goes on, at whose guard the
  /// process stands. None if it is known that it goes on, or that it does not.
  std::optional<Linear> getGuard(const State &state, unsigned process);
  /// What it means that the sum decides the statement, and that its sign is not
  /// known: undecided, or a failure if the sum may differ among those who
  /// should take the statement alike.
  Step undecided(const Statement &statement, const Linear &pivot);
  /// The end that a Wait, Signal, Drain or Answer is about.
  unsigned getEnd(const State &state, unsigned process,
                  const Statement &statement);
  /// Gives the answer that the process is about to read.
  void answer(State &state, unsigned process, bool more);
  /// The number in the answer of that channel and slot.
  Linear getAnswer(std::pair<unsigned, int64_t> place) {
    return atoms.getAnswer(place.second *
                               static_cast<int64_t>(skeleton.channels.size()) +
                           place.first);
  }
  bool isFree(const State &state, unsigned end, int64_t slot) const;
  /// Whether somebody has read, of a channel of questions, that there is more
  /// work: in the slot before the one that the producer's end fills next.
  static bool mayAsk(const State &state, const Skeleton &skeleton,
                     unsigned end);
  /// What the statement, which waits and is about the end, waits for.
  Awaited getAwaited(const State &state, unsigned end,
                     const Statement &statement) const;
  /// What is not drained when all processes have finished.
  std::optional<Leftover> findLeftover(const State &state) const;

  std::map<int64_t, int64_t> parameters; ///< given values
  /// Whether a minimum that is not decided is a value of its own, rather than
  /// a decision to take.
  bool keepsMinima = false;
  /// Whether requirements are taken to hold.
  bool asksNothing = false;
  /// Whether it was shown that all roles end. Then what CTAs that share rings
  /// decide differently holds none of them up.
  bool assumesProgress = false;
  /// Whether what goes wrong in this run goes wrong on a GPU, too.
  bool isConcrete = false;
  std::string failure;
  /// Whether what failed goes wrong on a GPU, too.
  bool isWrong = false;
  unsigned failureSite = 0;
  /// If accesses are what failed.
  std::optional<Race> race;
  uint64_t steps = 0, limit = 500'000;
  bool recordsMoves = false; ///< in the trail of the state
  /// Whether states have a log of accesses. The arguments are given.
  bool watches = false;

  /// Who may see different values of the sum.
  Scope getScope(const Linear &sum) const {
    return atoms.getScope(sum, clusterSize);
  }

private:
  Step execute(State &state, unsigned process);
  /// Valid until the next evaluation.
  const Value &evaluate(const State &state, unsigned process, ExprId id);
  Value evaluateNew(const State &state, unsigned process, ExprId id);
  /// The quotient or the remainder of a division by what is no constant.
  Linear divide(const Linear &dividend, const Linear &divisor,
                bool isRemainder);
  /// What an expression is worth whose operands are.
  Value compute(const State &state, const Expr &expr,
                llvm::ArrayRef<const Linear *> operands);
  Truth decide(const State &state, unsigned process, ExprId id);
  /// What has to be decided before it is known what the condition compares.
  std::optional<Linear> findChoice(const State &state, unsigned process,
                                   ExprId id);
  Truth decideSign(const State &state, const Linear &sum);
  /// Takes the decision of a branch or a loop. Fails if CTAs meet in it that
  /// may decide differently.
  Step decideAlike(State &state, unsigned process, Frame &frame,
                   const Statement &statement);
  Step branch(State &state, unsigned process, Frame &frame,
              const Statement &statement);
  Step loop(State &state, unsigned process, Frame &frame,
            const Statement &statement);
  Step repeat(State &state, unsigned process, Frame &frame,
              const Statement &statement);
  Step assign(State &state, unsigned process, Frame &frame,
              const Statement &statement);
  /// Executes a requirement and those behind it, which share operands.
  Step requireAll(State &state, unsigned process, Frame &frame);
  Step require(State &state, unsigned process, Frame &frame,
               const Statement &statement);
  /// The same as `require` of what was not shown before.
  Step requireNew(State &state, unsigned process, Frame &frame,
                  const Statement &statement);
  /// The same, however what the sum decides is chosen: it is at least 0, or
  /// not.
  Step requireOfBoth(State &state, unsigned process, Frame &frame,
                     const Statement &statement, const Linear &choice);
  Step access(State &state, unsigned process, Frame &frame,
              const Statement &statement);
  /// Records the access of a warp; the race, if there is one.
  std::optional<Race> recordAccess(State &state, unsigned process,
                                   const Statement &statement, unsigned warp,
                                   bool isOfSame);
  /// Notes the slots that the process learns of when it waits for this one.
  void learn(State &state, unsigned process, unsigned end, int64_t slot);
  /// A step that is about an end.
  Step exchange(State &state, unsigned process, Frame &frame,
                const Statement &statement);
  /// Gets the fields of the slot that the end has just waited for.
  void getFields(State &state, unsigned process, const Statement &statement,
                 unsigned end);
  Step fail(const Statement &statement, llvm::StringRef reason,
            bool goesWrong = false);
  /// True if the condition compares what several CTAs of the cluster have.
  bool asksOfCtas(ExprId condition) const;
  /// True if the path is that of some CTAs of the cluster only.
  bool isOfSomeCtas(const State &state) const;
  /// Goes on behind a block that is done.
  void leave(State &state, unsigned process);

  /// The evaluation of an expression, which its operands are part of.
  struct Evaluation {
    explicit Evaluation(Machine &machine);
    ~Evaluation() { --machine.nesting; }
    Machine &machine;
  };

  const Skeleton &skeleton;
  AtomTable &atoms;
  int64_t clusterSize;
  /// What expressions are worth, and in which evaluation they were.
  std::vector<std::pair<uint64_t, Value>> known;
  uint64_t evaluation = 0, lastEvaluation = 0;
  unsigned nesting = 0;
  /// The variables that requirements read.
  llvm::DenseMap<const Statement *, std::vector<unsigned>> variables;
  /// Requirements that hold: which, what their variables are worth, and by
  /// which facts. Roles come back to them in many states.
  struct Shown {
    const Statement *statement;
    const void *facts;
    std::vector<std::optional<Linear>> values;
    bool operator==(const Shown &other) const {
      return statement == other.statement && facts == other.facts &&
             values == other.values;
    }
    friend llvm::hash_code hash_value(const Shown &its) {
      return llvm::hash_combine(its.statement, its.facts, Hash()(its.values));
    }
  };
  std::unordered_set<Shown, Hash> shown;
};

} // namespace fp8::proof

#endif // FP8_LIB_PROOF_MACHINE_H
