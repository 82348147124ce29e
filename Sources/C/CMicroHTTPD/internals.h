#pragma once
#include <dlfcn.h>
#include <link.h>
#include <microhttpd.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

// What is done to libmicrohttpd beyond what it promises, with LibraryInternals.swift: each with its reason, its figure and what
// happens where the library changes. LibraryInternalsTests fails where one of them no longer works.

/// Whether the library is 1.0 or newer, which may be another one than that whose header was compiled.
static inline int CMicroHTTPD_is_one(void) { return MHD_get_version()[0] != '0'; }

// 1. Memory that was not used is not zeroed.
//
// The library zeroes the memory of a connection after each request ("safer to zero out"; it is not needed), and nothing else of
// this size. That touches every page, so an idle connection would keep room for the longest head: 38 kB in place of 9, and
// a cached GET would take 1.24 of its instructions. So the library's entry for `memset` in its table of foreign functions is
// replaced, once and before the first daemon starts. Where there is no such entry, these figures change, and a 431 names no field.

static inline void *CMicroHTTPD_memset(void *bytes, int value, size_t size) {
    return size < 4096 ? memset(bytes, value, size) : bytes;
}

static inline void CMicroHTTPD_spare_pages(void) {
    for (const struct link_map *map = _r_debug.r_map; map != NULL; map = map->l_next) {
        if (strstr(map->l_name, "libmicrohttpd.so") == NULL) continue;
        ElfW(Addr) facts[DT_NUM] = {0}; // of the library's dynamic section, by their tags
        for (const ElfW(Dyn) *fact = map->l_ld; fact->d_tag != DT_NULL; fact++)
            if (fact->d_tag > 0 && fact->d_tag < DT_NUM) facts[fact->d_tag] = fact->d_un.d_ptr;
        // Only where every entry has its function from the start, so that nothing else is written to the table later.
        if (!(facts[DT_FLAGS] & DF_BIND_NOW)) continue;
        const ElfW(Sym) *symbols = (const ElfW(Sym) *)facts[DT_SYMTAB];
        for (int isJump = 0; isJump < 2; isJump++) {
            const ElfW(Rela) *entry = (const ElfW(Rela) *)facts[isJump ? DT_JMPREL : DT_RELA];
            for (size_t left = facts[isJump ? DT_PLTRELSZ : DT_RELASZ] / sizeof *entry; left > 0; left--, entry++) {
                const char *name = (const char *)facts[DT_STRTAB] + symbols[ELF64_R_SYM(entry->r_info)].st_name;
                if (strcmp(name, "memset") != 0) continue;
                void **slot = (void **)(map->l_addr + entry->r_offset);
                const size_t page = (size_t)sysconf(_SC_PAGESIZE);
                // The page is read-only since the library was loaded (RELRO), and is so again.
                void *start = (void *)((size_t)slot / page * page);
                if (mprotect(start, page, PROT_READ | PROT_WRITE) != 0) return;
                *slot = (void *)CMicroHTTPD_memset;
                (void)mprotect(start, page, PROT_READ);
            }
        }
    }
}

// 2. All field lines of an answer are one field.
//
// The library allocates, checks, sends and frees each field by itself, and refuses a value with a CRLF. So it is given one of the
// same length, and its copy is written over. Where it sends something else than its copy, answers lose their fields.

/// Adds field lines, each with its CRLF; 0 where there is no memory, or no line. The lines must be sound, and none may be
/// `Connection`, `Date` or of the framing, which the library treats in a way of their own.
static inline int CMicroHTTPD_add_lines(struct MHD_Response *response, const void *lines, size_t size) {
    const char *text = (const char *)lines;
    const char *colon = (const char *)memchr(text, ':', size);
    if (colon == NULL || size < (size_t)(colon - text) + 5) return 0;
    const size_t name = (size_t)(colon - text), value = size - name - 4; // without `: ` and the last CRLF
    char small[1024];
    char *field = size < sizeof small ? small : (char *)malloc(size);
    if (field == NULL) return 0;
    memcpy(field, text, name);
    field[name] = 0;
    memset(field + name + 1, '-', value);
    field[name + 1 + value] = 0;
    char *copy = NULL;
    if (MHD_add_response_header(response, field, field + name + 1) == MHD_YES)
        copy = (char *)MHD_get_response_header(response, field);
    if (copy != NULL) memcpy(copy, colon + 2, value);
    if (field != small) free(field);
    return copy != NULL;
}

