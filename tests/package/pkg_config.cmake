# SPDX-License-Identifier: MIT
#
# Compiles and links with what pkg-config says, and nothing else.
include("${CMAKE_CURRENT_LIST_DIR}/package.cmake")
include("${CMAKE_CURRENT_LIST_DIR}/pkg_config_consume.cmake")

pkg_config_consume(plain "${INSTALLS}/install_both/prefix/include"
                         "${INSTALLS}/install_both/prefix/lib")
pkg_config_consume(multiarch "${INSTALLS}/install_multiarch/prefix/include"
                             "${INSTALLS}/install_multiarch/prefix/lib/x86_64-linux-gnu")
pkg_config_consume(absolute "${INSTALLS}/install_absolute/elsewhere/include"
                            "${INSTALLS}/install_absolute/elsewhere/lib")
