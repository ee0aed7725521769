// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The end of the way for exceptions, in what is built with them: not in the
// compiler, which LLVM is built without.
#ifndef FP8_LIB_CAPI_GUARDED_H
#define FP8_LIB_CAPI_GUARDED_H

#include "Common.h"

#include <exception>

namespace fp8::capi {

/// Runs `body`; nothing may be thrown into C.
template <typename Body>
Fp8Status guarded(const Body &body) {
  try {
    return body();
  } catch (const std::exception &error) {
    return fail(error.what());
  }
}

} // namespace fp8::capi

#endif // FP8_LIB_CAPI_GUARDED_H
