// Preloaded into a run under test: the n-th call of one function fails.
//
//   fail_call(function, n, errno, folder, log)   from then on: fails the n-th call, and that one alone. Calls on
//                                                descriptors and paths count only below the folder; the log
//                                                holds the function's name once the failure has happened.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/uio.h>
#include <unistd.h>

#define NEXT(name) ((__typeof__(&name))dlsym(RTLD_NEXT, #name))

static char wanted[32];
static long left;  // calls until the one that fails
static int error_number;
static char below[4096], report[4096];

void fail_call(const char* function, long n, int error, const char* folder, const char* log) {
  snprintf(below, sizeof below, "%s", folder);
  snprintf(report, sizeof report, "%s", log);
  left = n;
  error_number = error;
  snprintf(wanted, sizeof wanted, "%s", function);
}

static int is_below(const char* path) { return strncmp(path, below, strlen(below)) == 0; }

static int is_open_below(int descriptor) {
  char link[64], path[4096];
  snprintf(link, sizeof link, "/proc/self/fd/%d", descriptor);
  const ssize_t length = readlink(link, path, sizeof path - 1);
  if (length < 0) return 0;
  path[length] = 0;
  return is_below(path);
}

static int fails(const char* function, int concerned) {
  if (!concerned || strcmp(function, wanted) != 0 || __atomic_sub_fetch(&left, 1, __ATOMIC_SEQ_CST) != 0) return 0;
  const int log = NEXT(open64)(report, O_WRONLY | O_CREAT | O_APPEND, 0600);
  dprintf(log, "%s\n", function);
  close(log);
  errno = error_number;
  return 1;
}


ssize_t read(int descriptor, void* buffer, size_t size) {
  return fails("read", is_open_below(descriptor)) ? -1 : NEXT(read)(descriptor, buffer, size);
}
ssize_t write(int descriptor, const void* buffer, size_t size) {
  return fails("write", is_open_below(descriptor)) ? -1 : NEXT(write)(descriptor, buffer, size);
}
int fsync(int descriptor) { return fails("fsync", is_open_below(descriptor)) ? -1 : NEXT(fsync)(descriptor); }
int fchmod(int descriptor, mode_t mode) {
  return fails("fchmod", is_open_below(descriptor)) ? -1 : NEXT(fchmod)(descriptor, mode);
}
int rename(const char* from, const char* to) { return fails("rename", is_below(to)) ? -1 : NEXT(rename)(from, to); }
ssize_t preadv64(int descriptor, const struct iovec* pieces, int count, off64_t offset) {
  return fails("preadv", is_open_below(descriptor)) ? -1 : NEXT(preadv64)(descriptor, pieces, count, offset);
}
ssize_t preadv64v2(int descriptor, const struct iovec* pieces, int count, off64_t offset, int flags) {
  return fails("preadv", is_open_below(descriptor)) ? -1 : NEXT(preadv64v2)(descriptor, pieces, count, offset, flags);
}
static mode_t mode_of(int flags, va_list rest) { return flags & (O_CREAT | O_TMPFILE) ? va_arg(rest, mode_t) : 0; }
int open64(const char* path, int flags, ...) {
  va_list rest;
  va_start(rest, flags);
  const mode_t mode = mode_of(flags, rest);
  va_end(rest);
  return fails("open", is_below(path)) ? -1 : NEXT(open64)(path, flags, mode);
}
// What numpy and the core allocate in large pieces: small ones are Python's own, which ends in MemoryError too.
void* malloc(size_t size) {
  static void* (*next)(size_t);
  if (next == NULL) next = (void* (*)(size_t))dlsym(RTLD_NEXT, "malloc");
  return size >= 4096 && fails("malloc", 1) ? NULL : next(size);
}
