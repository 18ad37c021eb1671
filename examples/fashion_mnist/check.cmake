# SPDX-License-Identifier: MIT
#
# Runs fashion_mnist and looks at how it ends:
#   cmake -DPROGRAM=... -DFOLDER=... [-DMAKE_DATA=... [-DFAULT=...]] [-DLAUNCHER=...] [-DARGS=...]
#         -DMATCH=<regex> [-DFAILS=ON] [-DCSV=<file>] -P check.cmake
# MAKE_DATA writes its small data set, with the fault, into FOLDER, and the program reads it from
# there. FAILS: the status is 1 and there is one line on stderr, which matches; else the status is
# 0, stderr is empty and stdout matches.
cmake_minimum_required(VERSION 3.21)
include("${CMAKE_CURRENT_LIST_DIR}/../common/check.cmake")

file(REMOVE_RECURSE "${FOLDER}")
file(MAKE_DIRECTORY "${FOLDER}")
set(data)
if(MAKE_DATA)
    execute_process(COMMAND "${MAKE_DATA}" "${FOLDER}" ${FAULT} COMMAND_ERROR_IS_FATAL ANY)
    set(data --data "${FOLDER}")
endif()

execute_process(
    COMMAND ${LAUNCHER} "${PROGRAM}" ${data} ${ARGS}
    RESULT_VARIABLE status OUTPUT_VARIABLE out ERROR_VARIABLE err)
message("${out}${err}ended with ${status}")

check_end(fashion_mnist "${status}" "${err}" "${FAILS}")
if(FAILS)
    check_match(stderr "${err}" "${MATCH}")
else()
    if(NOT err STREQUAL "")
        message(FATAL_ERROR "stderr is not empty")
    endif()
    check_match(stdout "${out}" "${MATCH}")
endif()

if(CSV)
    file(STRINGS "${CSV}" lines)
    list(LENGTH lines count)
    if(NOT count EQUAL 4)
        message(FATAL_ERROR "${CSV} has ${count} lines, not a head and one for each of 3 epochs")
    endif()
endif()
