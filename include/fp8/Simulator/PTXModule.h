// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A parsed PTX module, with the facts that a launcher needs. The text is
// untrusted: a malformed or truncated module yields diagnostics and never
// crashes the parser.

#ifndef FP8_SIMULATOR_PTXMODULE_H
#define FP8_SIMULATOR_PTXMODULE_H

#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace fp8::sim {

namespace ast {
struct Module;
}

/// An error in the PTX text. Lines and columns count from 1.
struct Diagnostic {
  unsigned line = 0;
  unsigned column = 0;
  std::string message;

  /// "name:line:column: error: message".
  std::string str(std::string_view fileName) const;
};

/// One `.param` of an `.entry`, or a parameter or result of a `.func`.
struct EntryParameter {
  std::string name;
  uint64_t sizeBytes = 0;
  uint64_t alignBytes = 0;
  int32_t reg = -1; ///< of a `.reg` of a `.func`: its index; else -1
};

/// The signature and launch bounds of an `.entry`. A bound is zero if the
/// directive is absent.
struct Entry {
  std::string name;
  std::vector<EntryParameter> parameters;
  std::array<uint32_t, 3> maxThreads{0, 0, 0};         ///< .maxntid
  std::array<uint32_t, 3> requiredThreads{0, 0, 0};    ///< .reqntid
  std::array<uint32_t, 3> requiredClusterDim{0, 0, 0}; ///< .reqnctapercluster
  uint32_t maxRegisters = 0;                           ///< .maxnreg
  uint32_t minCtasPerMultiprocessor = 0;               ///< .minnctapersm
  bool explicitCluster = false;                        ///< .explicitcluster
};

/// A parsed module. Cheap to copy; immutable.
class PTXModule {
public:
  struct ParseResult;

  /// Parses `text`. Instructions are kept as written; `launch` decides whether
  /// the simulator supports them.
  static ParseResult parse(std::string_view text);

  /// The `.target` chip, e.g. "sm_100a".
  const std::string &target() const;
  /// The `.version`, times ten: 88 for 8.8.
  unsigned version() const;
  const std::vector<Entry> &entries() const;
  const Entry *findEntry(std::string_view name) const;

  const ast::Module &ast() const { return *module; }

private:
  std::shared_ptr<const ast::Module> module;
};

/// Either a module or at least one diagnostic.
struct PTXModule::ParseResult {
  PTXModule module;
  std::vector<Diagnostic> diagnostics;
  explicit operator bool() const { return diagnostics.empty(); }
};

} // namespace fp8::sim

#endif // FP8_SIMULATOR_PTXMODULE_H
