# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 the etwas authors
#
# The target `docs`: docs/html in the build folder, where doxygen and Python are found.

find_program(ETWAS_DOXYGEN doxygen)
find_package(Python3 COMPONENTS Interpreter QUIET)
if(ETWAS_DOXYGEN AND Python3_FOUND)
    configure_file(${CMAKE_CURRENT_LIST_DIR}/Doxyfile.in ${PROJECT_BINARY_DIR}/Doxyfile @ONLY)
    add_custom_target(docs COMMAND ${ETWAS_DOXYGEN} ${PROJECT_BINARY_DIR}/Doxyfile VERBATIM)
endif()
