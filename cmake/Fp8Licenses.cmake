# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# The licences of the libraries that binaries of fp8 contain, as Debian's packages of them have them (docs/embedding.md, "Third-party
# libraries"). On other systems they are left out.

# fp8_install_licenses(DESTINATION [OPTIONS...]): with options of install().
function(fp8_install_licenses destination)
  file(GLOB compilers "/usr/share/doc/libstdc++-[0-9]*-dev")
  foreach(folder /usr/share/doc/llvm-22-dev /usr/share/doc/zlib1g-dev /usr/share/doc/libzstd-dev
      /usr/share/doc/nlohmann-json3-dev /usr/share/doc/libcli11-dev ${compilers})
    if(EXISTS ${folder}/copyright)
      get_filename_component(name ${folder} NAME)
      install(FILES ${folder}/copyright DESTINATION ${destination} RENAME ${name}.txt ${ARGN})
    endif()
  endforeach()
  # Some of these refer to texts that each Debian has.
  foreach(name GPL-2 GPL-3)
    if(EXISTS /usr/share/common-licenses/${name})
      install(FILES /usr/share/common-licenses/${name} DESTINATION ${destination} RENAME ${name}.txt ${ARGN})
    endif()
  endforeach()
endfunction()
