/* For modules that use Python's limited API alone, beside another system's headers of the same Python: what those
   headers ask of Windows' pyconfig.h (PC/pyconfig.h.in in CPython) when Py_LIMITED_API is defined, written down for 64-bit
   Windows and mingw. */
#ifndef Py_CONFIG_H
#define Py_CONFIG_H

#ifndef Py_LIMITED_API
#error "this pyconfig.h is for the limited API: define Py_LIMITED_API"
#endif

#define MS_WINDOWS
#define MS_WIN32
#define MS_WIN64
#define NT_THREADS
#define WITH_THREAD

/* Functions come from python3.dll. */
#define Py_ENABLE_SHARED 1
#define MS_COREDLL
#define HAVE_DECLSPEC_DLL

/* 64-bit Windows: long has 4 bytes, pointers and size_t have 8. */
#define SIZEOF_SHORT 2
#define SIZEOF_INT 4
#define SIZEOF_LONG 4
#define SIZEOF_LONG_LONG 8
#define SIZEOF_FLOAT 4
#define SIZEOF_DOUBLE 8
#define SIZEOF_VOID_P 8
#define SIZEOF_SIZE_T 8
#define SIZEOF_WCHAR_T 2
#define SIZEOF_TIME_T 8
#define SIZEOF_OFF_T 4
#define SIZEOF_FPOS_T 8
#define SIZEOF_HKEY 8
#define SIZEOF_PID_T 4
#define ALIGNOF_MAX_ALIGN_T 8

#define STDC_HEADERS 1
#define HAVE_STDDEF_H 1
#define HAVE_SYS_STAT_H 1
#define HAVE_SYS_TYPES_H 1
#define HAVE_WCHAR_H 1

#endif
