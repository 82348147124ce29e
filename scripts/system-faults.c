// Preloaded into a program of the tests: faults of the system that a test cannot cause otherwise without rights or a network.
// SILENT_NAME: a host name for which no name server answers. FAILING_FSYNC: files whose path begins so cannot be synchronized,
// or, with a slash at its end, this folder; SQLite's log is not one of them.
// PACED_FILE: ends the program with code 99 if more than 2 MiB are written to a file whose path begins so without a synchronization; SQLite's log
// is not one of them, because how much a transaction writes is up to the transaction.
// SYNCHRONIZED: a file that gets a line with the path of each file that is synchronized.
// NO_MORE_FILES: the limit of open files cannot be raised.
// FULL_DISK: a folder whose files cannot grow while the file FULL_DISK.full exists, as on a disk without room; what they contain can be
// overwritten.
// LIBCRYPTO_STAYS: ends the program with code 98 if libcrypto frees at the end of the process what other threads may still use.
// cc -shared -fPIC -o system-faults.so scripts/system-faults.c
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <netdb.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

#define NEXT(name) __typeof__(&name) next = (__typeof__(&name))dlsym(RTLD_NEXT, #name)

int getaddrinfo(const char *name, const char *service, const struct addrinfo *hints, struct addrinfo **found) {
    NEXT(getaddrinfo);
    const char *silent = getenv("SILENT_NAME");
    if (silent != NULL && name != NULL && strcmp(name, silent) == 0) {
        sleep(30);
        return EAI_AGAIN;
    }
    return next(name, service, hints, found);
}

// Finds the path of an open file. Returns its length, or less than 1 if the file has none.
static ssize_t find_path(int file, char path[4096]) {
    char link[64];
    snprintf(link, sizeof link, "/proc/self/fd/%d", file);
    ssize_t length = readlink(link, path, 4095);
    if (length > 0) path[length] = 0;
    return length;
}

// Whether the path of an open file begins with the value of a variable of the environment, and does not end in "-wal".
static int has_prefix(int file, const char *variable) {
    const char *prefix = getenv(variable);
    char path[4096];
    ssize_t length = prefix == NULL ? 0 : find_path(file, path);
    if (length < 4) return 0;
    size_t wanted = strlen(prefix);
    if (wanted > 0 && prefix[wanted - 1] == '/') return (size_t)length == wanted - 1 && strncmp(path, prefix, wanted - 1) == 0;
    return strncmp(path, prefix, wanted) == 0 && strcmp(path + length - 4, "-wal") != 0;
}

// Bytes written to a paced file since it was synchronized.
static _Atomic long waiting[1024];

static void count_written(int file, ssize_t count) {
    if (file < 0 || file >= 1024 || count <= 0 || !has_prefix(file, "PACED_FILE")) return;
    if ((waiting[file] += count) > 2 << 20) _exit(99);
}

static void forget_written(int file) {
    if (file >= 0 && file < 1024) waiting[file] = 0;
}

// Whether a file would grow to this end on a full disk.
static int is_refused(int file, off_t end) {
    const char *folder = getenv("FULL_DISK");
    char path[4096], flag[4096];
    struct stat state;
    if (folder == NULL || find_path(file, path) < 1) return 0;
    if (strncmp(path, folder, strlen(folder)) != 0 || path[strlen(folder)] != '/') return 0;
    snprintf(flag, sizeof flag, "%s.full", folder);
    return fstat(file, &state) == 0 && end > state.st_size && access(flag, F_OK) == 0;
}

#define REFUSE_GROWTH(file, end) \
    if (is_refused(file, end)) { \
        errno = ENOSPC; \
        return -1; \
    }

// Notes that a file was synchronized.
static void note(int file) {
    const char *name = getenv("SYNCHRONIZED");
    char path[4096];
    if (name == NULL || find_path(file, path) < 1) return;
    FILE *notes = fopen(name, "a");
    if (notes == NULL) return;
    fprintf(notes, "%s\n", path);
    fclose(notes);
}

// 0, or -1 for a file that cannot be synchronized.
static int synchronize(int file, int (*next)(int)) {
    forget_written(file);
    if (!has_prefix(file, "FAILING_FSYNC")) {
        int status = next(file);
        if (status == 0) note(file);
        return status;
    }
    errno = EIO;
    return -1;
}

int fsync(int file) {
    NEXT(fsync);
    return synchronize(file, next);
}

int fdatasync(int file) {
    NEXT(fdatasync);
    return synchronize(file, next);
}

int close(int file) {
    NEXT(close);
    forget_written(file);
    return next(file);
}

ssize_t write(int file, const void *bytes, size_t count) {
    NEXT(write);
    ssize_t written = next(file, bytes, count);
    count_written(file, written);
    return written;
}

ssize_t pwrite(int file, const void *bytes, size_t count, off_t offset) {
    NEXT(pwrite);
    REFUSE_GROWTH(file, offset + (off_t)count)
    return next(file, bytes, count, offset);
}

ssize_t pwrite64(int file, const void *bytes, size_t count, off64_t offset) {
    NEXT(pwrite64);
    REFUSE_GROWTH(file, offset + (off64_t)count)
    ssize_t written = next(file, bytes, count, offset);
    count_written(file, written);
    return written;
}

static off_t sum(const struct iovec *pieces, int count) {
    off_t sum = 0;
    for (int i = 0; i < count; i++) sum += (off_t)pieces[i].iov_len;
    return sum;
}

ssize_t pwritev(int file, const struct iovec *pieces, int count, off_t offset) {
    NEXT(pwritev);
    REFUSE_GROWTH(file, offset + sum(pieces, count))
    return next(file, pieces, count, offset);
}

ssize_t pwritev64(int file, const struct iovec *pieces, int count, off64_t offset) {
    NEXT(pwritev64);
    REFUSE_GROWTH(file, offset + sum(pieces, count))
    return next(file, pieces, count, offset);
}

int posix_fallocate(int file, off_t offset, off_t length) {
    NEXT(posix_fallocate);
    return is_refused(file, offset + length) ? ENOSPC : next(file, offset, length);
}

int setrlimit(__rlimit_resource_t resource, const struct rlimit *limit) {
    NEXT(setrlimit);
    struct rlimit now;
    if (resource != RLIMIT_NOFILE || getenv("NO_MORE_FILES") == NULL) return next(resource, limit);
    if (getrlimit(resource, &now) == 0 && limit->rlim_cur <= now.rlim_cur) return next(resource, limit);
    errno = EPERM;
    return -1;
}

// Runs after what libcrypto wants to have done at the end, unless it was told not to.
__attribute__((destructor)) static void look_at_libcrypto(void) {
    int (*start)(uint64_t, const void *) = dlsym(RTLD_DEFAULT, "OPENSSL_init_crypto");
    if (getenv("LIBCRYPTO_STAYS") == NULL || start == NULL) return;
    if (start(0x00040000 /* OPENSSL_INIT_BASE_ONLY */, NULL) == 0) _exit(98);
}
