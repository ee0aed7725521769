// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Proves what a document says, as often as it changes.

#include "ProofDiagnostics.h"

#include "fp8/Transforms/ProveKernels.h"

#include "mlir/IR/Diagnostics.h"
#include "mlir/Parser/Parser.h"
#include "llvm/Support/SourceMgr.h"

using namespace mlir;
using namespace mlir::fp8;
using namespace mlir::fp8::server;
namespace json = llvm::json;

/// From the place to the end of its line, in front of a comment.
static json::Object getRange(Location location, ArrayRef<StringRef> lines) {
  auto place = location->findInstanceOf<FileLineColLoc>();
  int64_t line = 0, begin = 0, end = 0;
  if (place && place.getLine() && place.getLine() <= lines.size()) {
    line = place.getLine() - 1;
    begin = place.getColumn() ? place.getColumn() - 1 : 0;
    end = lines[line].split("//").first.rtrim().size();
  }
  auto make = [&](int64_t character) {
    return json::Object{{"line", line}, {"character", character}};
  };
  return json::Object{{"start", make(begin)},
                      {"end", make(std::max(begin, end))}};
}

static json::Object toJSON(const Diagnostic &diagnostic, StringRef uri,
                           ArrayRef<StringRef> lines) {
  constexpr int kError = 1, kInformation = 3;
  json::Array related;
  for (const Diagnostic &note : diagnostic.getNotes())
    related.push_back(json::Object{
        {"location",
         json::Object{{"uri", uri.str()},
                      {"range", getRange(note.getLocation(), lines)}}},
        {"message", note.str()}});
  bool isError = diagnostic.getSeverity() == DiagnosticSeverity::Error;
  return json::Object{{"range", getRange(diagnostic.getLocation(), lines)},
                      {"severity", isError ? kError : kInformation},
                      {"source", "fp8-prove"},
                      {"message", diagnostic.str()},
                      {"relatedInformation", std::move(related)}};
}

/// Proves a part, in front of which there are empty lines.
static void provePart(const DialectRegistry &registry, StringRef part,
                      StringRef uri, json::Array &found) {
  MLIRContext context(registry, MLIRContext::Threading::DISABLED);
  context.allowUnregisteredDialects();
  context.printOpOnDiagnostic(false);
  bool isReporting = false;
  SmallVector<StringRef> lines;
  part.split(lines, '\n');
  ScopedDiagnosticHandler collect(&context, [&](Diagnostic &diagnostic) {
    if (isReporting)
      found.push_back(toJSON(diagnostic, uri, lines));
    return success();
  });
  OwningOpRef<ModuleOp> module = parseSourceString<ModuleOp>(part, &context);
  // Which chip a GEMM op is for the text does not say.
  FailureOr<SmallVector<KernelProof, 0>> proofs = failure();
  if (module)
    proofs = proveKernels(*module, "sm_100a");
  if (failed(proofs))
    return;
  isReporting = true;
  for (const KernelProof &proof : *proofs)
    (void)report(proof, {/*required=*/false, /*saysProved=*/false});
}

json::Array server::getProofDiagnostics(const DialectRegistry &registry,
                                        StringRef document, StringRef uri) {
  json::Array found;
  SmallVector<StringRef> lines;
  document.split(lines, '\n');
  std::string part;
  for (auto [number, line] : llvm::enumerate(lines)) {
    if (line.trim() == "// -----") {
      provePart(registry, part, uri, found);
      part.assign(number + 1, '\n');
    } else {
      part += line.str() + "\n";
    }
  }
  provePart(registry, part, uri, found);
  return found;
}
