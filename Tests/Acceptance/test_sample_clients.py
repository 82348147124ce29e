"""The samples for Android, WPF and MVC: their libraries' requests, written out from their sources, in each era."""

import base64
import hashlib
import html
import json
import re
import urllib.parse

from replay import ALICE, HOST, OOB, TENANT, ReplayTest, quoted
from servers import CLIENT, decoded

CONFIDENTIAL = "f1d2c3b4-0a5e-4b6f-8c7d-9e0f1a2b3c4d"


def left_half(text):
    """`c_hash` (OpenID Connect Core 3.3.2.11)."""
    return base64.urlsafe_b64encode(hashlib.sha256(text.encode()).digest()[:16]).decode().rstrip("=")


class Android(ReplayTest):
    """ADAL for Android 2.0.1-alpha with validateAuthority=false: http, and any port."""

    EMULATOR = "10.0.2.2:3001"
    REDIRECT = "mstodo://com.microsoft.windowsazure.activedirectory.samples.microsofttasks"

    def code(self, policy):
        # ADDITIONAL_SCOPES is a list of an empty text, EXTRA_QP is empty: hence the space and the two ampersands.
        answer = self.in_web_view(
            f"/{TENANT}/oauth2/v2.0/authorize?response_type=code&client_id={CLIENT}&scope=+openid+offline_access"
            f"&redirect_uri={quoted(self.REDIRECT)}&x-client-SKU=Android&x-client-Ver=2.0.1-alpha&x-client-OS=21"
            f"&x-client-DM=Android+SDK+built+for+x86&prompt=login&nux=1&&p={policy}",
            ALICE, self.plain_authority, self.EMULATOR)
        self.assertEqual(answer.status, 302, answer.body)
        end = urllib.parse.urlsplit(answer.headers["Location"])
        self.assertTrue(answer.headers["Location"].startswith(self.REDIRECT))
        self.assertEqual(end.fragment, "")
        return urllib.parse.parse_qs(end.query)["code"][0]

    def token(self, policy, body):
        answer = self.plain_authority(
            f"""POST /{TENANT}/oauth2/v2.0/token?p={policy} HTTP/1.1
            x-client-OS: 21
            Accept: application/json
            x-client-Ver: 2.0.1-alpha
            x-client-DM: Android SDK built for x86
            x-client-SKU: Android
            Content-Type: application/x-www-form-urlencoded
            Connection: close
            User-Agent: Dalvik/2.1.0 (Linux; U; Android 5.0; Android SDK built for x86)
            Host: {self.EMULATOR}
            Accept-Encoding: gzip
            Content-Length: {{length}}""", body)
        self.assertEqual(answer.status, 200, answer.body)
        reply = answer.json
        # It makes a text of every member, and a number of a lifetime.
        int(str(reply.get("idtoken_expires_in") or 3600))
        profile = decoded(reply["profile_info"])
        self.assertIsInstance(profile["tid"], str)
        return reply

    def check_tasks(self, reply):
        def texts():
            listed = self.tasks(
                f"""GET /tasks HTTP/1.1
                Content-Type: application/json
                Authorization: Bearer {reply["id_token"]}
                User-Agent: Dalvik/2.1.0 (Linux; U; Android 5.0; Android SDK built for x86)
                Host: 10.0.2.2:3000
                Connection: Keep-Alive
                Accept-Encoding: gzip""")
            self.assertEqual(listed.status, 200)
            return [task["task"] for task in json.loads(listed.body.splitlines()[0])]

        before = texts()
        answer = self.tasks(
            f"""POST /tasks HTTP/1.1
            Content-Type: application/json
            Authorization: Bearer {reply["id_token"]}
            Host: 10.0.2.2:3000
            Connection: Keep-Alive
            Content-Length: {{length}}""", '{        "task": "Buy milk"    }')
        self.assertEqual(answer.status, 201)
        self.assertEqual(texts(), [*before, "Buy milk"])

    def play(self):
        for policy in ["b2c_1_sign_in", "b2c_1_edit_profile"]:
            reply = self.token(
                policy, f"grant_type=authorization_code&code={quoted(self.code(policy))}&client_id={CLIENT}"
                f"&redirect_uri={quoted(self.REDIRECT)}&p={policy}")
            self.check_tasks(reply)
            self.check_tasks(self.token(
                policy, f"grant_type=refresh_token&refresh_token={quoted(reply['refresh_token'])}&client_id={CLIENT}"
                f"&scope=openid+offline_access&p={policy}"))

    def test_in_each_era(self):
        self.in_each_era(self.play)


