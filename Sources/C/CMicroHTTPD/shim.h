#pragma once
#include <dlfcn.h>
#include <gnutls/gnutls.h>
#include <link.h>
#include <microhttpd.h>
#include <netinet/in.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

// The parts of libmicrohttpd that Swift cannot call: functions with a variable number of arguments, and a logger that
// takes a va_list.

typedef struct {
    void *context; // handed to every callback
    MHD_AccessHandlerCallback access;
    void *(*target)(void *context, const char *target, struct MHD_Connection *connection);
    MHD_RequestCompletedCallback completed;
    MHD_NotifyConnectionCallback connection;
    void (*line)(void *context, const char *format, const char *line); // a message of the library
    unsigned int loops;
    unsigned int connections; // of each loop
    size_t connection_memory;
    const char *certificates; // PEM, the leaf first; NULL for plain HTTP. Both are read until the daemon stops.
    const char *key;
} CMicroHTTPD_settings;

/// Keeps escapes: the application decodes the target after it has split it.
static inline size_t CMicroHTTPD_keep_escapes(void *context, struct MHD_Connection *connection, char *text) {
    (void)context;
    (void)connection;
    return strlen(text);
}

static inline void CMicroHTTPD_log(void *settings, const char *format, va_list arguments) {
    const CMicroHTTPD_settings *s = (const CMicroHTTPD_settings *)settings;
    char line[512];
    // Four messages quote the path of a request, which must not be in a log: they are passed on unformatted.
    int isQuoting = strstr(format, "request for") != NULL;
    int length = isQuoting ? snprintf(line, sizeof line, "%s", format)
                           : vsnprintf(line, sizeof line, format, arguments);
    if (length < 0) return;
    if ((size_t)length >= sizeof line) length = sizeof line - 1;
    while (length > 0 && (line[length - 1] == '\n' || line[length - 1] == '\r')) line[--length] = 0;
    s->line(s->context, format, line);
}

/// Mozilla's intermediate configuration, without its DHE suites, as a priority string of GnuTLS. It begins with NONE, so
/// that an update of GnuTLS adds nothing to it.
#define CMICROHTTPD_PRIORITIES \
    "NONE:+VERS-TLS1.3:+VERS-TLS1.2:+ECDHE-ECDSA:+ECDHE-RSA:+AES-128-GCM:+AES-256-GCM:+CHACHA20-POLY1305:+AEAD:" \
    "+GROUP-X25519:+GROUP-SECP256R1:+GROUP-SECP384R1:+SIGN-ECDSA-SECP256R1-SHA256:+SIGN-ECDSA-SECP384R1-SHA384:" \
    "+SIGN-ECDSA-SHA256:+SIGN-ECDSA-SHA384:+SIGN-ECDSA-SHA512:+SIGN-RSA-PSS-RSAE-SHA256:+SIGN-RSA-PSS-RSAE-SHA384:" \
    "+SIGN-RSA-PSS-RSAE-SHA512:+SIGN-RSA-SHA256:+SIGN-RSA-SHA384:+SIGN-RSA-SHA512"

/// Whether the library is 1.0 or newer, which may be another one than that whose header was compiled.
static inline int CMicroHTTPD_is_one(void) { return MHD_get_version()[0] != '0'; }

/// The `memset` of libmicrohttpd, see `CMicroHTTPD_spare_pages`.
static inline void *CMicroHTTPD_memset(void *bytes, int value, size_t size) {
    return size < 4096 ? memset(bytes, value, size) : bytes;
}

