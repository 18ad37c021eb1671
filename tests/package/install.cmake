# SPDX-License-Identifier: MIT
include("${CMAKE_CURRENT_LIST_DIR}/package.cmake")

configure_command(command "${SOURCE_DIR}" build "-DCMAKE_INSTALL_PREFIX=${SCRATCH}/prefix"
    -DPOL_BUILD_TESTS=OFF -DPOL_BUILD_EXAMPLES=OFF -DPOL_WERROR=ON ${OPTIONS})
run(${command})
run("${CMAKE_COMMAND}" --build "${SCRATCH}/build")
run("${CMAKE_COMMAND}" --install "${SCRATCH}/build")
