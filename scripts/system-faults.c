// Preloaded into a program of the tests: faults of the system that a test cannot cause otherwise without rights or a network.
// SILENT_NAME: a host name for which no name server answers. FAILING_FSYNC: files whose path begins so cannot be synchronized.
// cc -shared -fPIC -o system-faults.so scripts/system-faults.c
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <netdb.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
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

int fsync(int file) {
    NEXT(fsync);
    const char *prefix = getenv("FAILING_FSYNC");
    char link[64], path[4096];
    snprintf(link, sizeof link, "/proc/self/fd/%d", file);
    ssize_t length = readlink(link, path, sizeof path - 1);
    if (prefix != NULL && length > 0) {
        path[length] = 0;
        if (strncmp(path, prefix, strlen(prefix)) == 0) {
            errno = EIO;
            return -1;
        }
    }
    return next(file);
}
