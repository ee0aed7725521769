// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// One run with symbolic arguments, with loops left behind by induction.

#ifndef FP8_LIB_PROOF_SYMBOLICRUN_H
#define FP8_LIB_PROOF_SYMBOLICRUN_H

#include "Lifetimes.h"
#include "Machine.h"
#include "Witness.h"
#include "fp8/Proof/Prover.h"

namespace fp8::proof {

/// The guard of a loop.
struct Head {
  unsigned process = ~0u;
  size_t depth = 0; ///< of the process's stack
  const Statement *loop = nullptr;
  unsigned entry = 0; ///< how often the process had entered the loop
  unsigned loops = 0; ///< around the guard, this one included

  /// That at which the process stands.
  static Head of(const State &state, unsigned process);
  /// True if the process has not left the loop since.
  bool isAround(const State &state) const;
};

/// A loop whose turns are being explored.
struct Context {
  Head head;
  std::vector<State> arrived; ///< at its guard
  std::vector<State> seen;    ///< states in which a branch was decided
};

/// The loops around what the process does next.
unsigned getLoopDepth(const ProcessState &process);
/// True for the statements that repeat blocks.
bool isLoop(const Statement &statement);

/// Where a process is held back at a guard, although it may be known that its
/// loop goes on.
enum class Pace : uint8_t {
  /// Everywhere. It goes on when the process whose turn is explored needs it,
  /// or when the slot has come with which its next turn begins. So the state
  /// behind a turn does not depend on what is known of others' loops.
  Demand,
  /// At each loop that it enters.
  Entries,
  /// Nowhere.
  Guards,
};

/// Each pace settles loops that others do not.
inline constexpr Pace kPaces[] = {Pace::Entries, Pace::Demand, Pace::Guards};

class SymbolicRun {
public:
  SymbolicRun(const Skeleton &skeleton, int64_t clusterSize, Pace pace,
              Recording recording = Recording::Off)
      : pace(pace), skeleton(skeleton), atoms(skeleton.expressions),
        machine(skeleton, atoms, clusterSize), lifetimes(skeleton),
        witness(recording) {
    machine.recordsMoves = witness.isOn();
    for (unsigned process = 0; process < skeleton.processes.size(); ++process)
      findOwners(process, skeleton.processes[process].body);
  }

  /// Makes the run. The verdict is proved or unknown, or refuted if the roles
  /// part ways for all launches.
  Outcome prove();
  /// A state in which processes wait forever, if that is why the proof failed.
  const std::optional<State> &getStuck() const { return stuck; }
  /// Has all turns of loops explored, rather than forecast.
  void exploreAll() { forecastsTurns = false; }
  /// True if the run has tried to forecast turns.
  bool hasForecasts() const { return !forecasts.empty(); }
  Machine &getMachine() { return machine; }
  AtomTable &getAtoms() { return atoms; }
  /// How the run can be made again, if it was recorded and proves the kernel.
  std::optional<llvm::json::Object> getWitness() const {
    return witness.toJSON(atoms);
  }

private:
  using States = std::vector<State>;
  /// How much values have moved: variables by process, and fields of slots in
  /// the order of the state. Answers of queues are arbitrary: those that the
  /// one state has take the place of those of the other.
  struct Shift {
    std::vector<std::vector<Linear>> values;
    std::vector<Linear> fields;
    std::map<AtomId, Linear> names; ///< of the second state, in the first
  };
  /// Variables, by process, of one value that each turn multiplies, as in
  /// `i = 2 * i`.
  struct Growth {
    std::vector<std::pair<unsigned, unsigned>> variables;
    /// Stands for the value in any turn. All that is known of it is that it is
    /// at least the first.
    Linear symbol, first;
  };
  using Growths = std::vector<Growth>;
  /// Values of the same place in two states.
  using Pairs = std::vector<std::pair<const Linear *, const Linear *>>;

