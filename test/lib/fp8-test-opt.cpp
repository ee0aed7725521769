// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// fp8-test-opt: fp8-opt with the passes of the tests, and with the dialect and
// the passes of examples/embedding.

#include "Acme.h"
#include "fp8/Backend/OptMain.h"
#include "fp8/Register.h"
#include "mlir/IR/DialectRegistry.h"

namespace mlir::fp8 {
void registerTestNoOpPass();
void registerTestShuffledConversionPass();
} // namespace mlir::fp8

int main(int argc, char **argv) {
  mlir::DialectRegistry registry;
  mlir::fp8::registerFp8Tool(registry);
  registry.insert<acme::AcmeDialect>();
  mlir::registerPass(acme::createLowerPass);
  mlir::registerPass(acme::createLowerPlannedPass);
  mlir::fp8::registerTestNoOpPass();
  mlir::fp8::registerTestShuffledConversionPass();
  return mlir::fp8::runDriver(argc, argv, registry);
}
