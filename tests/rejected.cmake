# SPDX-License-Identifier: MIT
#
# Shows that compilers refuse a misuse, and nothing but the misuse: see pol_add_rejected_test. They
# compile to the end, for gcc finds an ignored result late.
set(ENV{LC_ALL} C)
list(TRANSFORM INCLUDES PREPEND -I)

foreach(compiler IN LISTS COMPILERS)
    foreach(language IN ITEMS c c++)
        set(compile "${compiler}" -x ${language} -std=${language}11 -Wall -Wextra -Werror
            ${INCLUDES} -S -o - "${SOURCE}")
        execute_process(COMMAND ${compile} OUTPUT_QUIET COMMAND_ERROR_IS_FATAL ANY)
        execute_process(COMMAND ${compile} -DREJECTED
            RESULT_VARIABLE status OUTPUT_QUIET ERROR_VARIABLE said)
        if(status EQUAL 0)
            message(FATAL_ERROR "${SOURCE}: ${compiler} compiles it with -DREJECTED as ${language}")
        elseif(NOT said MATCHES "${MATCH}")
            message("${said}")
            message(FATAL_ERROR
                "${SOURCE}: ${compiler} refuses it as ${language} for another reason than '${MATCH}'")
        endif()
    endforeach()
endforeach()
