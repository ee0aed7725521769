// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Turns what LLVM reports, fatal errors included, into MLIR diagnostics.

#include "BackendErrors.h"
#include "llvm/IR/DiagnosticInfo.h"
#include "llvm/IR/DiagnosticPrinter.h"
#include "llvm/Support/ErrorHandling.h"
#include <csetjmp>
#include <mutex>

using namespace mlir;
using namespace mlir::fp8;

namespace {
/// LLVM's own handler would print an error and exit.
struct DiagnosticForwarder : llvm::DiagnosticHandler {
  DiagnosticForwarder(const KernelModule &kernel, bool &hadError)
      : kernel(kernel), hadError(hadError) {}

  bool handleDiagnostics(const llvm::DiagnosticInfo &info) override {
    if (info.getSeverity() != llvm::DS_Error &&
        info.getSeverity() != llvm::DS_Warning)
      return true;
    std::string message;
    llvm::raw_string_ostream stream(message);
    llvm::DiagnosticPrinterRawOStream printer(stream);
    info.print(printer);
    bool isError = info.getSeverity() == llvm::DS_Error;
    hadError |= isError;
    FunctionOpInterface function = kernel.function;
    if (isError)
      function.emitError("the NVPTX backend rejects kernel '")
          << kernel.getName() << "' for " << kernel.chip->name << ": "
          << StringRef(message).rtrim();
    else
      function.emitWarning("the NVPTX backend warns about kernel '")
          << kernel.getName() << "': " << StringRef(message).rtrim();
    return true;
  }

  const KernelModule &kernel;
  bool &hadError;
};

struct FatalError {
  std::jmp_buf resume;
  std::string message;
};
} // namespace

/// What this thread does when LLVM gives up.
static thread_local FatalError *onThisThread = nullptr;

// LLVM is built without exceptions, so the way out of a fatal error is a jump
// past its frames, as clang's crash recovery does.
static void onFatalError(void *, const char *reason, bool) {
  if (!onThisThread) // not our work: end as LLVM does
    return;
  onThisThread->message = reason;
  std::longjmp(onThisThread->resume, 1);
}

namespace {
/// LLVM has one handler in a process, and kernels are compiled by several
/// threads: it is installed while any of them works.
class FatalErrorScope {
public:
  explicit FatalErrorScope(FatalError &error) {
    std::lock_guard<std::mutex> lock(mutex);
    if (!users++)
      llvm::install_fatal_error_handler(onFatalError);
    onThisThread = &error;
  }
  ~FatalErrorScope() {
    std::lock_guard<std::mutex> lock(mutex);
    onThisThread = nullptr;
    if (!--users)
      llvm::remove_fatal_error_handler();
  }

private:
  static std::mutex mutex;
  static unsigned users;
};
std::mutex FatalErrorScope::mutex;
unsigned FatalErrorScope::users = 0;
} // namespace

BackendContext::BackendContext(const KernelModule &kernel)
    : kernel(kernel), context(std::make_unique<llvm::LLVMContext>()) {
  context->setDiagnosticHandler(
      std::make_unique<DiagnosticForwarder>(kernel, hadError));
}

BackendContext::~BackendContext() = default;

LogicalResult BackendContext::run(llvm::function_ref<void()> work) {
  FatalError fatal;
  FatalErrorScope scope(fatal);
  if (setjmp(fatal.resume) == 0) {
    work();
    return failure(hadError);
  }
  (void)context.release();
  FunctionOpInterface function = kernel.function;
  InFlightDiagnostic error =
      function.emitError("the NVPTX backend cannot generate code for kernel '")
      << kernel.getName() << "' on " << kernel.chip->name
      << "; an instruction in it does not exist on this chip";
  error.attachNote() << StringRef(fatal.message).rtrim();
  return error;
}
