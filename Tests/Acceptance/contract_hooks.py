"""What schemathesis shall not try, because a schema cannot say what is right then."""

import re

import schemathesis
import schemathesis.core

WHOLE = 2**63
NAMES = {"task", "completed", "due", "notes", "position"}


def fits(value):
    """Whether all integers in a body have 64 bits."""
    if isinstance(value, dict):
        return all(fits(member) for member in value.values())
    if isinstance(value, list):
        return all(fits(member) for member in value)
    return not isinstance(value, int) or -WHOLE <= value < WHOLE


def is_lenient(body):
    """Whether the body has what the introduction calls lenient readings, which the schemas leave out."""
    if isinstance(body, list):
        return any(is_lenient(element) for element in body)
    members = {name.lower(): value for name, value in body.items()} if isinstance(body, dict) else {}
    texts = [members[name] for name in ("task", "text") if name in members]
    done = members.get("completed")
    # Under a name that the schemas do not have, a value may be wrong all the same.
    hidden = isinstance(body, dict) and any(name.lower() in NAMES | {"text"} and name not in NAMES for name in body)
    return (hidden or any(text is None or isinstance(text, (bool, int, float)) for text in texts)
            or isinstance(done, str) and done.lower() in ("true", "false"))


def breaks_headers(body):
    """Whether the name of a member cannot be written into a header field of multipart/form-data without escapes, of which there are
    several kinds (RFC 7578 section 2)."""
    return isinstance(body, dict) and any(not name.isprintable() or set(name) & set('"\\') for name in body)


def misnames(body):
    """Whether a list of changes names a task twice, or with a fraction: 7.0 is an integer to JSON Schema, but no id."""
    ids = [element.get("id") for element in body if isinstance(element, dict)] if isinstance(body, list) else []
    return any(isinstance(id, float) or ids.count(id) > 1 for id in ids)


@schemathesis.hook
def filter_body(context, body):
    # What adds a task ignores a completed that is no truth value.
    ignored = isinstance(body, dict) and context.operation.method == "post" and not isinstance(body.get("completed", True), bool)
    return fits(body) and not (is_lenient(body) or misnames(body) or breaks_headers(body) or ignored)


@schemathesis.hook
def filter_case(context, case):
    """Where a text in the query or the id of a task decides, the body is not looked at: it cannot be wrong.

    The greatest list that the schema allows is made of one change, as often as that. A word in the place of an id deletes by a text,
    which no If-Match can guard.
    """
    decides_query = isinstance(case.query, dict) and case.query.get("task")
    id = str((case.path_parameters or {}).get("id", ""))
    decides_id = case.method == "DELETE" and re.fullmatch("[-+]?[0-9]+", id)
    if case.method == "DELETE" and id and not decides_id and "If-Match" in (case.headers or {}):
        return False
    return case.body is schemathesis.core.NOT_SET or not (
        decides_query or decides_id or misnames(case.body) or breaks_headers(case.body))
