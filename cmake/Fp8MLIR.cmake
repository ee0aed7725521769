# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# MLIR 22.1 as Debian packages it, and the functions that make our libraries on it.

find_package(MLIR 22.1 REQUIRED CONFIG HINTS /usr/lib/llvm-22)

set(MLIR_LINK_MLIR_DYLIB ${FP8_LINK_MLIR_DYLIB})  # the packages' configuration does not carry it
set(LLVM_ENABLE_ASSERTIONS ${FP8_ENABLE_ASSERTIONS})
set(MLIR_BINARY_DIR ${PROJECT_BINARY_DIR})
set(LLVM_RUNTIME_OUTPUT_INTDIR ${PROJECT_BINARY_DIR}/bin)
set(LLVM_LIBRARY_OUTPUT_INTDIR ${PROJECT_BINARY_DIR}/lib)
set(CMAKE_INSTALL_RPATH_USE_LINK_PATH ON)

if(FP8_LINK_MLIR_DYLIB)
  set(FP8_LLVM LLVM)
else()
  set(FP8_LLVM Fp8StaticLLVM)
endif()
include(Fp8StaticLLVM)

list(APPEND CMAKE_MODULE_PATH ${MLIR_CMAKE_DIR} ${LLVM_CMAKE_DIR})
include(TableGen)
include(AddLLVM)
include(AddMLIR)
include(HandleLLVMOptions)
# SYSTEM keeps LLVM's own warnings out of our -Wall -Wextra.
include_directories(SYSTEM ${LLVM_INCLUDE_DIRS} ${MLIR_INCLUDE_DIRS})

# MLIR's headers cost 2 to 5 s a file; those that most files need are compiled once. NVVMDialect.h (15 s) is not among
# them: few files include it.
set(FP8_PRECOMPILED_HEADERS
  <mlir/Dialect/Arith/IR/Arith.h> <mlir/IR/Builders.h> <mlir/IR/BuiltinOps.h> <mlir/IR/DialectImplementation.h>
  <mlir/IR/Dominance.h> <mlir/IR/OpImplementation.h> <mlir/IR/PatternMatch.h> <mlir/Interfaces/FunctionInterfaces.h>
  <mlir/Interfaces/LoopLikeInterface.h> <mlir/Interfaces/SideEffectInterfaces.h> <mlir/Pass/Pass.h>
  <mlir/Transforms/DialectConversion.h>)

# fp8_add_mlir_library(NAME file.cpp ... [DEPENDS t ...] [LINK fp8 libs ...] [MLIR mlir libs ...] [PRECOMPILE FIRST|REUSE])
function(fp8_add_mlir_library name)
  cmake_parse_arguments(ARG "" "PRECOMPILE" "DEPENDS;LINK;MLIR" ${ARGN})
  add_mlir_library(${name} ${ARG_UNPARSED_ARGUMENTS} DEPENDS ${ARG_DEPENDS} DISABLE_INSTALL)
  foreach(target ${name} obj.${name})
    if(TARGET ${target})
      target_compile_options(${target} PRIVATE -Wall -Wextra)
    endif()
  endforeach()
  if(ARG_PRECOMPILE STREQUAL "FIRST")
    target_precompile_headers(obj.${name} PRIVATE ${FP8_PRECOMPILED_HEADERS})
  elseif(ARG_PRECOMPILE)
    target_precompile_headers(obj.${name} REUSE_FROM obj.Fp8IR)
  endif()
  if(ARG_PRECOMPILE)
    target_compile_options(obj.${name} PRIVATE -fpch-preprocess) # lets ccache see through the precompiled header
  endif()
  target_link_libraries(${name} PUBLIC ${ARG_LINK})
  mlir_target_link_libraries(${name} PUBLIC ${ARG_MLIR})
  set_target_properties(${name} PROPERTIES FP8_MLIR_LIBRARIES "${ARG_MLIR}")
  fp8_install_library(${name})
endfunction()
