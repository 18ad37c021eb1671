# SPDX-License-Identifier: MIT
#
# The shared library exports what the version script lists, no more and no less. The list is that
# of what the headers declare: the symbols that the static library, which has no such script,
# leaves visible. And all that a static link could find twice is named pol_*.
include("${CMAKE_CURRENT_LIST_DIR}/package.cmake")
set(libdir "${INSTALLS}/install_both/prefix/lib")

file(STRINGS "${SOURCE_DIR}/src/pol.map" listed REGEX "^    [a-z0-9_]+;$")
list(TRANSFORM listed REPLACE "[ ;]" "")
list(SORT listed)

# The first group of the regex is a symbol's name.
function(check_symbols regex)
    run(${ARGN})
    string(REPLACE "\n" ";" lines "${output}")
    list(FILTER lines INCLUDE REGEX "${regex}")
    list(TRANSFORM lines REPLACE "${regex}" "\\1")
    list(SORT lines)
    set(missing ${listed})
    list(REMOVE_ITEM missing ${lines})
    list(REMOVE_ITEM lines ${listed})
    if(missing OR lines)
        message(FATAL_ERROR "listed alone: ${missing}\nin the library alone: ${lines}")
    endif()
endfunction()

check_symbols("^([^ @]+).*$" "${NM}" -D --defined-only --format=posix "${libdir}/libpol.so")
check_symbols("^.* GLOBAL +DEFAULT +[0-9]+ ([^ ]+)$" "${READELF}" -sW "${libdir}/libpol.a")

run("${READELF}" -sW "${libdir}/libpol.a")
string(REPLACE "\n" ";" lines "${output}")
list(FILTER lines INCLUDE REGEX " GLOBAL +[A-Z]+ +[0-9]+ ")
list(FILTER lines EXCLUDE REGEX " pol_[a-z0-9_]+$")
check_equal("${lines}" "")

# T3: it needs the C library and what comes with the compiler, nothing else.
run("${READELF}" -dW "${libdir}/libpol.so")
string(REGEX MATCHALL "Shared library: .[A-Za-z0-9_-]+" needed "${output}")
list(TRANSFORM needed REPLACE "Shared library: ." "")
list(FILTER needed EXCLUDE REGEX "^(libc|libgcc_s|ld.*)$")
check_equal("${needed}" "")
