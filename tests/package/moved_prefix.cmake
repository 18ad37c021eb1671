# SPDX-License-Identifier: MIT
#
# A prefix works wherever it is moved to, and knows nothing of where it was made.
include("${CMAKE_CURRENT_LIST_DIR}/package.cmake")
file(COPY "${INSTALLS}/install_both/prefix/" DESTINATION "${SCRATCH}/moved here")

consume(consumer shared "-DCMAKE_PREFIX_PATH=${SCRATCH}/moved here" -DKIND=shared)
consume(consumer static "-DCMAKE_PREFIX_PATH=${SCRATCH}/moved here" -DKIND=static -DCOMPONENTS=static)

file(GLOB files "${SCRATCH}/moved here/lib/cmake/Pol/*")
foreach(file IN LISTS files)
    file(STRINGS "${file}" lines REGEX "[\";:>]/[a-zA-Z]")
    check_equal("${lines}" "") # no absolute path at all
endforeach()