class DotNet(ReplayTest):
    """What the WPF and MVC samples share: ADAL for .NET 4.0 alpha, and the task API."""

    def token(self, policy, body):
        # UriBuilder makes `?&p=` of its query.
        answer = self.authority(
            f"""POST /{TENANT}/oauth2/v2.0/token?&p={policy} HTTP/1.1
            x-client-SKU: PCL.Desktop
            x-client-Ver: 4.0.0.0
            x-client-CPU: x64
            x-client-OS: Microsoft Windows NT 6.2.9200.0
            Accept: application/json
            client-request-id: 6d6a1a5b-8c2e-4b0f-9e8b-1b1b1b1b1b1b
            return-client-request-id: true
            Content-Type: application/x-www-form-urlencoded
            Host: {HOST}
            Content-Length: {{length}}
            Expect: 100-continue
            Connection: Keep-Alive""", body)
        self.assertEqual(answer.status, 200, answer.body)
        reply = answer.json
        # Numbers or texts of numbers: members of type long. Without this one the token is expired at once.
        self.assertGreater(int(reply["id_token_expires_in"]), 0)
        self.assertIsInstance(reply["scope"], str)
        self.assertIsInstance(decoded(reply["profile_info"])["name"], str)
        return reply

    def check_tasks(self, bearer, member, start="", end="", port=None):
        """`member` is the name of the text; paths have the slashes of the sample's usual settings."""
        def listed():
            answer = self.tasks(
                f"""GET {start}/api/tasks{end} HTTP/1.1
                Authorization: Bearer {bearer}
                Host: localhost:3000""", port=port)
            self.assertEqual(answer.status, 200, answer.body)
            for task in answer.json:
                self.assertIsInstance(task[member], str)
            return answer.json

        before = len(listed())
        added = self.tasks(
            f"""POST {start}/api/tasks{end} HTTP/1.1
            Authorization: Bearer {bearer}
            Content-Type: application/x-www-form-urlencoded
            Host: localhost:3000
            Content-Length: {{length}}
            Expect: 100-continue""", f"{member}=Buy+milk", port=port)
        self.assertEqual(added.status, 201)
        last = listed()[before]
        self.assertEqual(last[member], "Buy milk")
        number = last["TaskID" if member == "task" else "Id"]
        removed = self.tasks(
            f"""DELETE {start}/api/tasks/{number} HTTP/1.1
            Authorization: Bearer {bearer}
            Host: localhost:3000
            Content-Length: 0""", port=port)
        self.assertIn(removed.status, [200, 204])
        self.assertEqual(len(listed()), before)


class WPF(DotNet):
    def test_2015_in_each_era(self):
        def play():
            for policy in ["b2c_1_sign_up", "b2c_1_sign_in", "b2c_1_edit_profile"]:
                person = self.newcomer() if policy == "b2c_1_sign_up" else ALICE
                answer = self.in_web_view(
                    f"/{TENANT}/oauth2/v2.0/authorize?scope=openid+offline_access&client_id={CLIENT}&response_type=code"
                    f"&redirect_uri={OOB}&p={policy}&prompt=login&x-client-SKU=PCL.Desktop&x-client-Ver=4.0.0.0"
                    "&x-client-CPU=x64&x-client-OS=Microsoft+Windows+NT+6.2.9200.0", person)
                self.assertEqual(answer.status, 302, answer.body)
                code = urllib.parse.parse_qs(urllib.parse.urlsplit(answer.headers["Location"]).query)["code"][0]
                reply = self.token(
                    policy, f"scope=openid+offline_access&client_id={CLIENT}&grant_type=authorization_code"
                    f"&code={quoted(code)}&redirect_uri={OOB}")
                self.check_tasks(reply["id_token"], "task")
                renewed = self.token(
                    policy, f"scope=openid+offline_access&client_id={CLIENT}&grant_type=refresh_token"
                    f"&refresh_token={quoted(reply['refresh_token'])}")
                self.check_tasks(renewed["id_token"], "Text")

        self.in_each_era(play)


