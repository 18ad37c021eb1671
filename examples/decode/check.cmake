# SPDX-License-Identifier: MIT
#
# Runs decode and looks at how it ends:
#   cmake -DPROGRAM=... -DFOLDER=... [-DLAUNCHER=...] [-DMAKE_FILES=... [-DFAULT=<name>;<value>]]
#         [-DREAL=<folder>] [-DARGS=...] [-DHEX_PROMPT=<digits>] [-DEMPTY_PROMPT=ON]
#         [-DOUTPUT=<file>] [-DMATCH=<regex>] [-DOUT_MATCH=<regex>] [-DEXPECTED=<file>]
#         [-DALSO=<arg>;...] [-DFAILS=ON] -P check.cmake
# MAKE_FILES writes its model and tokenizer into FOLDER, with the fault, for the program to read;
# REAL takes those of a folder, or of POL_TEST_MODEL_DIR. FAILS: the status is 1, stdout is empty,
# and there is one line on stderr; else the status is 0. stderr matches MATCH, stdout OUT_MATCH, or
# it is the EXPECTED file's. ALSO: a second run with these arguments too has the same stdout.
cmake_minimum_required(VERSION 3.21)
include("${CMAKE_CURRENT_LIST_DIR}/../common/check.cmake")

file(REMOVE_RECURSE "${FOLDER}")
file(MAKE_DIRECTORY "${FOLDER}")
set(files)
if(MAKE_FILES)
    execute_process(COMMAND "${MAKE_FILES}" "${FOLDER}" ${FAULT} COMMAND_ERROR_IS_FATAL ANY)
    set(files "${FOLDER}/model.bin" --tokenizer "${FOLDER}/tokenizer.bin")
elseif(REAL)
    if(DEFINED ENV{POL_TEST_MODEL_DIR})
        set(REAL "$ENV{POL_TEST_MODEL_DIR}")
    endif()
    if(NOT EXISTS "${REAL}/stories260K.bin")
        message("skipped: there is no stories260K.bin in ${REAL} (or POL_TEST_MODEL_DIR)")
        return()
    endif()
    set(files "${REAL}/stories260K.bin" --tokenizer "${REAL}/tok512.bin")
    if(EXPECTED)
        set(EXPECTED "${REAL}/${EXPECTED}")
    endif()
endif()
if(HEX_PROMPT) # bytes that no list of arguments should hold
    string(REGEX REPLACE "(..)" "\\\\x\\1" bytes "${HEX_PROMPT}")
    execute_process(COMMAND printf "${bytes}" OUTPUT_VARIABLE prompt ENCODING NONE)
    list(APPEND ARGS --prompt "${prompt}")
endif()
if(EMPTY_PROMPT) # which a list of arguments would lose
    set(LAUNCHER sh -c "\"$@\" --prompt ''" sh ${LAUNCHER})
endif()

# The texts go by way of files: they may be any bytes.
function(run output err_variable)
    execute_process(
        COMMAND ${LAUNCHER} "${PROGRAM}" ${files} ${ARGS} ${ARGN}
        RESULT_VARIABLE status OUTPUT_FILE "${output}" ERROR_VARIABLE err ENCODING NONE)
    message("${err}ended with ${status}")
    check_end(decode "${status}" "${err}" "${FAILS}")
    set(${err_variable} "${err}" PARENT_SCOPE)
endfunction()

function(compare output expected)
    execute_process(COMMAND "${CMAKE_COMMAND}" -E compare_files "${output}" "${expected}"
        RESULT_VARIABLE differs)
    if(differs)
        message(FATAL_ERROR "${output} is not ${expected}")
    endif()
endfunction()

set(out "${FOLDER}/out.txt")
if(OUTPUT)
    set(out "${OUTPUT}")
endif()
run("${out}" err)
check_match(stderr "${err}" "${MATCH}")
if(FAILS AND NOT OUTPUT)
    file(SIZE "${out}" nbytes)
    if(nbytes GREATER 0)
        message(FATAL_ERROR "stdout is not empty")
    endif()
endif()
if(EXPECTED)
    compare("${out}" "${EXPECTED}")
endif()
if(OUT_MATCH)
    file(READ "${out}" text)
    check_match(stdout "${text}" "${OUT_MATCH}")
endif()
if(ALSO)
    run("${FOLDER}/also.txt" err ${ALSO})
    compare("${FOLDER}/also.txt" "${out}")
endif()
