#pragma once

#include <jansson.h>

// json_is_true, json_typeof and the object loop are macros, which Swift does not import.

static inline json_type cjansson_typeof(const json_t *value) { return json_typeof(value); }

// json_loadb neither keeps nor writes to `bytes`. Duplicate names are refused, U+0000 in strings is kept,
// and any value may stand at the top.
static inline json_t *cjansson_parse(const char *bytes, size_t count, json_error_t *error) {
    return json_loadb(bytes, count, JSON_REJECT_DUPLICATES | JSON_DECODE_ANY | JSON_ALLOW_NUL, error);
}

// Gives the reference back; a NULL is ignored. json_decref is inline already, but hides its type behind a macro.
static inline void cjansson_release(json_t *value) { json_decref(value); }
