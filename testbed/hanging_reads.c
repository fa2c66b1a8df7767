/* Reads of files with BED_HANGS in their path wait while the file BED_HANGS_WHILE exists, as those of a disk that hangs.
   For a process that loads this with LD_PRELOAD. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/sendfile.h>
#include <sys/types.h>
#include <unistd.h>

static void wait_for_disk(int file) {
    const char *part = getenv("BED_HANGS"), *reason = getenv("BED_HANGS_WHILE");
    if (!part || !reason || access(reason, F_OK))
        return;
    char link[64], path[4096];
    snprintf(link, sizeof link, "/proc/self/fd/%d", file);
    ssize_t length = readlink(link, path, sizeof path - 1);
    if (length < 0)
        return;
    path[length] = 0;
    while (strstr(path, part) && !access(reason, F_OK))
        usleep(50000);
}

ssize_t pread64(int file, void *into, size_t size, off64_t at) {
    static ssize_t (*real)(int, void *, size_t, off64_t);
    if (!real)
        real = (ssize_t (*)(int, void *, size_t, off64_t))dlsym(RTLD_NEXT, "pread64");
    wait_for_disk(file);
    return real(file, into, size, at);
}

ssize_t read(int file, void *into, size_t size) {
    static ssize_t (*real)(int, void *, size_t);
    if (!real)
        real = (ssize_t (*)(int, void *, size_t))dlsym(RTLD_NEXT, "read");
    wait_for_disk(file);
    return real(file, into, size);
}

ssize_t sendfile64(int to, int file, off64_t *at, size_t size) {
    static ssize_t (*real)(int, int, off64_t *, size_t);
    if (!real)
        real = (ssize_t (*)(int, int, off64_t *, size_t))dlsym(RTLD_NEXT, "sendfile64");
    wait_for_disk(file);
    return real(to, file, at, size);
}
