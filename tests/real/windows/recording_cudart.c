// Stands in for cudart64_NN.dll where no GPU is: takes a module's registrations as the CUDA runtime does, and keeps
// what each launch asks for, so that a test can compare it with what the source says. Nothing is computed.
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#define EXPORT __declspec(dllexport)

typedef struct {
  unsigned x, y, z;
} Dim3;

enum { k_most_kernels = 8192, k_most_text = 1 << 16 };

static struct {
  const void* stub;  // the host function that <<<>>> names
  const char* name;  // of the kernel in GPU code
} g_kernels[k_most_kernels];
static unsigned g_count, g_fatbins;
static char g_text[k_most_text];
static size_t g_used;
static char g_sizes[128] = "";  // a digit a parameter: how many bytes the next kernel takes there
static struct {
  Dim3 grid, block;
  size_t shared;
  void* stream;
} g_next;

static void say(const char* form, ...) {
  va_list list;
  va_start(list, form);
  const int length = vsnprintf(g_text + g_used, sizeof g_text - g_used, form, list);
  va_end(list);
  if (length > 0 && g_used + (size_t)length < sizeof g_text) g_used += (size_t)length;
}

// What the test asks, by ctypes.
EXPORT const char* recorded(void) { return g_text; }
EXPORT unsigned registered(void) { return g_count; }
EXPORT const char* registered_name(unsigned i) { return i < g_count ? g_kernels[i].name : ""; }
EXPORT unsigned fatbins(void) { return g_fatbins; }
EXPORT void parameter_sizes(const char* digits) {
  strncpy(g_sizes, digits, sizeof g_sizes - 1);
  g_used = 0;
  g_text[0] = 0;
}

// What nvcc's and clang's host code calls before main(): crt/host_runtime.h names the functions and their parameters.
EXPORT void** __cudaRegisterFatBinary(void* wrapper) {
  static void* handle;
  const uint32_t* magic = wrapper;
  const unsigned char* data = ((unsigned char**)wrapper)[1];
  static const unsigned char k_fatbin[] = {0x50, 0xed, 0x55, 0xba};
  if (magic[0] == 0x466243b1 && memcmp(data, k_fatbin, 4) == 0) ++g_fatbins;
  return &handle;
}
EXPORT void __cudaRegisterFatBinaryEnd(void** handle) { (void)handle; }
EXPORT void __cudaUnregisterFatBinary(void** handle) { (void)handle; }
EXPORT void __cudaRegisterFunction(void** handle, const char* stub, char* device, const char* name, int threads,
                                   void* a, void* b, void* c, void* d, int* e) {
  (void)handle, (void)device, (void)threads, (void)a, (void)b, (void)c, (void)d, (void)e;
  if (g_count < k_most_kernels) {
    g_kernels[g_count].stub = stub;
    g_kernels[g_count++].name = name;
  }
}
EXPORT void __cudaRegisterVar(void** handle, char* host, char* device, const char* name, int ext, size_t size,
                              int constant, int global) {
  (void)handle, (void)host, (void)device, (void)name, (void)ext, (void)size, (void)constant, (void)global;
}

EXPORT unsigned __cudaPushCallConfiguration(Dim3 grid, Dim3 block, size_t shared, void* stream) {
  g_next.grid = grid, g_next.block = block, g_next.shared = shared, g_next.stream = stream;
  return 0;
}
EXPORT int __cudaPopCallConfiguration(Dim3* grid, Dim3* block, size_t* shared, void* stream) {
  *grid = g_next.grid, *block = g_next.block, *shared = g_next.shared;
  *(void**)stream = g_next.stream;
  return 0;
}
EXPORT int cudaLaunchKernel(const void* stub, Dim3 grid, Dim3 block, void** arguments, size_t shared, void* stream) {
  const char* name = "(not registered)";
  for (unsigned i = 0; i < g_count; ++i)
    if (g_kernels[i].stub == stub) name = g_kernels[i].name;
  say("%s|%u %u %u|%u %u %u|%llu|%p|", name, grid.x, grid.y, grid.z, block.x, block.y, block.z,
      (unsigned long long)shared, stream);
  for (unsigned i = 0; g_sizes[i] != 0; ++i) {
    uint64_t value = 0;
    memcpy(&value, arguments[i], (size_t)(g_sizes[i] - '0'));
    say("%s%llx", i == 0 ? "" : " ", (unsigned long long)value);
  }
  say("\n");
  return 0;
}

EXPORT int cudaFuncSetAttribute(const void* stub, int attribute, int value) {
  (void)stub, (void)attribute, (void)value;
  return 0;
}
EXPORT int cudaGetLastError(void) { return 0; }
EXPORT int cudaPeekAtLastError(void) { return 0; }
EXPORT int cudaGetDevice(int* device) { return *device = 0; }
EXPORT const char* cudaGetErrorString(int error) { return error == 0 ? "no error" : "an error"; }
EXPORT const char* cudaGetErrorName(int error) { return error == 0 ? "cudaSuccess" : "cudaErrorUnknown"; }
