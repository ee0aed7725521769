// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A text of MLIR, parsed, with what the linearity check says of it.

#ifndef FP8_TOOLS_LSP_CHECKEDSOURCE_H
#define FP8_TOOLS_LSP_CHECKEDSOURCE_H

#include "mlir/AsmParser/AsmParserState.h"
#include "mlir/IR/Block.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/IR/Operation.h"
#include "llvm/Support/SourceMgr.h"

#include <memory>

namespace mlir::fp8::server {

/// An error of the linearity check, at a value.
struct LinearityError {
  Location location;
  SmallVector<Location, 2> notes;
};

class CheckedSource {
public:
  /// Parses the text and checks its functions with linear values. Null if it
  /// does not parse.
  static std::unique_ptr<CheckedSource> create(const DialectRegistry &registry,
                                               StringRef text);

  ArrayRef<LinearityError> getErrors() const { return errors; }
  StringRef getText() const;
  llvm::SourceMgr &getSourceMgr() { return sources; }
  MLIRContext *getContext() { return &context; }

  /// The linear values that are defined at the location.
  SmallVector<Value> getLinearValuesAt(Location location);
  /// The operations at the location.
  SmallVector<Operation *> getOperationsAt(Location location);
  /// Where the text has the operation; null if no text stands for it.
  const AsmParserState::OperationDefinition *
  getDefinition(Operation *op) const {
    return state.getOpDef(op);
  }
  /// The name of the value in the text, "%stage" or "%ends#1"; empty if it has
  /// none there.
  std::string getName(Value value) const;
  /// Where the text uses the value.
  SmallVector<SMRange> getUses(Value value) const;
  /// The type in the text's own aliases.
  std::string getTypeText(Type type) const;
  /// "%name", with a number behind it if the text has such a name.
  std::string getFreshName(StringRef name) const;

private:
  explicit CheckedSource(const DialectRegistry &registry)
      : context(registry, MLIRContext::Threading::DISABLED) {}

  const AsmParserState::SMDefinition *getValueDefinition(Value value) const;

  MLIRContext context;
  llvm::SourceMgr sources;
  AsmParserState state;
  Block block;
  SmallVector<LinearityError> errors;
};

} // namespace mlir::fp8::server

#endif // FP8_TOOLS_LSP_CHECKEDSOURCE_H
