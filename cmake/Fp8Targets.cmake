# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# Targets that use neither MLIR nor LLVM: the launch manifest, the simulator, the reference and fp8-run.

set(CMAKE_RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/bin)
set(CMAKE_LIBRARY_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/lib)
set(CMAKE_ARCHIVE_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/lib)

# Release's -DNDEBUG would turn assert() off in our own code.
if(FP8_ENABLE_ASSERTIONS)
  string(REPLACE "-DNDEBUG" "" CMAKE_CXX_FLAGS_RELEASE "${CMAKE_CXX_FLAGS_RELEASE}")
endif()

set(FP8_WARNINGS -Wall -Wextra)
if(CMAKE_CXX_COMPILER_ID STREQUAL GNU AND CMAKE_CXX_COMPILER_VERSION VERSION_LESS 13)
  list(APPEND FP8_WARNINGS -Wno-restrict) # warns of overlaps within std::string that cannot be (GCC bug 105651)
endif()

# fp8_install_library(NAME): makes it part of the package (find_package(Fp8)), with our headers.
function(fp8_install_library name)
  target_include_directories(${name} INTERFACE
    $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/include> $<BUILD_INTERFACE:${PROJECT_BINARY_DIR}/include>
    $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>)
  install(TARGETS ${name} EXPORT Fp8Targets ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR})
endfunction()

# fp8_add_library(NAME file.cpp ... [LINK lib ...] [INTERNAL]): a static library without MLIR or LLVM, of the package
# unless it is internal.
function(fp8_add_library name)
  cmake_parse_arguments(ARG "INTERNAL" "" "LINK" ${ARGN})
  add_library(${name} STATIC ${ARG_UNPARSED_ARGUMENTS})
  target_compile_options(${name} PRIVATE ${FP8_WARNINGS})
  target_link_libraries(${name} PUBLIC ${ARG_LINK})
  if(NOT ARG_INTERNAL)
    fp8_install_library(${name})
  endif()
endfunction()

# fp8_add_unittest(NAME file.cpp ... [LINK lib ...]): a GoogleTest binary, run by lit, which knows it by its name's end
# (test/unittests.cfg.py).
function(fp8_add_unittest name)
  if(NOT name MATCHES "Tests$")
    message(FATAL_ERROR "the name of a unit test must end in 'Tests', or lit does not run it: ${name}")
  endif()
  cmake_parse_arguments(ARG "" "" "LINK" ${ARGN})
  find_package(GTest REQUIRED)
  add_executable(${name} ${ARG_UNPARSED_ARGUMENTS})
  set_target_properties(${name} PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/unittests)
  target_compile_options(${name} PRIVATE ${FP8_WARNINGS})
  target_include_directories(${name} PRIVATE ${PROJECT_SOURCE_DIR}/test/lib)
  target_link_libraries(${name} PRIVATE ${ARG_LINK} GTest::gmock GTest::gtest GTest::gtest_main)
  set_property(GLOBAL APPEND PROPERTY FP8_UNITTESTS ${name})
endfunction()
