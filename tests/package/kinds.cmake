# SPDX-License-Identifier: MIT
#
# BUILD_SHARED_LIBS on or off builds that kind alone; nothing said builds both.
include("${CMAKE_CURRENT_LIST_DIR}/package.cmake")

function(installed install expected)
    file(GLOB_RECURSE files RELATIVE "${INSTALLS}/${install}/prefix" "${INSTALLS}/${install}/prefix/*")
    list(FILTER files INCLUDE REGEX "libpol\\.(a|so)$|PolTargets-[a-z]+\\.cmake$")
    list(TRANSFORM files REPLACE "^.*/" "")
    list(SORT files)
    check_equal("${files}" "${expected}")
endfunction()

installed(install_both "PolTargets-shared.cmake;PolTargets-static.cmake;libpol.a;libpol.so")
installed(install_shared "PolTargets-shared.cmake;libpol.so")
installed(install_static "PolTargets-static.cmake;libpol.a")
consume(consumer shared "-DCMAKE_PREFIX_PATH=${INSTALLS}/install_shared/prefix" -DKIND=shared)
consume(consumer static "-DCMAKE_PREFIX_PATH=${INSTALLS}/install_static/prefix" -DKIND=static)
