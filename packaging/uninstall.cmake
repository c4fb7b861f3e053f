# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 the etwas authors
#
# Removes what the last `cmake --install` of a build folder wrote, and the folders that are empty then.
# The target `uninstall` runs it; DESTDIR is kept to.

set(manifest ${BUILD_FOLDER}/install_manifest.txt)
if(NOT EXISTS ${manifest})
    message(FATAL_ERROR "Nothing was installed from ${BUILD_FOLDER}: there is no ${manifest}.")
endif()
file(STRINGS ${manifest} files)
foreach(file ${files})
    file(REMOVE "$ENV{DESTDIR}${file}")
    get_filename_component(folder "$ENV{DESTDIR}${file}" DIRECTORY)
    # The folders of etwas alone: its headers', and its CMake package's.
    while(folder MATCHES "/etwas(/|$)")
        file(GLOB left LIST_DIRECTORIES true "${folder}/*")
        if(left OR NOT IS_DIRECTORY "${folder}")
            break()
        endif()
        file(REMOVE_RECURSE "${folder}")
        get_filename_component(folder "${folder}" DIRECTORY)
    endwhile()
endforeach()
list(LENGTH files count)
message("-- Removed ${count} files")