class MVC(DotNet):
    REDIRECT = "https://localhost:44316/"

    def metadata(self, policy):
        answer = self.authority(
            f"""GET /{TENANT}/v2.0/.well-known/openid-configuration?p={policy} HTTP/1.1
            Host: {HOST}
            Connection: Keep-Alive""")
        self.assertEqual(answer.status, 200, answer.body)
        document = answer.json
        keys = self.authority(
            f"""GET {document["jwks_uri"].removeprefix(f"https://{HOST}")} HTTP/1.1
            Host: {HOST}""")
        return document, {key["kid"] for key in keys.json["keys"]}

    def sign_in(self, policy, client, response_type, scope):
        """The middleware of OWIN: a form comes back, whose ID token it validates."""
        document, keys = self.metadata(policy)
        endpoint = document["authorization_endpoint"].removeprefix(f"https://{HOST}")
        state, nonce = "OpenIdConnect.AuthenticationProperties=AQAAANCMnd8BFdERjHoAwE", "635790000000000000.Mjc0ZjU4ZDUt"
        answer = self.in_web_view(
            f"{endpoint}&client_id={client}&redirect_uri={quoted(self.REDIRECT)}&response_mode=form_post"
            f"&response_type={quoted(response_type)}&scope={quoted(scope)}&state={quoted(state)}&nonce={nonce}", ALICE)
        self.assertEqual(answer.status, 200, answer.body)
        self.assertEqual(re.search('<form [^>]*action="([^"]+)"', answer.body)[1], self.REDIRECT)
        form = {name: html.unescape(value) for name, value in
                re.findall('<input type="hidden" name="([^"]+)" value="([^"]*)"', answer.body)}
        self.assertEqual(form["state"], state)
        header, claims = (decoded(part) for part in form["id_token"].split(".")[:2])
        self.assertIn(header["kid"], keys)
        self.assertEqual((claims["iss"], claims["aud"], claims["nonce"]), (document["issuer"], client, nonce))
        self.assertTrue(claims["name"])
        return form, claims

    def test_2016_in_each_era(self):
        def play():
            for policy in ["b2c_1_sign_in", "b2c_1_edit_profile"]:
                form, _ = self.sign_in(policy, CLIENT, "id_token", "openid")
                # Its token is the ID token; its usual setting ends with a slash, and that of 2017 adds another.
                self.check_tasks(form["id_token"], "Text", start="/")
                self.check_tasks(form["id_token"], "Text", start="/", end="/")

        self.in_each_era(play)

    def test_2015_in_its_era(self):
        """It reads the policy from `acr`, which tokens had in the preview only, and it has a secret."""
        def play():
            form, claims = self.sign_in("b2c_1_sign_in", CONFIDENTIAL, "code id_token", "openid offline_access")
            self.assertEqual(claims["c_hash"], left_half(form["code"]))
            if self.servers.era != "preview2015":
                self.assertNotIn("acr", claims)
                return
            self.assertTrue(claims["oid"])
            reply = self.token(
                claims["acr"], f"scope=openid+offline_access&client_id={CONFIDENTIAL}&client_secret=mock-secret"
                f"&grant_type=authorization_code&code={quoted(form['code'])}&redirect_uri={quoted(self.REDIRECT)}")
            with self.servers.another_page(TASKS_CLIENT_ID=CONFIDENTIAL) as page:
                port = urllib.parse.urlsplit(page).port
                self.check_tasks(reply["id_token"], "task", start="/", port=port)

        self.in_each_era(play)
