"""The journey of test_generated_clients.py with the generated client for Python."""

import datetime
import os
import uuid

from todo import ApiClient, ApiException, Configuration, MeApi, NewTask, TaskChange, TaskPatch, TasksApi, TodoProblem


def refusal(request, **arguments):
    """Returns the problem with which a request is refused."""
    try:
        request(**arguments)
    except ApiException as error:
        problem = TodoProblem.from_json(error.body)
        assert problem.status == error.status
        return problem
    raise AssertionError("a request was not refused")


def connected(token):
    return ApiClient(Configuration(host=os.environ["TASKS_URL"], access_token=token))


client = connected(os.environ["ACCESS_TOKEN"])
tasks, now = TasksApi(client), datetime.datetime.now(datetime.timezone.utc)
person = MeApi(client).who_am_i()
assert person.expires > now

new, key = NewTask(task="Buy milk", due="2026-12-24", notes="Oat", position=2.5), str(uuid.uuid4())
added = tasks.add_task(new, idempotency_key=key)
assert (added.owner, added.task, added.completed) == (person.owner, "Buy milk", False)
assert (added.due, added.notes, added.position) == ("2026-12-24", "Oat", 2.5)
assert abs(added.var_date - now) < datetime.timedelta(minutes=1)
assert tasks.add_task(new, idempotency_key=key).id == added.id

seen = tasks.get_task_with_http_info(added.id)
tag = seen.headers["ETag"]
assert seen.data == added and tag
done = tasks.change_task(added.id, TaskPatch(completed=True), if_match=tag)
assert (done.completed, done.due, done.notes) == (True, "2026-12-24", "Oat")
stale = refusal(tasks.change_task, id=added.id, task_patch=TaskPatch(task="Buy bread"), if_match=tag)
assert (stale.code, stale.status) == ("task.changed", 412)
bare = tasks.change_task(added.id, TaskPatch(due=None))
assert (bare.due, bare.notes) == (None, "Oat")
# Code that makes a patch of a map writes null for whatever the map does not have.
kept = tasks.change_task(added.id, TaskPatch.from_dict({"completed": False}))
assert (kept.task, kept.completed, kept.notes, kept.position) == ("Buy milk", False, "Oat", 2.5)
barer = tasks.change_task(added.id, TaskPatch.from_dict({"completed": True, "remove": ["position"]}))
assert (barer.completed, barer.notes, barer.position) == (True, "Oat", None)

ids = [added.id] + [tasks.add_task(NewTask(task=text)).id for text in "abcd"]
changed = tasks.change_tasks([TaskChange(id=id, completed=True) for id in ids])
assert [(task.id, task.completed) for task in changed] == [(id, True) for id in ids]
unknown = refusal(tasks.change_tasks, task_change=[TaskChange(id=12345, completed=False)])
assert (unknown.ids, unknown.status) == ([12345], 404)

pages, after = [], 0
while after is not None:
    answer = tasks.list_tasks_with_http_info(limit=2, after=after)
    pages.append([task.id for task in answer.data])
    after = pages[-1][-1] if "Link" in answer.headers else None
assert pages == [ids[:2], ids[2:4], ids[4:]]

tasks.delete_task(added.id)
assert refusal(tasks.get_task, id=added.id).code == "task.not_found"
assert tasks.delete_completed_tasks(True).deleted == 4
assert tasks.list_tasks() == []

refused = refusal(TasksApi(connected("a.b.c")).list_tasks)
assert (refused.code, refused.status) == ("token.invalid", 401)
