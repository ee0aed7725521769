// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The simulator as a backend.
#ifndef FP8_TOOLS_FP8RUN_SIMULATORBACKEND_H
#define FP8_TOOLS_FP8RUN_SIMULATORBACKEND_H

#include "Backend.h"
#include "Options.h"

namespace fp8::run {

/// Parses `ptx`, the text of options.ptxPath.
launch::Expected<std::unique_ptr<Backend>>
makeSimulatorBackend(const Options &options, const std::string &ptx);

} // namespace fp8::run

#endif // FP8_TOOLS_FP8RUN_SIMULATORBACKEND_H
