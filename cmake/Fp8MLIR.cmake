# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# MLIR 22.1 as Debian packages it, and the functions that make our libraries on it.

find_package(MLIR 22.1 REQUIRED CONFIG HINTS /usr/lib/llvm-22)

set(MLIR_LINK_MLIR_DYLIB ${FP8_LINK_MLIR_DYLIB})  # the packages' configuration does not carry it
set(LLVM_ENABLE_ASSERTIONS ${FP8_ENABLE_ASSERTIONS})
set(MLIR_BINARY_DIR ${PROJECT_BINARY_DIR})
set(LLVM_RUNTIME_OUTPUT_INTDIR ${PROJECT_BINARY_DIR}/bin)
set(LLVM_LIBRARY_OUTPUT_INTDIR ${PROJECT_BINARY_DIR}/lib)
set(CMAKE_INSTALL_RPATH_USE_LINK_PATH ON)

list(APPEND CMAKE_MODULE_PATH ${MLIR_CMAKE_DIR} ${LLVM_CMAKE_DIR})
include(TableGen)
include(AddLLVM)
include(AddMLIR)
include(HandleLLVMOptions)
# SYSTEM keeps LLVM's own warnings out of our -Wall -Wextra.
include_directories(SYSTEM ${LLVM_INCLUDE_DIRS} ${MLIR_INCLUDE_DIRS})

# fp8_add_mlir_library(NAME file.cpp ... [DEPENDS t ...] [LINK fp8 libs ...] [MLIR mlir libs ...])
function(fp8_add_mlir_library name)
  cmake_parse_arguments(ARG "" "" "DEPENDS;LINK;MLIR" ${ARGN})
  add_mlir_library(${name} ${ARG_UNPARSED_ARGUMENTS} DEPENDS ${ARG_DEPENDS} DISABLE_INSTALL)
  foreach(target ${name} obj.${name})
    if(TARGET ${target})
      target_compile_options(${target} PRIVATE -Wall -Wextra)
    endif()
  endforeach()
  target_link_libraries(${name} PUBLIC ${ARG_LINK})
  mlir_target_link_libraries(${name} PUBLIC ${ARG_MLIR})
endfunction()
