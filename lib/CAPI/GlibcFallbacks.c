// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What this system's headers and libstdc++.a ask of glibc and glibc 2.28 lacks,
// for libraries that are linked for older systems (cmake/Fp8OlderGlibc.cmake).
// All of it is hidden: no other library of a process gets it from here.
#include <malloc.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/random.h>

struct stat;

// How glibc before 2.33 exports stat and its kin. On x86-64 there is one struct
// stat, for 64-bit offsets, and its version is 1 (glibc 2.28, bits/stat.h).
enum { kStatVersion = 1 };
int __xstat(int version, const char *path, struct stat *result);
int __lxstat(int version, const char *path, struct stat *result);
int __fxstat(int version, int file, struct stat *result);

int stat(const char *path, struct stat *result) {
  return __xstat(kStatVersion, path, result);
}
int lstat(const char *path, struct stat *result) {
  return __lxstat(kStatVersion, path, result);
}
int fstat(int file, struct stat *result) {
  return __fxstat(kStatVersion, file, result);
}
int stat64(const char *path, struct stat *result) {
  return __xstat(kStatVersion, path, result);
}
int lstat64(const char *path, struct stat *result) {
  return __lxstat(kStatVersion, path, result);
}
int fstat64(int file, struct stat *result) {
  return __fxstat(kStatVersion, file, result);
}

// Of glibc 2.33, for LLVM's statistics of passes. The older function counts in
// int, modulo 2^32.
struct mallinfo2 mallinfo2(void) {
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"
  struct mallinfo from = mallinfo();
#pragma GCC diagnostic pop
  struct mallinfo2 to = {
      (unsigned)from.arena,    (unsigned)from.ordblks,  (unsigned)from.smblks,
      (unsigned)from.hblks,    (unsigned)from.hblkhd,   (unsigned)from.usmblks,
      (unsigned)from.fsmblks,  (unsigned)from.uordblks, (unsigned)from.fordblks,
      (unsigned)from.keepcost,
  };
  return to;
}

// Of glibc 2.32. libstdc++ counts references without atomic instructions while
// it is not 0.
char __libc_single_threaded = 0;

// Of glibc 2.36, for std::random_device.
uint32_t arc4random(void) {
  uint32_t number;
  // A request of up to 256 bytes is met whole, or fails where the kernel has no
  // such call (getrandom(2)).
  if (getrandom(&number, sizeof(number), 0) != sizeof(number))
    abort();
  return number;
}
