# SPDX-License-Identifier: MIT
#
# Runs fashion_mnist and looks at how it ends:
#   cmake -DPROGRAM=... -DFOLDER=... [-DMAKE_DATA=... [-DFAULT=...]] [-DLAUNCHER=...] [-DARGS=...]
#         -DMATCH=<regex> [-DFAILS=ON] [-DCSV=<file>] -P check.cmake
# MAKE_DATA writes its small data set, with the fault, into FOLDER, and the program reads it from
# there. FAILS: the status is 1 and there is one line on stderr, which matches; else the status is
# 0, stderr is empty and stdout matches.
cmake_minimum_required(VERSION 3.21)

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

if(FAILS)
    if(NOT status EQUAL 1)
        message(FATAL_ERROR "the exit status is not 1")
    endif()
    if(NOT err MATCHES "^fashion_mnist: [^\n]+\n$")
        message(FATAL_ERROR "stderr is not one line")
    endif()
    if(NOT err MATCHES "${MATCH}")
        message(FATAL_ERROR "the line does not match '${MATCH}'")
    endif()
else()
    if(NOT status EQUAL 0)
        message(FATAL_ERROR "the exit status is not 0")
    endif()
    if(NOT err STREQUAL "")
        message(FATAL_ERROR "stderr is not empty")
    endif()
    if(NOT out MATCHES "${MATCH}")
        message(FATAL_ERROR "stdout does not match '${MATCH}'")
    endif()
endif()

if(CSV)
    file(STRINGS "${CSV}" lines)
    list(LENGTH lines count)
    if(NOT count EQUAL 4)
        message(FATAL_ERROR "${CSV} has ${count} lines, not a head and one for each of 3 epochs")
    endif()
endif()
