# SPDX-License-Identifier: MIT
#
# Runs train and looks at how it ends:
#   cmake -DPROGRAM=... -DFOLDER=... [-DLAUNCHER=...] [-DALONE=ON] [-DTOKENIZER=<file>|make]
#         [-DMAKE_FILES=...] [-DTIMES=<n>] [-DHEX=<digits>] [-DARGS=...] [-DMATCH=<regex>]
#         [-DFAILS=ON [-DLATE=ON]] [-DFRESH=ON] [-DSHELL=<script>] [-DOUTPUT=<file>]
#         [-DOUT_MATCH=<regex>] [-DALSO=<arg>;... [-DDIFFERS=ON]]
#         [-DDECODE=... -DDECODE_ARGS=... -DDECODE_MATCH=<regex>] [-DCURVE=ON] [-DRESIDENT=ON]
#         -P check.cmake
# It runs in FOLDER, with text.txt, --out model.bin and a tokenizer, or, ALONE, with ARGS alone. The
# text is a sentence TIMES times, and another file the HEX bytes. MAKE_FILES makes the tokenizer
# `make`. FAILS: the status is 1, there is one line on stderr, which matches, and, unless it fails
# LATE, nothing on stdout, and a model that was there is as it was; else the status is 0, stderr is
# empty and stdout matches. ALSO: a second run with these arguments too writes the same model, or
# one that DIFFERS. DECODE_MATCH: the text that DECODE then writes. CURVE: curve.svg is a picture.
# RESIDENT: what the process took is what it asked for. FRESH: no model is there before. SHELL: one
# of the scripts below starts the program. OUT_MATCH: stdout matches it too, however it ends.
cmake_minimum_required(VERSION 3.21)
include("${CMAKE_CURRENT_LIST_DIR}/../common/check.cmake")

if(TOKENIZER AND NOT TOKENIZER STREQUAL "make" AND NOT EXISTS "${TOKENIZER}")
    message("skipped: there is no ${TOKENIZER}")
    return()
endif()

# What it reads.
file(REMOVE_RECURSE "${FOLDER}")
file(MAKE_DIRECTORY "${FOLDER}/folder")
set(given text.txt)
set(tokenizer)
if(TOKENIZER STREQUAL "make")
    execute_process(COMMAND "${MAKE_FILES}" "${FOLDER}" COMMAND_ERROR_IS_FATAL ANY)
    file(REMOVE "${FOLDER}/model.bin")
    set(tokenizer --tokenizer tokenizer.bin)
elseif(TOKENIZER)
    set(tokenizer --tokenizer "${TOKENIZER}")
endif()
string(REPEAT "one two three four " "${TIMES}" text)
file(WRITE "${FOLDER}/text.txt" "${text}")
if(HEX) # bytes that no list of arguments should hold
    string(REGEX REPLACE "(..)" "\\\\x\\1" bytes "${HEX}")
    execute_process(COMMAND printf "${bytes}" OUTPUT_FILE "${FOLDER}/bytes.txt"
        COMMAND_ERROR_IS_FATAL ANY)
    list(APPEND given bytes.txt)
endif()
if(FAILS AND NOT FRESH)
    file(WRITE "${FOLDER}/model.bin" "as it was")
endif()
file(CREATE_LINK nowhere.svg "${FOLDER}/link_to_nothing" SYMBOLIC)
execute_process(COMMAND mkfifo "${FOLDER}/pipe" COMMAND_ERROR_IS_FATAL ANY)
list(APPEND given --out model.bin ${tokenizer})
if(ALONE)
    set(given)
endif()

# What starts it.
set(await "until grep -q 'step 0/' out.txt
    do kill -0 $$ || exit
    sleep 0.1
done")
set(sigint "(${await}
kill -INT $$) 2>/dev/null &
exec \"$@\"")
string(REPLACE INT TERM sigterm "${sigint}")
set(hangup_of_reader "true <pipe &
exec \"$@\" >pipe")
set(small_files "ulimit -f 64 && exec \"$@\"")
foreach(option IN ITEMS out curve tokenizer)
    set(empty_${option} "exec \"$@\" --${option} ''") # which a list of arguments would lose
