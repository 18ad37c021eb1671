# SPDX-License-Identifier: MIT
#
# What the scripts of this folder share. They are given SCRATCH, a folder of their own that they
# start with empty, and INSTALLS, where the installs are: ${INSTALLS}/<install>/prefix.
cmake_minimum_required(VERSION 3.21)
set(here "${CMAKE_CURRENT_LIST_DIR}")
file(REMOVE_RECURSE "${SCRATCH}")

# Nothing of the caller's may help to find libpol, or stand in its way.
foreach(variable IN ITEMS CMAKE_PREFIX_PATH Pol_DIR Pol_ROOT PKG_CONFIG_PATH LD_LIBRARY_PATH DESTDIR)
    unset(ENV{${variable}})
endforeach()

# check_equal(<actual> <expected>)
function(check_equal actual expected)
    if(NOT actual STREQUAL expected)
        message(FATAL_ERROR "is:        '${actual}'\nshould be: '${expected}'")
    endif()
endfunction()

# run(<command>...): its output, both streams, in the caller's `output`; it must succeed.
function(run)
    execute_process(COMMAND ${ARGN} RESULT_VARIABLE status OUTPUT_VARIABLE text ERROR_VARIABLE text)
    if(NOT status EQUAL 0)
        list(JOIN ARGN " " command)
        message("${text}") # as it is: CMake wraps the text of errors
        message(FATAL_ERROR "ended with ${status}: ${command}")
    endif()
    set(output "${text}" PARENT_SCOPE)
endfunction()

# run_refused(<regex> <command>...): it must fail, and say why.
function(run_refused regex)
    execute_process(COMMAND ${ARGN} RESULT_VARIABLE status OUTPUT_VARIABLE text ERROR_VARIABLE text)
    list(JOIN ARGN " " command)
    string(REGEX REPLACE "[ \n]+" " " text "${text}")
    if(status EQUAL 0)
        message("${text}")
        message(FATAL_ERROR "should have failed: ${command}")
    elseif(NOT text MATCHES "${regex}")
        message("${text}")
        message(FATAL_ERROR "failed without saying '${regex}': ${command}")
    endif()
endfunction()

# The command that configures <source> in ${SCRATCH}/<name>, for run and run_refused.
function(configure_command result source name)
    set(${result} "${CMAKE_COMMAND}" -S "${source}" -B "${SCRATCH}/${name}" -G "${GENERATOR}"
        -DCMAKE_BUILD_TYPE=Release
        "-DCMAKE_C_COMPILER=${C_COMPILER}" "-DCMAKE_CXX_COMPILER=${CXX_COMPILER}" ${ARGN} PARENT_SCOPE)
endfunction()

# consume(<project> <name> <option>...): configures, builds and runs a project of this folder in
# ${SCRATCH}/<name>. Each prints the version that it was linked with.
function(consume project name)
    configure_command(command "${here}/${project}" ${name} ${ARGN})
    run(${command})
    run("${CMAKE_COMMAND}" --build "${SCRATCH}/${name}")
    run("${SCRATCH}/${name}/consumer")
    check_equal("${output}" "${VERSION}\n")
endfunction()
