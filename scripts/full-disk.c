// Preloaded into a PostgreSQL server or a task-server of the tests. Files below the folder FULL_DISK cannot grow while the file
// FULL_DISK.full exists, as on a disk without room; what they contain can be overwritten. This needs no rights and no disk.
// cc -shared -fPIC -o full-disk.so scripts/full-disk.c
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

static int is_refused(int file, off_t end) {
    const char *folder = getenv("FULL_DISK");
    char link[64], path[4096], flag[4096];
    struct stat state;
    if (folder == NULL) return 0;
    snprintf(link, sizeof link, "/proc/self/fd/%d", file);
    ssize_t length = readlink(link, path, sizeof path - 1);
    if (length < 0) return 0;
    path[length] = 0;
    if (strncmp(path, folder, strlen(folder)) != 0 || path[strlen(folder)] != '/') return 0;
    snprintf(flag, sizeof flag, "%s.full", folder);
    return fstat(file, &state) == 0 && end > state.st_size && access(flag, F_OK) == 0;
}

#define NEXT(name) __typeof__(&name) next = (__typeof__(&name))dlsym(RTLD_NEXT, #name)
#define REFUSE \
    do { \
        errno = ENOSPC; \
        return -1; \
    } while (0)

ssize_t pwrite(int file, const void *bytes, size_t count, off_t offset) {
    NEXT(pwrite);
    if (is_refused(file, offset + (off_t)count)) REFUSE;
    return next(file, bytes, count, offset);
}

ssize_t pwrite64(int file, const void *bytes, size_t count, off64_t offset) {
    NEXT(pwrite64);
    if (is_refused(file, offset + (off_t)count)) REFUSE;
    return next(file, bytes, count, offset);
}

static off_t sum(const struct iovec *pieces, int count) {
    off_t sum = 0;
    for (int i = 0; i < count; i++) sum += (off_t)pieces[i].iov_len;
    return sum;
}

ssize_t pwritev(int file, const struct iovec *pieces, int count, off_t offset) {
    NEXT(pwritev);
    if (is_refused(file, offset + sum(pieces, count))) REFUSE;
    return next(file, pieces, count, offset);
}

ssize_t pwritev64(int file, const struct iovec *pieces, int count, off64_t offset) {
    NEXT(pwritev64);
    if (is_refused(file, offset + sum(pieces, count))) REFUSE;
    return next(file, pieces, count, offset);
}

int posix_fallocate(int file, off_t offset, off_t length) {
    NEXT(posix_fallocate);
    return is_refused(file, offset + length) ? ENOSPC : next(file, offset, length);
}
