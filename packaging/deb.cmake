# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 the etwas authors
#
# `cpack -G DEB` in a build folder makes Debian packages of the components. A library's package has its soname
# in its name, so that those of several versions stand beside each other.

set(CPACK_PACKAGE_CONTACT "The etwas authors <etwas@localhost>")
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY ${PROJECT_DESCRIPTION})
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_COMPONENTS_ALL libetwas libetwas-plain libetwas-clocks libetwas-tdh dev etwas)
set(CPACK_STRIP_FILES ON)
set(CPACK_VERBATIM_VARIABLES ON)

set(CPACK_DEB_COMPONENT_INSTALL ON)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
# Of other packages by dpkg-shlibdeps, of each other by name and version.
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS_PRIVATE_DIRS ${PROJECT_BINARY_DIR}/runtime)
set(CPACK_DEBIAN_PACKAGE_GENERATE_SHLIBS ON)
set(same "(= ${PROJECT_VERSION})")

# etwas_package(COMPONENT PACKAGE SECTION SUMMARY DEPENDS...)
function(etwas_package COMPONENT PACKAGE SECTION SUMMARY)
    string(TOUPPER ${COMPONENT} key)
    list(JOIN ARGN ", " depends)
    set(CPACK_DEBIAN_${key}_PACKAGE_NAME ${PACKAGE} PARENT_SCOPE)
    set(CPACK_DEBIAN_${key}_PACKAGE_SECTION ${SECTION} PARENT_SCOPE)
    set(CPACK_DEBIAN_${key}_PACKAGE_DEPENDS "${depends}" PARENT_SCOPE)
    set(CPACK_DEBIAN_${key}_DESCRIPTION "${PROJECT_DESCRIPTION}: ${SUMMARY}" PARENT_SCOPE)
endfunction()

set(abi ${ETWAS_SOVERSION})
etwas_package(libetwas libetwas${abi} libs "the library")
etwas_package(libetwas-plain libetwas-plain${abi} libs "the library for plugins and preload libraries")
etwas_package(libetwas-clocks libetwas-clocks${abi} libs "the clock laboratory" "libetwas${abi} ${same}")
etwas_package(libetwas-tdh libetwas-tdh${abi} libs "the decoder")
etwas_package(dev libetwas-dev libdevel "for programs that use it"
    "libetwas${abi} ${same}" "libetwas-plain${abi} ${same}" "libetwas-clocks${abi} ${same}"
    "libetwas-tdh${abi} ${same}" libck-dev libexpat1-dev)
etwas_package(etwas etwas utils "the command"
    "libetwas${abi} ${same}" "libetwas-clocks${abi} ${same}" "libetwas-tdh${abi} ${same}")
# What the command loads where it needs it: dpkg-shlibdeps does not know of it.
if(LIBCURL_FOUND)
    set(CPACK_DEBIAN_ETWAS_PACKAGE_RECOMMENDS libcurl4)
endif()

include(CPack)
