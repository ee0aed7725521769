// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Which device can run code for which target (PTX ISA, ".target"; CUDA C++
// Programming Guide, "Feature set compiler targets").
#ifndef FP8_RUNTIME_TARGET_H
#define FP8_RUNTIME_TARGET_H

#include <optional>
#include <string>
#include <string_view>

namespace fp8::runtime {

struct Capability {
  int major = 0, minor = 0;
  std::string str() const {
    return std::to_string(major) + "." + std::to_string(minor);
  }
};

/// The target of `.target` in PTX text ("sm_90a"); empty if there is none.
std::string ptxTarget(std::string_view ptx);

/// Whether `image` is an ELF file, that is, a cubin.
bool isCubin(std::string_view image);

/// The reason why a device cannot run an image for `target`; nothing if it can.
/// With the suffix `a` only that device can. With `f` devices of its family
/// can, from that minor version on. Without a suffix PTX runs on that device
/// and all later devices, and a cubin on later devices of the same major
/// version.
std::optional<std::string>
whyNotRunnable(std::string_view target, Capability device, bool cubin = false);

} // namespace fp8::runtime

#endif // FP8_RUNTIME_TARGET_H
