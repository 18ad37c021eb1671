/* SPDX-License-Identifier: MIT */
#ifndef POL_TYPE_H
#define POL_TYPE_H

/**
 * @addtogroup undef
 *
 * An element type is DLPack's code, bits and lanes, with the bytes and the alignment of an element
 * beside them, so that nobody computes them twice. The constants cover what kernels compute with;
 * #POL_TYPE_OF makes a type of any C type, a struct among them.
 * @{
 */

#include <stdbool.h>
#include <stdint.h>

#include <pol/attributes.h>

/** Type codes, with DLPack's values (dlpack.h, DLDataTypeCode). */
enum pol_type_code {
    POL_CODE_INT = 0,        /**< signed integers */
    POL_CODE_UINT = 1,       /**< unsigned integers */
    POL_CODE_FLOAT = 2,      /**< IEEE 754 binary floats */
    POL_CODE_OPAQUE = 3,     /**< any other C type: `size` bytes each */
    POL_CODE_BFLOAT = 4,     /**< bfloat16 */
    POL_CODE_COMPLEX = 5,    /**< a pair of floats; bits count both */
    POL_CODE_BOOL = 6,       /**< one byte, 0 or 1 */
    POL_CODE_F8_E4M3FN = 10, /**< 8-bit float, 4 exponent bits, no infinities */
    POL_CODE_F8_E5M2 = 12,   /**< 8-bit float, 5 exponent bits */
    POL_CODE_F4_E2M1FN = 17  /**< 4-bit float, 2 exponent bits */
};

/** An element type. All bytes zero is no type. Read-only. */
typedef struct pol_type {
    uint8_t code;   /**< one of ::pol_type_code */
    uint8_t bits;   /**< bits of one lane; 0 for #POL_CODE_OPAQUE */
    uint16_t lanes; /**< 1, or the width of a vector type */
    uint32_t size;  /**< bytes of an element; 0 for a packed type, whose elements share bytes */
    uint32_t align; /**< what an element's address is divisible by: a power of two */
} pol_type;

#ifdef __cplusplus
#define POL_TYPE_(code, bits, size, align)                                                         \
    (pol_type{static_cast<uint8_t>(code), static_cast<uint8_t>(bits), 1,                           \
              static_cast<uint32_t>(size), static_cast<uint32_t>(align)})
#else
#define POL_TYPE_(code, bits, size, align) ((pol_type){code, bits, 1, size, align})
#endif

/** @name Element types
 * The packed types (i4, u4, f4) lie two to a byte, the first in the low half. @{ */
#define POL_I8 POL_TYPE_(POL_CODE_INT, 8, 1, 1)                         /**< signed, 8 bits */
#define POL_I16 POL_TYPE_(POL_CODE_INT, 16, 2, 2)                       /**< signed, 16 bits */
#define POL_I32 POL_TYPE_(POL_CODE_INT, 32, 4, 4)                       /**< signed, 32 bits */
#define POL_I64 POL_TYPE_(POL_CODE_INT, 64, 8, POL_ALIGNOF_(int64_t))   /**< signed, 64 bits */
#define POL_U8 POL_TYPE_(POL_CODE_UINT, 8, 1, 1)                        /**< unsigned, 8 bits */
#define POL_U16 POL_TYPE_(POL_CODE_UINT, 16, 2, 2)                      /**< unsigned, 16 bits */
#define POL_U32 POL_TYPE_(POL_CODE_UINT, 32, 4, 4)                      /**< unsigned, 32 bits */
#define POL_U64 POL_TYPE_(POL_CODE_UINT, 64, 8, POL_ALIGNOF_(uint64_t)) /**< unsigned, 64 bits */
#define POL_BOOL POL_TYPE_(POL_CODE_BOOL, 8, 1, 1)                      /**< one byte, 0 or 1 */
#define POL_F16 POL_TYPE_(POL_CODE_FLOAT, 16, 2, 2)                     /**< IEEE 754 half */
#define POL_BF16 POL_TYPE_(POL_CODE_BFLOAT, 16, 2, 2) /**< the upper half of an f32 */
#define POL_F32 POL_TYPE_(POL_CODE_FLOAT, 32, 4, POL_ALIGNOF_(float))       /**< `float` */
#define POL_F64 POL_TYPE_(POL_CODE_FLOAT, 64, 8, POL_ALIGNOF_(double))      /**< `double` */
#define POL_C64 POL_TYPE_(POL_CODE_COMPLEX, 64, 8, POL_ALIGNOF_(float))     /**< `float` pairs */
#define POL_C128 POL_TYPE_(POL_CODE_COMPLEX, 128, 16, POL_ALIGNOF_(double)) /**< `double` pairs */
#define POL_F8_E4M3FN POL_TYPE_(POL_CODE_F8_E4M3FN, 8, 1, 1) /**< 4 exponent bits, no infinities */
#define POL_F8_E5M2 POL_TYPE_(POL_CODE_F8_E5M2, 8, 1, 1)     /**< 5 exponent bits */
#define POL_I4 POL_TYPE_(POL_CODE_INT, 4, 0, 1)              /**< signed, packed */
#define POL_U4 POL_TYPE_(POL_CODE_UINT, 4, 0, 1)             /**< unsigned, packed */
#define POL_F4_E2M1 POL_TYPE_(POL_CODE_F4_E2M1FN, 4, 0, 1)   /**< 2 exponent bits, packed */
/** @} */