endforeach()
set(terminal "exec python3 -c 'import os, pty, sys
sys.exit(os.waitstatus_to_exitcode(pty.spawn(sys.argv[1:])))' \"$@\" </dev/null")
set(start)
if(SHELL)
    set(start sh -c "${${SHELL}}" sh)
endif()

# How it ends.
set(out "${FOLDER}/out.txt")
set(printed "")
if(OUTPUT)
    set(out "${OUTPUT}")
endif()
execute_process(COMMAND ${start} ${LAUNCHER} "${PROGRAM}" ${given} ${ARGS}
    WORKING_DIRECTORY "${FOLDER}"
    RESULT_VARIABLE status OUTPUT_FILE "${out}" ERROR_VARIABLE said)
if(NOT OUTPUT)
    file(READ "${out}" printed)
endif()
message("${printed}${said}ended with ${status}")
check_end(train "${status}" "${said}" "${FAILS}")
if(FAILS)
    set(model "as it was")
    if(NOT FRESH)
        file(READ "${FOLDER}/model.bin" model)
    elseif(NOT LATE AND EXISTS "${FOLDER}/model.bin")
        set(model "there")
    endif()
    if(NOT LATE AND NOT (model STREQUAL "as it was" AND printed STREQUAL ""))
        message(FATAL_ERROR "it wrote something before it failed")
    endif()
elseif(NOT said STREQUAL "")
    message(FATAL_ERROR "stderr is not empty")
else()
    set(said "${printed}")
endif()
check_match("what it says" "${said}" "${MATCH}")
check_match(stdout "${printed}" "${OUT_MATCH}")
file(GLOB parts "${FOLDER}/*.part")
if(parts)
    message(FATAL_ERROR "it leaves ${parts}")
endif()

# What it leaves.
if(ALSO)
    execute_process(
        COMMAND ${LAUNCHER} "${PROGRAM}" ${given} ${ARGS} ${ALSO} --out also.bin
        WORKING_DIRECTORY "${FOLDER}" OUTPUT_QUIET COMMAND_ERROR_IS_FATAL ANY)
    execute_process(COMMAND "${CMAKE_COMMAND}" -E compare_files model.bin also.bin
        WORKING_DIRECTORY "${FOLDER}" RESULT_VARIABLE differs ERROR_QUIET)
    if((differs AND NOT DIFFERS) OR (DIFFERS AND NOT differs))
        message(FATAL_ERROR "the second model is not as it should be")
    endif()
endif()
if(DECODE_MATCH)
    execute_process(COMMAND ${LAUNCHER} "${DECODE}" model.bin ${tokenizer} ${DECODE_ARGS}
        WORKING_DIRECTORY "${FOLDER}" OUTPUT_VARIABLE text ERROR_VARIABLE ignored ENCODING NONE
        COMMAND_ERROR_IS_FATAL ANY)
    message("${text}")
    check_match("the decoder's text" "${text}" "${DECODE_MATCH}")
endif()
if(CURVE)
    file(READ "${FOLDER}/curve.svg" picture)
    check_match("curve.svg" "${picture}"
        "^<svg xmlns=.* points=\"[0-9][0-9., ]+\".*<circle .*</svg>\n$")
    find_program(PYTHON python3)
    if(PYTHON)
        execute_process(
            COMMAND "${PYTHON}" -c "import sys, xml.dom.minidom; xml.dom.minidom.parse(sys.argv[1])"
                    "${FOLDER}/curve.svg"
            COMMAND_ERROR_IS_FATAL ANY)
    endif()
endif()
if(RESIDENT)
    foreach(what IN ITEMS "slab asked for by the dry run" "most resident memory of the process")
        if(NOT printed MATCHES "${what} +([0-9,]+)")
            message("skipped: there is no telling: ${what}")
            return()
        endif()
        string(REPLACE "," "" nbytes "${CMAKE_MATCH_1}")
        list(APPEND sizes "${nbytes}")
    endforeach()
    list(GET sizes 0 slab)
    list(GET sizes 1 resident)
    math(EXPR least "${slab} / 100 * 99")
    math(EXPR most "${slab} + 16 * 1024 * 1024")
    if(resident LESS least OR resident GREATER most)
        message(FATAL_ERROR "${resident} bytes resident is not from ${least} to ${most}")
    endif()
endif()
