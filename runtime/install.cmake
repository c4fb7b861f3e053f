# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 the etwas authors
#
# What is installed: headers, the libraries, find_package(etwas) and the modules of pkg-config. The prefix may be
# moved afterwards: nothing installed names it.

include(CMakePackageConfigHelpers)

set(cmake_dir ${CMAKE_INSTALL_LIBDIR}/cmake/etwas)

install(DIRECTORY ${PROJECT_SOURCE_DIR}/include/etwas
    DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} FILES_MATCHING PATTERN "*.h")
# Two export sets: whoever uses the shared library need not have what the static one is linked with.
install(TARGETS etwas etwas_plain etwas_clocks EXPORT etwasTargets
    LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR})
install(TARGETS etwas_static etwas_clocks_static EXPORT etwasStaticTargets
    ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR})
install(EXPORT etwasTargets NAMESPACE etwas:: DESTINATION ${cmake_dir})
install(EXPORT etwasStaticTargets NAMESPACE etwas:: DESTINATION ${cmake_dir})

configure_package_config_file(
    ${CMAKE_CURRENT_SOURCE_DIR}/etwasConfig.cmake.in ${CMAKE_CURRENT_BINARY_DIR}/etwasConfig.cmake
    INSTALL_DESTINATION ${cmake_dir} NO_SET_AND_CHECK_MACRO)
write_basic_package_version_file(${CMAKE_CURRENT_BINARY_DIR}/etwasConfigVersion.cmake
    COMPATIBILITY SameMinorVersion)
install(FILES
    ${CMAKE_CURRENT_BINARY_DIR}/etwasConfig.cmake
    ${CMAKE_CURRENT_BINARY_DIR}/etwasConfigVersion.cmake
    DESTINATION ${cmake_dir})

# A pkg-config module, of the fields' contents named.
function(etwas_install_module NAME DESCRIPTION REQUIRES LIBS_PRIVATE)
    configure_file(${CMAKE_CURRENT_SOURCE_DIR}/etwas.pc.in ${CMAKE_CURRENT_BINARY_DIR}/${NAME}.pc @ONLY)
    install(FILES ${CMAKE_CURRENT_BINARY_DIR}/${NAME}.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
endfunction()

# Libs.private, not Requires.private: pkg-config looks for the latter even for the shared library.
file(RELATIVE_PATH ETWAS_PC_PREFIX
    ${CMAKE_INSTALL_FULL_LIBDIR}/pkgconfig ${CMAKE_INSTALL_PREFIX})
string(REGEX REPLACE "/$" "" ETWAS_PC_PREFIX "${ETWAS_PC_PREFIX}")
etwas_install_module(etwas "${PROJECT_DESCRIPTION}" "" "-lck -pthread")
etwas_install_module(etwas-plain "${PROJECT_DESCRIPTION}, for plugins and preload libraries" "" "")
etwas_install_module(etwas-clocks "The clock laboratory of etwas" "etwas" "-lm")
