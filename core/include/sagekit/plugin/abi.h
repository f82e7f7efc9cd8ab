/* The plugin boundary, ABI 1. C11, nothing but fixed-width integers.
 *
 * A plugin is a shared library that exports one constant object named `sagekit_plugin`. Its spec is TOML text; its judge,
 * if any, is one function that looks at facts and reports findings. Data decides what is built; code may only judge what
 * was built. Nothing a plugin allocated crosses this boundary, and a plugin is never unloaded.
 *
 * Growth: fields are appended, never inserted, reordered or re-meant; SAGEKIT_PLUGIN_ABI changes when the layout or
 * meaning of an existing field does. Readers look at `struct_size` before they read a newer field. */
#ifndef SAGEKIT_PLUGIN_ABI_H
#define SAGEKIT_PLUGIN_ABI_H

#include <stddef.h>
#include <stdint.h>

#define SAGEKIT_PLUGIN_ABI 1u
#define SAGEKIT_PLUGIN_SYMBOL "sagekit_plugin"

#ifdef __cplusplus
extern "C" {
#endif

/* C's names, not C++'s. NOLINTBEGIN(readability-identifier-naming) */

/* UTF-8, not terminated, owned by whoever passes it, valid during the call. */
typedef struct sagekit_str {
  const char* data;
  size_t size;
} sagekit_str;

/* One kind of GPU code in one extension module. */
typedef struct sagekit_gpu_code {
  uint32_t capability; /* 10 * major + minor: 90, 121 */
  char suffix;         /* 'a', 'f' or 0 */
  uint8_t is_ptx;
  uint16_t reserved;
  uint32_t count; /* images */
  uint64_t bytes;
} sagekit_gpu_code;

/* What the core measured about one extension module. */
typedef struct sagekit_module {
  uint32_t struct_size;
  uint32_t reserved;
  sagekit_str name; /* dotted: "sageattention._fused" */
  sagekit_str path; /* in the wheel */
  const sagekit_str* needed;
  size_t needed_count;
  const sagekit_str* exports;
  size_t exports_count;
  const sagekit_str* undefined;
  size_t undefined_count;
  const sagekit_gpu_code* gpu;
  size_t gpu_count;
} sagekit_module;

/* What is judged: one wheel, or the files it will be made of. Owned by the host, read-only. */
typedef struct sagekit_artifact {
  uint32_t struct_size;
  uint32_t reserved;
  sagekit_str distribution, version; /* as in the file name */
  sagekit_str python, torch, cuda, platform; /* "3.12", "2.11.0", "13.0", "linux_x86_64"; empty = not known */
  const sagekit_module* modules;
  size_t modules_count;
  const sagekit_str* files; /* every path in the wheel, sorted */
  size_t files_count;
  /* The text of one file of the wheel; {NULL, 0} when there is none. Valid until the judge returns. */
  sagekit_str (*read_file)(void* context, sagekit_str path);
  void* context;
} sagekit_artifact;

enum { SAGEKIT_ERROR = 0, SAGEKIT_WARNING = 1, SAGEKIT_NOTE = 2 };

/* The judge's only way to speak. `code` is a stable word of the plugin, such as "HOP001". */
typedef struct sagekit_report {
  uint32_t struct_size;
  uint32_t reserved;
  void* context;
  void (*add)(void* context, int32_t severity, sagekit_str code, sagekit_str message, sagekit_str where);
} sagekit_report;

/* [thread-safe] A pure function of its argument; must not throw and must not keep pointers. */
typedef void (*sagekit_verify_fn)(const sagekit_artifact* artifact, const sagekit_report* report);

/* The exported object's type. Constant-initialised: no code runs before it is read. */
typedef struct sagekit_descriptor {
  uint32_t abi;         /* SAGEKIT_PLUGIN_ABI of the headers it was built with: frozen first field */
  uint32_t struct_size; /* sizeof(sagekit_descriptor) there: frozen second field */
  const char* spec;     /* TOML, UTF-8 */
  size_t spec_size;
  const char* spec_path; /* where the TOML was at build time, for diagnostics; may be null */
  sagekit_verify_fn verify; /* may be null */
} sagekit_descriptor;

/* NOLINTEND(readability-identifier-naming) */

#ifdef __cplusplus
}
#endif
#endif
