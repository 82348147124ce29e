"""Requests whose end two readers could see in different places, each with another request hidden in it.

The visible request adds a task "outer", whatever its body. A hidden one adds a task "smuggled", or takes what another person sends
next on the same connection for its own. By RFC 9112 every hidden request here is part of a body, of a field or of a request that
must be refused, so none may be served.
"""

LINE = b"\r\n"


def hidden_requests(token):
    """What is hidden: a whole request, one that takes what follows for its body, and one that takes the next line for a field."""
    start = b"POST /api/tasks?task=smuggled HTTP/1.1\r\nHost: h\r\nAuthorization: Bearer " + token + LINE
    return {
        "a whole request": start + b"Content-Length: 0\r\n\r\n",
        "a request without its body": start + b"Content-Type: application/x-www-form-urlencoded\r\nContent-Length: 900\r\n\r\nx=",
        "a request without its last field": start + b"Content-Length: 0\r\nX-Rest: ",
    }


class Visible:
    """The visible request of a person, with the fields and the body of a framing."""

    def __init__(self, token):
        self.token = token

    def __call__(self, fields, body=b"", line=b"POST /api/tasks?task=outer HTTP/1.1", host=b"h", token=None):
        credentials = b"Authorization: Bearer " + (self.token if token is None else token)
        return LINE.join((line, b"Host: " + host, credentials, *fields, b"", b"")) + body


def length(number):
    return b"Content-Length: %d" % number


CHUNKED = b"Transfer-Encoding: chunked"

# Fields that one reader takes for chunked coding and another does not.
CODINGS = (
    CHUNKED, b"Transfer-Encoding : chunked", b"Transfer-Encoding:chunked", b"Transfer-Encoding:\tchunked", b"Transfer-Encoding: \x0bchunked",
    b"Transfer-Encoding: xchunked", b"Transfer-Encoding: chunkedx", b"Transfer-Encoding: CHUNKED", b"Transfer-Encoding: \"chunked\"",
    b"Transfer-Encoding: 'chunked'", b"Transfer-Encoding: chunked, identity", b"Transfer-Encoding: identity, chunked",
    b"Transfer-Encoding: gzip, chunked", b"Transfer-Encoding: chunked, chunked", b"Transfer-Encoding: ,chunked", b"Transfer-Encoding: chunked;a=b",
    b"Transfer-Encoding: chunked\r\nTransfer-Encoding: identity", b"Transfer-Encoding: identity\r\nTransfer-Encoding: chunked",
    b"Transfer-Encoding: x\r\nTransfer-Encoding: chunked", b"Transfer-Encoding:\r\n chunked", b"Transfer-Encoding\r\n : chunked",
    b"X: y\r\n Transfer-Encoding: chunked", b" Transfer-Encoding: chunked", b"X: y\nTransfer-Encoding: chunked", b"X: y\rTransfer-Encoding: chunked",
    b"X: y\x00\r\nTransfer-Encoding: chunked", b"Transfer-Encoding: chunked\x00", b"Transfer-Encoding\x00: chunked", b"Transfer-Encoding: chunked\x0c", b"Transfer-Encoding: chunked ", b"Transfer-Encoding: chunked\t",
    b"Transfer_Encoding: chunked", b"Transfer-Encoding: \xa0chunked", b"Connection: Transfer-Encoding\r\nTransfer-Encoding: chunked",
    b"Connection: Content-Length\r\nTransfer-Encoding: chunked", b"Transfer-Encoding: ", b"TE: chunked", b"\x00Transfer-Encoding: chunked",
)

# Lengths that are read as none, as 4 or as something else.
LENGTHS = (
    b"Content-Length: 4, %d", b"Content-Length: 4\r\nContent-Length: %d", b"Content-Length: %d\r\nContent-Length: 4", b"Content-Length: +%d",
    b"Content-Length: -%d", b"Content-Length: 0x%d", b"Content-Length: %d 4", b"Content-Length: 4 %d", b"Content-Length: %d;", b"Content-Length: %d.0",
    b"Content-Length: 1e%d", b"Content-Length : %d", b"Content-Length:\r\n %d", b"Content-Length: 4\r\n %d", b"Content_Length: %d", b"Content-Length: ",
    b"Content-Length: 18446744073709551616\r\nX: %d", b"Content-Length: 18446744073709551620\r\nX: %d", b"Content-Length: 9223372036854775808\r\nX: %d",
    b"Content-Length: %d\x00", b"Content-Length: \x00%d", b"X: y\nContent-Length: %d", b"X: y\rContent-Length: %d", b" Content-Length: %d",
    b"Content-Length: \"%d\"", b"Content-Length: ,%d", b"Content-Length: 4\nContent-Length: %d",
)

