"""A test of an API with mock-authority, which is in PATH, for pytest: copy `Authority`, and start your own API in `api`."""
import json
import os
import subprocess
from urllib.error import HTTPError
from urllib.parse import urlencode
from urllib.request import Request, urlopen

import pytest


def start(program, *arguments, **settings):
    """Starts a program; gives the process, and the JSON of the first line that it prints."""
    process = subprocess.Popen([program, *arguments], env={**os.environ, **settings}, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    return process, json.loads(process.stdout.readline())


class Authority:
    def __init__(self):
        # It ends with this process, however that ends. `ready` has issuers, users, clients.
        self.process, self.ready = start("mock-authority", "--listen", "127.0.0.1:0", "--print-ready", "--end-with-input")

    def token(self, user="alice", **query):
        return self.control(f"token?{urlencode({'user': user, **query})}")

    def control(self, name, body=None):
        return urlopen(f"{self.ready['controls']}/{name}", body and json.dumps(body).encode()).read().decode()


@pytest.fixture(scope="session")
def authority():
    yield (authority := Authority())
    authority.process.communicate()


@pytest.fixture(scope="session")
def api(authority):
    """Asks the API, which is task-server here, and gives the status of its answer."""
    ready = authority.ready
    server, line = start(
        "task-server", TASKS_AUTHORITY=f"{ready['address']}/{ready['tenant']}", TASKS_POLICIES="b2c_1_sign_in",
        TASKS_CLIENT_ID=ready["clients"][0]["id"], TASKS_LISTEN="127.0.0.1:0", TASKS_ADMIN_LISTEN="off", TASKS_DATABASE="memory:", TASKS_PUBLIC="off")

    def status(token):
        try:
            return urlopen(Request(f"http://{line['listen']}/api/tasks", headers={"Authorization": f"Bearer {token}"})).status
        except HTTPError as error:
            return error.code

    yield status
    server.kill()
    server.communicate()


def test_the_api_takes_a_good_token_and_refuses_bad_ones(authority, api):
    while (status := api(authority.token())) == 503:  # task-server has no keys yet
        pass
    assert status == 200
    for bad in ["expired", "wrong-aud", "bad-signature"]:
        assert api(authority.token(bad=bad)) == 401, bad
