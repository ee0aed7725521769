// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Errors, the version and arguments, which all parts of the C API share.
#include "Common.h"

using namespace fp8;

static thread_local std::string lastError;

Fp8Status capi::fail(std::string message, Fp8Status status) {
  lastError = std::move(message);
  return status;
}

const char *fp8LastError(void) { return lastError.c_str(); }

const char *fp8Version(void) { return FP8_VERSION; }

launch::Expected<std::vector<launch::ArgumentValue>>
capi::argumentsOf(const Fp8Argument *arguments, size_t count) {
  if (!arguments && count)
    return launch::Error{"there are " + std::to_string(count) +
                         " arguments, and their array is NULL"};
  std::vector<launch::ArgumentValue> values(count);
  for (size_t i = 0; i < count; ++i) {
    const Fp8Argument &from = arguments[i];
    const std::string name = "argument " + std::to_string(i);
    auto type = tensor::parseElementType(textOf(from.dtype));
    if (!type)
      return launch::Error{name + " has no known type; there are " +
                           tensor::kElementTypes.str()};
    if (from.rank && (!from.shape || !from.strides))
      return launch::Error{name + " has rank " + std::to_string(from.rank) +
                           " and no " + (from.shape ? "strides" : "shape")};
    values[i].dtype = *type;
    values[i].address = from.address;
    values[i].shape.assign(from.shape, from.shape + from.rank);
    values[i].strides.assign(from.strides, from.strides + from.rank);
  }
  return values;
}

launch::Expected<std::string_view> capi::bytesOf(const void *data, size_t bytes,
                                                 const std::string &what) {
  if (!data && bytes)
    return launch::Error{what + " has " + std::to_string(bytes) +
                         " bytes and is NULL"};
  return std::string_view(static_cast<const char *>(data), bytes);
}

launch::Expected<Fp8Timeline>
capi::timelineOf(const launch::ProfileTable &table,
                 const std::vector<uint8_t> &stamps,
                 const std::string &kernel) {
  auto timeline = launch::readTimeline(table, stamps);
  if (!timeline)
    return timeline.takeError();
  std::string summary;
  for (const std::string &line : launch::summarise(*timeline))
    summary += line + "\n";
  return Fp8Timeline{new Fp8Text{std::move(summary)},
                     new Fp8Text{launch::writeTrace(*timeline, kernel)}};
}

launch::Error capi::noStamps(const std::string &kernel) {
  return {"kernel '" + kernel +
          "' writes no stamps; compile it with --fp8-profile, or "
          "fp8-gemm-to-ptx=profile"};
}

const char *fp8TextData(const Fp8Text *text) { return text->text.c_str(); }
size_t fp8TextSize(const Fp8Text *text) { return text->text.size(); }
void fp8TextFree(Fp8Text *text) { delete text; }
