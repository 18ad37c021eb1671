# SPDX-License-Identifier: MIT
#
# The static library is position-independent: it goes into a shared object, which is loaded.
include("${CMAKE_CURRENT_LIST_DIR}/package.cmake")
consume(plugin plugin "-DCMAKE_PREFIX_PATH=${INSTALLS}/install_both/prefix")
