// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A GPU as a backend.
#ifndef FP8_TOOLS_FP8RUN_CUDABACKEND_H
#define FP8_TOOLS_FP8RUN_CUDABACKEND_H

#include "Backend.h"
#include "Options.h"
#include "fp8/Runtime/Device.h"

namespace fp8::run {

/// Opens the GPU that the options name.
launch::Expected<std::shared_ptr<runtime::Device>>
openDevice(const Options &options);

/// Why the GPU cannot run `image`, PTX or a cubin for the manifest's chip;
/// nothing if it can.
std::optional<std::string> whyNotOn(const runtime::Device &device,
                                    const std::string &image,
                                    const launch::Manifest &manifest);

/// Loads the manifest's kernel from `image`, the contents of options.ptxPath.
launch::Expected<std::unique_ptr<Backend>>
makeCudaBackend(const Options &options, std::shared_ptr<runtime::Device> device,
                const std::string &image, const launch::Manifest &manifest);

/// A line of JSON for each GPU: what it is, and which chips' code it runs.
launch::Expected<std::string> listDevices();

} // namespace fp8::run

#endif // FP8_TOOLS_FP8RUN_CUDABACKEND_H
