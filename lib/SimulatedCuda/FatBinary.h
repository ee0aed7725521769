// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The container in which nvcc embeds device code in a program. It holds images
// for several chips: PTX, plain or compressed by zstd, and machine code.
#ifndef FP8_LIB_SIMULATEDCUDA_FATBINARY_H
#define FP8_LIB_SIMULATEDCUDA_FATBINARY_H

#include "fp8/Launch/Expected.h"

#include <cstddef>
#include <string>
#include <vector>

namespace fp8::cuda {

/// One image of a fat binary.
struct Image {
  bool isPTX = false;
  unsigned architecture = 0; ///< 90 for sm_90 and sm_90a
  std::string content;       ///< the text, or the machine code
};

/// The images behind `data`, which begins with the container's header. `data`
/// is what a program has in its memory, so that its own sizes are trusted.
launch::Expected<std::vector<Image>> readFatBinary(const void *data);

/// True if `data` begins with a container or with the wrapper that nvcc
/// registers.
bool isFatBinary(const void *data);

/// The PTX text in what cuModuleLoadData and __cudaRegisterFatBinary take: PTX,
/// a container, or the wrapper of one. Of several PTX images it is the one for
/// the architecture that is nearest to `architecture`, and not above it.
/// Where there is machine code alone, it is the newest file of `folder` whose
/// kernels that has.
launch::Expected<std::string> findPTX(const void *data, unsigned architecture,
                                      const std::string &folder = {});

} // namespace fp8::cuda

#endif // FP8_LIB_SIMULATEDCUDA_FATBINARY_H
