// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Chooses configurations of one GEMM for one problem after another.

#include "fp8/Transforms/GemmChooser.h"

#include "Gemm/ConfigChooser.h"

using namespace mlir;
using namespace mlir::fp8;

namespace {

class Chooser : public GemmChooser {
public:
  Chooser(BlockwiseGemmOp op, ConfigChooser chooser)
      : op(op), chooser(std::move(chooser)) {
    // Works out what extents do not change of every candidate there is: for few
    // rows those with operands swapped are candidates, too, and for one tile
    // and a long K those that divide K.
    choose(56, 64, 8192);
  }

  std::string choose(int64_t m, int64_t n, int64_t k) override {
    std::array<int64_t, 3> extents = {m, n, k};
    for (int64_t &extent : extents)
      if (extent <= 0)
        extent = ShapedType::kDynamic;
    chooser.setHint(extents);
    std::optional<GemmConfig> config = chooser.chooseConfig(op);
    return config ? ::fp8::config::stringify(*config) : std::string();
  }

  FailureOr<std::string> fit(StringRef tablePath, StringRef gpu) override {
    return chooser.fit(op, tablePath, gpu);
  }

private:
  BlockwiseGemmOp op;
  ConfigChooser chooser;
};

} // namespace

FailureOr<std::unique_ptr<GemmChooser>>
GemmChooser::create(ModuleOp module, StringRef chip, StringRef tuned,
                    StringRef machine, StringRef launch) {
  SmallVector<BlockwiseGemmOp> gemms;
  module.walk([&](BlockwiseGemmOp op) { gemms.push_back(op); });
  if (gemms.size() != 1)
    return module.emitError()
           << "a configuration is chosen for one GEMM, but the module has "
           << gemms.size() << "; choose for each in a module of its own";
  if (gemms.front().getConfigAttr())
    return gemms.front().emitOpError(
        "pins its configuration, so there is nothing to choose; leave the "
        "config out");
  FailureOr<ConfigChooser> chooser =
      ConfigChooser::create(module, "fp8-choose-config",
                            {chip.str(), /*problem=*/"", tuned.str(),
                             machine.str(), launch.str(), /*exact=*/true});
  if (failed(chooser))
    return failure();
  return std::unique_ptr<GemmChooser>(
      std::make_unique<Chooser>(gemms.front(), std::move(*chooser)));
}
