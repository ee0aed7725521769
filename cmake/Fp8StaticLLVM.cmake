# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# MLIR and LLVM from their static archives, for what runs where neither is installed: the Python wheel, released tools.
#
# Debian's packages have the archives, but their CMake files know how to link MLIR's archives to libLLVM.so only: what MLIR's
# targets need of LLVM is led to LLVM's archives here. find_package(MLIR) comes before.

set(LLVM_LINK_LLVM_DYLIB OFF) # as AddLLVM reads it

add_library(Fp8StaticLLVM INTERFACE)
llvm_map_components_to_libnames(FP8_LLVM_LIBRARIES
  asmparser bitreader bitwriter core executionengine frontendoffloading frontendopenmp ipo irreader linker mc nvptxcodegen nvptxdesc nvptxinfo object orcjit
  passes support target transformutils)
target_link_libraries(Fp8StaticLLVM INTERFACE ${FP8_LLVM_LIBRARIES})
install(TARGETS Fp8StaticLLVM EXPORT Fp8Targets)

get_property(targets DIRECTORY PROPERTY IMPORTED_TARGETS)
foreach(target ${targets})
  get_target_property(libraries ${target} INTERFACE_LINK_LIBRARIES)
  if(target MATCHES "^MLIR" AND libraries)
    list(TRANSFORM libraries REPLACE "^LLVM$" Fp8StaticLLVM)
    set_target_properties(${target} PROPERTIES INTERFACE_LINK_LIBRARIES "${libraries}")
  endif()
endforeach()

# LLVM's support library names a theorem prover that no part of ours calls, and shared libraries for compression; the archives
# of these are taken where there are any, so that the result needs the C library only.
find_library(FP8_ZLIB NAMES libz.a z)
find_library(FP8_ZSTD NAMES libzstd.a zstd)
set_target_properties(LLVMSupport PROPERTIES
  INTERFACE_LINK_LIBRARIES "rt;dl;m;${FP8_ZLIB};${FP8_ZSTD};LLVMDemangle")
