// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Kernel against manifest.
#include "fp8/Launch/KernelCheck.h"

namespace fp8::launch {
namespace {
/// Bytes that a parameter takes in the entry's signature.
uint64_t parameterBytes(const ParameterSpec &parameter) {
  constexpr uint64_t tensorMapBytes = 128, addressBytes = 8;
  if (std::holds_alternative<TensorMapSpec>(parameter))
    return tensorMapBytes;
  if (const auto *scalar = std::get_if<ScalarSpec>(&parameter))
    return byteSize(scalar->type);
  if (std::holds_alternative<ConstancySpec>(parameter))
    return byteSize(ElementType::I32);
  return addressBytes;
}
} // namespace

std::optional<Error> checkTarget(const std::string &path,
                                 const std::string &target,
                                 const Manifest &manifest) {
  if (target == manifest.chip)
    return std::nullopt;
  return Error{path + " is for " + target + ", but the manifest is for " +
               manifest.chip +
               "; use the manifest that was written with the kernel"};
}

std::optional<Error> checkParameters(const std::string &path,
                                     const std::vector<uint64_t> &bytes,
                                     const Manifest &manifest) {
  if (bytes.size() != manifest.parameters.size())
    return Error{"kernel '" + manifest.kernel + "' in " + path + " takes " +
                 std::to_string(bytes.size()) +
                 " parameters, but the manifest describes " +
                 std::to_string(manifest.parameters.size()) +
                 "; use the manifest that was written with the kernel"};
  for (size_t i = 0; i < bytes.size(); ++i) {
    uint64_t described = parameterBytes(manifest.parameters[i]);
    if (described != bytes[i])
      return Error{
          "parameter " + std::to_string(i) + " of kernel '" + manifest.kernel +
          "' in " + path + " takes " + std::to_string(bytes[i]) +
          " bytes, but the manifest describes " + std::to_string(described) +
          "; use the manifest that was written with the kernel"};
  }
  return std::nullopt;
}

} // namespace fp8::launch
