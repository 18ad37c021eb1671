# SPDX-License-Identifier: MIT
#
# A C++ program, of either kind; an exception that leaves a frame closes it.
include("${CMAKE_CURRENT_LIST_DIR}/package.cmake")
foreach(kind IN ITEMS shared static)
    consume(consumer_cxx ${kind} "-DCMAKE_PREFIX_PATH=${INSTALLS}/install_both/prefix" -DCOMPONENTS=${kind})
endforeach()
