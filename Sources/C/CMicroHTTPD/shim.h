#pragma once
#include <gnutls/gnutls.h>
#include <netinet/in.h>
#include <stdarg.h>
#include <stdio.h>
#include <sys/eventfd.h>
#include <sys/socket.h>

#include "internals.h"

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

/// The size of the header block with the request line; 0 where it is not known.
static inline size_t CMicroHTTPD_head_size(struct MHD_Connection *connection) {
    const union MHD_ConnectionInfo *info = MHD_get_connection_info(connection, MHD_CONNECTION_INFO_REQUEST_HEADER_SIZE);
    return info ? info->header_size : 0;
}

/// Keeps the library from sending a response in chunks; the connection ends after a response of unknown length.
static inline void CMicroHTTPD_forbid_chunks(struct MHD_Response *response) {
    (void)MHD_set_response_options(response, MHD_RF_HTTP_1_0_COMPATIBLE_STRICT, MHD_RO_END);
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
