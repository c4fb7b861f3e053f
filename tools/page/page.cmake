# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 the etwas authors
#
# The target etwas_pages: what --html writes, but for output.c and text.c. d3 draws it; without it no pages are written.

find_file(ETWAS_D3 d3.min.js PATHS /usr/share/nodejs/d3/dist NO_DEFAULT_PATH
    DOC "d3.min.js of d3 version 5 (in Debian: node-d3)")

set(page_folder ${CMAKE_CURRENT_LIST_DIR})
set(page_files "CSS=${page_folder}/style.css" "WORDS=${page_folder}/words.js" "PLOTS=${page_folder}/plots.js"
    "CHARTS=${page_folder}/charts.js")
if(ETWAS_D3)
    list(APPEND page_files "D3=${ETWAS_D3}")
else()
    message(STATUS "etwas writes no pages: there is no d3 (on Debian: apt-get install node-d3)")
endif()
list(TRANSFORM page_files REPLACE "^[A-Z0-9]+=" "" OUTPUT_VARIABLE page_paths)

set(page_hashes ${CMAKE_CURRENT_BINARY_DIR}/page/page_hashes.h)
add_custom_command(OUTPUT ${page_hashes}
    COMMAND ${CMAKE_COMMAND} -DHEAD=${page_hashes} "-DFILES=${page_files}" -P ${page_folder}/hashes.cmake
    DEPENDS ${page_paths} ${page_folder}/hashes.cmake VERBATIM)
add_custom_target(etwas_page_hashes DEPENDS ${page_hashes})

add_library(etwas_pages OBJECT ${page_folder}/files.c ${page_folder}/page.c)
add_dependencies(etwas_pages etwas_page_hashes)
set_source_files_properties(${page_folder}/files.c PROPERTIES
    OBJECT_DEPENDS "${page_hashes};${page_paths};${page_folder}/d3_license.txt")
target_include_directories(etwas_pages PRIVATE ${page_folder}/.. ${CMAKE_CURRENT_BINARY_DIR}/page)
target_compile_definitions(etwas_pages PRIVATE ETWAS_PAGE_FOLDER="${page_folder}"
    $<$<BOOL:${ETWAS_D3}>:ETWAS_PAGE_D3="${ETWAS_D3}">)
target_link_libraries(etwas_pages PRIVATE etwas_flags etwas)
