# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 the etwas authors
#
# The manual page, where help2man is found and the command can be run: not when building for another
# machine, and not under a sanitizer, which may refuse to start.

find_program(ETWAS_HELP2MAN help2man)
if(TARGET etwas_tool AND ETWAS_HELP2MAN AND NOT CMAKE_CROSSCOMPILING AND ETWAS_SANITIZE STREQUAL "")
    set(ETWAS_MAN_PAGE ${CMAKE_CURRENT_BINARY_DIR}/etwas.1)
    add_custom_command(OUTPUT ${ETWAS_MAN_PAGE}
        COMMAND ${CMAKE_CURRENT_LIST_DIR}/man.sh $<TARGET_FILE:etwas_tool> $<TARGET_FILE:etwas_host> ${ETWAS_MAN_PAGE}
        DEPENDS etwas_tool etwas_host ${CMAKE_CURRENT_LIST_DIR}/man.sh VERBATIM)
    add_custom_target(man ALL DEPENDS ${ETWAS_MAN_PAGE})
    install(FILES ${ETWAS_MAN_PAGE} DESTINATION ${CMAKE_INSTALL_MANDIR}/man1 COMPONENT etwas)
endif()
