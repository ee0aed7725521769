// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// MLIR's diagnostics for C: as structures to a handler, and as text for
// fp8LastError.
#ifndef FP8_LIB_CAPI_DIAGNOSTICS_H
#define FP8_LIB_CAPI_DIAGNOSTICS_H

#include "fp8-c/Compiler.h"

#include "mlir/IR/Diagnostics.h"

namespace fp8::capi {

/// Takes what is emitted in a context, as long as it lives.
class DiagnosticCollector {
public:
  DiagnosticCollector(mlir::MLIRContext &context, Fp8DiagnosticHandler handler,
                      void *data);

  /// The errors so far with their notes, a line each, as compilers print them.
  std::string takeErrors();

private:
  void add(const mlir::Diagnostic &diagnostic);

  std::string errors;
  Fp8DiagnosticHandler handler;
  void *data;
  mlir::ScopedDiagnosticHandler scope;
};

} // namespace fp8::capi

#endif // FP8_LIB_CAPI_DIAGNOSTICS_H