# Sizes of chunks and what may surround them.
SIZES = (b"0x%x", b"+%x", b"-%x", b" %x", b"%x ", b"%x\t", b"%x;", b"%x;a=b", b"%x;a=\"\r\n\"", b"%x;a\n", b"%x\n;", b"000000000000000000000000%x", b"1000000000000000%x",
         b"ffffffffffffffff%x", b"%x.0", b"%xg", b"\"%x\"", b"%x,0", b"%x\x00")


def codings(visible, hidden):
    """CL.TE, TE.CL and TE.TE."""
    for coding in CODINGS:
        name = repr(coding)[2:-1]
        ended = b"0\r\n\r\n" + hidden
        yield f"the length is right, the chunks end sooner: {name}", visible((length(len(ended)), coding), ended)
        size = b"%x\r\n" % len(hidden)
        yield f"the chunks are right, the length ends sooner: {name}", visible((coding, length(len(size))), size + hidden + b"\r\n0\r\n\r\n")


def lengths(visible, hidden):
    """CL.CL."""
    for form in LENGTHS:
        field = form % (4 + len(hidden)) if b"%d" in form else form
        yield f"lengths: {repr(form)[2:-1]}", visible((field,), b"a=bc" + hidden)


def chunks(visible, hidden):
    """Sizes, ends and trailers that one reader takes and another does not."""
    for form in SIZES:
        yield f"a chunk of size {repr(form)[2:-1]}", visible((CHUNKED,), form % len(hidden) + LINE + hidden + b"\r\n0\r\n\r\n")
    body = b"%x\r\n" % len(hidden) + hidden
    for name, rest in {
        "no line end after a chunk": b"0\r\n\r\n", "a bare LF after a chunk": b"\n0\r\n\r\n", "a bare CR after a chunk": b"\r0\r\n\r\n",
        "more than the size": b"ab\r\n0\r\n\r\n", "a length in a trailer": b"\r\n0\r\nContent-Length: 0\r\n\r\n",
        "a coding in a trailer": b"\r\n0\r\nTransfer-Encoding: chunked\r\n\r\n", "a host in a trailer": b"\r\n0\r\nHost: other\r\n\r\n",
        "a folded trailer": b"\r\n0\r\nX: y\r\n z\r\n\r\n", "a trailer without a colon": b"\r\n0\r\nX\r\n\r\n", "no last chunk": b"\r\n",
    }.items():
        yield f"chunks: {name}", visible((CHUNKED,), body + rest)
    yield "chunks: the hidden request in a trailer", visible((CHUNKED,), b"0\r\nX: y\r\n z: " + hidden.replace(LINE, b" ") + b"\r\n\r\n")


def versions(visible, hidden):
    """Old and unknown versions, whose bodies end otherwise."""
    for version in (b"HTTP/1.0", b"HTTP/0.9", b"HTTP/1.2", b"HTTP/01.1", b"HTTP/1.10", b"HTTP/2.0", b"http/1.1", b"HTTP/1.1 ", b""):
        line = b"POST /api/tasks?task=outer " + version
        name = version.decode() or "none"
        yield f"version {name}, kept, with a length", visible((b"Connection: keep-alive", length(len(hidden))), hidden, line)
        body = b"%x\r\n" % len(hidden) + hidden + b"\r\n0\r\n\r\n"
        yield f"version {name}, kept, in chunks", visible((b"Connection: keep-alive", CHUNKED), body, line)


def methods(visible, hidden):
    """Bodies where readers expect none."""
    for method in (b"GET", b"HEAD", b"DELETE", b"OPTIONS", b"TRACE", b"CONNECT", b"FROB"):
        line = method + b" /api/tasks?task=outer HTTP/1.1"
        yield f"{method.decode()} with a length", visible((length(len(hidden)),), hidden, line)
        yield f"{method.decode()} in chunks", visible((CHUNKED,), b"%x\r\n" % len(hidden) + hidden + b"\r\n0\r\n\r\n", line)


