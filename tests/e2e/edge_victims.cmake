# SPDX-License-Identifier: Apache-2.0
# Victims that need more than a C compiler and libc. What this system lacks is not built, and the case that wants it skips.
include(CheckCSourceCompiles)

# 32-bit: gcc-multilib.
set(CMAKE_REQUIRED_FLAGS -m32)
check_c_source_compiles("#include <stdio.h>\nint main(void) { return puts(\"\"); }" MLRUN_CAN_BUILD_32_BIT)
unset(CMAKE_REQUIRED_FLAGS)
if(MLRUN_CAN_BUILD_32_BIT)
  e2e_victim(numbered_32 numbered -m32)
  target_link_options(e2e_numbered_32 PRIVATE -m32)
endif()

foreach(form asan asan_linked_in)
  foreach(victim numbered overflows)
    e2e_victim(${victim}_${form} ${victim} -fsanitize=address -fno-builtin)
    target_link_options(e2e_${victim}_${form} PRIVATE -fsanitize=address)
  endforeach()
endforeach()
foreach(victim numbered overflows)
  target_link_options(e2e_${victim}_asan_linked_in PRIVATE $<IF:$<C_COMPILER_ID:GNU>,-static-libasan,-static-libsan>)
endforeach()

foreach(victim connects silent_threads tries_filters)
  e2e_victim(${victim} ${victim})
endforeach()

# C++, with the library that provides operator new.
function(allocates_new name)
  add_executable(e2e_${name} victims/allocates_new.cpp)
  target_compile_options(e2e_${name} PRIVATE -Wall -Wextra -Werror -O1)
  set_target_properties(e2e_${name} PROPERTIES OUTPUT_NAME ${name} RUNTIME_OUTPUT_DIRECTORY "${victims}")
endfunction()
allocates_new(allocates_new)

# Allocators: the libraries by their file names, since only some packages of Debian have a link for the linker.
foreach(form shared static)
  set(suffix_shared .so.2 .so.4 .so.2.0 .so)
  set(suffix_static .a)
  foreach(allocator jemalloc tcmalloc mimalloc)
    set(names)
    foreach(suffix ${suffix_${form}})
      list(APPEND names lib${allocator}_minimal${suffix} lib${allocator}${suffix})
    endforeach()
    find_library(MLRUN_${allocator}_${form} NAMES ${names})
    if(MLRUN_${allocator}_${form})
      e2e_victim(allocates_${allocator}_${form} allocates -fno-builtin)
      target_link_libraries(e2e_allocates_${allocator}_${form} PRIVATE -Wl,--no-as-needed ${MLRUN_${allocator}_${form}}
        $<$<STREQUAL:${form},static>:stdc++> $<$<STREQUAL:${form},static>:dl> m)
    endif()
    if(MLRUN_${allocator}_${form} AND form STREQUAL shared)
      e2e_victim(asks_sizes_${allocator} asks_sizes -fno-builtin)
      target_link_libraries(e2e_asks_sizes_${allocator} PRIVATE -Wl,--no-as-needed ${MLRUN_${allocator}_${form}})
      allocates_new(allocates_new_${allocator}_shared)
      target_link_libraries(e2e_allocates_new_${allocator}_shared PRIVATE -Wl,--no-as-needed ${MLRUN_${allocator}_${form}})
    endif()
  endforeach()
endforeach()

# Plug-ins in a folder beside their helper, which only RUNPATH leads to.
set(plugins "${victims}/plugins")
add_library(e2e_plugin_helper SHARED victims/plugin_helper.c)
set_target_properties(e2e_plugin_helper PROPERTIES OUTPUT_NAME plugin_helper LIBRARY_OUTPUT_DIRECTORY "${plugins}/helper")
foreach(name shared own)
  add_library(e2e_plugin_${name} MODULE victims/plugin.cpp)
  target_compile_options(e2e_plugin_${name} PRIVATE -Wall -Wextra -Werror -O1)
  target_link_libraries(e2e_plugin_${name} PRIVATE e2e_plugin_helper)
  target_link_options(e2e_plugin_${name} PRIVATE -Wl,--enable-new-dtags)
  set_target_properties(e2e_plugin_${name} PROPERTIES PREFIX "" OUTPUT_NAME ${name} LIBRARY_OUTPUT_DIRECTORY "${plugins}"
    BUILD_WITH_INSTALL_RPATH ON INSTALL_RPATH "$ORIGIN/helper")
endforeach()
target_link_options(e2e_plugin_own PRIVATE -static-libstdc++ -static-libgcc)
e2e_victim(loads_plugins loads_plugins)
target_link_libraries(e2e_loads_plugins PRIVATE dl)
