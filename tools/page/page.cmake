# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 the etwas authors
#
# The target etwas_pages, a part of etwas_tools: the pages that --html writes. They need d3; without it none are written.

find_file(ETWAS_D3 d3.min.js PATHS /usr/share/nodejs/d3/dist NO_DEFAULT_PATH NO_CMAKE_FIND_ROOT_PATH
    DOC "d3.min.js of d3 version 5 (in Debian: node-d3)")

set(page_tools ${CMAKE_CURRENT_SOURCE_DIR})
set(page_hashed CSS=page/style.css WORDS=page/words.js PLOTS=page/plots.js CHARTS=page/charts.js
    TIMELINE=page/timeline.js CLOCKS_WORDS=clocks/page_words.js CLOCKS_COST=clocks/page_cost.js CLOCKS_ORDER=clocks/page_order.js
    CLOCKS_RATE=clocks/page_rate.js CLOCKS_PAGE=clocks/page.js
    REPORT_TIME=report/page_time.js REPORT_HEALTH=report/page_health.js REPORT_RATES=report/page_rates.js
    REPORT_SPANS=report/page_spans.js REPORT_TREES=report/page_trees.js REPORT_USAGE=report/page_usage.js
    REPORT_HEAP=report/page_heap.js REPORT_PAGE=report/page.js)
list(TRANSFORM page_hashed REPLACE = =${page_tools}/)
if(ETWAS_D3)
    list(APPEND page_hashed D3=${ETWAS_D3})
else()
    message(STATUS "etwas writes no pages: there is no d3 (on Debian: apt-get install node-d3)")
endif()
list(TRANSFORM page_hashed REPLACE "^[A-Z0-9_]+=" "" OUTPUT_VARIABLE page_files)

set(page_hashes ${CMAKE_CURRENT_BINARY_DIR}/page/page_hashes.h)
add_custom_command(OUTPUT ${page_hashes}
    COMMAND ${CMAKE_COMMAND} -DHEAD=${page_hashes} "-DFILES=${page_hashed}"
        -P ${page_tools}/page/hashes.cmake
    DEPENDS ${page_files} page/hashes.cmake VERBATIM)
add_custom_target(etwas_page_hashes DEPENDS ${page_hashes})

add_library(etwas_pages OBJECT page/files.c page/page.c)
add_dependencies(etwas_pages etwas_page_hashes)
set_source_files_properties(page/files.c PROPERTIES
    OBJECT_DEPENDS "${page_hashes};${page_files};${page_tools}/page/d3_license.txt")
target_include_directories(etwas_pages PRIVATE ${page_tools} ${CMAKE_CURRENT_BINARY_DIR}/page)
target_compile_definitions(etwas_pages PRIVATE ETWAS_TOOLS_FOLDER="${page_tools}"
    $<$<BOOL:${ETWAS_D3}>:ETWAS_PAGE_D3="${ETWAS_D3}">)
target_link_libraries(etwas_pages PRIVATE etwas_flags etwas)
