# SPDX-License-Identifier: MIT
#
# Instruments everything below for gcov. After a run of the tests, the target coverage prints what
# they reached and writes coverage/index.html; it fails if they missed too much.
find_program(POL_GCOVR gcovr)
if(NOT POL_GCOVR)
    message(FATAL_ERROR "POL_COVERAGE needs gcovr: install it or switch POL_COVERAGE off.")
endif()

# Counters of threads that run at once are exact only if they are updated atomically.
add_compile_options(--coverage -fprofile-update=atomic)
add_link_options(--coverage)

add_custom_target(coverage
    COMMAND "${CMAKE_COMMAND}" -E make_directory "${PROJECT_BINARY_DIR}/coverage"
    COMMAND "${POL_GCOVR}" --filter src/ --filter include/ --print-summary --fail-under-line 95
            --html-details "${PROJECT_BINARY_DIR}/coverage/index.html" "${PROJECT_BINARY_DIR}"
    WORKING_DIRECTORY "${PROJECT_SOURCE_DIR}"
    COMMENT "Reporting what the tests reached"
    VERBATIM)
