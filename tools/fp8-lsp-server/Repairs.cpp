// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Writes edits for errors of the linearity check, and tries each.

#include "Repairs.h"
#include "CheckedSource.h"

#include "fp8/IR/Fp8.h"
#include "fp8/IR/LinearUse.h"

#include "mlir/Interfaces/InferTypeOpInterface.h"

using namespace mlir;
using namespace mlir::fp8;
using namespace mlir::fp8::server;

namespace {

/// New text for a range of the source.
struct Replacement {
  SMRange range;
  std::string text;
};

/// Where ops can be written: before what stands there, or behind it.
struct Place {
  SMLoc location;
  bool isBehind;
};

struct Candidate {
  std::string title;
  SmallVector<Replacement> replacements;
};

/// Writes the ops that consume a handle before an op of its region.
class Insertion {
public:
  Insertion(CheckedSource &source, Value handle, Place place)
      : source(source), handle(handle), place(place) {}

  std::optional<Candidate> write();

private:
  /// Adds the op that consumes the handle `name`. Gives its result's type, null
  /// if it has none; fails if the op takes more than the handle.
  FailureOr<Type> addConsumer(std::string &name, LinearTypeInterface type);
  /// Lets what uses a handle that came before, of that type, use `name`.
  bool redirectUses(StringRef name, Type type);

  CheckedSource &source;
  Value handle;
  Place place;
  SmallVector<std::string> ops;
  SmallVector<Replacement> replacements;
};

} // namespace

/// The blanks at the start of the line with the location.
static StringRef getIndent(StringRef text, SMLoc location) {
  StringRef before = text.take_front(location.getPointer() - text.data());
  size_t newline = before.rfind('\n');
  if (newline != StringRef::npos)
    before = before.drop_front(newline + 1);
  return before.take_while([](char c) { return c == ' ' || c == '\t'; });
}

/// What an op of that name would give back for a handle of that type: nothing,
/// a type, or a failure if it takes more than one handle.
static FailureOr<Type> inferResult(StringRef consumer, Type type,
                                   MLIRContext *context) {
  auto name = RegisteredOperationName::lookup(consumer, context);
  if (!name)
    return failure();
  if (name->hasTrait<mlir::OpTrait::ZeroResults>())
    return Type();
  auto *inference = name->getInterface<InferTypeOpInterface>();
  if (!inference || !name->hasTrait<mlir::OpTrait::OneOperand>())
    return failure();
  Block stand;
  Value operand = stand.addArgument(type, UnknownLoc::get(context));
  SmallVector<Type> results;
  if (failed(inference->inferReturnTypes(context, std::nullopt, operand,
                                         DictionaryAttr(), nullptr, {},
                                         results)) ||
      results.size() != 1)
    return failure();
  return results.front();
}

FailureOr<Type> Insertion::addConsumer(std::string &name,
                                       LinearTypeInterface type) {
  StringRef consumer = type.getConsumerName();
  FailureOr<Type> result = inferResult(consumer, type, source.getContext());
  if (failed(result))
    return failure();
  std::string op =
      (consumer + " " + name + " : " + source.getTypeText(type)).str();
  if (*result) {
    name = source.getFreshName(ops.empty() ? "next" : "next_");
    op = name + " = " + op;
  }
  ops.push_back(op);
  return result;
}

bool Insertion::redirectUses(StringRef name, Type type) {
  for (Value before = handle; Operation *op = before.getDefiningOp();) {
    auto *operand = llvm::find_if(op->getOpOperands(), [](OpOperand &operand) {
      return isLinear(operand.get().getType()) &&
             classifyUse(operand) == UseKind::Consume;
    });
    if (operand == op->getOpOperands().end())
      return false;
    before = operand->get();
    if (before.getType() != type)
      continue;
    for (SMRange use : source.getUses(before))
      if (use.Start.getPointer() >= place.location.getPointer())
        replacements.push_back({use, name.str()});
    return !replacements.empty();
  }
  return false;
}

