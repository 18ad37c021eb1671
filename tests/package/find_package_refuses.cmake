# SPDX-License-Identifier: MIT
#
# What find_package cannot give is an error at configure time that says what there is.
include("${CMAKE_CURRENT_LIST_DIR}/package.cmake")

function(refused name install regex find_package)
    file(WRITE "${SCRATCH}/${name}/CMakeLists.txt" "
        cmake_minimum_required(VERSION 3.21)
        project(refused LANGUAGES C)
        ${find_package}\n")
    configure_command(command "${SCRATCH}/${name}" ${name}/build
        "-DCMAKE_PREFIX_PATH=${INSTALLS}/${install}/prefix")
    run_refused("${regex}" ${command})
endfunction()

refused(unknown install_both "no component 'opencl' here. Known: shared, static. Installed: shared, static"
        "find_package(Pol REQUIRED COMPONENTS static opencl)")
refused(missing install_static "no component 'shared' here. Known: shared, static. Installed: static"
        "find_package(Pol REQUIRED COMPONENTS shared)")

# While the major version is 0, each minor version is another interface.
string(REGEX MATCH "^([0-9]+)\\.([0-9]+)\\.([0-9]+)$" version "${VERSION}")
math(EXPR next_major "${CMAKE_MATCH_1} + 1")
math(EXPR next_minor "${CMAKE_MATCH_2} + 1")
math(EXPR next_patch "${CMAKE_MATCH_3} + 1")
foreach(other IN ITEMS ${next_major}.0 ${CMAKE_MATCH_1}.${next_minor} 0.0
                       ${CMAKE_MATCH_1}.${CMAKE_MATCH_2}.${next_patch})
    refused(version-${other} install_both "compatible with requested version \"${other}\""
            "find_package(Pol ${other} REQUIRED)")
endforeach()