#ifdef __cplusplus

/* The code of a C++ type: opaque unless it is one of the fundamental types below. */
template <class T> struct pol_code_of_ {
    static const int value = POL_CODE_OPAQUE;
};
#define POL_CODE_OF_(T, code)                                                                      \
    template <> struct pol_code_of_<T> {                                                           \
        static const int value = code;                                                             \
    };
POL_CODE_OF_(bool, POL_CODE_BOOL)
POL_CODE_OF_(char, ((char)-1 < 0 ? POL_CODE_INT : POL_CODE_UINT))
POL_CODE_OF_(signed char, POL_CODE_INT)
POL_CODE_OF_(unsigned char, POL_CODE_UINT)
POL_CODE_OF_(short, POL_CODE_INT)
POL_CODE_OF_(unsigned short, POL_CODE_UINT)
POL_CODE_OF_(int, POL_CODE_INT)
POL_CODE_OF_(unsigned, POL_CODE_UINT)
POL_CODE_OF_(long, POL_CODE_INT)
POL_CODE_OF_(unsigned long, POL_CODE_UINT)
POL_CODE_OF_(long long, POL_CODE_INT)
POL_CODE_OF_(unsigned long long, POL_CODE_UINT)
POL_CODE_OF_(float, POL_CODE_FLOAT)
POL_CODE_OF_(double, POL_CODE_FLOAT)
POL_CODE_OF_(wchar_t, ((wchar_t)-1 < 0 ? POL_CODE_INT : POL_CODE_UINT))
#undef POL_CODE_OF_
template <class T> struct pol_code_of_<const T> : pol_code_of_<T> {
};
template <class T> struct pol_code_of_<volatile T> : pol_code_of_<T> {
};
#define POL_CODE_OF_(T) (pol_code_of_<T>::value)

#else

#ifdef __STDC_NO_COMPLEX__
#define POL_CODE_OF_COMPLEX_
#else
#define POL_CODE_OF_COMPLEX_ float _Complex : POL_CODE_COMPLEX, double _Complex : POL_CODE_COMPLEX,
#endif
/* clang-format off */
#define POL_CODE_OF_(T)                                                                            \
    _Generic(*(T *)0, POL_CODE_OF_COMPLEX_                                                         \
        bool: POL_CODE_BOOL,                                                                       \
        char: ((char)-1 < 0 ? POL_CODE_INT : POL_CODE_UINT),                                       \
        signed char: POL_CODE_INT,      unsigned char: POL_CODE_UINT,                              \
        short: POL_CODE_INT,            unsigned short: POL_CODE_UINT,                             \
        int: POL_CODE_INT,              unsigned: POL_CODE_UINT,                                   \
        long: POL_CODE_INT,             unsigned long: POL_CODE_UINT,                              \
        long long: POL_CODE_INT,        unsigned long long: POL_CODE_UINT,                         \
        float: POL_CODE_FLOAT,          double: POL_CODE_FLOAT,                                    \
        default: POL_CODE_OPAQUE)
/* clang-format on */

#endif

/** The element type of a C type, `POL_TYPE_OF(struct complex16)`: its code where DLPack has one,
    else opaque. `T` is a name to which `*` can be appended, of less than 4 GiB. An enum is an
    integer in C and opaque in C++. */
#define POL_TYPE_OF(T)                                                                             \
    POL_TYPE_(POL_CODE_OF_(T), (POL_CODE_OF_(T) == POL_CODE_OPAQUE ? 0 : 8 * (sizeof(T) & 31)),    \
              sizeof(T), POL_ALIGNOF_(T))

/** @} */
#endif /* POL_TYPE_H */
