# SPDX-License-Identifier: MIT
#
# Trains a small model on a text and lets the decoder continue three prompts:
#   cmake -DTRAIN=<program> -DDECODE=<program> -DFOLDER=<folder> [-DTEXT=<file>;...]
#         ["-DTRAIN_ARGS=<arg> ..."] -P demo.cmake
# Without a TEXT: the licenses that every Debian has.
set(prompts --prompt "The license" --prompt "You may copy" --prompt "This program is")

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
endif()

set(model "${FOLDER}/model.bin")
set(curve "${FOLDER}/curve.svg")
separate_arguments(TRAIN_ARGS UNIX_COMMAND "${TRAIN_ARGS}")

execute_process(COMMAND "${TRAIN}" ${TEXT} --out "${model}" --curve "${curve}" ${TRAIN_ARGS}
    COMMAND_ERROR_IS_FATAL ANY)
foreach(file IN ITEMS model curve)
    cmake_path(RELATIVE_PATH ${file} BASE_DIRECTORY "${CMAKE_CURRENT_LIST_DIR}/.." OUTPUT_VARIABLE
        ${file}_shown)
endforeach()
execute_process(
    COMMAND "${CMAKE_COMMAND}" -E echo "\nloss curve: ${curve_shown}\nmodel: ${model_shown}\n")
execute_process(COMMAND "${DECODE}" "${model}" ${prompts} --temperature 0.5 --seed 1 --jobs 2
    COMMAND_ERROR_IS_FATAL ANY)
