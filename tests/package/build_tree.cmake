# SPDX-License-Identifier: MIT
#
# A build folder is a package too, also one without install rules.
include("${CMAKE_CURRENT_LIST_DIR}/package.cmake")
foreach(kind IN ITEMS shared static)
    consume(consumer ${kind} "-DPol_DIR=${INSTALLS}/install_both/build" -DKIND=${kind} -DCOMPONENTS=${kind})
endforeach()

configure_command(command "${SOURCE_DIR}" pol
    -DPOL_INSTALL=OFF -DPOL_BUILD_TESTS=OFF -DPOL_BUILD_EXAMPLES=OFF)
run(${command})
run("${CMAKE_COMMAND}" --build "${SCRATCH}/pol")
consume(consumer not-installing "-DPol_DIR=${SCRATCH}/pol" -DKIND=shared)
