"""The two iOS samples with each library that they were built with: sign in, renew, list tasks, add and delete.

What the answers are checked for is what the library reads of them, in the way that it reads.
"""

import base64
import dataclasses
import urllib.parse

from replay import ALICE, HOST, OOB, TENANT, ReplayTest, quoted
from servers import CLIENT, decoded

# What the person does under each policy; ADAL's sample uses the first three.
POLICIES = ["b2c_1_sign_up", "b2c_1_sign_in", "b2c_1_facebook", "b2c_1_edit_profile"]


class NXOAuth2(ReplayTest):
    """1.2.8, as published and as the sample has it patched."""

    def code(self, location):
        """As the library reads it: only from the query, of pairs with exactly one `=`, and `+` stays a plus."""
        self.assertTrue(location.lower().startswith("urn:ietf:wg:oauth:2.0:oob"), location)
        pairs = [pair.split("=") for pair in location.split("?", 1)[1].split("&")]
        return dict(pair for pair in pairs if len(pair) == 2)["code"]

    def sign_in(self, policy, person, scope, secret):
        # The sample's setting has two slashes here.
        answer = self.in_web_view(
            f"//{TENANT}/oauth2/v2.0/authorize?p={policy}&response_type=code&scope={scope}&client_id={CLIENT}"
            f"&redirect_uri={OOB}", person)
        self.assertEqual(answer.status, 302, answer.body)
        # The body is made of everything after the question mark of the token URL, too, so `p` comes again.
        return self.token(
            policy, "application/x-www-form-urlencoded",
            f"p={policy}&grant_type=authorization_code&scope={scope}&client_id={CLIENT}{secret}"
            f"&redirect_uri={OOB}&code={quoted(self.code(answer.headers['Location']))}")

    def token(self, policy, content_type, body):
        answer = self.authority(
            f"""POST /{TENANT}/oauth2/v2.0/token?p={policy} HTTP/1.1
            Host: {HOST}
            Accept: application/json
            Content-Type: {content_type}
            Accept-Language: en-us
            Connection: keep-alive
            Accept-Encoding: gzip, deflate
            User-Agent: SampleForB2C/1 CFNetwork/758.5.3 Darwin/15.6.0
            Content-Length: {{length}}""", body)
        self.assertEqual(answer.status, 200, answer.body)
        return self.read(answer.json)

    def read(self, reply):
        """`NXOAuth2AccessToken`: without an access token there is none, an array as scope or a null ends the app."""
        self.assertNotIn(None, reply.values())
        self.assertTrue(reply["access_token"])
        self.assertIsInstance(reply.get("scope", ""), str)
        self.assertGreater(int(reply["expires_in"]), 0)
        self.assertEqual(reply["token_type"].lower(), "bearer")
        return reply

    def add(self, bearer, content_type, body):
        answer = self.tasks(
            f"""POST /api/tasks HTTP/1.1
            Host: localhost:3000
            Accept: application/json
            Content-Type: {content_type}
            Authorization: Bearer {bearer}
            Content-Length: {{length}}""", body)
        self.assertEqual(answer.status, 201, answer.body)

    def add_patched(self, bearer):
        self.add(bearer, "application/x-www-form-urlencoded", "Text=Buy%20milk")

    def add_published(self, bearer):
        boundary = "------------nx-oauth216807"
        body = (f'--{boundary}\r\nContent-Disposition: form-data; name="Text"\r\n\r\nBuy milk\r\n'
                f"--{boundary}--\r\n")
        self.assertEqual(len(body), 119)
        self.add(bearer, f"multipart/form-data; boundary={boundary}", body)

    def check_tasks(self, reply, add):
        def texts():
            listed = self.tasks(
                f"""GET /api/tasks HTTP/1.1
                Host: localhost:3000
                Accept: application/json
                Authorization: Bearer {reply["access_token"]}""")
            self.assertLess(listed.status, 400)
            for task in listed.json:
                self.assertIsInstance(task["Text"], str)
            return [task["Text"] for task in listed.json]

        before = texts()
        add(reply["access_token"])
        self.assertEqual(texts(), [*before, "Buy milk"])

    def play(self, secret, add):
        for policy in POLICIES:
            with self.subTest(policy=policy):
                person = ALICE if policy in ["b2c_1_sign_in", "b2c_1_edit_profile"] else self.newcomer()
                reply = self.sign_in(policy, person, f"openid%20{CLIENT}", secret)
                self.assertNotIn("refresh_token", reply)
                self.check_tasks(reply, add)

    def test_as_the_sample_has_it_patched(self):
        self.in_each_era(lambda: self.play("", self.add_patched))

    def test_as_published(self):
        self.in_each_era(lambda: self.play("&client_secret=", self.add_published))

    def test_renewal(self):
        """The sample asks for no refresh token; with `offline_access` the library renews, in either form."""
        def renew():
            scope = f"openid%20offline_access%20{CLIENT}"
            reply = self.sign_in("b2c_1_sign_in", ALICE, scope, "&client_secret=")
            fields = {
                "p": "b2c_1_sign_in", "grant_type": "refresh_token", "client_id": CLIENT, "client_secret": "",
                "refresh_token": reply["refresh_token"]}
            boundary = "------------nx-oauth2282475249"
            published = "".join(
                f'--{boundary}\r\nContent-Disposition: form-data; name="{name}"\r\n\r\n{value}\r\n'
                for name, value in fields.items()) + f"--{boundary}--\r\n"
            for content_type, body in [
                    (f"multipart/form-data; boundary={boundary}", published),
                    ("application/x-www-form-urlencoded", "&".join(f"{n}={quoted(v)}" for n, v in fields.items()))]:
                self.check_tasks(self.token("b2c_1_sign_in", content_type, body), self.add_patched)

        self.in_each_era(renew)


