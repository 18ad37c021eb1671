# SPDX-License-Identifier: MIT
#
# Runtime is what a program needs to run, Development is the rest, and both together are all.
include("${CMAKE_CURRENT_LIST_DIR}/package.cmake")
set(build "${INSTALLS}/install_both/build")

function(install_files result)
    run("${CMAKE_COMMAND}" --install "${build}" --prefix "${SCRATCH}/${result}" ${ARGN})
    file(GLOB_RECURSE files RELATIVE "${SCRATCH}/${result}" "${SCRATCH}/${result}/*")
    list(SORT files)
    set(${result} ${files} PARENT_SCOPE)
endfunction()

install_files(runtime --component Runtime)
install_files(development --component Development)
install_files(all)

string(REGEX MATCH "^[0-9]+\\.[0-9]+" soversion "${VERSION}")
check_equal("${runtime}" "lib/libpol.so.${soversion};lib/libpol.so.${VERSION}")
set(both ${runtime} ${development})
list(SORT both)
check_equal("${both}" "${all}")
foreach(file IN ITEMS include/pol/pol.h include/pol/version.h lib/libpol.so lib/libpol.a
                      lib/pkgconfig/pol.pc lib/cmake/Pol/PolConfig.cmake)
    if(NOT file IN_LIST development)
        message(FATAL_ERROR "${file} is not part of Development")
    endif()
endforeach()