  /// Runs on all ways from the state to where every process is finished, or to
  /// the guard of a loop that is being explored, where they are collected.
  /// False when the proof has failed.
  bool explore(State state);
  /// A process, and the sum that decides what it does next.
  using Choice = std::pair<unsigned, Linear>;
  /// Runs on to where no process goes on without a decision. `chosen` becomes
  /// who takes it, and is none before. False if a process fails.
  bool advance(State &state, std::optional<Choice> &chosen);
  /// The process that is to go on when all are held back, blocked or undecided;
  /// none if they wait for one another, or have finished.
  std::optional<Choice> choose(State &state);
  /// The one in the innermost loop.
  std::optional<Choice> chooseByLoops(State &state);
  /// The context of the loop at whose guard the process stands.
  Context *getContext(const State &state, unsigned process);
  /// The head of the innermost loop whose turn is explored; null if there is
  /// none.
  const Head *getHead(const State &state) const;
  /// False if the process stands at a guard at which it is held back.
  bool mayPass(const State &state, unsigned process);
  /// True if the process, which was chosen, takes a turn of its loop, and the
  /// loop is not explored.
  bool passesNext(const State &state, unsigned process);
  /// True if turns of the loop at whose guard the process stands are explored,
  /// or have to be.
  bool isExplored(const State &state, unsigned process);
  /// True if the process has come to a loop whose turns are to be explored,
  /// even if it is known that there is one. Loops that go round in a turn of
  /// one that is as deep just run.
  bool begins(const State &state, unsigned process);
  /// True if the next turn of the loop may begin with a slot that is there.
  bool isServed(const State &state, unsigned process);
  void findOwners(unsigned process, const Block &block);
  /// Decides a guard at which a process stands, and all turns of its loop.
  bool leaveBehind(State state, unsigned process);
  /// The states that come back to the head from a turn, which takes place.
  std::optional<States> turn(State state, const Head &head);
  /// Leaves the loop behind if each turn, or each so many of them, moves the
  /// state by the same amount: from that of the past to the next one. A turn
  /// may also lead to states from which the loop is left behind in another way.
  /// `mayBeOver`: the loop may end before the first turn, too. `growths`:
  /// values that do not move by the same amount.
  bool induct(const States &past, const State &next, unsigned period,
              const Head &head, bool mayBeOver = false,
              const Growths &growths = {});
  /// Does so if some values grow.
  bool inductGrowth(const States &past, const State &next, const Head &head);
  /// The values that two turns in a row have multiplied.
  Growths findGrowths(const State &previous, const State &state,
                      const State &next);
  /// True if no thread and no CTA sees another value.
  bool isOfAll(const Linear &sum) const;
  /// Gives each variable that grows the symbol of its value.
  static void generalise(State &state, const Growths &growths);
  /// True if the state that arrived is the one that is expected after a turn
  /// from `any`, with other values of what grows, and is nearer to the end.
  bool growsOn(const State &any, const State &expected, const State &arrived,
               const Growths &growths, const Head &head);
  /// True if how the loop ends in the state is how it ends after any number of
  /// turns like this one, with none of them: the guard says their number.
  bool endsAlike(const State &state, const State &next, const Head &head);
  /// True if what decides whether the loop goes on falls in each turn, so that
  /// the loop ends. The steps of a For are positive.
  bool falls(const State &any, const State &after, const Head &head);
  std::optional<States> turns(const State &state, const Head &head,
                              unsigned number, States &between);
  /// Where nothing decides the guard: the state whose loop goes on, and the one
  /// whose loop ends.
  std::pair<State, std::optional<State>> decideGuard(const State &state,
                                                     const Head &head);
  /// What may hold in every turn, as a sum that is at least 0 in the state, and
  /// by how much it changes in each turn: facts that two turns in a row have
  /// learnt, and that differ by a constant.
  std::vector<std::pair<Linear, Linear>>
  guessInvariants(const State *previous, const State &state,
                  const State &next) const;
  /// Tries the induction over turns that move the state as far as one way
  /// through a turn does, on which nothing was shown. `mayBeOver`: the loop may
  /// end before the first turn, too.
  bool holdsAsForecast(const State &state, const Head &head, bool mayBeOver);
  /// Takes one way through a turn. Returns how far it moves the state, and
  /// notes this of the loops inside, too. None if the way does not come back.
  std::optional<Shift> lookAhead(State state, const Head &head);
  /// Takes any decision of the process, and all turns of a loop. False if the
  /// way ends.
  bool decideAhead(State &state, unsigned process, const Linear &pivot);
  /// Goes behind the last turn of a loop whose turns are all like the first.
  bool passAhead(State &state, const Head &head);
  /// True if it is known that the loop goes on.
  bool goesOn(const State &state, const Head &head);
  /// The state behind the last turn, of at least one unless the loop may be
  /// over. `turns` is a number of turns, and `number` becomes how many there
  /// are, if the guard tells.
  State afterLast(const State &state, const State &any, const Head &head,
                  const Linear &turns, const Shift &shift, bool mayBeOver,
                  const Growths &growths, std::optional<Linear> &number);
  void recordInduction(Witness::Loop record, const State &state,
                       const Head &head, const Shift &shift, bool mayExit);
  bool wasSeen(const State &state);
  /// True if what was shown of `by` holds of the state, which is recorded.
  bool isCovered(const State &state, const State &by);
  bool fork(const State &state, unsigned process, const Linear &pivot);
  bool checkEnd(State &state);
  bool fail(std::string reason, unsigned site);