@dataclasses.dataclass
class Build:
    """ADAL for iOS at one commit, in the sample."""

    version: str
    # What it makes of the client id as scope: in the code request, and in the token requests that have one.
    scope: str
    names_policy_first: bool
    repeats_scope: bool
    # Whether the sample gave the policy to ADAL, or only wrote it into the code request.
    knows_policy: bool
    # Whether it asks for a refresh token.
    renews: bool
    read: str


# f0ac3558, that of the sample's lock file; the sample wrote `p` into the code request, and named the policy at first by
# that only.
SEPTEMBER_2015 = Build("2.0.0", "openid+offline_access", False, False, True, True, "read_2015")
SEPTEMBER_2015_WITHOUT_POLICY = dataclasses.replace(SEPTEMBER_2015, knows_policy=False)
# 3.0.0-pre3
FEBRUARY_2016 = Build("3.0.0-pre3", CLIENT, True, False, True, False, "read_pre3")
# 3.0.0-pre7
SEPTEMBER_2016 = Build("3.0.0-pre7", "openid+offline_access+profile", True, True, True, True, "read_pre7")


@dataclasses.dataclass
class CacheItem:
    """What ADAL keeps of an answer."""

    token: str
    refresh_token: str
    username: str
    friendly_name: str


class ADAL(ReplayTest):
    CORRELATION = "6D6A1A5B-8C2E-4B0F-9E8B-1B1B1B1B1B1B"

    def state(self, build):
        """`encodeProtocolState`: a form, in base64url without padding."""
        form = urllib.parse.urlencode({"a": f"https://{HOST}/{TENANT}", "s": urllib.parse.unquote_plus(build.scope)})
        return base64.urlsafe_b64encode(form.encode()).decode().rstrip("=")

    def code(self, build, policy, person, username):
        """The web view, from the start URL to the redirect URI."""
        marks = f"x-client-SKU=iOS&x-client-Ver={build.version}&x-client-OS=9.0&x-client-DM=iPhone&x-client-CPU=64"
        hint = f"&login_hint={quoted(username)}" if username else ""
        middle = (f"client_id={CLIENT}&scope={build.scope}&redirect_uri={OOB}&state={self.state(build)}&{marks}{hint}"
                  "&prompt=login")
        query = (f"p={policy}&response_type=code&response_mode=query&{middle}" if build.names_policy_first
                 else f"response_type=code&{middle}&p={policy}")
        answer = self.in_web_view(
            f"/{TENANT}/oauth2/v2.0/authorize?{query}&client-request-id={self.CORRELATION}", person)
        self.assertEqual(answer.status, 302, answer.body)
        return self.read_redirect(build, answer.headers["Location"])

    def read_redirect(self, build, end):
        """By prefix in any case; then by pairs with exactly one `=`, which the URL must have after its only `?`."""
        self.assertTrue(end.lower().startswith("urn:ietf:wg:oauth:2.0:oob"), end)
        self.assertNotIn("#", end)
        self.assertEqual(end.count("?"), 1)
        pairs = [pair.split("=") for pair in end.split("?")[1].split("&")]
        answer = {name: urllib.parse.unquote_plus(value) for name, value in (pair for pair in pairs if len(pair) == 2)}
        self.assertEqual(answer["state"], self.state(build))
        self.assertNotIn("error", answer)
        return answer["code"]

    def token(self, build, policy, body):
        named = f"p={policy}&" if build.knows_policy else ""
        # It writes the port into Host itself.
        answer = self.authority(
            f"""POST /{TENANT}/oauth2/v2.0/token?{named}x-client-Ver={build.version} HTTP/1.1
            Host: {HOST}:443
            Accept: application/json
            Content-Type: application/x-www-form-urlencoded
            x-ms-PkeyAuth: 1.0
            x-client-SKU: iOS
            x-client-Ver: {build.version}
            x-client-OS: 9.0
            x-client-DM: iPhone
            x-client-CPU: 64
            return-client-request-id: true
            client-request-id: {self.CORRELATION}
            Content-Length: {{length}}
            Accept-Language: en-us
            Accept-Encoding: gzip, deflate
            User-Agent: Microsoft%20Tasks%20for%20Consumers/1 CFNetwork/758.0.2 Darwin/15.0.0
            Connection: keep-alive""", body)
        self.assertEqual(answer.status, 200, answer.body)
        self.assertEqual(answer.headers["client-request-id"], self.CORRELATION)
        reply = answer.json
        # Every member is asked for its length or its parts, which a null has not: the app ends.
        self.assertNotIn(None, reply.values())
        self.assertIsInstance(reply["scope"], str)
        self.assertIsInstance(reply.get("resource", ""), str)
        return getattr(self, build.read)(reply)

    def read_2015(self, reply):
        """`fillItemWithResponse` at f0ac3558: the ID token is the bearer token, the person its claims."""
        for name in ["expires_on", "expires_in"]:
            if name in reply:
                int(reply[name])
        claims = {}
        for part in reply["id_token"].split(".")[1:-1]:
            claims |= decoded(part)
        return self.item(reply["id_token"], reply, claims["oid"], claims["name"])

    def read_pre3(self, reply):
        """The ID token is the bearer token, though it was not asked for; the person is in `profile_info`."""
        for name in ["expires_on", "expires_in"]:
            if name in reply:
                int(reply[name])
        return self.item(reply["id_token"], reply, *self.profile(reply))

    def read_pre7(self, reply):
        """The access token if there is one, else the ID token, each with its own lifetime."""
        token = reply.get("access_token") or reply["id_token"]
        lifetime = reply["expires_in" if reply.get("access_token") else "id_token_expires_in"]
        self.assertGreater(float(lifetime), 0)
        return self.item(token, reply, *self.profile(reply))

    def profile(self, reply):
        """`ADProfileInfo`: JSON in each of the parts between dots."""
        claims = {}
        for part in reply["profile_info"].split("."):
            claims |= decoded(part)
        return claims["preferred_username"], claims["name"]

    def item(self, token, reply, username, friendly_name):
        # A label of the app gets each of them: a null ends it.
        self.assertIsInstance(username, str)
        self.assertIsInstance(friendly_name, str)
        return CacheItem(token, reply.get("refresh_token"), username, friendly_name)

    def sign_in(self, build, policy, person, known=None):
        """`known` is the item of the sign-in before, whose person has to be the same."""
        username = known.username.strip().lower() if known else None
        code = self.code(build, policy, person, username)
        scope = f"&scope={build.scope}" if build.repeats_scope else ""
        item = self.token(
            build, policy,
            f"grant_type=authorization_code&code={quoted(code)}&client_id={CLIENT}{scope}&redirect_uri={OOB}")
        if known:
            # 3.0.0-pre3 compares without regard to the case of its own copy only.
            self.assertEqual(item.username, username, "AD_ERROR_WRONG_USER")
        return item

    def renewed(self, build, policy, item):
        named = f"&p={policy}" if build.knows_policy else ""
        return self.token(
            build, policy,
            f"grant_type=refresh_token&refresh_token={quoted(item.refresh_token)}&client_id={CLIENT}"
            f"&scope={build.scope}{named}")

    def api(self, method, path, item, body=""):
        """`NSMutableURLRequest` of the sample; a body comes with its type, an answer is read without its status."""
        typed = """
            Content-Type: application/json
            Content-Length: {length}""" if body else ""
        return self.tasks(
            f"""{method} {path} HTTP/1.1
            Host: localhost:3000
            Authorization: Bearer {item.token}{typed}
            Accept: */*
            Accept-Language: en-us
            Accept-Encoding: gzip, deflate
            User-Agent: Microsoft%20Tasks%20for%20Consumers/1 CFNetwork/758.0.2 Darwin/15.0.0
            Connection: keep-alive""", body)

    def texts(self, path, item):
        listed = self.api("GET", path, item).json
        self.assertIsInstance(listed, list)
        for task in listed:
            self.assertIsInstance(task["task"], str)
        return [task["task"] for task in listed]

    def check_tasks(self, item, path):
        before = self.texts(path, item)
        # As NSJSONSerialization writes it.
        for body in ['{"task":"Buy milk"}', '{"task":"1\\/2 l Kölsch"}', '{"task":"Buy milk"}']:
            self.assertEqual(self.api("POST", path, item, body).status, 201)
        self.assertEqual(self.texts(path, item), [*before, "Buy milk", "1/2 l Kölsch", "Buy milk"])
        for body in ['{"task":"Buy milk"}', '{"task":"1\\/2 l Kölsch"}']:
            self.assertEqual(self.api("DELETE", path, item, body).status, 204)
        self.assertEqual(self.texts(path, item), before)

    def play(self, build):
        for policy in POLICIES:
            with self.subTest(policy=policy):
                person = ALICE if policy in ["b2c_1_sign_in", "b2c_1_edit_profile"] else self.newcomer()
                item = self.sign_in(build, policy, person)
                # The path of the sample, that of the tutorial's http://localhost/tasks:3000, and that of its own server.
                for path in ["/tasks", "/tasks:3000", "/todoserver/tasks"]:
                    self.check_tasks(item, path)
                self.assertEqual(item.refresh_token is not None, build.renews)
                if build.renews:
                    self.check_tasks(self.renewed(build, policy, item), "/tasks")
                if policy != "b2c_1_sign_up":
                    self.sign_in(build, policy, person, known=item)

    def test_september_2015(self):
        self.in_each_era(lambda: self.play(SEPTEMBER_2015))

    def test_september_2015_that_names_the_policy_only_to_the_web_view(self):
        self.in_each_era(lambda: self.play(SEPTEMBER_2015_WITHOUT_POLICY))

    def test_february_2016(self):
        self.in_each_era(lambda: self.play(FEBRUARY_2016))

    def test_september_2016(self):
        self.in_each_era(lambda: self.play(SEPTEMBER_2016))

    def test_a_refused_renewal_is_an_error_that_it_reads(self):
        """`errorFromDictionary`: texts in a JSON object with status 400; then it signs in again."""
        def refuse():
            answer = self.authority(
                f"""POST /{TENANT}/oauth2/v2.0/token?p=b2c_1_sign_in&x-client-Ver=3.0.0-pre7 HTTP/1.1
                Host: {HOST}:443
                Accept: application/json
                Content-Type: application/x-www-form-urlencoded
                x-client-SKU: iOS
                x-client-Ver: 3.0.0-pre7
                Content-Length: {{length}}""",
                f"grant_type=refresh_token&refresh_token=none&client_id={CLIENT}&scope=openid&p=b2c_1_sign_in")
            self.assertEqual(answer.status, 400)
            self.assertEqual(answer.json["error"], "invalid_grant")
            self.assertIsInstance(answer.json["error_description"], str)

        self.in_each_era(refuse)
