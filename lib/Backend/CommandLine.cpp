// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What the command lines of our tools have in common.

#include "fp8/Backend/CommandLine.h"

#include "mlir/Pass/PassRegistry.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/raw_ostream.h"

using namespace mlir;
using namespace mlir::fp8;
namespace cl = llvm::cl;

/// Hides the options for which `isShown` is false.
static void hideOptions(function_ref<bool(StringRef, cl::Option &)> isShown) {
  auto &options = cl::getRegisteredOptions();
  // LLVM does not export the category of --help and its kin.
  auto *help = options.lookup("help");
  for (auto &[name, option] : options) {
    bool isGeneric = help && option->Categories == help->Categories;
    if (!isGeneric && option->getOptionHiddenFlag() == cl::NotHidden &&
        !isShown(name, *option))
      option->setHiddenFlag(cl::Hidden);
  }
}

void mlir::fp8::beginCommandLine(StringRef tool) {
  hideOptions([](StringRef, cl::Option &) { return false; });
  cl::SetVersionPrinter([name = tool.str()](raw_ostream &os) {
    os << name << ", fp8 " << FP8_VERSION << '\n';
    cl::PrintVersionMessage();
  });
}

void mlir::fp8::showOnly(cl::OptionCategory &category,
                         ArrayRef<StringRef> names,
                         cl::OptionCategory &others) {
  hideOptions([&](StringRef name, cl::Option &option) {
    if (llvm::is_contained(names, name)) {
      option.addCategory(others);
      return true;
    }
    return llvm::is_contained(option.Categories, &category);
  });
}

bool mlir::fp8::asksForHelp(int argc, const char *const *argv) {
  return llvm::any_of(ArrayRef(argv, argc).drop_front(), [](StringRef word) {
    return word == "--help" || word == "-help" || word == "-h";
  });
}

void mlir::fp8::printOwnPasses() {
  // A pass is an option of its name.
  SmallVector<StringRef> names;
  for (StringRef name : cl::getRegisteredOptions().keys())
    if (name.contains("fp8"))
      names.push_back(name);
  llvm::sort(names);
  constexpr size_t kIndent = 2, kColumn = 34;
  auto print = [&](StringRef title, auto lookup) {
    llvm::outs() << '\n' << title << ":\n\n";
    for (StringRef name : names)
      if (const PassRegistryEntry *entry = lookup(name))
        entry->printHelpStr(kIndent, kColumn);
  };
  print("Pipelines of fp8", [](StringRef name) { // the shortest way first
    return PassPipelineInfo::lookup(name);
  });
  print("Passes of fp8", [](StringRef name) { return PassInfo::lookup(name); });
}
