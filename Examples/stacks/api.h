/* The HTTP side of the APIs in C: a request with a bearer token that is good gets 200, any other 401. */
#include <microhttpd.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static int is_good(const char *token);

static enum MHD_Result answer(void *c, struct MHD_Connection *connection, const char *url, const char *method, const char *version,
                              const char *body, size_t *length, void **state) {
    const char *field = MHD_lookup_connection_value(connection, MHD_HEADER_KIND, "Authorization");
    int status = field && strncmp(field, "Bearer ", 7) == 0 && is_good(field + 7) ? 200 : 401;
    return MHD_queue_response(connection, status, MHD_create_response_from_buffer(0, NULL, MHD_RESPMEM_PERSISTENT));
}

static void serve(void) {
    MHD_start_daemon(MHD_USE_AUTO | MHD_USE_INTERNAL_POLLING_THREAD, (uint16_t)atoi(getenv("PORT")), NULL, NULL, answer, NULL, MHD_OPTION_END);
    pause();
}
