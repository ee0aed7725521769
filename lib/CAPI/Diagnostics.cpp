// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// MLIR's diagnostics for C.
#include "Diagnostics.h"

#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/Location.h"

using namespace mlir;
using namespace fp8::capi;

namespace {
/// A diagnostic's strings, and the structure that points to them.
struct Rendered {
  explicit Rendered(const Diagnostic &diagnostic) : message(diagnostic.str()) {
    switch (diagnostic.getSeverity()) {
    case DiagnosticSeverity::Error:
      view.severity = FP8_SEVERITY_ERROR;
      break;
    case DiagnosticSeverity::Warning:
      view.severity = FP8_SEVERITY_WARNING;
      break;
    case DiagnosticSeverity::Remark:
      view.severity = FP8_SEVERITY_REMARK;
      break;
    case DiagnosticSeverity::Note:
      view.severity = FP8_SEVERITY_NOTE;
      break;
    }
    // Of a place that was inlined or fused, the first that is in a file.
    diagnostic.getLocation()->walk([&](Location location) {
      auto place = dyn_cast<FileLineColLoc>(location);
      if (!place)
        return WalkResult::advance();
      file = place.getFilename().str();
      view.line = place.getLine();
      view.column = place.getColumn();
      return WalkResult::interrupt();
    });
    view.message = message.c_str();
    view.file = file.c_str();
  }
  Rendered(const Rendered &) = delete;

  /// "gemm.mlir:3:5: error: ...".
  std::string str() const {
    static const char *const names[] = {"error", "warning", "remark", "note"};
    std::string place = file.empty()
                            ? ""
                            : file + ":" + std::to_string(view.line) + ":" +
                                  std::to_string(view.column) + ": ";
    return place + names[view.severity] + ": " + message;
  }

  std::string message, file;
  Fp8Diagnostic view{};
};
} // namespace

DiagnosticCollector::DiagnosticCollector(MLIRContext &context,
                                         Fp8DiagnosticHandler handler,
                                         void *data)
    : handler(handler), data(data),
      scope(&context, [this](Diagnostic &diagnostic) { add(diagnostic); }) {}

void DiagnosticCollector::add(const Diagnostic &diagnostic) {
  Rendered top(diagnostic);
  SmallVector<std::unique_ptr<Rendered>> notes;
  SmallVector<Fp8Diagnostic> views;
  for (const Diagnostic &note : diagnostic.getNotes()) {
    notes.push_back(std::make_unique<Rendered>(note));
    views.push_back(notes.back()->view);
  }
  if (diagnostic.getSeverity() == DiagnosticSeverity::Error) {
    errors += (errors.empty() ? "" : "\n") + top.str();
    for (const auto &note : notes)
      errors += "\n" + note->str();
  }
  top.view.notes = views.data();
  top.view.noteCount = views.size();
  if (handler)
    handler(&top.view, data);
}

std::string DiagnosticCollector::takeErrors() {
  return errors.empty() ? "failed without an error message" : std::move(errors);
}
