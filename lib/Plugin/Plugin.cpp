// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The plugin of mlir-opt and whatever else loads such: the dialect, the passes
// and the pipelines.

#include "fp8/Register.h"

#include "mlir/IR/DialectRegistry.h"
#include "mlir/Tools/Plugins/DialectPlugin.h"
#include "mlir/Tools/Plugins/PassPlugin.h"
#include "llvm/Support/Compiler.h"

using namespace mlir;

/// Either entry point registers the passes: `--load-dialect-plugin` alone is
/// then enough, and both are no error.
static void registerPassesOnce() {
  static bool once = [] {
    mlir::fp8::registerFp8Passes();
    mlir::fp8::registerFp8Pipelines();
    return true;
  }();
  (void)once;
}

extern "C" LLVM_ATTRIBUTE_VISIBILITY_DEFAULT ::mlir::DialectPluginLibraryInfo
mlirGetDialectPluginInfo() {
  return {MLIR_PLUGIN_API_VERSION, "Fp8", FP8_VERSION,
          [](DialectRegistry *registry) {
            mlir::fp8::registerFp8Dialect(*registry);
            registerPassesOnce();
          }};
}

extern "C" LLVM_ATTRIBUTE_VISIBILITY_DEFAULT ::mlir::PassPluginLibraryInfo
mlirGetPassPluginInfo() {
  return {MLIR_PLUGIN_API_VERSION, "Fp8", FP8_VERSION, registerPassesOnce};
}
