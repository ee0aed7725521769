// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The version of the dialect in bytecode: written into every file, and what is
// newer than this reader is refused before anything of it is read.

#include "Fp8Bytecode.h"

#include "mlir/Bytecode/BytecodeImplementation.h"

using namespace mlir;
using namespace mlir::fp8;

/// The version that is written, and the last that is read: raised with the
/// first change after a release that its readers, or ours of its files, would
/// misread (docs/Compatibility.md).
static constexpr uint64_t currentVersion = 1;

namespace {

struct Fp8Version : public DialectVersion {
  explicit Fp8Version(uint64_t number) : number(number) {}
  uint64_t number;
};

/// Types and attributes are stored in their textual form, which MLIR does by
/// itself, and ops as their properties; only the version is ours.
struct Fp8BytecodeInterface : public BytecodeDialectInterface {
  explicit Fp8BytecodeInterface(Dialect *dialect)
      : BytecodeDialectInterface(dialect) {}

  void writeVersion(DialectBytecodeWriter &writer) const final {
    writer.writeVarInt(currentVersion);
  }

  /// There is one version so far, so nothing is upgraded: what an older one
  /// needs belongs in upgradeFromVersion, which MLIR calls with what is
  /// returned here.
  std::unique_ptr<DialectVersion>
  readVersion(DialectBytecodeReader &reader) const final {
    uint64_t number;
    if (failed(reader.readVarInt(number)))
      return nullptr;
    if (number >= 1 && number <= currentVersion)
      return std::make_unique<Fp8Version>(number);
    InFlightDiagnostic diagnostic = reader.emitError();
    if (number == 0)
      diagnostic << "version 0 of dialect 'fp8' does not exist; write the "
                    "file again";
    else
      diagnostic << "was written by a newer fp8, with version " << number
                 << " of dialect 'fp8', but this one reads versions up to "
                 << currentVersion << "; read it with a newer fp8";
    return nullptr;
  }
};

} // namespace

void mlir::fp8::addBytecodeInterface(Fp8Dialect &dialect) {
  dialect.addInterfaces<Fp8BytecodeInterface>();
}
