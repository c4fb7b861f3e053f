# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 the etwas authors
#
# What is installed: headers, the libraries, find_package(etwas) and the modules of pkg-config, the command.
# The prefix may be moved afterwards: nothing installed names it. Components are called like the Debian packages
# (packaging/debian), which have the same files.

include(CMakePackageConfigHelpers)

set(cmake_dir ${CMAKE_INSTALL_LIBDIR}/cmake/etwas)

install(DIRECTORY ${PROJECT_SOURCE_DIR}/include/etwas
    DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} COMPONENT dev FILES_MATCHING PATTERN "*.h")
# Two export sets: whoever uses a shared library need not have what the static ones are linked with.
foreach(library etwas etwas_plain etwas_clocks etwas_tdh)
    string(REPLACE _ - component lib${library})
    install(TARGETS ${library} EXPORT etwasTargets
        LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT ${component} NAMELINK_COMPONENT dev)
endforeach()
install(TARGETS etwas_static etwas_clocks_static etwas_tdh_static EXPORT etwasStaticTargets
    ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT dev)
install(EXPORT etwasTargets NAMESPACE etwas:: DESTINATION ${cmake_dir} COMPONENT dev)
install(EXPORT etwasStaticTargets NAMESPACE etwas:: DESTINATION ${cmake_dir} COMPONENT dev)

configure_package_config_file(
    ${CMAKE_CURRENT_LIST_DIR}/etwasConfig.cmake.in ${CMAKE_CURRENT_BINARY_DIR}/etwasConfig.cmake
    INSTALL_DESTINATION ${cmake_dir} NO_SET_AND_CHECK_MACRO)
write_basic_package_version_file(${CMAKE_CURRENT_BINARY_DIR}/etwasConfigVersion.cmake
    COMPATIBILITY SameMinorVersion)
install(FILES
    ${CMAKE_CURRENT_BINARY_DIR}/etwasConfig.cmake
    ${CMAKE_CURRENT_BINARY_DIR}/etwasConfigVersion.cmake
    DESTINATION ${cmake_dir} COMPONENT dev)

# A pkg-config module. LIBS_PRIVATE, not Requires.private: pkg-config looks for the latter even for the
# shared library.
function(etwas_install_module NAME DESCRIPTION REQUIRES LIBS_PRIVATE)
    configure_file(packaging/etwas.pc.in ${NAME}.pc @ONLY)
    install(FILES ${CMAKE_CURRENT_BINARY_DIR}/${NAME}.pc
        DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig COMPONENT dev)
endfunction()

file(RELATIVE_PATH ETWAS_PC_PREFIX
    ${CMAKE_INSTALL_FULL_LIBDIR}/pkgconfig ${CMAKE_INSTALL_PREFIX})
string(REGEX REPLACE "/$" "" ETWAS_PC_PREFIX "${ETWAS_PC_PREFIX}")
etwas_install_module(etwas "${PROJECT_DESCRIPTION}" "" "-lck -pthread -Wl,-z,nodelete")
etwas_install_module(etwas-plain "${PROJECT_DESCRIPTION}, for plugins and preload libraries" "" "")
etwas_install_module(etwas-clocks "The clock laboratory of etwas" "etwas" "-lm")
etwas_install_module(etwas-tdh "The decoder of etwas: events by name and value" "etwas" "-lexpat")

# The units name no folder: systemd looks for programs where shells do, in its own folders beside that.
if(TARGET etwas_tool)
    install(TARGETS etwas_tool etwas_host RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR} COMPONENT etwas)
    foreach(manager system user)
        install(FILES ${PROJECT_SOURCE_DIR}/packaging/etwas@.service
            DESTINATION lib/systemd/${manager} COMPONENT etwas)
    endforeach()
    install(FILES ${PROJECT_SOURCE_DIR}/packaging/etwas-ship.service DESTINATION lib/systemd/system COMPONENT etwas)
    install(FILES ${PROJECT_SOURCE_DIR}/packaging/shop.autologger ${PROJECT_SOURCE_DIR}/packaging/ship.conf
        DESTINATION ${CMAKE_INSTALL_DATADIR}/doc/etwas/examples COMPONENT etwas)
    install(DIRECTORY ${PROJECT_SOURCE_DIR}/docs/ DESTINATION ${CMAKE_INSTALL_DATADIR}/doc/etwas COMPONENT etwas)
endif()

include(${CMAKE_CURRENT_LIST_DIR}/manual.cmake)

# Licenses: ours, of jemalloc, of which libetwas.so has a copy, and of d3, of which the command has one.
install(FILES ${PROJECT_SOURCE_DIR}/packaging/debian/copyright
    DESTINATION ${CMAKE_INSTALL_DATADIR}/doc/etwas COMPONENT dev)

# Last of all: what else has to be done. Not where the tree is staged for a package.
install(CODE "
    set(libraries \${CMAKE_INSTALL_PREFIX}/${CMAKE_INSTALL_LIBDIR})
    if(NOT \"\$ENV{DESTDIR}\" STREQUAL \"\")
    elseif(CMAKE_INSTALL_PREFIX MATCHES \"^/usr(/local)?$\")
        message(\"-- The loader finds the libraries after: ldconfig\")
    else()
        message(\"-- Outside /usr and /usr/local, pkg-config, the loader and the shell find etwas with:\\n\"
            \"   export PKG_CONFIG_PATH=\${libraries}/pkgconfig LD_LIBRARY_PATH=\${libraries} \"
            \"PATH=\${CMAKE_INSTALL_PREFIX}/${CMAKE_INSTALL_BINDIR}:\\$PATH\")
    endif()" ALL_COMPONENTS)

if(PROJECT_IS_TOP_LEVEL)
    add_custom_target(uninstall COMMAND ${CMAKE_COMMAND}
        -DBUILD_FOLDER=${PROJECT_BINARY_DIR} -P ${CMAKE_CURRENT_LIST_DIR}/uninstall.cmake)
endif()
