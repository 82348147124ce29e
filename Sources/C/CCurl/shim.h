#pragma once

#include <curl/curl.h>

// curl_easy_setopt and curl_easy_getinfo are variadic, which Swift cannot call; one inline function per type of argument
// keeps the types checked.

// libcurl copies the text (since 7.17.0).
static inline CURLcode ccurl_set_text(CURL *easy, CURLoption option, const char *text) {
    return curl_easy_setopt(easy, option, text);
}

static inline CURLcode ccurl_set_number(CURL *easy, CURLoption option, long number) {
    return curl_easy_setopt(easy, option, number);
}

// libcurl keeps the list: free it only after curl_easy_cleanup.
static inline CURLcode ccurl_set_request_fields(CURL *easy, struct curl_slist *fields) {
    return curl_easy_setopt(easy, CURLOPT_HTTPHEADER, fields);
}

// libcurl keeps `context` and hands it to every call of `receive`, which happen inside curl_multi_perform only.
static inline CURLcode ccurl_set_receiver(CURL *easy, curl_write_callback receive, void *context) {
    CURLcode result = curl_easy_setopt(easy, CURLOPT_WRITEFUNCTION, receive);
    return result ? result : curl_easy_setopt(easy, CURLOPT_WRITEDATA, context);
}

// libcurl keeps the buffer, of CURL_ERROR_SIZE bytes, and may write to it until curl_easy_cleanup.
static inline CURLcode ccurl_set_error_buffer(CURL *easy, char *buffer) {
    return curl_easy_setopt(easy, CURLOPT_ERRORBUFFER, buffer);
}

static inline CURLcode ccurl_get_status(CURL *easy, long *status) {
    return curl_easy_getinfo(easy, CURLINFO_RESPONSE_CODE, status);
}

// Whether the one transfer of this multi handle has ended, and how.
static inline int ccurl_ended(CURLM *multi, CURLcode *result) {
    int left = 0;
    CURLMsg *message = curl_multi_info_read(multi, &left);
    if (message == NULL || message->msg != CURLMSG_DONE) return 0;
    *result = message->data.result;
    return 1;
}

// A field of this name in the answer, counted from 0, or NULL. The text is libcurl's and lives until the next call about fields.
static inline const char *ccurl_field(CURL *easy, const char *name, size_t index) {
    struct curl_header *field = NULL;
    return curl_easy_header(easy, name, index, CURLH_HEADER, -1, &field) == CURLHE_OK ? field->value : NULL;
}
