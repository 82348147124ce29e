"""`mock-authority probe` against task-server, and against small APIs that do not check what they should."""

import contextlib
import json
import re
import signal
import subprocess
import tempfile
import threading
import time
import unittest
import xml.etree.ElementTree

import jwt
import requests

from servers import CLIENT, EXTERNAL_API, EXTERNAL_TENANT, ROOT, TENANT, Handler, Servers, claims_of, decoded, free_port, serving

OTHER_CLIENT = "client-f1d2c3b4-0a5e-4b6f-8c7d-9e0f1a2b3c4d"
OTHER_TENANTS = [EXTERNAL_TENANT, "f4b51ca0-7d2e-4c3b-8a19-5e6f7d8c9b0a", "0e7a5d3c-4b2f-4a61-9c8d-3f2e1d0c9b8a"]
WRONGLY_SIGNED = {
    "unpublished-key", "other-key-same-kid", "bad-signature", "truncated", "alg-none", "hs256-with-public-key", "unpublished-key-in-outage", *(f"key-of-{tenant}" for tenant in OTHER_TENANTS)}
FOR_OTHERS_OR_TOO_OLD = {"wrong-aud", OTHER_CLIENT, "expired", "no-exp"}
OTHERWISE_WRONG = {"not-yet-valid", "wrong-iss", "wrong-tenant", "iss-without-slash", "crit-header", "not-json"}
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
        return [program, "probe", "--authority", self.servers.authority, "--pace", "0", *arguments]

    def probe(self, *arguments):
        return subprocess.run(self.command(*arguments), capture_output=True, text=True, timeout=300, check=False)

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
        """The names of what breaks a standard or misses a setting, and of what is noted."""
        done = self.probe("--format", "json", *arguments)
        self.assertIn(done.returncode, (0, 1), done)
        report = json.loads(done.stdout)
        wrong, noted = ({row["name"] for row in report["results"] if row["verdict"] in kinds} for kinds in [("breach", "setting"), ("note",)])
        self.assertEqual((report["failures"], done.returncode), (len(wrong), 1 if wrong else 0))
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
        # task-server has leeway for clocks, takes every application of the tenant, and the probe watches its cache for a minute.
        self.assertEqual(done.returncode, 0, done)
        self.assertLessEqual(set(re.findall(r"to (\S+) \(", done.stdout)), {"clock-skew", "withdrawn-key"}, done.stdout)
        # The mock has 27 bad tokens of B2C that are always refused, and the probe 10 of its own.
        sent = re.search(r"^Of (\d+) requests, the API accepted none that it should refuse; \d notes?\.$", done.stdout, re.M)
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
        shown = " ".join(re.search(r"^ *```text\n( *BREAKS A STANDARD: .*?)```", page, re.M | re.S)[1].split())
        found = " ".join(printed[printed.index("BREAKS A STANDARD"):].split())
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
            "BREAKS A STANDARD: The API answered 200 to wrong-aud (aud is another application). Every other application to which a user signs "
            "in can use this API in the name of that user. That breaks RFC 7519 section 4.1.3, and RFC 8725 section 3.9.\n"
            "  Remedy: Name the audience: audience (jsonwebtoken, jose, PyJWT),", text.stdout)
        self.assertIn("A SETTING IS MISSING: The API answered 200 to no-exp (without exp).", text.stdout)
        self.assertIn("See RFC 9068 section 2.2", text.stdout)
        self.assertLessEqual(text.stdout.count("No standard forbids"), 1)
        self.assertRegex(text.stdout, rf" requests, the API accepted {len(wrong)} that it should refuse \(\d+ against a standard, \d+ for want")
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
        def is_unknown(token):
            known = {key["kid"] for key in self.servers.control("keys")["keys"] if key["state"] == "active"}
            return jwt.get_unverified_header(token).get("kid") not in known

        unknown = self.api_that_fails_on(is_unknown)
        wrong, noted = self.results(unknown)
        self.assertLessEqual({"unknown-kid", "unpublished-key"}, noted)
        self.assertTrue((wrong | noted).isdisjoint({"unpublished-key-in-outage"}), (wrong, noted))

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
        self.assertNotIn("withdrawn-key", wrong | noted)
        text = self.probe(self.api(check), "--wait", "0").stdout
        self.assertIn("--wait 330 or --wait 630", text)

    def api_with_cache(self, seconds, forgets=True):
        """The URL of an API that takes a key which it has seen once for this long, and for ever if it forgets none; and what it was sent."""
        seen, sent = {}, []

        def check(token, _):
            sent.append(token)
            kid = jwt.get_unverified_header(token).get("kid")
            published = {key["kid"] for key in self.servers.control("keys")["keys"] if key["state"] != "retired"}
            if kid in published:
                seen[kid] = time.monotonic()
            elif kid not in seen or (forgets and time.monotonic() > seen[kid] + seconds):
                raise ValueError(kid)
            # Bad signatures and claims are another matter.
            self.verify(token, [] if kid in published else ["signature"])

        return self.api(check), sent

    def test_a_cache_of_keys_is_one_finding_with_its_age(self):
        api, _ = self.api_with_cache(0, forgets=False)
        report = json.loads(self.probe(api, "--wait", "3", "--format", "json").stdout)
        cached = {row["name"]: row for row in report["results"] if row["verdict"] != "right" and "key" in row["name"]}
        self.assertEqual({name: row["verdict"] for name, row in cached.items() if name != "known-key-in-outage"}, {"withdrawn-key": "note"})
        self.assertRegex(cached["withdrawn-key"]["reason"], r"^The API took it \d+ s after the key was withdrawn")
        strict = self.probe(api, "--wait", "3", "--key-age", "1s")
        self.assertEqual(strict.returncode, 1, strict)
        self.assertIn("BREAKS A STANDARD: The API answered 200 to withdrawn-key", strict.stdout)

    def test_a_cache_that_ends_within_the_wait_is_right(self):
        report = json.loads(self.probe(self.api_with_cache(3)[0], "--key-age", "0s", "--format", "json").stdout)
        self.assertEqual([row["verdict"] for row in report["results"] if row["name"] == "withdrawn-key"], ["right"])

    def test_an_api_is_judged_by_a_key_that_it_has_just_taken_and_each_time_alike(self):
        """A library that falls back on the last set that was good (.NET's) would take the former key without fetching."""
        api, sent = self.api_with_cache(0, forgets=False)
        former = [key["kid"] for key in self.servers.control("keys")["keys"] if key["state"] == "active"]
        first = self.results(api, "--wait", "0")
        now = [key["kid"] for key in self.servers.control("keys")["keys"] if key["state"] == "active"]
        self.assertNotEqual(now, former)
        kids = [decoded(token.split(".")[0]).get("kid") for token in sent if token.count(".") == 2]
        # The former key signs the first token, and the one whose key is withdrawn.
        self.assertEqual(kids.count(former[0]), 2)
        self.assertEqual(self.results(api, "--wait", "0"), first)

    def test_tokens_of_unknown_keys_are_sent_at_a_pace(self):
        times = []

        def check(token, _):
            known = {key["kid"] for key in self.servers.control("keys")["keys"] if key["state"] != "retired"}
            if jwt.get_unverified_header(token).get("kid") not in known:
                times.append(time.monotonic())
            self.verify(token)

        done = self.probe(self.api(check), "--pace", "1", "--wait", "0")
        self.assertIn("tokens of unknown keys are sent 1 s apart", done.stderr)
        # The token of the withdrawn key is sent to measure a cache, after the others.
        self.assertGreater(len(times), 6)
        # A busy machine may notice the first one late, so five pauses of 1 s take more than 4 s.
        self.assertGreater(times[5] - times[0], 4)

    def test_what_fails_is_chosen_and_findings_are_accepted(self):
        api = self.api(lambda token, _: self.verify(token, ["aud", "exp"]))
        wrong, noted = self.results(api)
        with tempfile.NamedTemporaryFile("w") as file:
            file.write("".join(f"{name}  # we know\n" for name in wrong - {"no-exp", "expired"}))
            file.flush()
            accepted = self.probe(api, "--accept", file.name)
            self.assertEqual(accepted.returncode, 1)
            self.assertIn("Accepted by --accept: ", accepted.stdout)
            self.assertNotIn("answered 200 to wrong-aud", accepted.stdout)
            self.assertIn("answered 200 to expired", accepted.stdout)
            file.write("expired\n")
            file.flush()
            self.assertEqual(self.probe(api, "--accept", file.name).returncode, 1)
            self.assertEqual(self.probe(api, "--accept", file.name, "--fail-on", "breach").returncode, 0)
            self.assertEqual(self.probe(api, "--accept", file.name, "--fail-on", "note").returncode, 1)
        self.assertEqual(self.probe(api, "--fail-on", "never").returncode, 0)
        self.assertEqual(self.probe(self.api(lambda token, _: self.verify(token)), "--fail-on", "note").returncode, 1)

    def test_what_is_optional_by_its_standard_is_a_setting_or_a_note(self):
        report = json.loads(self.probe(self.api(lambda token, _: self.verify(token, ["aud", "exp", "iss"])), "--format", "json").stdout)
        verdicts = {row["name"]: row["verdict"] for row in report["results"]}
        self.assertEqual([verdicts[name] for name in ["no-exp", "no-aud", "no-iss"]], ["setting"] * 3)
        self.assertEqual([verdicts[name] for name in ["expired", "wrong-aud", "wrong-iss"]], ["breach"] * 3)

        def unwrap(token, _):
            header = jwt.get_unverified_header(token)
            if header.get("cty") == "JWT":
                token = jwt.api_jws.decode(token, options={"verify_signature": False}).decode()
                if jwt.get_unverified_header(token)["alg"] == "none":
                    return None
            self.verify(token) if header.get("typ") == "JWT" else self.verify_signature(token)

        wrong, noted = self.results(self.api(unwrap))
        self.assertLessEqual({"nested", "typ-other"}, noted)
        self.assertIn("nested-unsigned", wrong)

    def verify_signature(self, token):
        keys = f"{self.servers.authority}/{TENANT}/b2c_1_sign_in/discovery/v2.0/keys"
        jwt.decode(token, jwt.PyJWKClient(keys).get_signing_key_from_jwt(token).key, ["RS256"], options={"verify_aud": False})

    def test_the_leeway_for_clocks_is_one_figure(self):
        def api(leeway):
            def check(token, _):
                self.verify(token, ["exp"])
                if int(claims_of(token).get("exp", 0)) + leeway < time.time():
                    raise ValueError("expired")
            return self.api(check)

        for leeway, verdict, words in [(0, "right", ""), (305, "note", "290 s after its end"), (400, "breach", "330 s after its end")]:
            with self.subTest(leeway):
                report = json.loads(self.probe(api(leeway), "--format", "json").stdout)
                found = [row for row in report["results"] if row["name"] == "clock-skew"]
                self.assertEqual([row["verdict"] for row in found], [verdict], found)
                self.assertIn(words, found[0]["reason"])

    def test_the_token_of_another_application_for_this_api(self):
        api = self.api(lambda token, _: self.verify(token))
        wrong, noted = self.results(api)
        self.assertIn("other-caller", noted)
        wrong, noted = self.results(api, "--client", CLIENT)
        self.assertIn("other-caller", wrong)

        def check(token, _):
            self.verify(token)
            if claims_of(token).get("azp", CLIENT) != CLIENT:
                raise ValueError("azp")
        wrong, noted = self.results(self.api(check), "--client", CLIENT)
        self.assertNotIn("other-caller", wrong | noted)

    def test_a_scope_among_the_roles(self):
        def check(token, _):
            self.verify(token)
            claims = claims_of(token)
            if "tasks.read" not in claims.get("scp", "").split() + claims.get("roles", []):
                return 403

        wrong, _ = self.results(self.api(check), "--scope", "tasks.read")
        self.assertEqual(wrong & {"scope-in-roles", "wrong-scp", "no-scp"}, {"scope-in-roles"})

    def entra_api(self, profile, check):
        """The URL of an API for a tenant of Entra whose tokens are looked at by this check, without their signatures."""
        keys = f"{self.servers.authority}/_mock/keys?profile={profile}"

        def verify(token, _):
            known = {key["kid"] for key in requests.get(keys, timeout=30).json()["keys"] if key["state"] != "retired"}
            if jwt.get_unverified_header(token).get("kid") not in known:
                raise ValueError("kid")
            return check(claims_of(token))

        return self.api(verify)

    def test_tokens_of_daemons_are_sent_without_a_scope_and_version_1_of_the_own_tenant_is_a_note(self):
        seen = []

        def check(claims):
            seen.append(claims)
            return None if str(claims.get("iss")).startswith("https://") else 401

        wrong, noted = self.results(self.entra_api("external-id", check), "--profile", "external-id")
        self.assertLessEqual({"app-only", "app-only-with-idtyp", "v1", "no-scp"}, noted)
        self.assertIn("wrong-iss", wrong)
        seen.clear()
        self.results(self.entra_api("external-id", check), "--profile", "external-id", "--scope", f"api://{EXTERNAL_API}/Tasks.Read")
        # As every MSAL does, the probe asks for openid and profile as well, and the token has tid and name.
        self.assertTrue({"tid", "name", "oid"} <= seen[0].keys(), seen[0])

    def test_an_api_that_wants_another_type_of_token(self):
        def check(token, _):
            if jwt.get_unverified_header(token)["typ"] != "at+jwt":
                raise ValueError("typ")

        api = self.api(check)
        self.assertIn("give --token-type at+jwt", self.probe(api).stderr)
        wrong, noted = self.results(api, "--token-type", "at+jwt")
        self.assertNotIn("typ-other", wrong | noted)

    def test_a_resource_that_is_text(self):
        def check(token, fields):
            self.verify(token)
            return 200 if "*/*" in fields["Accept"] else 406

        self.assertEqual(self.results(self.api(check))[0], set())

    def test_sarif(self):
        api = self.api(lambda token, _: self.verify(token, ["aud", "exp"]))
        with tempfile.NamedTemporaryFile("w") as file:
            file.write("wrong-aud\n")
            file.flush()
            done = self.probe(api, "--format", "sarif", "--accept", file.name)
        run = json.loads(done.stdout)["runs"][0]
        levels = {result["ruleId"]: result["level"] for result in run["results"]}
        self.assertEqual((levels["expired"], levels["no-exp"], levels["aud-array"]), ("error", "warning", "note"))
        self.assertEqual([rule["id"] for rule in run["tool"]["driver"]["rules"]], [result["ruleId"] for result in run["results"]])
        self.assertEqual([result["ruleId"] for result in run["results"] if result["suppressions"]], ["wrong-aud"])
        self.assertTrue(all(result["message"]["text"] and result["locations"] for result in run["results"]))
        self.assertTrue(all(rule["help"]["text"] for rule in run["tool"]["driver"]["rules"]))

    def test_the_mock_has_its_keys_again_after_an_interruption(self):
        before = self.servers.control("keys")["keys"]
        active = [key["kid"] for key in before if key["state"] == "active"]
        reached, released = threading.Event(), threading.Event()

        def check(token, _):
            if jwt.get_unverified_header(token)["kid"] not in active:
                reached.set()
                released.wait(30)
                raise ValueError("a key that the API has not loaded yet")

        program = subprocess.Popen(self.command(self.api(check)), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        self.addCleanup(program.kill)
        self.assertTrue(reached.wait(60))
        self.assertNotEqual([key["kid"] for key in self.servers.control("keys")["keys"] if key["state"] == "active"], active)
        program.send_signal(signal.SIGINT)
        released.set()
        output, errors = program.communicate(timeout=60)
        self.assertEqual((program.returncode, output), (130, ""))
        self.assertTrue(errors.endswith("mock-authority: The probe was stopped.\n"), errors)
        self.assertEqual([key["kid"] for key in self.servers.control("keys")["keys"] if key["state"] in ("active", "published")], active)

    def test_the_mock_has_no_fault_in_the_end_and_the_key_that_the_api_has(self):
        def kids(): return [key["kid"] for key in self.servers.control("keys")["keys"] if key["state"] != "retired"]

        before, taken = kids(), set()

        def check(token, _):
            self.verify(token)
            taken.add(jwt.get_unverified_header(token)["kid"])

        self.results(self.api(check))
        self.assertEqual(self.servers.control("state")["faults"], [])
        self.assertEqual(len(kids()), 1)
        self.assertIn(kids()[0], taken - set(before))

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
                ([open_to_all, "--format", "xml"], "text, json, junit or sarif"), ([open_to_all, "--fail-on", "x"], "--fail-on is"),
                ([open_to_all, "--accept", "/nowhere"], "--accept: "), ([open_to_all, "--key-age", "long"], "--key-age is"), ([open_to_all, "--wait"], "--wait needs a value"),
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
        for word in ["--authority", "--scope", "--trusts", "--format", "--accept", "--fail-on", "--key-age", "--token-type", "Exit codes: 0", "junit > probe.xml"]:
            self.assertIn(word, done.stdout)
