# SPDX-License-Identifier: MIT
#
# Two rounds of the benchmark BENCH: it ends well, its JSON is JSON and names every case, its charts
# are there, and libpol asked the system for nothing once it was warm. No time is looked at.
file(REMOVE_RECURSE "${OUT}")
file(MAKE_DIRECTORY "${OUT}")
execute_process(COMMAND "${BENCH}" --list OUTPUT_VARIABLE names COMMAND_ERROR_IS_FATAL ANY)
execute_process(COMMAND "${BENCH}" --rounds 2 --json "${OUT}/bench.json" --svg "${OUT}/bench.svg"
    --growth-svg "${OUT}/growth.svg" OUTPUT_FILE "${OUT}/table.txt" COMMAND_ERROR_IS_FATAL ANY)

file(READ "${OUT}/bench.json" json)
string(REGEX MATCHALL "[^\n]+" names "${names}")
list(LENGTH names expected)
string(JSON count ERROR_VARIABLE error LENGTH "${json}" cases)
if(error OR NOT count EQUAL expected)
    message(FATAL_ERROR "bench.json has ${count} cases, not ${expected} (${error})")
endif()
if(expected LESS 100)
    message(FATAL_ERROR "only ${expected} cases are left")
endif()
math(EXPR last "${count} - 1")
foreach(i RANGE ${last})
    string(JSON case GET "${json}" cases ${i})
    string(JSON name GET "${case}" name)
    string(JSON kind GET "${case}" kind)
    string(JSON heap GET "${case}" heap_allocations)
    list(GET names ${i} wanted)
    if(NOT name STREQUAL wanted)
        message(FATAL_ERROR "case ${i} is ${name}, not ${wanted}")
    endif()
    if(kind STREQUAL "libpol" AND NOT name MATCHES "^growth" AND NOT heap EQUAL 0)
        message(FATAL_ERROR "${name}: ${heap} heap allocations after warm-up")
    endif()
endforeach()

foreach(chart IN ITEMS bench growth)
    file(READ "${OUT}/${chart}.svg" svg)
    if(NOT svg MATCHES "^<svg .*</svg>\n$" OR svg MATCHES "[ \"](nan|inf)")
        message(FATAL_ERROR "${chart}.svg is no whole drawing")
    endif()
endforeach()

find_program(PYTHON python3)
if(PYTHON)
    execute_process(COMMAND "${PYTHON}" -m json.tool "${OUT}/bench.json" OUTPUT_QUIET
        COMMAND_ERROR_IS_FATAL ANY)
endif()
