/* An API whose tokens libjwt 1 checks: it takes a key in PEM and checks the signature, so the rest is compared here. */
#include <jwt.h>
#include <microhttpd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static unsigned char key[8192];
static int size;

static int is(jwt_t *jwt, const char *claim, const char *wanted) {
    const char *value = jwt_get_grant(jwt, claim);
    return value && strcmp(value, wanted) == 0;
}

static int is_good(const char *token) {
    jwt_t *jwt = NULL;
    if (jwt_decode(&jwt, token, key, size) != 0) return 0;
    long now = time(NULL);
    int good = jwt_get_alg(jwt) == JWT_ALG_RS256 && is(jwt, "iss", getenv("ISSUER")) && is(jwt, "aud", getenv("AUDIENCE"))
        && jwt_get_grant_int(jwt, "exp") > now && jwt_get_grant_int(jwt, "nbf") <= now;
    jwt_free(jwt);
    return good;
}

static enum MHD_Result answer(void *c, struct MHD_Connection *connection, const char *url, const char *method, const char *version,
                              const char *body, size_t *length, void **state) {
    const char *field = MHD_lookup_connection_value(connection, MHD_HEADER_KIND, "Authorization");
    int status = field && strncmp(field, "Bearer ", 7) == 0 && is_good(field + 7) ? 200 : 401;
    return MHD_queue_response(connection, status, MHD_create_response_from_buffer(0, NULL, MHD_RESPMEM_PERSISTENT));
}

int main(void) {
    size = (int)fread(key, 1, sizeof key, fopen(getenv("KEY_FILE"), "r"));
    MHD_start_daemon(MHD_USE_AUTO | MHD_USE_INTERNAL_POLLING_THREAD, (uint16_t)atoi(getenv("PORT")), NULL, NULL, answer, NULL, MHD_OPTION_END);
    pause();
}
