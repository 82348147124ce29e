#pragma once
#include <microhttpd.h>
#include <netinet/in.h>
#include <stdarg.h>
#include <stdio.h>
#include <sys/eventfd.h>
#include <sys/socket.h>

// What Swift cannot say of libmicrohttpd: calls with a variable number of arguments, and a logger that takes a va_list.

typedef struct {
    void *context; // handed to every callback
    MHD_AccessHandlerCallback access;
    void *(*target)(void *context, const char *target, struct MHD_Connection *connection);
    MHD_RequestCompletedCallback completed;
    MHD_NotifyConnectionCallback connection;
    void (*line)(void *context, const char *line); // what the library has to say
    int socket; // bound and listening
    unsigned int loops;
    unsigned int connections;
    unsigned int per_address;
    size_t connection_memory;
    const char *certificates; // PEM, the leaf first; NULL for plain HTTP. Both are read until the daemon stops.
    const char *key;
} CMicroHTTPD_settings;

/// Escapes stay: the target is taken apart by the application, after it was split.
static inline size_t CMicroHTTPD_keep_escapes(void *context, struct MHD_Connection *connection, char *text) {
    (void)context;
    (void)connection;
    return __builtin_strlen(text);
}

static inline void CMicroHTTPD_log(void *settings, const char *format, va_list arguments) {
    const CMicroHTTPD_settings *s = (const CMicroHTTPD_settings *)settings;
    char line[512];
    // Four messages quote the path of a request, which is nobody's business in a log: they go out unformatted.
    int isQuoting = __builtin_strstr(format, "request for") != NULL;
    int length = isQuoting ? snprintf(line, sizeof line, "%s", format)
                           : vsnprintf(line, sizeof line, format, arguments);
    if (length < 0) return;
    if ((size_t)length >= sizeof line) length = sizeof line - 1;
    while (length > 0 && (line[length - 1] == '\n' || line[length - 1] == '\r')) line[--length] = 0;
    s->line(s->context, line);
}

/// Starts a daemon; the settings are read by its logger until it stops.
static inline struct MHD_Daemon *CMicroHTTPD_start(const CMicroHTTPD_settings *s) {
    const int isTLS = s->certificates != NULL && s->key != NULL;
    const struct MHD_OptionItem tls[] = {
        {isTLS ? MHD_OPTION_HTTPS_MEM_CERT : MHD_OPTION_END, 0, (void *)s->certificates},
        {MHD_OPTION_HTTPS_MEM_KEY, 0, (void *)s->key},
        {MHD_OPTION_HTTPS_PRIORITIES, 0, (void *)"NORMAL:-VERS-ALL:+VERS-TLS1.3:+VERS-TLS1.2"},
        {MHD_OPTION_END, 0, NULL},
    };
    return MHD_start_daemon(
        MHD_USE_EPOLL_INTERNAL_THREAD | MHD_ALLOW_SUSPEND_RESUME | MHD_USE_ITC | MHD_USE_ERROR_LOG |
            (isTLS ? MHD_USE_TLS : 0), 0, NULL, NULL,
        s->access, s->context,
        MHD_OPTION_EXTERNAL_LOGGER, CMicroHTTPD_log, (void *)s,
        MHD_OPTION_LISTEN_SOCKET, (MHD_socket)s->socket,
        MHD_OPTION_THREAD_POOL_SIZE, s->loops,
        MHD_OPTION_CONNECTION_LIMIT, s->connections,
        MHD_OPTION_PER_IP_CONNECTION_LIMIT, s->per_address,
        MHD_OPTION_CONNECTION_MEMORY_LIMIT, s->connection_memory,
        MHD_OPTION_CONNECTION_TIMEOUT, 0u, // idle time only, and our reaper measures more than that
        MHD_OPTION_URI_LOG_CALLBACK, s->target, s->context,
        MHD_OPTION_UNESCAPE_CALLBACK, CMicroHTTPD_keep_escapes, NULL,
        MHD_OPTION_NOTIFY_COMPLETED, s->completed, s->context,
        MHD_OPTION_NOTIFY_CONNECTION, s->connection, s->context,
        MHD_OPTION_ARRAY, tls, // copied while the daemon starts; the texts are not
        MHD_OPTION_END);
}

/// Lets the next Content-Length of an answer differ from the content.
static inline enum MHD_Result CMicroHTTPD_allow_wrong_length(struct MHD_Response *response) {
    return MHD_set_response_options(response, MHD_RF_INSANITY_HEADER_CONTENT_LENGTH, MHD_RO_END);
}

/// A descriptor on which nothing ever happens; -1 if the process may open no more files.
static inline int CMicroHTTPD_nothing(void) {
    return eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
}

static inline int CMicroHTTPD_socket(struct MHD_Connection *connection) {
    const union MHD_ConnectionInfo *info = MHD_get_connection_info(connection, MHD_CONNECTION_INFO_CONNECTION_FD);
    return info ? info->connect_fd : -1;
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
