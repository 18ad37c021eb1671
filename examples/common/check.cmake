# SPDX-License-Identifier: MIT
#
# What the tests of all programs ask of a run. Included by each program's own check.cmake.

# check_end(<program> <status> <err> <fails>): a program that fails ends with 1 and says why in one
# line on stderr; else it ends with 0.
function(check_end program status err fails)
    set(wanted 0)
    if(fails)
        set(wanted 1)
        if(NOT err MATCHES "^${program}: [^\n]+\n$")
            message(FATAL_ERROR "stderr is not one line")
        endif()
    endif()
    if(NOT status EQUAL wanted)
        message(FATAL_ERROR "the exit status is not ${wanted}")
    endif()
endfunction()

# check_match(<what> <text> <regex>)
function(check_match what text regex)
    if(NOT text MATCHES "${regex}")
        message(FATAL_ERROR "${what} does not match '${regex}'")
    endif()
endfunction()
