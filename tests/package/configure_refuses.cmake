# SPDX-License-Identifier: MIT
#
# What libpol cannot be built with is an error at configure time that says so. A macro named
# _Generic makes a compiler without it.
include("${CMAKE_CURRENT_LIST_DIR}/package.cmake")

configure_command(command "${SOURCE_DIR}" no-c11 -DCMAKE_C_FLAGS=-D_Generic=none)
run_refused("needs a C11 compiler" ${command})

configure_command(command "${SOURCE_DIR}" no-cxx -DCMAKE_CXX_COMPILER=NOTFOUND)
run_refused("tests need a C\\+\\+ compiler" ${command})

set(ENV{PKG_CONFIG_LIBDIR} "${SCRATCH}")
configure_command(command "${SOURCE_DIR}" no-cmocka)
run_refused("tests need cmocka" ${command})
