# SPDX-License-Identifier: MIT
#
# A relocatable pol.pc moves with its prefix.
include("${CMAKE_CURRENT_LIST_DIR}/package.cmake")
include("${CMAKE_CURRENT_LIST_DIR}/pkg_config_consume.cmake")
file(COPY "${INSTALLS}/install_relocatable/prefix/" DESTINATION "${SCRATCH}/moved")

pkg_config_consume(program "${SCRATCH}/moved/include" "${SCRATCH}/moved/lib/x86_64-linux-gnu")