/// Keeps libmicrohttpd from zeroing the memory of a connection after each request, which touches every page of it: an idle
/// connection would keep the room for the longest head.
///
/// The library says that this is not needed ("safer to zero out"), and it zeroes nothing else of this size. So its entry
/// for `memset` in the table of foreign functions is replaced, once and before the first daemon starts. Where there is no
/// such entry, idle connections are dearer.
static inline void CMicroHTTPD_spare_pages(void) {
    for (const struct link_map *map = _r_debug.r_map; map != NULL; map = map->l_next) {
        if (strstr(map->l_name, "libmicrohttpd.so") == NULL) continue;
        const ElfW(Sym) *symbols = NULL;
        const char *names = NULL;
        const ElfW(Rela) *tables[2] = {NULL, NULL};
        size_t sizes[2] = {0, 0};
        int isBound = 0; // Every entry has its function from the start, so nothing else is written to the table later.
        for (const ElfW(Dyn) *entry = map->l_ld; entry->d_tag != DT_NULL; entry++) {
            switch (entry->d_tag) {
            case DT_SYMTAB: symbols = (const ElfW(Sym) *)entry->d_un.d_ptr; break;
            case DT_STRTAB: names = (const char *)entry->d_un.d_ptr; break;
            case DT_RELA: tables[0] = (const ElfW(Rela) *)entry->d_un.d_ptr; break;
            case DT_RELASZ: sizes[0] = entry->d_un.d_val; break;
            case DT_JMPREL: tables[1] = (const ElfW(Rela) *)entry->d_un.d_ptr; break;
            case DT_PLTRELSZ: sizes[1] = entry->d_un.d_val; break;
            case DT_FLAGS: isBound = (entry->d_un.d_val & DF_BIND_NOW) != 0; break;
            }
        }
        for (int table = 0; table < 2 && isBound && symbols != NULL && names != NULL; table++) {
            for (size_t index = 0; index < sizes[table] / sizeof(ElfW(Rela)); index++) {
                const ElfW(Rela) *relocation = &tables[table][index];
                if (strcmp(names + symbols[ELF64_R_SYM(relocation->r_info)].st_name, "memset") != 0) continue;
                void **slot = (void **)(map->l_addr + relocation->r_offset);
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

/// Starts a daemon that is given its connections; the settings are read by its logger until it stops.
static inline struct MHD_Daemon *CMicroHTTPD_start(const CMicroHTTPD_settings *s) {
    const int isTLS = s->certificates != NULL && s->key != NULL;
    const struct MHD_OptionItem tls[] = {
        {isTLS ? MHD_OPTION_HTTPS_MEM_CERT : MHD_OPTION_END, 0, (void *)s->certificates},
        {MHD_OPTION_HTTPS_MEM_KEY, 0, (void *)s->key},
        {MHD_OPTION_HTTPS_PRIORITIES, 0, (void *)CMICROHTTPD_PRIORITIES},
        {MHD_OPTION_END, 0, NULL},
    };
    return MHD_start_daemon(
        MHD_USE_EPOLL_INTERNAL_THREAD | MHD_ALLOW_SUSPEND_RESUME | MHD_USE_ITC | MHD_USE_ERROR_LOG |
            MHD_USE_NO_LISTEN_SOCKET | (isTLS ? MHD_USE_TLS : 0), 0, NULL, NULL,
        s->access, s->context,
        MHD_OPTION_EXTERNAL_LOGGER, CMicroHTTPD_log, (void *)s,
        MHD_OPTION_THREAD_POOL_SIZE, s->loops,
        MHD_OPTION_CONNECTION_LIMIT, s->connections * s->loops, // the library divides it over the loops
        MHD_OPTION_CONNECTION_MEMORY_LIMIT, s->connection_memory,
        MHD_OPTION_CONNECTION_TIMEOUT, 0u, // idle time only; DeadlineEnforcer.swift measures more than that
        // 1.0 takes folded lines, tabs and bare line feeds unless it is strict, and redirects a target with a blank. 0.9
        // is not strict, because then it answers a missing Host with two heads.
        MHD_OPTION_STRICT_FOR_CLIENT, CMicroHTTPD_is_one(),
        MHD_OPTION_URI_LOG_CALLBACK, s->target, s->context,
        MHD_OPTION_UNESCAPE_CALLBACK, CMicroHTTPD_keep_escapes, NULL,
        MHD_OPTION_NOTIFY_COMPLETED, s->completed, s->context,
        MHD_OPTION_NOTIFY_CONNECTION, s->connection, s->context,
        MHD_OPTION_ARRAY, tls, // copied while the daemon starts; the texts are not
        MHD_OPTION_END);
}

/// Adds field lines that are written already, each with its CRLF: as one field of the library, which otherwise allocates,
/// checks, sends and frees each by itself. 0 where there is no memory, or no line.
///
/// The library refuses a value with a CRLF. So it is given one of the same length, and its copy, which it sends as it is,
/// is written over. The lines must be sound, and none may be `Connection`, `Date` or of the framing, which the library
/// treats in a way of their own.
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

/// Accepts a connection that does not block and that children do not inherit; -1 and `errno` where there is none.
static inline int CMicroHTTPD_accept(int listening, struct sockaddr *address, socklen_t *size) {
    extern int accept4(int, struct sockaddr *, socklen_t *, int); // a GNU extension, which the headers hide here
    return accept4(listening, address, size, SOCK_CLOEXEC | SOCK_NONBLOCK);
}

/// A descriptor that becomes readable with the next call of `CMicroHTTPD_wake`; -1 and `errno` where there is none.
static inline int CMicroHTTPD_wakeup(void) { return eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK); }

static inline void CMicroHTTPD_wake(int wakeup) { (void)eventfd_write(wakeup, 1); }

static inline int CMicroHTTPD_socket(struct MHD_Connection *connection) {
    const union MHD_ConnectionInfo *info = MHD_get_connection_info(connection, MHD_CONNECTION_INFO_CONNECTION_FD);
    return info ? info->connect_fd : -1;
}

/// Keeps the library from parsing the query, for which it needs memory of the connection for each argument: where that
/// is too little, it neither answers nor closes. It looks at what follows the `?` only after the target was handed
/// over.
static inline void CMicroHTTPD_hide_query(const char *target) {
    char *query = strchr(target, '?');
    if (query != NULL) query[1] = 0; // it is in the connection's own buffer
}

/// Keeps the library from parsing cookies, of which it makes a copy in the memory of the connection: it finds an empty
/// `Cookie` before those of the client. This field has no value, as no other has.
static inline void CMicroHTTPD_hide_cookies(struct MHD_Connection *connection) {
    (void)MHD_set_connection_value_n(connection, MHD_HEADER_KIND, MHD_HTTP_HEADER_COOKIE, 6, NULL, 0);
}

/// The longest field that the library has read behind this request line, also without its end: its name and the length of
/// that; NULL where none is certain.
///
/// The library has ended each name and value with zeros. The note about the field of `CMicroHTTPD_hide_cookies` ends the
/// memory of the connection, so zeros are found in any case.
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

/// The size of the header block with the request line; 0 where it is not known.
static inline size_t CMicroHTTPD_head_size(struct MHD_Connection *connection) {
    const union MHD_ConnectionInfo *info = MHD_get_connection_info(connection, MHD_CONNECTION_INFO_REQUEST_HEADER_SIZE);
    return info ? info->header_size : 0;
}

/// Keeps the library from sending a response in chunks; the connection ends after a response of unknown length.
static inline void CMicroHTTPD_forbid_chunks(struct MHD_Response *response) {
    (void)MHD_set_response_options(response, MHD_RF_HTTP_1_0_COMPATIBLE_STRICT, MHD_RO_END);
}

/// libmicrohttpd's own `MHD_queue_response`, not the one of this program; see `queueRefusalOfLibrary`.
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

/// The TLS session of a connection; NULL where it is plain HTTP.
static inline gnutls_session_t CMicroHTTPD_session(struct MHD_Connection *connection) {
    const union MHD_ConnectionInfo *info = MHD_get_connection_info(connection, MHD_CONNECTION_INFO_GNUTLS_SESSION);
    return info ? (gnutls_session_t)info->tls_session : NULL;
}

/// Reads certificates and their key in PEM for later connections; NULL where GnuTLS cannot use them.
static inline gnutls_certificate_credentials_t CMicroHTTPD_credentials(const char *certificates, const char *key) {
    gnutls_certificate_credentials_t credentials;
    if (gnutls_certificate_allocate_credentials(&credentials) != GNUTLS_E_SUCCESS) return NULL;
    const gnutls_datum_t chain = {(unsigned char *)certificates, (unsigned int)strlen(certificates)};
    const gnutls_datum_t secret = {(unsigned char *)key, (unsigned int)strlen(key)}; // both are copied
    if (gnutls_certificate_set_x509_key_mem(credentials, &chain, &secret, GNUTLS_X509_FMT_PEM) >= 0) return credentials;
    gnutls_certificate_free_credentials(credentials);
    return NULL;
}

/// Gives other credentials to a connection whose handshake has not begun; they must live as long as the connection.
static inline void CMicroHTTPD_use_credentials(
    struct MHD_Connection *connection, gnutls_certificate_credentials_t credentials) {
    const gnutls_session_t session = CMicroHTTPD_session(connection);
    if (session != NULL) (void)gnutls_credentials_set(session, GNUTLS_CRD_CERTIFICATE, credentials);
}

/// Writes what the socket takes now, through TLS where the connection has it: the number of bytes, or less than 1.
///
/// Only on the loop of the connection, which is the thread of its TLS session.
static inline ssize_t CMicroHTTPD_write(struct MHD_Connection *connection, const void *bytes, size_t count) {
    const gnutls_session_t session = CMicroHTTPD_session(connection);
    if (session != NULL) return gnutls_record_send(session, bytes, count);
    return send(CMicroHTTPD_socket(connection), bytes, count, MSG_NOSIGNAL | MSG_DONTWAIT);
}

/// Ends our half of the connection; the other half can still be read.
static inline void CMicroHTTPD_end_writing(struct MHD_Connection *connection) {
    const gnutls_session_t session = CMicroHTTPD_session(connection);
    if (session != NULL) (void)gnutls_bye(session, GNUTLS_SHUT_WR);
    (void)shutdown(CMicroHTTPD_socket(connection), SHUT_WR);
}

/// Keeps the library from writing `100 Continue`, to a request that was answered already or that has no body.
static inline void CMicroHTTPD_forget_expectation(struct MHD_Connection *connection) {
    const char *value = MHD_lookup_connection_value(connection, MHD_HEADER_KIND, MHD_HTTP_HEADER_EXPECT);
    if (value != NULL && *value != 0) *(char *)value = 0; // it is in the connection's own buffer
}

/// How many bytes the other end of a connection has acknowledged; -1 if the system does not say.
static inline long long CMicroHTTPD_acknowledged(int socket) {
    // The beginning of Linux's struct tcp_info (linux/tcp.h, since 4.1), which glibc knows without its later members.
    struct {
        unsigned char before[120];
        unsigned long long bytes_acked;
    } info;
    socklen_t size = sizeof info;
    if (getsockopt(socket, IPPROTO_TCP, 11 /* TCP_INFO */, &info, &size) != 0 || size < sizeof info) return -1;
    return (long long)info.bytes_acked;
}

static inline void *CMicroHTTPD_socket_context(struct MHD_Connection *connection) {
    const union MHD_ConnectionInfo *info = MHD_get_connection_info(connection, MHD_CONNECTION_INFO_SOCKET_CONTEXT);
    return info ? info->socket_context : NULL;
}

static inline const struct sockaddr *CMicroHTTPD_peer(struct MHD_Connection *connection) {
    const union MHD_ConnectionInfo *info = MHD_get_connection_info(connection, MHD_CONNECTION_INFO_CLIENT_ADDRESS);
    return info ? info->client_addr : NULL;
}
