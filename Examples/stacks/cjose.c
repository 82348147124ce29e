/* An API whose tokens cjose checks: it takes one key as JSON and checks the signature, so the rest is compared here. */
#include <cjose/cjose.h>
#include <jansson.h>
#include <time.h>

#include "api.h"

static cjose_jwk_t *key;
static int is(json_t *object, const char *member, const char *wanted) {
    const char *value = json_string_value(json_object_get(object, member));
    return value && strcmp(value, wanted) == 0;
}
static int is_good(const char *token) {
    uint8_t *text = NULL;
    size_t size = 0;
    cjose_jws_t *jws = cjose_jws_import(token, strlen(token), NULL);
    int good = jws && is((json_t *)cjose_jws_get_protected(jws), "alg", "RS256") && cjose_jws_verify(jws, key, NULL)
        && cjose_jws_get_plaintext(jws, &text, &size, NULL);
    json_t *claims = good ? json_loadb((char *)text, size, 0, NULL) : NULL;
    good = is(claims, "iss", getenv("ISSUER")) && is(claims, "aud", getenv("AUDIENCE"))
        && json_integer_value(json_object_get(claims, "exp")) > time(NULL)
        && json_integer_value(json_object_get(claims, "nbf")) <= time(NULL);
    json_decref(claims);
    cjose_jws_release(jws);
    return good;
}

int main(void) {
    key = cjose_jwk_import_json((cjose_header_t *)json_load_file(getenv("KEY_FILE"), 0, NULL), NULL);
    serve();
}
