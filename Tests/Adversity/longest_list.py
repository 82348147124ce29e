"""The longest list that one person may have: 10,000 tasks of 4,096 control characters, each six bytes in JSON."""
import itertools
import json

COUNT, TEXT = 10_000, "\x01" * 4096


def bring_in(server, owner):
    """Imports the list, which is faster than adding each task."""
    time = "2026-01-01T00:00:00.000Z"
    start = f'{{"owner":"{owner}","id":'
    end = f',"text":{json.dumps(TEXT)},"completed":false,"created":"{time}","modified":"{time}","revision":1}}'
    tasks = (start + str(number) + end for number in range(1, COUNT + 1))
    server.import_lines(itertools.chain(tasks, [f'{{"end":true,"tasks":{COUNT}}}']))
