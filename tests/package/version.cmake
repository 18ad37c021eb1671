# SPDX-License-Identifier: MIT
#
# Everything that states a version states the same one. The consumer compares pol_version() with
# the header's; here are the rest.
include("${CMAKE_CURRENT_LIST_DIR}/package.cmake")
set(prefix "${INSTALLS}/install_both/prefix")
consume(consumer consumer "-DCMAKE_PREFIX_PATH=${prefix}" -DKIND=shared)

set(ENV{PKG_CONFIG_PATH} "${prefix}/lib/pkgconfig")
run("${PKG_CONFIG}" --modversion pol)
check_equal("${output}" "${VERSION}\n")

include("${prefix}/lib/cmake/Pol/PolConfigVersion.cmake")
check_equal("${PACKAGE_VERSION}" "${VERSION}")

file(READ "${prefix}/include/pol/version.h" text)
string(REGEX MATCHALL "POL_VERSION_[MP][A-Z]+ [0-9]+" parts "${text}")
list(TRANSFORM parts REPLACE "^.* " "")
list(JOIN parts "." header_version)
check_equal("${header_version}" "${VERSION}")

string(REGEX MATCH "^[0-9]+\\.[0-9]+" soversion "${VERSION}")
file(READ_SYMLINK "${prefix}/lib/libpol.so" link)
check_equal("${link}" "libpol.so.${soversion}")
file(READ_SYMLINK "${prefix}/lib/libpol.so.${soversion}" link)
check_equal("${link}" "libpol.so.${VERSION}")
