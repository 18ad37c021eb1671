# SPDX-License-Identifier: MIT
include("${CMAKE_CURRENT_LIST_DIR}/package.cmake")
consume(subproject fetch_content "-DPOL_SOURCE=${SOURCE_DIR}" -DKIND=static -DFETCH_CONTENT=ON)
