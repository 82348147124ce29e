"""What schemathesis shall not try, because a schema cannot say what is right then."""

import os
import re

import schemathesis
import schemathesis.core

WHOLE = 2**63
DETAILS = {"due", "notes", "position", "repeat"}
NAMES = {"task", "completed"} | DETAILS


def fits(value):
    """Whether all integers in a body have 64 bits."""
    if isinstance(value, dict):
        return all(fits(member) for member in value.values())
    if isinstance(value, list):
        return all(fits(member) for member in value)
    return not isinstance(value, int) or -WHOLE <= value < WHOLE


def is_lenient(body, names):
    """Whether the body has what the introduction calls lenient readings, or members without a schema, which are ignored."""
    if isinstance(body, list):
        return any(is_lenient(element, names) for element in body)
    members = body if isinstance(body, dict) else {}
    text, done = members.get("task", ""), members.get("completed")
    return (not names.issuperset(members) or text is None or isinstance(text, (bool, int, float))
            or isinstance(done, str) and done.lower() in ("true", "false"))


def names_of(operation):
    """The members that the schema of the body has."""
    many = {"id", "ifMatch"} if operation.path == "/api/tasks" else set()
    return NAMES if operation.method == "post" else NAMES | {"remove", "completedOn"} | many


def misnames(body):
    """Whether a list of changes names a task twice, or with a fraction: 7.0 is an integer to JSON Schema, but no id."""
    ids = [element.get("id") for element in body if isinstance(element, dict)] if isinstance(body, list) else []
    return any(isinstance(id, float) or ids.count(id) > 1 for id in ids)


@schemathesis.hook
def filter_body(context, body):
    # What adds a task ignores a completed that is no truth value, and a detail that is null.
    ignored = isinstance(body, dict) and context.operation.method == "post" and (
        not isinstance(body.get("completed", True), bool) or any(name in body and body[name] is None for name in DETAILS))
    return fits(body) and not (is_lenient(body, names_of(context.operation)) or misnames(body) or ignored)


@schemathesis.hook
def before_call(context, case, kwargs):
    """Somebody else deletes everything, since a token from before a deletion adds nothing for the other requests."""
    if case.method == "DELETE" and case.operation.path == "/api/me" and "Authorization" in kwargs.get("headers", {}):
        kwargs["headers"]["Authorization"] = f"Bearer {os.environ['LEAVING']}"


@schemathesis.hook
def filter_case(context, case):
    """Leaves out what only old clients send (docs/internals/clients.md).

    A word in the place of an id stands for the whole list, and an integer beyond 64 bits for no task. A deletion that does not say
    which tasks are meant deletes nothing. A made-up point in the changes is refused. The greatest list that the schema allows is made of one
    change, as often as that.
    """
    parameters, query = case.path_parameters or {}, case.query if isinstance(case.query, dict) else {}
    id = str(parameters.get("id", 1))
    if not re.fullmatch("[-+]?[0-9]+", id) or not fits(int(id)):
        return False
    if case.method == "DELETE" and case.operation.path == "/api/tasks" and str(query.get("completed")).lower() not in ("true", "false"):
        return False
    if "since" in query:
        return False
    return case.body is schemathesis.core.NOT_SET or not misnames(case.body)
