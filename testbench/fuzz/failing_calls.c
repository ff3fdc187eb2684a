// Makes the n-th call of a kind fail, for the campaign "failing-calls" (docs/reliability.md). Preloaded:
//
//   FAILING_CALL=write FAILING_AT=3 FAILING_ERRNO=28 LD_PRELOAD=./failing_calls.so tlmssd run ...
//
// FAILING_CALL  allocate, or one of the calls below; calls of the same kind (write, pwrite, writev) count together
// FAILING_AT    which call fails, counted from 1 from the beginning of main(); 0: none
// FAILING_LAST  last call that fails; by default the same one; 0: all that follow fail
// FAILING_ERRNO the errno of the failure; for read and write 0 means a transfer of one byte, which is no failure
// FAILING_COUNT file to which the number of calls is written in the end
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <sys/uio.h>
#include <unistd.h>

static const char* kind = "";
static long first, last, calls;
static int error_number;
static int counting;  // within main()

static long number_of(const char* name, long otherwise) {
  const char* text = getenv(name);
  return text == NULL ? otherwise : strtol(text, NULL, 10);
}

/// Counts a call of a kind; whether it is to fail. Sets errno if so.
static int fails(const char* called) {
  if (!counting || strcmp(kind, called) != 0) return 0;
  const long number = __atomic_add_fetch(&calls, 1, __ATOMIC_RELAXED);
  if (first == 0 || number < first || (last != 0 && number > last)) return 0;
  errno = error_number;
  return 1;
}

// ---- beginning and end

static int (*real_main)(int, char**, char**);

static void write_count(void) {
  counting = 0;
  const char* name = getenv("FAILING_COUNT");
  FILE* file = name == NULL ? NULL : fopen(name, "w");
  if (file == NULL) return;
  fprintf(file, "%ld\n", calls);
  fclose(file);
}

static int counted_main(int argc, char** argv, char** environment) {
  kind = getenv("FAILING_CALL") != NULL ? getenv("FAILING_CALL") : "";
  first = number_of("FAILING_AT", 0);
  last = number_of("FAILING_LAST", first);
  error_number = (int)number_of("FAILING_ERRNO", EIO);
  counting = 1;
  const int code = real_main(argc, argv, environment);
  write_count();
  return code;
}

int __libc_start_main(int (*main)(int, char**, char**), int argc, char** argv, void (*init)(void),
                      void (*fini)(void), void (*rtld_fini)(void), void* stack_end) {
  int (*real)(int (*)(int, char**, char**), int, char**, void (*)(void), void (*)(void), void (*)(void), void*) =
      dlsym(RTLD_NEXT, "__libc_start_main");
  real_main = main;
  return real(counted_main, argc, argv, init, fini, rtld_fini, stack_end);
}

// ---- memory: the C library's own names for what malloc and its kin do, so that no look-up is needed that allocates

void* __libc_malloc(size_t size);
void* __libc_calloc(size_t count, size_t size);
void* __libc_realloc(void* old, size_t size);
void* __libc_memalign(size_t alignment, size_t size);

void* malloc(size_t size) { return fails("allocate") ? NULL : __libc_malloc(size); }
void* calloc(size_t count, size_t size) { return fails("allocate") ? NULL : __libc_calloc(count, size); }
void* realloc(void* old, size_t size) { return fails("allocate") ? NULL : __libc_realloc(old, size); }
void* aligned_alloc(size_t alignment, size_t size) {
  return fails("allocate") ? NULL : __libc_memalign(alignment, size);
}

// ---- files

#define REAL(type, name, ...) ((type(*)(__VA_ARGS__))dlsym(RTLD_NEXT, name))

#define OPEN(name)                                                                                 \
  int name(const char* path, int flags, ...) {                                                     \
    va_list more;                                                                                  \
    va_start(more, flags);                                                                         \
    const mode_t mode = va_arg(more, mode_t);                                                      \
    va_end(more);                                                                                  \
    return fails("open") ? -1 : REAL(int, #name, const char*, int, mode_t)(path, flags, mode);     \
  }
OPEN(open)
OPEN(open64)

#define OPENAT(name)                                                                               \
  int name(int folder, const char* path, int flags, ...) {                                         \
    va_list more;                                                                                  \
    va_start(more, flags);                                                                         \
    const mode_t mode = va_arg(more, mode_t);                                                      \
    va_end(more);                                                                                  \
    return fails("open") ? -1 : REAL(int, #name, int, const char*, int, mode_t)(folder, path, flags, mode); \
  }
OPENAT(openat)
OPENAT(openat64)

// std::filebuf opens by name of the C library's streams.
#define FOPEN(name)                                                                                \
  FILE* name(const char* path, const char* mode) {                                                 \
    return fails("open") ? NULL : REAL(FILE*, #name, const char*, const char*)(path, mode);        \
  }
FOPEN(fopen)
FOPEN(fopen64)

#define TRANSFER(kind_name, type, name, parameters, arguments, short_arguments, ...)               \
  type name parameters {                                                                           \
    if (!fails(kind_name)) return REAL(type, #name, __VA_ARGS__) arguments;                        \
    return error_number != 0 ? -1 : REAL(type, #name, __VA_ARGS__) short_arguments;                \
  }
TRANSFER("read", ssize_t, read, (int file, void* to, size_t size), (file, to, size), (file, to, size > 0), int, void*,
         size_t)
TRANSFER("write", ssize_t, write, (int file, const void* from, size_t size), (file, from, size),
         (file, from, size > 0), int, const void*, size_t)
TRANSFER("write", ssize_t, pwrite, (int file, const void* from, size_t size, off_t at), (file, from, size, at),
         (file, from, size > 0, at), int, const void*, size_t, off_t)
TRANSFER("write", ssize_t, pwrite64, (int file, const void* from, size_t size, off64_t at), (file, from, size, at),
         (file, from, size > 0, at), int, const void*, size_t, off64_t)
TRANSFER("write", ssize_t, writev, (int file, const struct iovec* from, int count), (file, from, count),
         (file, from, count > 1 ? 1 : count), int, const struct iovec*, int)

#define PLAIN(kind_name, name, parameters, arguments, ...)                                         \
  int name parameters { return fails(kind_name) ? -1 : REAL(int, #name, __VA_ARGS__) arguments; }
PLAIN("fsync", fsync, (int file), (file), int)
PLAIN("fsync", fdatasync, (int file), (file), int)
PLAIN("rename", rename, (const char* from, const char* to), (from, to), const char*, const char*)
PLAIN("rename", renameat2, (int a, const char* from, int b, const char* to, unsigned flags), (a, from, b, to, flags), int,
      const char*, int, const char*, unsigned)
PLAIN("mkdir", mkdir, (const char* path, mode_t mode), (path, mode), const char*, mode_t)
PLAIN("unlink", unlink, (const char* path), (path), const char*)
PLAIN("unlink", unlinkat, (int folder, const char* path, int flags), (folder, path, flags), int, const char*, int)
PLAIN("unlink", rmdir, (const char* path), (path), const char*)
PLAIN("unlink", remove, (const char* path), (path), const char*)

// Linux closes the file even when close() fails.
#define CLOSE(name, type)                                                                          \
  int name(type file) {                                                                            \
    const int failed = fails("close");                                                             \
    const int code = REAL(int, #name, type)(file);                                                 \
    if (failed) errno = error_number;                                                              \
    return failed ? -1 : code;                                                                     \
  }
CLOSE(close, int)
CLOSE(fclose, FILE*)
