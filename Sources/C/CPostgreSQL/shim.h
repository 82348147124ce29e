#pragma once

#include <libpq-fe.h>
#include <openssl/ssl.h>

// The codes of fields are character constants, which Swift imports as numbers of no type that the function takes. The text belongs to
// the result; NULL if the field is absent.
static inline const char *cpostgresql_sqlstate(const PGresult *result) {
    return PQresultErrorField(result, PG_DIAG_SQLSTATE);
}

static inline const char *cpostgresql_primary_message(const PGresult *result) {
    return PQresultErrorField(result, PG_DIAG_MESSAGE_PRIMARY);
}

static inline void cpostgresql_ignore_notice(void *context, const PGresult *result) {
    (void)context;
    (void)result;
}

// Else libpq prints notices, which may quote values, to standard error.
static inline void cpostgresql_silence_notices(PGconn *connection) {
    PQsetNoticeReceiver(connection, cpostgresql_ignore_notice, NULL);
}

// How many bytes of a TLS record lie decrypted in OpenSSL, where no socket tells of them; without TLS there is no SSL, and none do. The
// SSL belongs to the connection.
static inline int cpostgresql_pending(PGconn *connection) {
    SSL *ssl = (SSL *)PQsslStruct(connection, "OpenSSL");
    return ssl ? SSL_pending(ssl) : 0;
}
