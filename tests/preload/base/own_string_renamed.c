// SPDX-License-Identifier: Apache-2.0
// own_string.c under other names, so that it does not replace libc's functions in the test program.
#define memcpy  own_memcpy
#define memmove own_memmove
#define memset  own_memset
#define memcmp  own_memcmp
#define memchr  own_memchr
#define strnlen own_strnlen
#define strlen  own_strlen
#define strncmp own_strncmp
#define strcmp  own_strcmp
#define strchr  own_strchr
#define strrchr own_strrchr
#define strspn  own_strspn
#define strcspn own_strcspn
#define strstr  own_strstr
#include "preload/base/own_string.c"
