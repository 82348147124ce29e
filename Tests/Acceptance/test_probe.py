"""`mock-authority probe` against task-server, and against small APIs that do not check what they should."""

import contextlib
import json
import re
import signal
import subprocess
import threading
import unittest
import xml.etree.ElementTree

import jwt

from servers import CLIENT, EXTERNAL_TENANT, ROOT, TENANT, Handler, Servers, claims_of, free_port, serving

OTHER_CLIENT = "client-f1d2c3b4-0a5e-4b6f-8c7d-9e0f1a2b3c4d"
OTHER_TENANTS = [EXTERNAL_TENANT, "f4b51ca0-7d2e-4c3b-8a19-5e6f7d8c9b0a", "0e7a5d3c-4b2f-4a61-9c8d-3f2e1d0c9b8a"]
WRONGLY_SIGNED = {
    "unpublished-key", "other-key-same-kid", "retired-key", "bad-signature", "truncated", "alg-none", "hs256-with-public-key", "withdrawn-key",
    "unpublished-key-in-outage", "retired-key-in-outage", *(f"key-of-{tenant}" for tenant in OTHER_TENANTS)}
FOR_OTHERS_OR_TOO_OLD = {"wrong-aud", OTHER_CLIENT, "expired", "no-exp"}
OTHERWISE_WRONG = {"not-yet-valid", "wrong-iss", "wrong-tenant", "iss-without-slash", "typ-other", "crit-header", "not-json"}
# No standard forbids them, and PyJWT accepts them.
LEFT_TO_THE_API = {"aud-array", "wrong-policy", "no-policy", "huge"}


class ProbeTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        # No other test shares them, because the probe changes the keys.
        cls.servers = Servers()
        cls.addClassCleanup(cls.servers.stop)

    def command(self, *arguments):
        program = str(ROOT / ".build/debug/mock-authority")
        return [program, "probe", "--authority", self.servers.authority, *arguments]

    def probe(self, *arguments):
        """Probes, and again if the mock took longer than the five seconds that the probe gives it, as on a busy machine."""
        for _ in range(20):
            done = subprocess.run(self.command(*arguments), capture_output=True, text=True, timeout=180, check=False)
            if "milliseconds with 0 bytes received" not in done.stderr:
                break
        return done

    def api(self, check, refusal=401):
        """The URL of a resource that answers a request whose token and fields `check` takes; `check` raises an error for others."""
        class Resource(Handler):
            def do_GET(self):
                scheme, _, token = self.headers.get("Authorization", "").partition(" ")
                status = refusal
                with contextlib.suppress(jwt.PyJWTError, ValueError, KeyError):
                    if scheme == "Bearer":
                        status = check(token, self.headers) or 200
                self.answer(status)

        return f"http://127.0.0.1:{self.enterContext(serving(Resource))}/api/orders"

    def results(self, *arguments):
        """The names of what was accepted wrongly, and of what is noted."""
        done = self.probe("--format", "json", *arguments)
        self.assertIn(done.returncode, (0, 1), done)
        report = json.loads(done.stdout)
        wrong, noted = ({row["name"] for row in report["results"] if row["verdict"] == verdict} for verdict in ["accepted wrongly", "noted"])
        self.assertEqual((report["accepted"], done.returncode), (len(wrong), 1 if wrong else 0))
        return wrong, noted

    def verify(self, token, unchecked=(), algorithms=("RS256",)):
        """Checks a token as an API should, except for what is not to be checked. It has the keys of this moment."""
        header = jwt.get_unverified_header(token)
        if header.get("typ") != "JWT" or "crit" in header:
            raise ValueError(header)
        key = None
        if "signature" not in unchecked:
            keys = f"{self.servers.authority}/{TENANT}/b2c_1_sign_in/discovery/v2.0/keys"
            key = jwt.PyJWKClient(keys).get_signing_key_from_jwt(token).key
        options = {f"verify_{name}": name not in unchecked for name in ["signature", "aud", "exp", "nbf", "iss"]}
        options["require"] = [name for name in ["exp", "aud"] if name not in unchecked]
        jwt.decode(token, key, algorithms=list(algorithms), audience=CLIENT, issuer=self.issuer, options=options)
        # PyJWT takes a text of digits for the time.
        if "exp" not in unchecked and not isinstance(claims_of(token)["exp"], int):
            raise ValueError("exp is no number")

    @property
    def issuer(self):
        return claims_of(self.servers.token())["iss"]

    def test_task_server_accepts_nothing_wrong(self):
        with self.servers.another_page(TASKS_READ_SCOPE="tasks.read", TASKS_WRITE_SCOPE="tasks.write") as page:
            done = self.probe(f"{page}/api/tasks", "--scope", "tasks.read")
        self.assertEqual((done.returncode, done.stdout.count("Note:")), (0, 0), done)
        # The mock has 27 bad tokens of B2C that are always refused, and the probe 10 of its own.
        sent = re.fullmatch(r"Of (\d+) requests, the API accepted none that it should refuse\.\n", done.stdout)
        self.assertGreaterEqual(int(sent[1]), 37)

    def test_an_api_that_checks_everything_has_notes_only(self):
        api = self.api(lambda token, _: self.verify(token))
        wrong, noted = self.results(api)
        self.assertTrue(wrong.isdisjoint(WRONGLY_SIGNED | FOR_OTHERS_OR_TOO_OLD | OTHERWISE_WRONG), wrong)
        self.assertLessEqual(LEFT_TO_THE_API | {"known-key-in-outage"}, noted)

    def test_an_api_that_does_not_verify_the_signature(self):
        api = self.api(lambda token, _: self.verify(token, ["signature"]))
        wrong, _ = self.results(api)
        self.assertLessEqual(WRONGLY_SIGNED, wrong)
        self.assertTrue(wrong.isdisjoint(FOR_OTHERS_OR_TOO_OLD | OTHERWISE_WRONG), wrong)

    def test_the_documents_show_what_the_probe_prints(self):
        printed = self.probe(self.api(lambda token, _: self.verify(token, ["aud"]))).stdout
        page = (ROOT / "docs/mock-authority.md").read_text()
        shown = " ".join(re.search(r"^ *```text\n( *ACCEPTED: .*?)```", page, re.M | re.S)[1].split())
        found = " ".join(" ".join(line for line in printed.splitlines() if not line.startswith("Note:")).split())
        self.assertRegex(found, ".*".join(map(re.escape, shown.split("…"))) + "$", printed)
        self.assertTrue(found.startswith(shown.split("…")[0].strip()), printed)

    def test_an_api_that_checks_neither_audience_nor_expiry(self):
        api = self.api(lambda token, _: self.verify(token, ["aud", "exp"]))
        wrong, _ = self.results(api)
        self.assertLessEqual(FOR_OTHERS_OR_TOO_OLD, wrong)
        self.assertTrue(wrong.isdisjoint(WRONGLY_SIGNED | OTHERWISE_WRONG), wrong)
        self.assertEqual(self.results(api, "--trusts", OTHER_CLIENT.removeprefix("client-"))[0], wrong - {OTHER_CLIENT})
        text = self.probe(api)
        self.assertEqual(text.returncode, 1)
        self.assertIn(
            "ACCEPTED: The API answered 200 to wrong-aud (aud is another application). Every other application to which a user signs in can "
            "use this API in the name of that user. That breaks RFC 7519 section 4.1.3, and RFC 8725 section 3.9.\n", text.stdout)
        self.assertTrue(text.stdout.endswith(f" requests, the API accepted {len(wrong)} that it should refuse.\n"), text.stdout)
        suite = xml.etree.ElementTree.fromstring(self.probe(api, "--format", "junit").stdout.encode())
        failed = {case.get("name").partition(":")[0] for case in suite.iter("testcase") if case.find("failure") is not None}
        self.assertEqual((failed, suite.get("failures"), int(suite.get("tests"))), (wrong, str(len(wrong)), len(suite.findall("testcase"))))

    def test_an_api_that_does_not_look_at_scopes(self):
        api = self.api(lambda token, _: self.verify(token))
        wrong, _ = self.results(api, "--scope", "tasks.read")
        self.assertLessEqual({"wrong-scp", "no-scp", "id-token"}, wrong)

    def test_an_api_that_fails_on_a_token(self):
        def check(token, _):
            if len(token) > 8000:
                return 500
            self.verify(token)

        self.assertIn("huge", self.results(self.api(check))[1])

    def api_that_fails_on(self, is_bad):
        """The URL of a resource that answers 503 in place of 401 to the bad tokens of which `is_bad` says so."""
        def check(token, _):
            try:
                self.verify(token)
            except (jwt.PyJWTError, ValueError, KeyError):
                return 503 if is_bad(token) else 401

        return self.api(check)

    def test_a_failure_is_no_refusal_but_while_the_keys_are_out_of_reach(self):
        known = {key["kid"] for key in self.servers.control("keys")["keys"] if key["state"] == "active"}
        unknown = self.api_that_fails_on(lambda token: jwt.get_unverified_header(token).get("kid") not in known)
        wrong, noted = self.results(unknown)
        self.assertLessEqual({"unknown-kid", "unpublished-key", "retired-key"}, noted)
        self.assertTrue((wrong | noted).isdisjoint({"unpublished-key-in-outage", "retired-key-in-outage"}), (wrong, noted))

    def test_an_api_that_fails_on_every_bad_token_teaches_nothing(self):
        done = self.probe(self.api_that_fails_on(lambda _: True), "--wait", "0")
        self.assertEqual((done.returncode, done.stdout), (2, ""), done)
        self.assertIn("fails on each bad token", done.stderr)

    def test_an_api_that_never_loads_new_keys(self):
        known = {jwt.get_unverified_header(self.servers.token())["kid"]}

        def check(token, _):
            if jwt.get_unverified_header(token)["kid"] not in known:
                return 401
            self.verify(token, ["signature"])

        wrong, noted = self.results(self.api(check), "--wait", "0")
        self.assertLessEqual({"other-key-same-kid", "bad-signature"}, wrong)
        self.assertIn("new-key", noted)
        self.assertNotIn("withdrawn-key", wrong)

    def test_the_mock_has_its_keys_again_after_an_interruption(self):
        before = self.servers.control("keys")["keys"]
        active = [key["kid"] for key in before if key["state"] == "active"]
        reached, released = threading.Event(), threading.Event()

        def check(token, _):
            if jwt.get_unverified_header(token)["kid"] not in active:
                reached.set()
                released.wait(30)

        program = subprocess.Popen(self.command(self.api(check)), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        self.addCleanup(program.kill)
        self.assertTrue(reached.wait(60))
        self.assertNotEqual([key["kid"] for key in self.servers.control("keys")["keys"] if key["state"] == "active"], active)
        program.send_signal(signal.SIGINT)
        released.set()
        output, errors = program.communicate(timeout=60)
        self.assertEqual((program.returncode, output, errors), (130, "", "mock-authority: The probe was stopped.\n"))
        self.assertEqual([key["kid"] for key in self.servers.control("keys")["keys"] if key["state"] in ("active", "published")], active)

    def test_what_the_probe_changed_is_as_before(self):
        def kids(): return [(key["kid"], key["state"]) for key in self.servers.control("keys")["keys"] if key["state"] != "retired"]

        before = kids()
        self.results(self.api(lambda token, _: self.verify(token)))
        self.assertEqual((kids(), self.servers.control("state")["faults"]), (before, []))

    def test_a_field_reaches_the_api(self):
        def check(token, fields):
            self.verify(token)
            return 200 if fields["X-Api-Key"] == "1" else 403

        api = self.api(check)
        self.assertIn("answers 403 to a good token", self.probe(api).stderr)
        self.assertEqual(self.results(api, "--header", "X-Api-Key: 1")[0], set())

    def test_without_a_meaning_there_is_no_result(self):
        answers = {name: self.api(lambda *_, status=status: status) for name, status in [("closed", 401), ("limited", 429)]}
        open_to_all = f"{self.servers.page}/healthz"
        failing = self.api(lambda token, _: self.verify(token), refusal=503)
        for arguments, words in [
                ([], "one URL of your API"), (["ftp://x/"], "one URL of your API"), ([open_to_all, "--colour", "x"], "no flag '--colour'"),
                ([open_to_all, "--format", "xml"], "text, json or junit"), ([open_to_all, "--wait"], "--wait needs a value"),
                ([open_to_all, "--header", "x"], "--header is a line"),
                ([open_to_all], "accepts a request without a token"), ([answers["closed"]], f'iss "{self.issuer}", aud "{CLIENT}"'),
                ([answers["limited"]], "answers 429"), ([failing], "answers 503 to a request without a token"), ([f"http://127.0.0.1:{free_port()}/"], "Start your API"),
                ([open_to_all, "--authority", f"http://127.0.0.1:{free_port()}"], "Start mock-authority there"),
                ([open_to_all, "--scope", "x"], "The mock refuses token")]:
            with self.subTest(arguments):
                done = self.probe(*arguments)
                self.assertEqual((done.returncode, done.stdout), (2, ""), done)
                self.assertIn(words, done.stderr)
        self.servers.control("faults", {"at": "keys", "status": 503})
        self.addCleanup(self.servers.control, "faults", method="DELETE")
        self.assertIn("The mock has faults already", self.probe(open_to_all).stderr)

    def test_an_api_that_refuses_good_tokens_at_the_end(self):
        asked = []

        def check(token, _):
            asked.append(token)
            if len(asked) > 20:
                return 403
            self.verify(token)

        done = self.probe(self.api(check))
        self.assertEqual((done.returncode, done.stdout), (2, ""))
        self.assertIn("answers 403 to good tokens by now", done.stderr)

    def test_the_help_teaches(self):
        done = subprocess.run(self.command("--help"), capture_output=True, text=True, check=True)
        for word in ["--authority", "--scope", "--trusts", "--format", "Exit codes: 0", "junit > probe.xml"]:
            self.assertIn(word, done.stdout)
