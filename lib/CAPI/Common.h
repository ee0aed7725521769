// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// How the parts of the C API fail.
#ifndef FP8_LIB_CAPI_COMMON_H
#define FP8_LIB_CAPI_COMMON_H

#include "fp8-c/Common.h"

#include "fp8/Launch/Expression.h"
#include "fp8/Launch/Profile.h"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

struct Fp8Text {
  std::string text;
};

namespace fp8::capi {

/// Keeps the message for fp8LastError.
Fp8Status fail(std::string message, Fp8Status status = FP8_ERROR);

/// No string is an empty one. Where that is right, look for NULL first.
inline std::string_view textOf(const char *text) { return text ? text : ""; }

/// The arguments as the manifest's reader takes them.
launch::Expected<std::vector<launch::ArgumentValue>>
argumentsOf(const Fp8Argument *arguments, size_t count);

/// The bytes at `data`; an error that names `what` if there are some and no
/// place.
launch::Expected<std::string_view> bytesOf(const void *data, size_t bytes,
                                           const std::string &what);

/// Makes both texts of the stamps of a kernel.
launch::Expected<Fp8Timeline> timelineOf(const launch::ProfileTable &table,
                                         const std::vector<uint8_t> &stamps,
                                         const std::string &kernel);
/// The error of a kernel that was not compiled with --fp8-profile.
launch::Error noStamps(const std::string &kernel);

} // namespace fp8::capi

#endif // FP8_LIB_CAPI_COMMON_H
