# SPDX-License-Identifier: MIT
#
# As a subproject libpol leaves its host alone; what the host can see is checked in the host.
include("${CMAKE_CURRENT_LIST_DIR}/package.cmake")

foreach(kind IN ITEMS default shared static)
    set(options -DKIND=static)
    if(NOT kind STREQUAL default)
        set(options -DKIND=${kind})
        if(kind STREQUAL shared)
            list(APPEND options -DBUILD_SHARED_LIBS=ON)
        else()
            list(APPEND options -DBUILD_SHARED_LIBS=OFF)
        endif()
    endif()
    consume(subproject ${kind} "-DPOL_SOURCE=${SOURCE_DIR}" ${options})
endforeach()

run("${CMAKE_CTEST_COMMAND}" --test-dir "${SCRATCH}/default" --show-only)
if(NOT output MATCHES "Total Tests: 0")
    message(FATAL_ERROR "libpol brought tests with it: ${output}")
endif()

run("${CMAKE_COMMAND}" --install "${SCRATCH}/default" --prefix "${SCRATCH}/prefix")
file(GLOB_RECURSE files "${SCRATCH}/prefix/*")
check_equal("${files}" "")