def refusals(visible, hidden):
    """Requests that are answered before their body is read: what comes is still their body."""
    for name, line, token in (("a bad token", b"POST /api/tasks HTTP/1.1", b"x"), ("no such page", b"POST /nowhere HTTP/1.1", None),
                              ("a wrong method", b"POST /api/me HTTP/1.1", None), ("a bad target", b"POST /%2f HTTP/1.1", None)):
        yield f"refused for {name}", visible((length(len(hidden)),), hidden, line, token=token)
        yield f"refused for {name}, in chunks", visible((CHUNKED,), b"%x\r\n" % len(hidden) + hidden + b"\r\n0\r\n\r\n", line, token=token)
        yield f"refused for {name}, 100-continue", visible((b"Expect: 100-continue", length(len(hidden))), hidden, line, token=token)
    yield "too long", visible((length(10**6),), hidden)


def heads(visible, hidden):
    """Targets, hosts, line ends, expectations, upgrades and hop-by-hop fields."""
    framed = (length(len(hidden)),)
    for line in (b"POST http://other/api/tasks?task=outer HTTP/1.1", b"POST http://h@other/api/tasks?task=outer HTTP/1.1", b"POST //other/api/tasks?task=outer HTTP/1.1",
                 b"POST /api/tasks?task=outer\x00 HTTP/1.1", b"POST /api/tasks?task=outer\t HTTP/1.1", b"POST\t/api/tasks?task=outer\tHTTP/1.1", b"POST  /api/tasks?task=outer  HTTP/1.1",
                 b"POST /api/tasks?task=outer HTTP/1.1 x", b"POST /api/tasks?task=outer HTTP/1.1\rX: y", b"\r\nPOST /api/tasks?task=outer HTTP/1.1", b"POST /api/tasks?task=outer#x HTTP/1.1"):
        yield f"line {repr(line)[2:-1]}", visible(framed, hidden, line)
    for host in (b"h\r\nHost: other", b"h:x", b"h other", b"[::1", b"", b"h\x00other", b"h/other", b"h,other"):
        yield f"host {repr(host)[2:-1]}", visible(framed, hidden, host=host)
    for field in (b"Connection: Content-Length", b"Connection: close, Content-Length", b"Connection: Host", b"Connection: Authorization", b"Keep-Alive: Content-Length", b"Proxy-Connection: keep-alive",
                  b"Expect: 100-continue", b"Expect: 100-continue\r\nExpect: 100-continue", b"Expect: x", b"Connection: Upgrade, HTTP2-Settings\r\nUpgrade: h2c\r\nHTTP2-Settings: AAMAAABkAARAAAAAAAIAAAAA",
                  b"Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Key: x", b"Upgrade: TLS/1.0", b"X: y\r\n\tz", b"X", b": y", b"X\x00: y", b"X: \x01", b"X-HTTP-Method-Override: DELETE"):
        yield f"field {repr(field)[2:-1]}", visible((field, *framed), hidden)
    for end in (b": y", b":", b"\x00", b"\x00X: y", b" ", b"\t", b"\r", b"X: \x00"):
        yield f"the hidden request in the head, after {repr(end)[2:-1]}", visible((end, hidden.rstrip()))
    whole = visible(framed, hidden)
    yield "bare LF everywhere", whole.replace(LINE, b"\n")
    yield "bare CR everywhere", whole.replace(LINE, b"\r")
    yield "the head ends in LF CR LF", whole.replace(b"\r\n\r\n", b"\n\r\n", 1)
    yield "the head ends in CR CR LF", whole.replace(b"\r\n\r\n", b"\r\n\r\r\n", 1)


def payloads(token):
    """All of them: name and bytes."""
    visible = Visible(token)
    for hiding, hidden in hidden_requests(token).items():
        for family in (codings, lengths, chunks, versions, methods, refusals, heads):
            for name, payload in family(visible, hidden):
                yield f"{family.__name__}: {name}, hiding {hiding}", payload