std::optional<Candidate> Insertion::write() {
  std::string name = source.getName(handle);
  auto type = dyn_cast<LinearTypeInterface>(handle.getType());
  if (name.empty())
    return std::nullopt;
  std::string title =
      ("insert the missing '" + type.getConsumerName() + "' of " + name).str();
  // A release gives the end back, which is consumed in turn.
  constexpr size_t kMost = 4;
  while (type && ops.size() < kMost) {
    FailureOr<Type> result = addConsumer(name, type);
    if (failed(result))
      return std::nullopt;
    type = dyn_cast_or_null<LinearTypeInterface>(*result);
    if (type && redirectUses(name, type))
      break;
  }
  StringRef indent = getIndent(source.getText(), place.location);
  std::string text;
  for (const std::string &op : ops)
    text += place.isBehind ? ("\n" + indent + op).str()
                           : (op + "\n" + indent).str();
  replacements.push_back({SMRange(place.location, place.location), text});
  return Candidate{title, replacements};
}

//===----------------------------------------------------------------------===//
// Handles that leak
//===----------------------------------------------------------------------===//

/// Where ops can be written before the terminator: at it, or where the text
/// leaves it out, behind the op in front.
static std::optional<Place> getPlaceBefore(CheckedSource &source,
                                           Operation *terminator) {
  if (auto *definition = source.getDefinition(terminator))
    return Place{definition->loc.Start, /*isBehind=*/false};
  Operation *front = terminator->getPrevNode();
  auto *definition = front ? source.getDefinition(front) : nullptr;
  if (!definition)
    return std::nullopt;
  // A comment on the line stays there.
  StringRef text = source.getText();
  const char *end = definition->scopeLoc.End.getPointer();
  StringRef line = StringRef(end, text.end() - end).split('\n').first;
  if (line.trim().empty() || line.ltrim().starts_with("//"))
    end = line.rtrim().end();
  return Place{SMLoc::getFromPointer(end), /*isBehind=*/true};
}

static void addInsertions(CheckedSource &source, Value handle,
                          const LinearityError &error,
                          SmallVectorImpl<Candidate> &candidates) {
  Region *region = handle.getParentRegion();
  auto addBefore = [&](Operation *terminator) {
    std::optional<Place> place = getPlaceBefore(source, terminator);
    if (!place)
      return;
    if (auto candidate = Insertion(source, handle, *place).write())
      candidates.push_back(std::move(*candidate));
  };
  bool isNoted = false;
  for (Location note : error.notes)
    for (Operation *op : source.getOperationsAt(note))
      if (op->hasTrait<mlir::OpTrait::IsTerminator>() &&
          region->isAncestor(op->getParentRegion())) {
        addBefore(op);
        isNoted = true;
      }
  if (isNoted)
    return;
  Block *block = handle.getParentBlock();
  if (!block->empty() && block->back().hasTrait<mlir::OpTrait::IsTerminator>())
    addBefore(&block->back());
}

//===----------------------------------------------------------------------===//
// Handles that are consumed twice
//===----------------------------------------------------------------------===//

/// The text of the op with its results, and the lines that only it stands on.
static SMRange getWholeText(CheckedSource &source, Operation *op) {
  auto *definition = source.getDefinition(op);
  StringRef text = source.getText();
  const char *begin = definition->loc.Start.getPointer();
  if (!definition->resultGroups.empty())
    begin = definition->resultGroups.front().definition.loc.Start.getPointer();
  const char *end = definition->scopeLoc.End.getPointer(), *line = begin;
  while (line > text.begin() && (line[-1] == ' ' || line[-1] == '\t'))
    --line;
  StringRef rest = StringRef(end, text.end() - end).ltrim(" \t");
  bool isAlone = (line == text.begin() || line[-1] == '\n') &&
                 (rest.empty() || rest.front() == '\n');
  if (isAlone) {
    begin = line;
    end = rest.empty() ? rest.begin() : rest.begin() + 1;
  }
  return SMRange(SMLoc::getFromPointer(begin), SMLoc::getFromPointer(end));
}

/// Leaves out `second`, one of two ops that consume the handle; what uses its
/// results uses those of the other.
static std::optional<Candidate>
removeConsumer(CheckedSource &source, Value handle, Operation *second) {
  if (!isa<LinearOpInterface>(second) || second->getNumRegions() ||
      second->getNumOperands() != 1 || !source.getDefinition(second))
    return std::nullopt;
  std::string name = source.getName(handle);
  Candidate candidate{("remove the second '" +
                       second->getName().getStringRef() + "' of " + name)
                          .str(),
                      {{getWholeText(source, second), ""}}};
  if (second->use_empty())
    return candidate;
  for (Operation *first : handle.getUsers())
    if (first != second && first->getName() == second->getName() &&
        first->getResultTypes() == second->getResultTypes()) {
      for (auto [kept, removed] :
           llvm::zip(first->getResults(), second->getResults()))
        for (SMRange use : source.getUses(removed))
          candidate.replacements.push_back({use, source.getName(kept)});
      return candidate;
    }
  return std::nullopt;
}

