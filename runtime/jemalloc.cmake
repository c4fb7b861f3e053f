# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 the etwas authors
#
# A copy of jemalloc for one library. All of it is linked into one object, of which the linker then sees
# only the three functions that memory.c calls. So neither the program's malloc becomes jemalloc's nor the
# library's own: what the C library allocates for us, we may free. Without its constructor: it sets itself up when it
# is first called, at the start of a session, and a program that is only linked reads no file and maps nothing.

get_filename_component(jemalloc_dir "${JEMALLOC_LINK_LIBRARIES}" DIRECTORY)
find_library(ETWAS_JEMALLOC_ARCHIVE libjemalloc_pic.a HINTS ${jemalloc_dir})
if(NOT ETWAS_JEMALLOC_ARCHIVE)
    message(FATAL_ERROR
        "etwas takes jemalloc in from libjemalloc_pic.a, which is missing.\n"
        "On Debian: apt-get install libjemalloc-dev; elsewhere, without arenas: -DETWAS_JEMALLOC=OFF")
endif()

set(ETWAS_JEMALLOC_OBJECT ${CMAKE_CURRENT_BINARY_DIR}/jemalloc.o)
add_custom_command(OUTPUT ${ETWAS_JEMALLOC_OBJECT}
    COMMAND ${CMAKE_C_COMPILER} -r -nostdlib -Wl,-u,mallocx -o jemalloc_whole.o ${ETWAS_JEMALLOC_ARCHIVE}
    COMMAND ${CMAKE_OBJCOPY} --strip-debug --keep-global-symbol=mallocx --keep-global-symbol=dallocx
        --keep-global-symbol=mallctl --remove-section=.init_array --remove-section=.rela.init_array
        jemalloc_whole.o ${ETWAS_JEMALLOC_OBJECT}
    DEPENDS ${ETWAS_JEMALLOC_ARCHIVE} VERBATIM)
add_custom_target(etwas_jemalloc DEPENDS ${ETWAS_JEMALLOC_OBJECT})

# Compiles a target against it.
function(etwas_use_jemalloc TARGET)
    target_compile_definitions(${TARGET} PRIVATE ETWAS_WITH_JEMALLOC=1)
    target_include_directories(${TARGET} SYSTEM PRIVATE ${JEMALLOC_INCLUDE_DIRS})
endfunction()

# Links a target with it. Its profiler calls libm.
function(etwas_link_jemalloc TARGET)
    add_dependencies(${TARGET} etwas_jemalloc)
    target_link_libraries(${TARGET} PRIVATE $<BUILD_INTERFACE:${ETWAS_JEMALLOC_OBJECT}> m)
endfunction()
