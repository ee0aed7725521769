# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# MLIR and LLVM from their static archives, for what runs where neither is installed: the Python package, and all else with
# -DFP8_LINK_MLIR_DYLIB=OFF.
#
# Debian's packages have the archives, but their CMake files know how to link MLIR's archives to libLLVM.so only. LLVM's archives are
# named here. find_package(MLIR) comes before.

add_library(Fp8StaticLLVM INTERFACE)
llvm_map_components_to_libnames(FP8_LLVM_LIBRARIES
  asmparser bitreader bitwriter core executionengine frontendoffloading frontendopenmp ipo irreader linker mc nvptxcodegen nvptxdesc nvptxinfo object orcjit
  passes support target transformutils)
target_link_libraries(Fp8StaticLLVM INTERFACE ${FP8_LLVM_LIBRARIES})

# LLVM's support library names a theorem prover that no part of ours calls, and shared libraries for compression; the archives
# of these are taken where there are any, so that the result needs the C library only.
find_library(FP8_ZLIB NAMES libz.a z)
find_library(FP8_ZSTD NAMES libzstd.a zstd)
set_target_properties(LLVMSupport PROPERTIES
  INTERFACE_LINK_LIBRARIES "rt;dl;m;${FP8_ZLIB};${FP8_ZSTD};LLVMDemangle")

if(NOT FP8_LINK_MLIR_DYLIB)
  set(LLVM_LINK_LLVM_DYLIB OFF) # as AddLLVM reads it
  install(TARGETS Fp8StaticLLVM EXPORT Fp8Targets)
  get_property(targets DIRECTORY PROPERTY IMPORTED_TARGETS)
  foreach(target ${targets})
    get_target_property(libraries ${target} INTERFACE_LINK_LIBRARIES)
    if(target MATCHES "^MLIR" AND libraries)
      list(TRANSFORM libraries REPLACE "^LLVM$" Fp8StaticLLVM)
      set_target_properties(${target} PROPERTIES INTERFACE_LINK_LIBRARIES "${libraries}")
    endif()
  endforeach()
endif()

# fp8_link_archives(NAME lib ...): links the archives of these libraries and of all that they need, of ours, of MLIR and of LLVM, also where the
# libraries themselves link MLIR's and LLVM's shared ones. Their objects are the same.
function(fp8_link_archives name)
  set(pending ${ARGN})
  set(archives)
  set(others)
  while(pending)
    list(POP_FRONT pending library)
    string(REGEX REPLACE "^\\$<LINK_ONLY:(.*)>$" "\\1" library "${library}")
    if(library STREQUAL LLVM)
      set(library Fp8StaticLLVM)
    elseif(library STREQUAL MLIR OR DEFINED seen_${library}) # FP8_MLIR_LIBRARIES says which of MLIR's
      continue()
    endif()
    set(seen_${library} TRUE)
    if(NOT TARGET ${library})
      if(NOT library MATCHES "::") # packages that a folder of ours has found for itself have headers only
        list(APPEND others ${library})
      endif()
      continue()
    endif()
    get_target_property(type ${library} TYPE)
    if(type STREQUAL STATIC_LIBRARY)
      list(APPEND archives $<TARGET_FILE:${library}>)
      add_dependencies(${name} ${library})
      set_property(TARGET ${name} APPEND PROPERTY LINK_DEPENDS $<TARGET_FILE:${library}>)
    endif()
    foreach(property INTERFACE_LINK_LIBRARIES FP8_MLIR_LIBRARIES)
      get_target_property(needed ${library} ${property})
      if(needed)
        list(APPEND pending ${needed})
      endif()
    endforeach()
  endwhile()
  target_link_libraries(${name} PRIVATE -Wl,--start-group ${archives} -Wl,--end-group ${others})
endfunction()
