# SPDX-License-Identifier: MIT
#
#   find_package(Pol 0.1 REQUIRED [COMPONENTS shared|static])
#
# Defines Pol::pol_shared and Pol::pol_static, as far as they are asked for and installed, and
# Pol::pol: the first kind asked for; without components, the kind that BUILD_SHARED_LIBS says, else
# the shared one if it is installed.
set(_pol_known shared static)
set(_pol_kinds)
foreach(_pol_kind IN LISTS _pol_known)
    if(EXISTS "${CMAKE_CURRENT_LIST_DIR}/PolTargets-${_pol_kind}.cmake")
        list(APPEND _pol_kinds ${_pol_kind})
    endif()
endforeach()
if(DEFINED BUILD_SHARED_LIBS AND NOT BUILD_SHARED_LIBS)
    list(REVERSE _pol_kinds)
endif()

set(_pol_wanted ${Pol_FIND_COMPONENTS})
if(NOT _pol_wanted)
    set(_pol_wanted ${_pol_kinds})
endif()
foreach(_pol_kind IN LISTS _pol_wanted)
    if(_pol_kind IN_LIST _pol_kinds)
        include("${CMAKE_CURRENT_LIST_DIR}/PolTargets-${_pol_kind}.cmake")
        set(Pol_${_pol_kind}_FOUND TRUE)
        if(NOT TARGET Pol::pol)
            add_library(Pol::pol ALIAS Pol::pol_${_pol_kind})
        endif()
    elseif(Pol_FIND_REQUIRED_${_pol_kind})
        list(JOIN _pol_known ", " _pol_known)
        list(JOIN _pol_kinds ", " _pol_kinds)
        set(Pol_FOUND FALSE)
        set(Pol_NOT_FOUND_MESSAGE "Pol has no component '${_pol_kind}' here. Known: ${_pol_known}. \
Installed: ${_pol_kinds}.")
        return()
    endif()
endforeach()
