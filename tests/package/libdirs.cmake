# SPDX-License-Identifier: MIT
#
# Library folders below the prefix, as Debian has them, and elsewhere, as Nix has them.
include("${CMAKE_CURRENT_LIST_DIR}/package.cmake")
set(elsewhere "${INSTALLS}/install_absolute/elsewhere")

foreach(kind IN ITEMS shared static)
    consume(consumer absolute-${kind} -DKIND=${kind} -DCOMPONENTS=${kind}
            "-DPol_DIR=${elsewhere}/lib/cmake/Pol")
    consume(consumer multiarch-${kind} -DKIND=${kind} -DCOMPONENTS=${kind}
            "-DPol_DIR=${INSTALLS}/install_multiarch/prefix/lib/x86_64-linux-gnu/cmake/Pol")
endforeach()
