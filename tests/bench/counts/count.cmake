# SPDX-License-Identifier: MIT
#
# The instructions of one OPERATION of the program COUNTS, by callgrind: those of 2000 less those of
# 1000, less the same for a loop that does nothing, by a thousand. What a program does once, from the
# loader on, falls out. Fails if they are more than CEILING.
function(instructions operation times result)
    execute_process(
        COMMAND "${VALGRIND}" --tool=callgrind "--callgrind-out-file=${OUT}" "${COUNTS}"
            "${operation}" ${times}
        RESULT_VARIABLE status ERROR_VARIABLE said OUTPUT_QUIET)
    if(NOT status EQUAL 0 OR NOT said MATCHES "Collected : ([0-9]+)")
        message(FATAL_ERROR "callgrind of '${operation}' ended with ${status}:\n${said}")
    endif()
    set(${result} ${CMAKE_MATCH_1} PARENT_SCOPE)
endfunction()

instructions(nothing 1000 nothing_once)
instructions(nothing 2000 nothing_twice)
instructions(${OPERATION} 1000 once)
instructions(${OPERATION} 2000 twice)
file(REMOVE "${OUT}")

math(EXPR total "(${twice} - ${once}) - (${nothing_twice} - ${nothing_once})")
math(EXPR each "(${total} + 500) / 1000")
message("${OPERATION}: ${each} instructions, at most ${CEILING} allowed")
if(each GREATER CEILING)
    message(FATAL_ERROR "${OPERATION} has grown past its ceiling: see where with\n"
        "  valgrind --tool=callgrind ${COUNTS} ${OPERATION} 1000")
endif()