  /// By how much each live value has moved; none if the states differ
  /// otherwise.
  std::optional<Shift> getShift(const State &from, const State &to);
  /// The live values of both states; none if one has others.
  std::optional<Pairs> getPairs(const State &from, const State &to) const;
  /// Finds which answers take the place of which. False if none can.
  bool matchAnswers(const State &from, const State &to, const Pairs &pairs,
                    std::map<AtomId, Linear> &names);
  /// The sum with other answers.
  Linear rename(const Linear &sum, const std::map<AtomId, Linear> &names);
  /// Moves all values by so many times the shift; forgets those that are dead.
  void move(State &state, const Shift &shift, const Linear &turns);
  static bool isZero(const Shift &shift);
  /// True if some process is in a loop with a known number of turns left, of
  /// which the shift takes some: this cannot go on.
  bool endsSoon(const State &state, const Shift &shift) const;
  bool isSame(const State &a, const State &b);
  /// True if what was shown of the one state holds of the other, too: it is the
  /// same, and as much is known of it.
  bool covers(const State &before, const State &state);

  /// Marks the innermost loop around a branch that was decided again and again:
  /// what was learnt decides its guard, so that it would never stop.
  void noteDecision(State &state, unsigned process);

  static constexpr unsigned kMostTurns = 16, kMostDecisions = 3,
                            kLongestPeriod = 8, kMostTurnsInAll = 4000,
                            kMostDepth = 150, kMostTrialsInside = 2,
                            kMostDecisionsAhead = 1000;

  Pace pace;
  const Skeleton &skeleton;
  AtomTable atoms;
  Machine machine;
  Lifetimes lifetimes;
  Witness witness;
  std::map<unsigned, unsigned> owners; ///< the processes, by end
  Outcome outcome;
  /// A state in which processes wait forever, if that is why the proof failed.
  std::optional<State> stuck;
  /// Whether to keep a failure for itself: a trial may fail.
  unsigned trials = 0;
  unsigned numTurns = 0, depth = 0, decisionsAhead = 0;
  /// How many inductions are being tried over the turns of a loop, since it was
  /// entered for the so many-th time. One inside of another may lead out of the
  /// loop; more do not.
  std::map<std::pair<const Statement *, unsigned>, unsigned> trialsOf;
  /// What a turn is expected to do, by process and loop; none if that is not
  /// known, or did not prove true.
  std::map<std::pair<unsigned, const Statement *>, std::optional<Shift>>
      forecasts;
  bool forecastsTurns = true;
  /// From the outermost loop to the innermost; the first is no loop.
  std::vector<Context> contexts;
};

} // namespace fp8::proof

#endif // FP8_LIB_PROOF_SYMBOLICRUN_H
