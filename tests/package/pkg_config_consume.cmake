# SPDX-License-Identifier: MIT

# pkg_config_consume(<name> <includedir> <libdir>): the flags are these folders and -lpol, exactly,
# and they suffice to build and run the consumer with the shared kind and, by -static, the other.
function(pkg_config_consume name includedir libdir)
    set(ENV{PKG_CONFIG_PATH} "${libdir}/pkgconfig")
    file(MAKE_DIRECTORY "${SCRATCH}/${name}")
    foreach(kind IN ITEMS shared static)
        set(option)
        set(program "${SCRATCH}/${name}/${kind}")
        if(kind STREQUAL static)
            set(option --static)
        endif()
        run("${PKG_CONFIG}" --cflags --libs ${option} pol)
        separate_arguments(flags UNIX_COMMAND "${output}")
        set(plain_flags)
        foreach(flag IN LISTS flags)
            cmake_path(SET flag NORMALIZE "${flag}") # without the ".." of a relocatable pol.pc
            list(APPEND plain_flags "${flag}")
        endforeach()
        check_equal("${plain_flags}" "-I${includedir};-L${libdir};-lpol")

        run("${C_COMPILER}" ${option} -o "${program}" "${here}/consumer/main.c" ${flags})
        if(kind STREQUAL shared)
            run("${CMAKE_COMMAND}" -E env "LD_LIBRARY_PATH=${libdir}" "${program}")
        else()
            run("${program}")
        endif()
        check_equal("${output}" "${VERSION}\n")
    endforeach()
endfunction()
