// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Arguments with their contents, on a backend.
#ifndef FP8_TOOLS_FP8RUN_UPLOAD_H
#define FP8_TOOLS_FP8RUN_UPLOAD_H

#include "Backend.h"

namespace fp8::run {

/// An argument with its first contents.
struct PreparedArgument {
  std::string name;
  launch::Access access = launch::Access::Read;
  launch::ArgumentValue value; ///< the address is filled in by the run
  std::vector<uint8_t> bytes;
  uint64_t elements = 0; ///< that the bytes hold, padding included

  int64_t rows() const { return value.shape[value.shape.size() - 2]; }
  int64_t columns() const { return value.shape.back(); }
  int64_t rowStride() const { return value.strides[value.strides.size() - 2]; }
  /// The element that begins a row of a matrix of the batch.
  int64_t at(int64_t matrix, int64_t row) const {
    int64_t apart = value.strides.size() == 3 ? value.strides[0] : 0;
    return matrix * apart + row * rowStride();
  }
};

/// Uploads the arguments, whose values with their addresses `values` becomes,
/// and binds the manifest to them.
launch::Expected<launch::LaunchPlan>
uploadAndBind(const launch::Manifest &manifest,
              const std::vector<PreparedArgument> &arguments, Backend &backend,
              std::vector<launch::ArgumentValue> &values);

} // namespace fp8::run

#endif // FP8_TOOLS_FP8RUN_UPLOAD_H
