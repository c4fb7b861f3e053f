# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 the etwas authors
#
# The program release.c with the library as it is, as a later one of the same major version of the pool's layout, whose head has
# more fields, and as one of the next major version: what knows the layout is compiled anew, with another layout.h.

set(runtime ${PROJECT_SOURCE_DIR}/runtime)
file(READ ${runtime}/shared/layout.h layout)
set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${runtime}/shared/layout.h)

# Headers that include it, by others or at once, and the sources that include one of these.
set(knowing shared/layout.h)
file(GLOB headers RELATIVE ${runtime} CONFIGURE_DEPENDS ${runtime}/*/*.h ${runtime}/system/*/*.h)
file(GLOB sources RELATIVE ${runtime} CONFIGURE_DEPENDS ${runtime}/*/*.c ${runtime}/system/*/*.c)
function(etwas_filter_knowing FILES OUTPUT)
    string(JOIN "|" names ${knowing})
    set(found "")
    foreach(file ${FILES})
        file(STRINGS ${runtime}/${file} lines REGEX "^#include \"(${names})\"")
        if(lines)
            list(APPEND found ${file})
        endif()
    endforeach()
    set(${OUTPUT} ${found} PARENT_SCOPE)
endfunction()
set(before "")
while(NOT knowing STREQUAL before)
    set(before ${knowing})
    etwas_filter_knowing("${headers}" more)
    list(APPEND knowing ${more})
    list(REMOVE_DUPLICATES knowing)
endwhile()
etwas_filter_knowing("${sources}" sources)
list(TRANSFORM sources PREPEND ${runtime}/)

# etwas_add_release(<name> <pattern> <replacement> ...): what the regular expressions make of layout.h. Each must find something.
function(etwas_add_release NAME)
    set(text "${layout}")
    while(ARGN)
        list(POP_FRONT ARGN pattern replacement)
        string(REGEX REPLACE "${pattern}" "${replacement}" changed "${text}")
        if(changed STREQUAL text)
            message(FATAL_ERROR "tests/sharing/releases.cmake finds no '${pattern}' in shared/layout.h.")
        endif()
        set(text "${changed}")
    endwhile()
    file(CONFIGURE OUTPUT ${CMAKE_CURRENT_BINARY_DIR}/${NAME}_layout/shared/layout.h CONTENT "${text}" @ONLY)
    etwas_compile(${NAME}_objects OBJECT ${sources})
    target_compile_definitions(${NAME}_objects PRIVATE ETWAS_TESTPOINTS)
    target_include_directories(${NAME}_objects BEFORE PRIVATE ${CMAKE_CURRENT_BINARY_DIR}/${NAME}_layout ${runtime})
    add_executable(${NAME} release.c $<TARGET_OBJECTS:${NAME}_objects>)
    target_link_libraries(${NAME} PRIVATE etwas_flags etwas_testable PkgConfig::CK Threads::Threads)
endfunction()

add_executable(release release.c)
target_link_libraries(release PRIVATE etwas_flags etwas_testable Threads::Threads)
etwas_add_release(release_later_minor
    "ETWAS_SHARED_MINOR = [0-9]+," "ETWAS_SHARED_MINOR = 99,"
    "uint32_t reserved(.\n}.\n\n/. The size of a head)" "uint32_t reserved, of_a_later_release[65]\\1")
etwas_add_release(release_later_major "ETWAS_SHARED_MAJOR = [0-9]+," "ETWAS_SHARED_MAJOR = 99,")
etwas_add_command_test(sharing_releases
    ${Python3_EXECUTABLE} -B ${CMAKE_CURRENT_SOURCE_DIR}/releases_test.py $<TARGET_FILE:release>
    $<TARGET_FILE:release_later_minor> $<TARGET_FILE:release_later_major> $<TARGET_FILE:etwas_tool>)
