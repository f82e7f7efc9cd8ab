// What glibc has had since the floor (2.28) and the compiler or a static library asks for: each is a few lines over what the
// floor has. Everything else that is newer is refused by the linker (link_stubs.py). Hidden: it is nobody else's.
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdlib.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#pragma GCC visibility push(hidden)

#if defined(__x86_64__)
#define STAT_VERSION 1
#else
#define STAT_VERSION 0
#endif

// 2.33: before it these were inline calls of the versioned ones.
int __xstat(int, const char*, struct stat*) __attribute__((visibility("default")));
int __lxstat(int, const char*, struct stat*) __attribute__((visibility("default")));
int __fxstat(int, int, struct stat*) __attribute__((visibility("default")));
int __fxstatat(int, int, const char*, struct stat*, int) __attribute__((visibility("default")));
int stat(const char* restrict path, struct stat* restrict facts) { return __xstat(STAT_VERSION, path, facts); }
int lstat(const char* restrict path, struct stat* restrict facts) { return __lxstat(STAT_VERSION, path, facts); }
int fstat(int file, struct stat* facts) { return __fxstat(STAT_VERSION, file, facts); }
int fstatat(int folder, const char* restrict path, struct stat* restrict facts, int flags) {
  return __fxstatat(STAT_VERSION, folder, path, facts, flags);
}
// A 64-bit machine has one stat structure.
int stat64(const char* restrict, struct stat64* restrict) __attribute__((alias("stat"), copy(stat)));
int lstat64(const char* restrict, struct stat64* restrict) __attribute__((alias("lstat"), copy(lstat)));
int fstat64(int, struct stat64*) __attribute__((alias("fstat"), copy(fstat)));
int fstatat64(int, const char* restrict, struct stat64* restrict, int) __attribute__((alias("fstatat"), copy(fstatat)));

// 2.32: 0 means that reference counts are always counted atomically, which is right in every process.
char __libc_single_threaded = 0;

// 2.36, of std::random_device and libzip.
void arc4random_buf(void* into, size_t bytes) {
  for (char* at = into; bytes > 0;) {
    const ssize_t got = getrandom(at, bytes, 0);
    if (got < 0 && errno != EINTR) abort();
    if (got > 0) at += got, bytes -= (size_t)got;
  }
}
unsigned arc4random(void) {
  unsigned value = 0;
  arc4random_buf(&value, sizeof value);
  return value;
}

// 2.34, over a system call that Linux has had since 5.9.
int close_range(unsigned first, unsigned last, int flags) {
  if (syscall(436, first, last, flags) == 0) return 0;
  if (errno != ENOSYS || flags != 0) return -1;
  const long files = sysconf(_SC_OPEN_MAX);
  for (unsigned file = first; file <= last && file < files; ++file) close((int)file);
  return 0;
}

// 2.30: a deadline on another clock than the system's. Converted once, so a clock that is set meanwhile moves it.
static struct timespec deadline_of(clockid_t clock, const struct timespec* at) {
  struct timespec then, now;
  clock_gettime(clock, &then);
  clock_gettime(CLOCK_REALTIME, &now);
  now.tv_sec += at->tv_sec - then.tv_sec;
  now.tv_nsec += at->tv_nsec - then.tv_nsec;
  if (now.tv_nsec < 0) now.tv_nsec += 1000000000, --now.tv_sec;
  if (now.tv_nsec >= 1000000000) now.tv_nsec -= 1000000000, ++now.tv_sec;
  if (now.tv_sec < 0) now.tv_sec = 0, now.tv_nsec = 0;
  return now;
}
int pthread_cond_clockwait(pthread_cond_t* restrict condition, pthread_mutex_t* restrict mutex, clockid_t clock,
                           const struct timespec* restrict at) {
  const struct timespec then = deadline_of(clock, at);
  return pthread_cond_timedwait(condition, mutex, &then);
}
int pthread_mutex_clocklock(pthread_mutex_t* restrict mutex, clockid_t clock, const struct timespec* restrict at) {
  const struct timespec then = deadline_of(clock, at);
  return pthread_mutex_timedlock(mutex, &then);
}

// Since 2.34 the start-up code leaves it to the C library to call a program's constructors; an older one expects a function that
// does. Linked with --wrap=__libc_start_main.
typedef void (*Constructor)(int, char**, char**);
typedef int Main(int, char**, char**);
extern Constructor __preinit_array_start[], __preinit_array_end[], __init_array_start[], __init_array_end[];
void _init(void);
int __real___libc_start_main(Main*, int, char**, void (*)(int, char**, char**), void (*)(void), void (*)(void), void*)
    __attribute__((visibility("default")));

static void construct(int argc, char** argv, char** environment) {
  for (Constructor* at = __preinit_array_start; at != __preinit_array_end; ++at) (*at)(argc, argv, environment);
  _init();
  for (Constructor* at = __init_array_start; at != __init_array_end; ++at) (*at)(argc, argv, environment);
}
int __wrap___libc_start_main(Main* program, int argc, char** argv, void (*unused_init)(int, char**, char**),
                             void (*unused_fini)(void), void (*loader_fini)(void), void* stack_end) {
  (void)unused_init, (void)unused_fini;
  return __real___libc_start_main(program, argc, argv, &construct, NULL, loader_fini, stack_end);
}
