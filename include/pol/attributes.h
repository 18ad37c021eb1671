/* SPDX-License-Identifier: MIT */
#ifndef POL_ATTRIBUTES_H
#define POL_ATTRIBUTES_H

/*
 * The words that compilers spell differently, each named once.
 *
 * Nothing else in the headers asks which compiler is at work: a block of names here, and plain C11
 * or C++11 everywhere else. What depends on a GNU extension (a frame that closes on every exit of
 * its block) is marked by POL_HAS_CLEANUP and has a portable spelling beside it.
 */

#if defined(__GNUC__) || defined(__clang__)
#define POL_GNU_ 1
#else
#define POL_GNU_ 0
#endif

/** @ingroup scratchspace
    1 where a block can run code on each of its exits (gcc, clang, in C and C++), else 0. */
#define POL_HAS_CLEANUP POL_GNU_

/* The library's edge. On ELF and Mach-O a user sets nothing; on Windows a static link needs
   POL_STATIC, which the CMake and pkg-config packages pass by themselves. */
#if defined(_WIN32) && !defined(POL_STATIC)
#if defined(POL_BUILDING_)
#define POL_API __declspec(dllexport)
#else
#define POL_API __declspec(dllimport)
#endif
#elif POL_GNU_
#define POL_API __attribute__((visibility("default")))
#else
#define POL_API
#endif

#if POL_GNU_
/** @ingroup status
    Marks a function whose result must not be ignored, where the compiler can tell. */
#define POL_NODISCARD __attribute__((warn_unused_result))
#define POL_COLD __attribute__((cold, noinline))
#define POL_NOINLINE_ __attribute__((noinline))
#define POL_PRINTF(text, first) __attribute__((format(printf, text, first)))
#define POL_UNUSED_ __attribute__((unused))
#define POL_CLEANUP_(fn) __attribute__((cleanup(fn)))
#define POL_LIKELY_(condition) __builtin_expect(!!(condition), 1)
#elif defined(_MSC_VER)
#define POL_NODISCARD _Check_return_
#define POL_COLD __declspec(noinline)
#define POL_NOINLINE_ __declspec(noinline)
#define POL_PRINTF(text, first)
#define POL_UNUSED_
#define POL_CLEANUP_(fn)
#define POL_LIKELY_(condition) (condition)
#else
#define POL_NODISCARD
#define POL_COLD
#define POL_NOINLINE_
#define POL_PRINTF(text, first)
#define POL_UNUSED_
#define POL_CLEANUP_(fn)
#define POL_LIKELY_(condition) (condition)
#endif

#ifdef __cplusplus
#define POL_EXTERN_C_BEGIN_ extern "C" {
#define POL_EXTERN_C_END_ }
#define POL_STATIC_ASSERT_(condition, text) static_assert(condition, text)
#define POL_ALIGNOF_(T) alignof(T)
#else
#define POL_EXTERN_C_BEGIN_
#define POL_EXTERN_C_END_
#define POL_STATIC_ASSERT_(condition, text) _Static_assert(condition, text)
#define POL_ALIGNOF_(T) _Alignof(T)
#endif

#ifdef __COUNTER__ /* several on one line too */
#define POL_UNIQUE_(name) POL_CAT_(name, __COUNTER__)
#else
#define POL_UNIQUE_(name) POL_CAT_(name, __LINE__)
#endif
#define POL_CAT_(a, b) POL_CAT_NOW_(a, b)
#define POL_CAT_NOW_(a, b) a##b

#endif /* POL_ATTRIBUTES_H */
