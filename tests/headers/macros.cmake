# SPDX-License-Identifier: MIT
#
# Preprocesses pol.h, keeping each #define and the line markers that say which file it comes from,
# and complains about each macro of libpol's files that is not named POL_* or pol_*.
list(TRANSFORM INCLUDES PREPEND -I)
file(WRITE macros.c "#include <pol/pol.h>\n")
execute_process(COMMAND "${COMPILER}" -std=c11 -E -dD ${INCLUDES} macros.c
    OUTPUT_VARIABLE text COMMAND_ERROR_IS_FATAL ANY)

string(REGEX MATCHALL "(# [0-9]+ \"[^\"]*\"|#define [A-Za-z0-9_]+)" lines "${text}")
set(ours FALSE)
set(seen 0)
foreach(line IN LISTS lines)
    if(line MATCHES "^# [0-9]+ \"(.*)\"")
        string(REGEX MATCH "/pol/[a-z_]+\\.h$" ours "${CMAKE_MATCH_1}")
    elseif(ours)
        math(EXPR seen "${seen} + 1")
        if(NOT line MATCHES "^#define (POL|pol)_")
            message(SEND_ERROR "${ours}: ${line}")
        endif()
    endif()
endforeach()
if(seen EQUAL 0)
    message(SEND_ERROR "found no macro of libpol's at all")
endif()
