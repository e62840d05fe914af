# SPDX-License-Identifier: Apache-2.0
# Included where MLRUN_PORTABLE names the folder that link_files.sh made: programs are linked with the glibc that lies there, and all
# libraries become part of them, but for Arrow, which is copied beside them, and libgcc_s, which comes with every glibc.
#   exclude-libs           a static libstdc++ stays out of sight of Arrow, which uses the system's
#   allow-shlib-undefined  Arrow asks for glibc 2.28
set(CMAKE_FIND_LIBRARY_SUFFIXES .a)
add_link_options("-B${MLRUN_PORTABLE}" "-L${MLRUN_PORTABLE}" -Wl,--exclude-libs,ALL -Wl,--allow-shlib-undefined
  $<$<LINK_LANGUAGE:CXX>:-static-libstdc++>)
find_package(fmt REQUIRED)
find_package(tomlplusplus REQUIRED)
set_target_properties(fmt::fmt PROPERTIES IMPORTED_LOCATION_NONE "${MLRUN_PORTABLE}/libfmt.a")
set_target_properties(tomlplusplus::tomlplusplus PROPERTIES IMPORTED_LOCATION "${MLRUN_PORTABLE}/libtomlplusplus.a")
configure_file("${CMAKE_CURRENT_LIST_DIR}/pyproject.toml.in" "${CMAKE_BINARY_DIR}/pyproject.toml" @ONLY)
set(CMAKE_BUILD_WITH_INSTALL_RPATH ON)  # else that of the build has the folder, and with it the old glibc at run time
