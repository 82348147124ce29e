/* An API whose tokens libjwt 1 checks: it takes a key in PEM and checks the signature, so the rest is compared here. */
#include <jwt.h>
#include <stdio.h>
#include <time.h>

#include "api.h"

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

int main(void) {
    size = (int)fread(key, 1, sizeof key, fopen(getenv("KEY_FILE"), "r"));
    serve();
}
