# SPDX-License-Identifier: MIT
#
#   cmake -DSOURCE=<top folder> -P readme_check.cmake
#
# The README's quick start is examples/quickstart.c to the byte, and the files that the README links
# to are there.
file(READ "${SOURCE}/README.md" readme)
file(READ "${SOURCE}/examples/quickstart.c" program)

string(FIND "${readme}" "<!-- examples/quickstart.c -->\n```c\n${program}```\n" found)
if(found EQUAL -1)
    message(FATAL_ERROR
        "README.md does not show examples/quickstart.c as it is. Between the line "
        "'<!-- examples/quickstart.c -->' and the next ``` it must hold that file.")
endif()

# A bracket in a CMake list would glue its items together.
string(REPLACE "](" "link:" readme "${readme}")
string(REGEX MATCHALL "link:[^)#]+" links "${readme}")
foreach(link IN LISTS links)
    string(SUBSTRING "${link}" 5 -1 file)
    if(NOT file MATCHES "^https?:" AND NOT EXISTS "${SOURCE}/${file}")
        message(SEND_ERROR "README.md links to ${file}, which is not there")
    endif()
endforeach()
