// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The launch manifest, versions 1 to 7: the JSON file beside a PTX file with
// everything that a launcher needs. docs/manifest.schema.json is its schema.
#ifndef FP8_LAUNCH_MANIFEST_H
#define FP8_LAUNCH_MANIFEST_H

#include "fp8/Launch/Expression.h"
#include "fp8/Launch/Profile.h"
#include "fp8/Launch/WaitRecords.h"
#include "fp8/Tensor/TensorMap.h"

#include <array>
#include <map>
#include <optional>
#include <variant>

namespace fp8::launch {

/// What the kernel does with an argument. Constant: it reads it, and may do so
/// before the kernels in front of it have ended, since none of them writes it.
enum class Access { Read, Write, ReadWrite, Constant };
inline bool writes(Access access) {
  return access == Access::Write || access == Access::ReadWrite;
}

/// An argument of the call: a strided array. A missing extent or stride is
/// known only at the launch; strides count elements.
struct ArgumentSpec {
  std::string name;
  ElementType dtype = ElementType::F32;
  std::vector<std::optional<int64_t>> shape;
  std::vector<std::optional<int64_t>> strides;
  Access access = Access::Read;
};

/// A condition (0 or 1) that the arguments must meet, and the rule to print
/// when they do not.
struct Constraint {
  Expression condition;
  std::string rule;
};

struct LaunchSpec {
  std::array<Expression, 3> grid;    ///< blocks, x first
  std::array<uint32_t, 3> block{};   ///< threads, x first
  std::array<uint32_t, 3> cluster{}; ///< blocks, x first
  uint32_t sharedMemoryBytes = 0;    ///< dynamic
  bool nonPortableCluster = false;   ///< clusters of more than 8 blocks
  /// The kernel waits for those in front of it itself, so it may start early.
  /// It lets the next one start behind that wait, if it does so before its end.
  bool programmatic = false;
};

/// A CUtensorMap for tiled copies (CUDA driver API, cuTensorMapEncodeTiled).
/// Lists run innermost dimension first.
struct TensorMapSpec {
  unsigned argument = 0; ///< index into Manifest::arguments
  ElementType dtype = ElementType::F32;
  std::vector<Expression> dims;         ///< elements; rank 1 to 5
  std::vector<Expression> stridesBytes; ///< of dims 1 and up: rank - 1 of them
  std::vector<Expression> box;          ///< elements, 1 to 256
  std::vector<uint32_t> elementStrides; ///< 1 to 8
  tensor::Swizzle swizzle = tensor::Swizzle::None;
  tensor::Interleave interleave = tensor::Interleave::None;
  tensor::L2Promotion l2Promotion = tensor::L2Promotion::None;
  tensor::OobFill oobFill = tensor::OobFill::Zero;
};

/// The 64-bit global address of an argument's element 0.
struct PointerSpec {
  unsigned argument = 0;
};

/// An integer passed by value.
struct ScalarSpec {
  ElementType type = ElementType::I32; ///< i8, i16, i32 or i64
  Expression value;
};

/// An i32: 1 if the arguments are constant in the launch, 0 if that is not
/// known. They are if no kernel that may still run when the launch starts
/// writes them.
struct ConstancySpec {
  std::vector<unsigned> arguments; ///< indices into Manifest::arguments
};

/// One parameter of the PTX entry.
using ParameterSpec =
    std::variant<TensorMapSpec, PointerSpec, ScalarSpec, ConstancySpec>;

struct Manifest {
  /// The latest version; earlier versions can be read too. Version 2 added
  /// `problem_options`, version 3 `debug_waits`, version 4 `profile`, version 5
  /// constant arguments, version 6 parameters that say what is constant,
  /// version 7 expressions in the box of a tensor map.
  static constexpr int64_t supportedVersion = 7;

  std::string producer;
  std::string chip;
  std::string kernel;  ///< the .entry in the PTX
  std::string problem; ///< empty when the file names none
  /// Options of the problem that the arguments do not determine.
  std::map<std::string, int64_t> problemOptions;
  std::vector<ArgumentSpec> arguments;
  std::vector<Constraint> constraints;
  LaunchSpec launch;
  std::vector<ParameterSpec> parameters; ///< in the entry's order
  /// Present if the waits of the kernel can time out.
  std::optional<WaitTable> debugWaits;
  /// Present if the kernel writes stamps.
  std::optional<ProfileTable> profile;

  std::vector<std::string> argumentNames() const;
  /// The index of the argument with that name.
  std::optional<unsigned> findArgument(std::string_view name) const;
};

/// Reads a manifest. The text is untrusted: every text gives a manifest, or one
/// error that names the place (`launch.grid[1]`, or a line and column where the
/// text is not JSON), the rule and what was found. Unknown and repeated keys
/// are errors.
Expected<Manifest> parseManifest(std::string_view json);

} // namespace fp8::launch

#endif // FP8_LAUNCH_MANIFEST_H
