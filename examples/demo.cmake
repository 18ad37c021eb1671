# SPDX-License-Identifier: MIT
#
# Trains a small model on a text and lets the decoder continue some prompts:
#   cmake -DTRAIN=<program> -DDECODE=<program> -DFOLDER=<folder> [-DTEXT=<file>;...]
#         [-DPROMPTS=<text>|...] ["-DTRAIN_ARGS=<arg> ..."] -P demo.cmake
# Without a TEXT: the licenses that every Debian has. Without PROMPTS: such as go with the licenses;
# with a TEXT, none, and the decoder begins by itself. The programs run in this project's folder, so
# that what they say is short.
cmake_path(GET CMAKE_CURRENT_LIST_DIR PARENT_PATH project)

if(NOT TEXT)
    set(licenses /usr/share/common-licenses)
    file(GLOB files "${licenses}/*")
    foreach(file IN LISTS files)
        if(NOT IS_SYMLINK "${file}" AND NOT IS_DIRECTORY "${file}")
            list(APPEND TEXT "${file}")
        endif()
    endforeach()
    if(NOT TEXT)
        message(FATAL_ERROR
            "There is nothing to read in ${licenses}; name a text by -DPOL_DEMO_TEXT=<file>.")
    endif()
    if(NOT PROMPTS)
        set(PROMPTS "The license|You may copy|This program is")
    endif()
endif()

set(prompts)
string(REPLACE "|" ";" PROMPTS "${PROMPTS}")
foreach(prompt IN LISTS PROMPTS)
    list(APPEND prompts --prompt "${prompt}")
endforeach()

set(model "${FOLDER}/model.bin")
set(curve "${FOLDER}/curve.svg")
cmake_path(RELATIVE_PATH model BASE_DIRECTORY "${project}")
cmake_path(RELATIVE_PATH curve BASE_DIRECTORY "${project}")
separate_arguments(TRAIN_ARGS UNIX_COMMAND "${TRAIN_ARGS}")

execute_process(COMMAND "${TRAIN}" ${TEXT} --out "${model}" --curve "${curve}" ${TRAIN_ARGS}
    WORKING_DIRECTORY "${project}" COMMAND_ERROR_IS_FATAL ANY)
execute_process(COMMAND "${CMAKE_COMMAND}" -E echo "")
execute_process(COMMAND "${DECODE}" "${model}" ${prompts} --temperature 0.5 --seed 1 --jobs 2
    WORKING_DIRECTORY "${project}" COMMAND_ERROR_IS_FATAL ANY)
