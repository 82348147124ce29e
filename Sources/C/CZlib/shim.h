#pragma once

#include <stdint.h>
#include <zlib.h>

// deflateInit2 is a macro, which Swift does not import. zlib reads `input` and writes at most `capacity` bytes during
// the call, and keeps neither; what it allocates it frees. 16 more window bits mean the gzip format (RFC 1952).
// 0 where the result does not fit or memory ran out, otherwise its size.
static inline uint32_t czlib_gzip(
    const uint8_t *input, uint32_t count, uint8_t *output, uint32_t capacity, int level, int window_bits) {
    z_stream stream = {0};
    if (deflateInit2(&stream, level, Z_DEFLATED, 16 + window_bits, window_bits - 7, Z_DEFAULT_STRATEGY) != Z_OK) return 0;
    stream.next_in = (Bytef *)input;
    stream.avail_in = count;
    stream.next_out = output;
    stream.avail_out = capacity;
    int result = deflate(&stream, Z_FINISH);
    uint32_t size = capacity - stream.avail_out;
    deflateEnd(&stream);
    return result == Z_STREAM_END ? size : 0;
}
