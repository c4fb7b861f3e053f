# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 the etwas authors
#
# Manual pages and completion of the commands, where the program that writes them can be run: not when building for another
# machine, and not under a sanitizer, which may refuse to start. Manual pages of the functions, where there is a Python.

if(TARGET etwas_manual AND NOT CMAKE_CROSSCOMPILING AND ETWAS_SANITIZE STREQUAL "")
    set(ETWAS_MANUAL ${CMAKE_CURRENT_BINARY_DIR}/manual)
    file(MAKE_DIRECTORY ${ETWAS_MANUAL})
    add_custom_command(OUTPUT ${ETWAS_MANUAL}/etwas.1
        COMMAND etwas_manual ${ETWAS_MANUAL} ${PROJECT_VERSION} DEPENDS etwas_manual VERBATIM)
    add_custom_target(man ALL DEPENDS ${ETWAS_MANUAL}/etwas.1)
    install(DIRECTORY ${ETWAS_MANUAL}/ DESTINATION ${CMAKE_INSTALL_MANDIR}/man1 COMPONENT etwas
        FILES_MATCHING PATTERN "*.1")
    install(FILES ${CMAKE_CURRENT_LIST_DIR}/etwas-host.1 DESTINATION ${CMAKE_INSTALL_MANDIR}/man1 COMPONENT etwas)
    install(FILES ${ETWAS_MANUAL}/etwas.bash RENAME etwas
        DESTINATION ${CMAKE_INSTALL_DATADIR}/bash-completion/completions COMPONENT etwas)
    install(FILES ${ETWAS_MANUAL}/_etwas DESTINATION ${CMAKE_INSTALL_DATADIR}/zsh/vendor-completions COMPONENT etwas)
    install(FILES ${ETWAS_MANUAL}/etwas.fish
        DESTINATION ${CMAKE_INSTALL_DATADIR}/fish/vendor_completions.d COMPONENT etwas)
endif()

find_package(Python3 COMPONENTS Interpreter QUIET)
if(Python3_FOUND)
    set(ETWAS_MAN3 ${CMAKE_CURRENT_BINARY_DIR}/man3)
    file(GLOB headers CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/include/etwas/*.h)
    add_custom_command(OUTPUT ${ETWAS_MAN3}/StartTraceA.3
        COMMAND ${Python3_EXECUTABLE} -B ${CMAKE_CURRENT_LIST_DIR}/man3.py
            ${PROJECT_SOURCE_DIR}/include ${PROJECT_VERSION} ${ETWAS_MAN3}
        DEPENDS ${CMAKE_CURRENT_LIST_DIR}/man3.py ${headers} VERBATIM)
    add_custom_target(man3 ALL DEPENDS ${ETWAS_MAN3}/StartTraceA.3)
    install(DIRECTORY ${ETWAS_MAN3}/ DESTINATION ${CMAKE_INSTALL_MANDIR}/man3 COMPONENT dev
        FILES_MATCHING PATTERN "*.3")
else()
    message(STATUS "No Python 3: no manual pages of the functions are made (on Debian: apt-get install python3)")
endif()
