# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# -DFP8_SANITIZE=address,undefined or =thread: sanitizers in our own code. LLVM and MLIR stay as their packages made them, so a
# fault of theirs shows only where it stops the process, or where our code inlines their headers.

set(FP8_SANITIZE "" CACHE STRING "Sanitizers of our own code: 'address,undefined', 'thread' or any other that GCC takes with -fsanitize=")

# The first fault ends the process, and line tables name the place. LLVM is built without RTTI, which vptr needs.
set(FP8_SANITIZER_OPTIONS -O1 -g1 -fno-omit-frame-pointer -fno-sanitize=vptr -fno-sanitize-recover=all)

if(FP8_SANITIZE)
  add_compile_options(-fsanitize=${FP8_SANITIZE} ${FP8_SANITIZER_OPTIONS})
  add_link_options(-fsanitize=${FP8_SANITIZE})
endif()
