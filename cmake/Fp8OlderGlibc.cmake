# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# Shared libraries that run on systems older than this one: those that are carried to other machines, in the Python package too.
#
# They bring libstdc++ with them, and use the system's libgcc_s, whose unwinder fits the system's glibc. They are linked to stubs
# of an older glibc (glibc-stubs.py). What code for this system needs and the older one lacks is in lib/CAPI/GlibcFallbacks.c; anything
# else of that kind is an error of the linker, which names it.

set(default_glibc "")
if(CMAKE_SYSTEM_NAME STREQUAL Linux AND CMAKE_SYSTEM_PROCESSOR STREQUAL x86_64 AND CMAKE_CXX_COMPILER_ID STREQUAL GNU AND NOT FP8_SANITIZE)
  include(CheckSymbolExists)
  check_symbol_exists(__GLIBC__ "features.h" FP8_HAS_GLIBC)
  if(FP8_HAS_GLIBC)
    set(default_glibc 2.28)
  endif()
endif()
set(FP8_GLIBC "${default_glibc}" CACHE STRING "The oldest glibc that libraries for other machines run on; empty: this system's")

if(FP8_GLIBC)
  find_package(Python3 REQUIRED COMPONENTS Interpreter)
  set(FP8_GLIBC_STUBS ${PROJECT_BINARY_DIR}/glibc-stubs)
  set(script ${CMAKE_CURRENT_LIST_DIR}/glibc-stubs.py)
  add_custom_command(OUTPUT ${FP8_GLIBC_STUBS}/libc.so
    COMMAND ${Python3_EXECUTABLE} ${script} ${FP8_GLIBC} ${FP8_GLIBC_STUBS} --cc=${CMAKE_C_COMPILER}
    DEPENDS ${script} COMMENT "Writing stubs of glibc ${FP8_GLIBC}" VERBATIM)
  add_custom_target(fp8-glibc-stubs DEPENDS ${FP8_GLIBC_STUBS}/libc.so)
  add_library(Fp8GlibcFallbacks OBJECT ${PROJECT_SOURCE_DIR}/lib/CAPI/GlibcFallbacks.c)
  target_compile_options(Fp8GlibcFallbacks PRIVATE ${FP8_WARNINGS})
endif()

# fp8_link_for_other_machines(NAME MAP): the shared library exports what the version script says, and runs where glibc is FP8_GLIBC or later.
# The Python package knows a build by its build ID.
function(fp8_link_for_other_machines name map)
  target_link_options(${name} PRIVATE -static-libstdc++ -Wl,--gc-sections -Wl,--build-id=sha1 -Wl,--version-script=${map})
  set_property(TARGET ${name} APPEND PROPERTY LINK_DEPENDS ${map})
  if(FP8_GLIBC)
    target_sources(${name} PRIVATE $<TARGET_OBJECTS:Fp8GlibcFallbacks>)
    target_link_options(${name} PRIVATE -Wl,-z,defs -L${FP8_GLIBC_STUBS})
    set_property(TARGET ${name} APPEND PROPERTY LINK_DEPENDS ${FP8_GLIBC_STUBS}/libc.so)
    add_dependencies(${name} fp8-glibc-stubs)
  endif()
endfunction()
