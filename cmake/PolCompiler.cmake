# SPDX-License-Identifier: MIT
#
# What libpol asks of the compiler, and the warnings that its own targets are built with.
include(CheckCCompilerFlag)
include(CheckCSourceCompiles)

check_c_source_compiles([[
    #include <stdatomic.h>
    #include <stddef.h>
    _Static_assert(_Alignof(max_align_t) >= 1, "C11 has _Static_assert and _Alignof");
    static _Thread_local int local;
    static atomic_int shared;
    int main(void) { return _Generic(local, int: atomic_load(&shared), default: 1); }
]] POL_HAVE_C11)
if(NOT POL_HAVE_C11)
    message(FATAL_ERROR
        "libpol needs a C11 compiler: _Generic, _Static_assert, _Alignof, _Thread_local and "
        "<stdatomic.h>. ${CMAKE_C_COMPILER} (${CMAKE_C_COMPILER_ID} ${CMAKE_C_COMPILER_VERSION}) "
        "does not compile them; choose another one with -DCMAKE_C_COMPILER=... "
        "in a fresh build folder.")
endif()

# Cleanups in C code run while a C++ exception passes through it only if that code has unwind
# tables for them.
check_c_compiler_flag(-fexceptions POL_HAVE_FEXCEPTIONS)

# pol_set_warnings(<target>): libpol's warnings, errors under POL_WERROR. A host project sees none
# of them: they are private to the target, and a subproject's targets get none.
function(pol_set_warnings target)
    if(NOT PROJECT_IS_TOP_LEVEL)
        return()
    endif()
    if(MSVC)
        target_compile_options(${target} PRIVATE /W4 $<$<BOOL:${POL_WERROR}>:/WX>)
        return()
    endif()
    target_compile_options(${target} PRIVATE
        -Wall -Wextra -Wpedantic -Wconversion -Wsign-conversion -Wshadow -Wvla -Wundef -Wcast-align
        $<$<COMPILE_LANGUAGE:C>:-Wmissing-prototypes> $<$<COMPILE_LANGUAGE:C>:-Wc++-compat>
        $<$<BOOL:${POL_WERROR}>:-Werror>)
endfunction()