// 3. The program's `MHD_queue_response` takes the place of the library's: the answers of LibraryInternals.swift to requests that
// the library refuses by itself. Where the library calls its own directly, clients get its pages in HTML.

static inline enum MHD_Result CMicroHTTPD_queue(
    struct MHD_Connection *connection, unsigned int status, struct MHD_Response *response) {
    static void *next; // found once; two loops that look at the same time find the same
    void *function = __atomic_load_n(&next, __ATOMIC_RELAXED);
    if (function == NULL) {
        function = dlsym((void *)-1L, "MHD_queue_response"); // RTLD_NEXT, without _GNU_SOURCE
        __atomic_store_n(&next, function, __ATOMIC_RELAXED);
    }
    return ((enum MHD_Result(*)(struct MHD_Connection *, unsigned int, struct MHD_Response *))function)(
        connection, status, response);
}

// 4. Heads are read and changed where the library keeps them, because it hides faults, and needs memory for arguments and cookies
// that nobody reads. It ends each text in its buffer with a zero byte. Where it keeps copies, LibraryInternals.swift refuses heads
// whose lines it does not find one after the other.

/// Keeps the library from parsing the query, for which it needs memory of the connection for each argument: where that is too
/// little, it neither answers nor closes. It looks at what follows the `?` only after the target was handed over.
static inline void CMicroHTTPD_hide_query(const char *target) {
    char *query = strchr(target, '?');
    if (query != NULL) query[1] = 0; // it is in the connection's own buffer
}

/// Keeps the library from parsing cookies, of which it makes a copy in the memory of the connection: it finds an empty
/// `Cookie` before those of the client. This field has no value, as no other has.
static inline void CMicroHTTPD_hide_cookies(struct MHD_Connection *connection) {
    (void)MHD_set_connection_value_n(connection, MHD_HEADER_KIND, MHD_HTTP_HEADER_COOKIE, 6, NULL, 0);
}

/// The longest field that the library has read behind this request line, also without its end; NULL where none is certain.
///
/// The note about the field of `CMicroHTTPD_hide_cookies` ends the memory of the connection, so zeros are found in any case.
static inline const char *CMicroHTTPD_longest_field(
    struct MHD_Connection *connection, const char *target, size_t target_size, size_t *name_size) {
    const char *hidden, *longest = NULL;
    size_t hidden_size, most = 0;
    const enum MHD_Result isHidden = MHD_lookup_connection_value_n(
        connection, MHD_HEADER_KIND, MHD_HTTP_HEADER_COOKIE, 6, &hidden, &hidden_size);
    if (isHidden != MHD_YES || hidden != NULL) return NULL;
    const char *field = target + target_size + sizeof " HTTP/1.1\r\n" - 1;
    for (;;) {
        const size_t name = strcspn(field, ":");
        if (name == 0) return longest;
        const size_t size = name + 1 + strlen(field + name + 1);
        if (size > most) (void)(longest = field, *name_size = name, most = size);
        if (field[name] == ':') return longest; // It has no end yet, and is the last one.
        field += size + 2;
    }
}

/// Whether no zero byte cuts the target: if none does, the version follows, which the library has checked.
static inline int CMicroHTTPD_is_whole(const char *target) {
    return strncmp(target + strlen(target) + 1, "HTTP/1.", 7) == 0;
}

/// Keeps the library from writing `100 Continue`, to a request that was answered already or that has no body.
static inline void CMicroHTTPD_forget_expectation(struct MHD_Connection *connection) {
    const char *value = MHD_lookup_connection_value(connection, MHD_HEADER_KIND, MHD_HTTP_HEADER_EXPECT);
    if (value != NULL && *value != 0) *(char *)value = 0; // it is in the connection's own buffer
}