static void addRemovals(CheckedSource &source, Value handle,
                        const LinearityError &error,
                        SmallVectorImpl<Candidate> &candidates) {
  // The last note that names a consumer names the second.
  for (Location note : llvm::reverse(error.notes))
    for (Operation *op : source.getOperationsAt(note))
      if (llvm::is_contained(op->getOperands(), handle)) {
        if (auto candidate = removeConsumer(source, handle, op))
          candidates.push_back(std::move(*candidate));
        return;
      }
}

//===----------------------------------------------------------------------===//
// Trial
//===----------------------------------------------------------------------===//

/// The document with all but the part that has the line, of those that a line
/// `// -----` divides, blanked: places stay what they are.
static std::string isolatePart(StringRef document, int line) {
  std::string part = document.str();
  SmallVector<StringRef> lines;
  document.split(lines, '\n');
  int begin = 0, end = lines.size();
  for (auto [number, text] : llvm::enumerate(lines))
    if (text.trim() == "// -----") {
      if (int(number) < line)
        begin = number;
      else
        end = std::min<int>(end, number);
    }
  for (auto [number, text] : llvm::enumerate(lines))
    if (int(number) < begin || int(number) >= end)
      std::fill_n(part.begin() + (text.data() - document.data()), text.size(),
                  ' ');
  return part;
}

static std::string apply(StringRef text,
                         SmallVector<Replacement> replacements) {
  llvm::sort(replacements, [](const Replacement &a, const Replacement &b) {
    return a.range.Start.getPointer() > b.range.Start.getPointer();
  });
  std::string result = text.str();
  for (const Replacement &replacement : replacements)
    result.replace(replacement.range.Start.getPointer() - text.data(),
                   replacement.range.End.getPointer() -
                       replacement.range.Start.getPointer(),
                   replacement.text);
  return result;
}

/// The line, from 0 on; -1 if the location is in no file.
static int getLine(Location location) {
  auto place = location->findInstanceOf<FileLineColLoc>();
  return place ? int(place.getLine()) - 1 : -1;
}

static std::vector<llvm::lsp::TextEdit>
getEdits(CheckedSource &source, ArrayRef<Replacement> replacements) {
  std::vector<llvm::lsp::TextEdit> edits;
  for (const Replacement &replacement : replacements)
    edits.push_back({llvm::lsp::Range(source.getSourceMgr(), replacement.range),
                     replacement.text});
  return edits;
}

std::vector<Repair> server::findRepairs(const DialectRegistry &registry,
                                        StringRef document,
                                        llvm::lsp::Range range) {
  std::vector<Repair> repairs;
  auto source =
      CheckedSource::create(registry, isolatePart(document, range.start.line));
  if (!source)
    return repairs;
  auto isAsked = [&](Location location) {
    int line = getLine(location);
    return line >= range.start.line && line <= range.end.line;
  };
  size_t least = source->getErrors().size();
  for (const LinearityError &error : source->getErrors()) {
    if (!isAsked(error.location) && llvm::none_of(error.notes, isAsked))
      continue;
    SmallVector<Candidate> candidates;
    for (Value handle : source->getLinearValuesAt(error.location)) {
      addInsertions(*source, handle, error, candidates);
      addRemovals(*source, handle, error, candidates);
    }
    for (Candidate &candidate : candidates) {
      auto mended = CheckedSource::create(
          registry, apply(source->getText(), candidate.replacements));
      if (!mended || mended->getErrors().size() > least ||
          mended->getErrors().size() == source->getErrors().size())
        continue;
      // One that mends more takes the place of those that mend less.
      if (mended->getErrors().size() < least)
        repairs.clear();
      least = mended->getErrors().size();
      repairs.push_back({candidate.title,
                         getEdits(*source, candidate.replacements),
                         getLine(error.location), /*mendsAll=*/least == 0});
    }
  }
  return repairs;
}
