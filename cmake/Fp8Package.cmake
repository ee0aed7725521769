# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# What `cmake --install` puts beside the libraries and tools: headers, TableGen files, the licences, and the files
# of find_package(Fp8).

include(CMakePackageConfigHelpers)
include(Fp8Licenses)
set(FP8_PACKAGE_DIR ${CMAKE_INSTALL_LIBDIR}/cmake/fp8)

install(DIRECTORY ${PROJECT_SOURCE_DIR}/include/ DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}
  FILES_MATCHING PATTERN "*.h" PATTERN "*.td" PATTERN "*.def")
if(FP8_ENABLE_COMPILER)
  install(DIRECTORY ${PROJECT_BINARY_DIR}/include/fp8 DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}
    FILES_MATCHING PATTERN "*.h.inc" PATTERN "CMakeFiles" EXCLUDE)
endif()
install(FILES ${PROJECT_SOURCE_DIR}/LICENSE DESTINATION ${CMAKE_INSTALL_DOCDIR})
fp8_install_licenses(${CMAKE_INSTALL_DOCDIR}/licenses)

install(EXPORT Fp8Targets DESTINATION ${FP8_PACKAGE_DIR})
configure_package_config_file(${PROJECT_SOURCE_DIR}/cmake/Fp8Config.cmake.in Fp8Config.cmake
  INSTALL_DESTINATION ${FP8_PACKAGE_DIR} PATH_VARS CMAKE_INSTALL_INCLUDEDIR)
# Before 1.0 a minor version may change what is public.
write_basic_package_version_file(Fp8ConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/Fp8Config.cmake ${PROJECT_BINARY_DIR}/Fp8ConfigVersion.cmake
  DESTINATION ${FP8_PACKAGE_DIR})
