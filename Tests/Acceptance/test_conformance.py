"""The modules of OpenID's conformance plans Basic OP and Config OP, at the mock with `--persona strict`.

Each module has the name of the OpenID Foundation's conformance suite (openid-certification/conformance-suite, August 2026) and does what
its Java class does: the same requests over https, and the checks that the suite counts as a failure or as a warning.
"""

import base64
import collections
import functools
import hashlib
import json
import secrets
import unittest
import urllib.parse

import jwt
import requests

import servers
from servers import TENANT, claims_of, free_port

CALLBACK = "http://localhost:3000/auth/openid/return"
WEB, SECRET = "f1d2c3b4-0a5e-4b6f-8c7d-9e0f1a2b3c4d", "mock-secret"
PUBLIC = servers.CLIENT
API = "https://contoso.onmicrosoft.com/tasks"
PROFILE = {"name", "family_name", "given_name", "middle_name", "nickname", "preferred_username", "profile", "picture", "website", "gender",
           "birthdate", "zoneinfo", "locale", "updated_at"}
EMAIL, ADDRESS, PHONE = {"email", "email_verified"}, {"address"}, {"phone_number", "phone_number_verified"}
# The claims that an ID token may have although nobody asked for them.
IDENTITY = {"iss", "sub", "aud", "exp", "iat", "auth_time", "nonce", "acr", "at_hash", "c_hash"}
Flow = collections.namedtuple("Flow", "code answer identity userinfo")
# The modules in which a sign-in with these parameters succeeds as every other.
SIGN_INS = {
    "oidcc-ensure-request-without-nonce-succeeds-for-code-flow": {"nonce": None},
    "oidcc-display-page": {"display": "page"},
    "oidcc-display-popup": {"display": "popup"},
    "oidcc-ensure-request-with-unknown-parameter-succeeds": {"extra": "foobar"},
    "oidcc-login-hint": {"login_hint": "buffy@localhost"},
    "oidcc-ui-locales": {"ui_locales": "se"},
    "oidcc-claims-locales": {"claims_locales": "se"},
    "oidcc-server-client-secret-post": {"by": "client_secret_post"},
}
# The modules that ask for what is not there, and the error that the client gets.
ERRORS = {
    "oidcc-response-type-missing": ({"response_type": None}, "invalid_request"),
    "oidcc-prompt-none-not-logged-in": ({"prompt": "none", "state": "s" * 128}, "login_required"),
    "oidcc-request-uri-unsigned-supported-correctly-or-rejected-as-unsupported": (
        {"request_uri": "https://rp.example/request.jwt"}, "request_uri_not_supported"),
}
# The modules that ask for scopes, and the claims that the user information has for them.
SCOPES = {
    "oidcc-scope-profile": ("profile", PROFILE),
    "oidcc-scope-email": ("email", EMAIL),
    "oidcc-scope-address": ("address", ADDRESS),
    "oidcc-scope-phone": ("phone", PHONE),
    "oidcc-scope-all": ("address email phone profile", PROFILE | EMAIL | ADDRESS | PHONE),
}


class StrictServers(servers.Servers):
    """The mock as an OpenID provider over https, and task-server with the settings for a provider that is not Microsoft's."""

    policy = "strict"

    def __init__(self):
        self.secure_port = free_port()
        self.issuer = f"https://localhost:{self.secure_port}/{TENANT}/{self.policy}/v2.0"
        super().__init__()
        self.ca = str(self.folder / "state/ca.pem")

    def authority_settings(self):
        return {
            "MOCK_LISTEN": f"127.0.0.1:{self.ports[1]}", "MOCK_TLS_LISTEN": f"127.0.0.1:{self.secure_port}",
            "MOCK_STATE": str(self.folder / "state"), "MOCK_PERSONA": "strict",
        }

    def start_page(self):
        super().start_page(
            TASKS_AUTHORITY="", TASKS_POLICIES="", TASKS_METADATA_URL=f"{self.issuer}/.well-known/openid-configuration",
            TASKS_CA_FILE=str(self.folder / "state/ca.pem"), TASKS_OWNER_CLAIM="sub", TASKS_READ_SCOPE=f"{API}/tasks.read",
            TASKS_WRITE_SCOPE=f"{API}/tasks.write")


@functools.cache
def shared():
    return StrictServers()


class Party(unittest.TestCase):
    """A relying party with a browser that keeps cookies; each test has its own."""

    def setUp(self):
        self.servers = shared()
        self.browser = requests.Session()
        # The variables of the machine name other authorities.
        self.browser.trust_env, self.browser.verify = False, self.servers.ca
        self.metadata = self.fetch(f"{self.servers.issuer}/.well-known/openid-configuration")
        self.asked = {}

    def fetch(self, url):
        answer = self.browser.get(url)
        self.assertEqual((answer.status_code, answer.headers["Content-Type"].split(";")[0]), (200, "application/json"))
        return answer.json()

    def wait(self, seconds):
        """Puts the clock of the authority forward."""
        clock = f"{self.servers.authority}/_mock/clock"
        state = requests.get(f"{self.servers.authority}/_mock/state").json()
        self.assertEqual(requests.post(clock, json={"skew_s": state["skew_s"] + seconds}).status_code, 200)

    def ask(self, method="GET", **more):
        """The answer to an authorization request; a parameter `None` is left out."""
        self.asked = {
            "client_id": WEB, "redirect_uri": CALLBACK, "scope": "openid", "response_type": "code", "state": secrets.token_urlsafe(16),
            "nonce": secrets.token_urlsafe(16), **more,
        }
        self.asked = {name: value for name, value in self.asked.items() if value is not None}
        where = {"data": self.asked} if method == "POST" else {"params": self.asked}
        return self.browser.request(method, self.metadata["authorization_endpoint"], allow_redirects=False, **where)

    def sign_in(self, page, user="alice@example.com"):
        """Fills in the form of the page."""
        self.assertEqual(page.status_code, 200, "a page to sign in was expected")
        self.assertIn('name="password"', page.text)
        action, form = servers.filled_in(page.text, page.url, user)
        return self.browser.post(action, data=form, allow_redirects=False)

    def parameters(self, answer, mark="?"):
        """The parameters with which the browser comes back, and the state among them."""
        self.assertEqual(answer.status_code, 302, answer.text)
        address, _, query = answer.headers["Location"].partition(mark)
        self.assertEqual(address, CALLBACK)
        parameters = dict(urllib.parse.parse_qsl(query, strict_parsing=True))
        self.assertEqual(parameters.get("state"), self.asked.get("state"))
        return parameters

    def error(self, answer, mark="?"):
        """The error with which the browser comes back."""
        parameters = self.parameters(answer, mark)
        self.assertLessEqual(set(parameters), {"error", "error_description", "error_uri", "state"})
        self.assertRegex(parameters["error_description"], r"^[\x20-\x21\x23-\x5b\x5d-\x7e]+$")
        return parameters["error"]

    def page_of_error(self, answer):
        """An error that is shown to the person, because the redirect URI is not known to be good."""
        self.assertEqual(answer.status_code, 400)
        self.assertNotIn("Location", answer.headers)
        self.assertIn("text/html", answer.headers["Content-Type"])

    def token(self, by="client_secret_basic", client=WEB, **form):
        """The answer of the token endpoint."""
        more = {}
        if client == PUBLIC:
            form["client_id"] = client
        elif by == "client_secret_basic":
            more["auth"] = (client, SECRET)
        else:
            form.update(client_id=client, client_secret=SECRET)
        return requests.post(self.metadata["token_endpoint"], data=form, verify=self.servers.ca, **more)

    def redeem(self, code, **more):
        return self.token(grant_type="authorization_code", code=code, redirect_uri=CALLBACK, **more)

    def refused(self, answer, error):
        self.assertEqual((answer.status_code, set(answer.json())), (400, {"error", "error_description"}))
        self.assertEqual(answer.json()["error"], error)
        self.assertRegex(answer.json()["error_description"], r"^[\x20-\x21\x23-\x5b\x5d-\x7e]+$")

    def identity(self, token, code=None, access_token=None, requested=(), client=WEB):
        """The claims of an ID token that holds all checks of the suite's PerformStandardIdTokenChecks and ValidateIdToken."""
        header = jwt.get_unverified_header(token)
        self.assertEqual(header["alg"], "RS256")
        keys = {key["kid"]: key for key in self.fetch(self.metadata["jwks_uri"])["keys"]}
        claims = jwt.decode(
            token, jwt.PyJWK(keys[header["kid"]], "RS256").key, algorithms=["RS256"], audience=client, issuer=self.servers.issuer,
            leeway=100_000, options={"require": ["iss", "sub", "aud", "exp", "iat"]})
        self.assertEqual(claims.get("nonce"), self.asked.get("nonce"))
        self.assertLessEqual(set(claims), IDENTITY | set(requested))
        for name, value in (("c_hash", code), ("at_hash", access_token)):
            if value:
                half = hashlib.sha256(value.encode()).digest()[:16]
                self.assertEqual(claims[name], base64.urlsafe_b64encode(half).decode().rstrip("="))
        return claims

    def userinfo(self, token, method="GET", body=False):
        more = {"data": {"access_token": token}} if body else {"headers": {"Authorization": f"Bearer {token}"}}
        return requests.request(method, self.metadata["userinfo_endpoint"], verify=self.servers.ca, **more)

    def finish(self, answer, by="client_secret_basic", client=WEB, requested=(), **more):
        """From the redirect to the user information, with the checks that every module makes."""
        code = self.parameters(answer)["code"]
        self.assertGreater(len(code), 20)
        response = self.redeem(code, by=by, client=client, **more)
        self.assertEqual(response.status_code, 200, response.text)
        self.assertIn("no-store", response.headers["Cache-Control"])
        tokens = response.json()
        self.assertEqual(tokens["token_type"], "Bearer")
        self.assertGreater(tokens["expires_in"], 0)
        identity = self.identity(tokens["id_token"], access_token=tokens["access_token"], requested=requested, client=client)
        answer = self.userinfo(tokens["access_token"])
        self.assertEqual((answer.status_code, answer.headers["Content-Type"].split(";")[0]), (200, "application/json"))
        self.assertEqual(answer.json()["sub"], identity["sub"])
        return Flow(code, tokens, identity, answer.json())

    def flow(self, by="client_secret_basic", requested=(), **more):
        """A whole sign-in on the page."""
        return self.finish(self.sign_in(self.ask(**more)), by=by, client=more.get("client_id", WEB), requested=requested)


def request_object(parameters):
    """A request object without a signature."""
    parts = [{"alg": "none"}, {"iss": WEB, "aud": shared().issuer, **parameters}]
    return ".".join(base64.urlsafe_b64encode(json.dumps(part).encode()).decode().rstrip("=") for part in parts) + "."


class Conformance(Party):
    """The modules of both plans: a test has the name of its module."""

    def check_same_sign_in(self, first, second):
        self.assertEqual(second.identity["sub"], first.identity["sub"])
        self.assertEqual(second.identity["auth_time"], first.identity["auth_time"])

    def test_sign_ins_that_succeed(self):
        for module, parameters in SIGN_INS.items():
            with self.subTest(module):
                self.browser.cookies.clear()
                self.flow(**parameters)

    def test_scopes_and_their_claims(self):
        types = {"updated_at": int, "email_verified": bool, "phone_number_verified": bool, "address": dict}
        for module, (scope, claims) in SCOPES.items():
            with self.subTest(module):
                self.browser.cookies.clear()
                userinfo = self.flow(scope=f"openid {scope}").userinfo
                self.assertEqual(set(userinfo), {"sub"} | claims)
                for claim in claims:
                    self.assertIsInstance(userinfo[claim], types.get(claim, str))
                    self.assertTrue(userinfo[claim])

    def test_oidcc_server(self):
        flow = self.flow()
        self.assertNotIn("name", flow.identity)
        self.assertEqual(set(flow.userinfo), {"sub"})

    def test_requests_that_fail(self):
        for module, (parameters, error) in ERRORS.items():
            with self.subTest(module):
                self.assertEqual(self.error(self.ask(**parameters)), error)

    def test_oidcc_idtoken_signature(self):
        self.assertIn("kid", jwt.get_unverified_header(self.flow().answer["id_token"]))

    def test_oidcc_idtoken_unsigned(self):
        self.assertNotIn("none", self.metadata["id_token_signing_alg_values_supported"])

    def test_oidcc_userinfo_get(self):
        flow = self.flow(scope="openid email")
        self.assertEqual(flow.userinfo, {"sub": flow.identity["sub"], "email": "alice@example.com", "email_verified": True})

    def test_oidcc_userinfo_post_header(self):
        flow = self.flow()
        answer = self.userinfo(flow.answer["access_token"], "POST")
        self.assertEqual((answer.status_code, answer.json()), (200, flow.userinfo))

    def test_oidcc_userinfo_post_body(self):
        flow = self.flow()
        answer = self.userinfo(flow.answer["access_token"], "POST", body=True)
        self.assertEqual((answer.status_code, answer.json()), (200, flow.userinfo))

    def test_oidcc_alternate_happy_flow(self):
        page = self.ask(scope="email openid")
        address, _, query = page.url.partition("?")
        answer = self.browser.get(f"{address}?{'&'.join(reversed(query.split('&')))}", allow_redirects=False)
        self.assertEqual(set(self.finish(self.sign_in(answer)).userinfo), {"sub"} | EMAIL)

    def test_oidcc_prompt_login(self):
        first = self.flow()
        self.wait(1)
        self.assertGreater(self.flow(prompt="login").identity["auth_time"], first.identity["auth_time"])

    def test_oidcc_prompt_none_logged_in(self):
        first = self.flow()
        self.wait(1)
        self.check_same_sign_in(first, self.finish(self.ask(prompt="none")))

    def test_oidcc_max_age_1(self):
        first = self.flow()
        self.wait(2)
        second = self.flow(max_age="1")
        self.assertGreater(second.identity["auth_time"], first.identity["auth_time"])
        self.assertLessEqual(second.identity["iat"] - second.identity["auth_time"], 2)

    def test_oidcc_max_age_10000(self):
        first = self.flow(max_age="15000")
        self.wait(1)
        self.check_same_sign_in(first, self.finish(self.ask(max_age="10000")))

    def test_oidcc_id_token_hint(self):
        first = self.flow()
        self.check_same_sign_in(first, self.finish(self.ask(prompt="none", id_token_hint=first.answer["id_token"])))

    def test_oidcc_ensure_request_with_acr_values_succeeds(self):
        values = self.metadata["acr_values_supported"]
        self.assertIn(self.flow(acr_values=" ".join(values)).identity["acr"], values)

    def test_oidcc_codereuse(self):
        self.refused(self.redeem(self.flow().code), "invalid_grant")

    def test_oidcc_codereuse_30seconds(self):
        flow = self.flow(scope="openid offline_access")
        self.wait(30)
        self.refused(self.redeem(flow.code), "invalid_grant")
        answer = self.userinfo(flow.answer["access_token"])
        self.assertEqual(answer.status_code, 401)
        self.assertIn('error="invalid_token"', answer.headers["WWW-Authenticate"])
        self.refused(self.token(grant_type="refresh_token", refresh_token=flow.answer["refresh_token"]), "invalid_grant")

    def test_oidcc_ensure_registered_redirect_uri(self):
        for uri in [f"{CALLBACK}/{secrets.token_hex(5)}", f"{CALLBACK}?a=b", CALLBACK.replace("http:", "https:"), f"{CALLBACK}/", None]:
            with self.subTest(uri):
                self.page_of_error(self.ask(redirect_uri=uri))

    def test_oidcc_ensure_post_request_succeeds(self):
        self.finish(self.sign_in(self.ask("POST")))

    def test_oidcc_unsigned_request_object_supported_correctly_or_rejected_as_unsupported(self):
        self.assertEqual(self.error(self.ask(request=request_object({"scope": "openid"}))), "request_not_supported")

    def test_oidcc_claims_essential(self):
        flow = self.flow(claims=json.dumps({"userinfo": {"name": {"essential": True}}}))
        self.assertEqual(flow.userinfo["name"], "Alice Example")
        self.assertNotIn("name", flow.identity)

    def test_oidcc_ensure_request_object_with_redirect_uri(self):
        self.page_of_error(self.ask(redirect_uri=f"{CALLBACK}/wrong", request=request_object({"redirect_uri": CALLBACK})))

    def test_oidcc_refresh_token(self):
        def refresh(token, **more):
            return self.token(grant_type="refresh_token", refresh_token=token, **more)
        flow = self.flow(scope="openid offline_access", prompt="consent")
        self.wait(1)
        answer = refresh(flow.answer["refresh_token"], scope="openid offline_access")
        self.assertEqual(answer.status_code, 200, answer.text)
        renewed = answer.json()
        second = self.identity(renewed["id_token"], access_token=renewed["access_token"])
        for name in ["iss", "sub", "aud", "auth_time"]:
            self.assertEqual(second[name], flow.identity[name])
        self.assertGreater(second["iat"], flow.identity["iat"])
        self.assertNotEqual(renewed["access_token"], flow.answer["access_token"])
        self.assertEqual(self.userinfo(renewed["access_token"]).status_code, 200)
        self.browser.cookies.clear()
        other = self.flow(client_id=PUBLIC, scope="openid offline_access", prompt="consent")
        self.refused(refresh(other.answer["refresh_token"]), "invalid_grant")

    def test_oidcc_ensure_request_with_valid_pkce_succeeds(self):
        verifier = secrets.token_urlsafe(48)
        challenge = base64.urlsafe_b64encode(hashlib.sha256(verifier.encode()).digest()).decode().rstrip("=")
        answer = self.sign_in(self.ask(code_challenge=challenge, code_challenge_method="S256"))
        code = self.parameters(answer)["code"]
        self.refused(self.redeem(code), "invalid_grant")
        self.refused(self.redeem(code, code_verifier=verifier[::-1]), "invalid_grant")
        self.finish(answer, code_verifier=verifier)

    def test_oidcc_discovery_endpoint_verification(self):
        self.assertEqual(self.metadata["issuer"], self.servers.issuer)
        for name, value in self.metadata.items():
            if name.endswith(("_endpoint", "_uri")):
                self.assertTrue(value.startswith(f"https://localhost:{self.servers.secure_port}/"), name)
            elif name.endswith("_supported") and not name.endswith("parameter_supported"):
                self.assertTrue(value and all(isinstance(each, str) for each in value), name)
        for name in ["authorization_endpoint", "token_endpoint", "userinfo_endpoint", "jwks_uri"]:
            self.assertIn(name, self.metadata)
        self.assertIn("RS256", self.metadata["id_token_signing_alg_values_supported"])
        self.assertEqual(self.metadata["subject_types_supported"], ["public"])
        self.assertIn("openid", self.metadata["scopes_supported"])
        flags = {name: value for name, value in self.metadata.items() if name.endswith("parameter_supported")}
        expected = {"claims_parameter_supported": True, "request_parameter_supported": False, "request_uri_parameter_supported": False}
        self.assertEqual(flags, expected)
        keys = self.fetch(self.metadata["jwks_uri"])["keys"]
        self.assertEqual(len({key["kid"] for key in keys}), len(keys))
        for key in keys:
            self.assertEqual((key["kty"], key["use"]), ("RSA", "sig"))
            self.assertFalse({"d", "p", "q", "dp", "dq", "qi", "k"} & set(key))
            self.assertGreaterEqual(jwt.PyJWK(key, "RS256").key.key_size, 2048)


class BeyondThePlans(Party):
    """Rules of the standards that these two plans do not try."""

    def test_implicit_and_hybrid_flows_need_a_nonce(self):
        for types in ["id_token", "id_token token", "code id_token", "code id_token token"]:
            self.browser.cookies.clear()
            self.assertEqual(self.error(self.ask(response_type=types, nonce=None), "#"), "invalid_request")
            answer = self.parameters(self.sign_in(self.ask(response_type=types, scope="openid email")), "#")
            alone = types == "id_token"
            claims = self.identity(
                answer["id_token"], answer.get("code"), answer.get("access_token"), requested=EMAIL if alone else ())
            self.assertEqual(EMAIL <= set(claims), alone)

    def test_unknown_response_types_prompts_and_modes(self):
        self.assertEqual(self.error(self.ask(response_type="cod")), "unsupported_response_type")
        self.assertEqual(self.error(self.ask(response_type="code code")), "unsupported_response_type")
        for wrong in [{"prompt": "none login"}, {"prompt": "dance"}, {"max_age": "soon"}, {"max_age": "-1"}, {"claims": "{"}, {"scope": None}]:
            self.assertEqual(self.error(self.ask(**wrong)), "invalid_request", wrong)
        self.assertEqual(self.error(self.ask(registration="{}")), "registration_not_supported")
        self.flow()
        self.sign_in(self.ask(prompt="login consent"))

    def test_a_verifier_without_a_challenge_is_refused(self):
        code = self.parameters(self.sign_in(self.ask()))["code"]
        self.refused(self.redeem(code, code_verifier=secrets.token_urlsafe(48)), "invalid_grant")

    def test_claims_for_the_id_token(self):
        claims = {"id_token": {"email": None, "acr": {"essential": True, "values": ["1"]}}, "userinfo": {"phone_number": None}}
        flow = self.flow(requested={"email"}, claims=json.dumps(claims))
        self.assertEqual((flow.identity["email"], flow.identity["acr"]), ("alice@example.com", "1"))
        self.assertEqual(set(flow.userinfo), {"sub", "phone_number"})
        claims["id_token"]["acr"]["values"] = ["urn:mace:incommon:iap:silver"]
        self.assertEqual(self.error(self.ask(claims=json.dumps(claims))), "unmet_authentication_requirements")

    def test_another_person_than_the_hint_is_refused(self):
        alice = self.flow()
        subject = json.dumps({"id_token": {"sub": {"value": alice.identity["sub"]}}})
        self.browser.cookies.clear()
        for hint in [{"id_token_hint": alice.answer["id_token"]}, {"claims": subject}]:
            self.assertEqual(self.error(self.sign_in(self.ask(**hint), "bob@example.com")), "login_required")
        bob = self.finish(self.sign_in(self.ask(), "bob@example.com"))
        self.assertNotEqual(bob.identity["sub"], alice.identity["sub"])
        for hint in [{"id_token_hint": alice.answer["id_token"]}, {"claims": subject}]:
            self.assertEqual(self.error(self.ask(prompt="none", **hint)), "login_required")
            self.assertEqual(self.finish(self.sign_in(self.ask(**hint))).identity["sub"], alice.identity["sub"])
            self.browser.cookies.clear()
            self.sign_in(self.ask(), "bob@example.com")

    def test_scopes(self):
        flow = self.flow(scope=f"openid offline_access {API}/tasks.read misspelt")
        self.assertEqual(flow.answer["scope"], f"openid offline_access {API}/tasks.read")
        wider = {"grant_type": "refresh_token", "refresh_token": flow.answer["refresh_token"], "scope": "openid profile"}
        self.refused(self.token(**wider), "invalid_scope")
        # Without `openid` there is no ID token, and the token is not good for userinfo.
        code = self.parameters(self.sign_in(self.ask(scope="tasks.read", prompt="login")))["code"]
        answer = self.redeem(code).json()
        self.assertNotIn("id_token", answer)
        refusal = self.userinfo(answer["access_token"])
        self.assertEqual(refusal.status_code, 403)
        self.assertIn('error="insufficient_scope"', refusal.headers["WWW-Authenticate"])

    def test_userinfo_takes_access_tokens_only(self):
        flow = self.flow()
        for token in ["", "nonsense", flow.answer["id_token"], flow.answer["access_token"][:-4]]:
            answer = self.userinfo(token)
            self.assertEqual(answer.status_code, 401)
            self.assertTrue(answer.headers["WWW-Authenticate"].startswith("Bearer "))

    def test_clients_that_do_not_authenticate(self):
        code = self.parameters(self.sign_in(self.ask()))["code"]
        form = {"grant_type": "authorization_code", "code": code, "redirect_uri": CALLBACK}
        endpoint, ca = self.metadata["token_endpoint"], self.servers.ca
        for user, secret in [(WEB, "wrong"), ("nobody", SECRET)]:
            answer = requests.post(endpoint, data=form, auth=(user, secret), verify=ca)
            self.assertEqual((answer.status_code, answer.json()["error"]), (401, "invalid_client"))
            self.assertTrue(answer.headers["WWW-Authenticate"].startswith("Basic "))
        self.refused(requests.post(endpoint, data={**form, "client_id": WEB}, verify=ca), "invalid_client")
        self.refused(self.token(grant_type="urn:ietf:params:oauth:grant-type:device_code"), "unsupported_grant_type")

    def test_an_application_for_itself(self):
        answer = self.token(grant_type="client_credentials", scope=f"openid {API}/tasks.read").json()
        claims = claims_of(answer["access_token"])
        self.assertEqual((claims["sub"], claims["client_id"], claims["scope"]), (WEB, WEB, f"{API}/tasks.read"))
        self.assertLessEqual(set(answer), {"access_token", "token_type", "expires_in", "scope"})

    def test_sign_out_goes_to_registered_addresses_only(self):
        flow = self.flow()
        for query, goes in [
                ({"id_token_hint": flow.answer["id_token"]}, True), ({"client_id": WEB}, True), ({}, False),
                ({"client_id": WEB, "post_logout_redirect_uri": "https://evil.example/"}, False)]:
            address = {"post_logout_redirect_uri": CALLBACK, "state": "s", **query}
            answer = self.browser.get(self.metadata["end_session_endpoint"], params=address, allow_redirects=False)
            self.assertEqual(answer.headers.get("Location"), f"{CALLBACK}?state=s" if goes else None)

    def test_no_tenant_of_microsoft_is_beside_it(self):
        answer = requests.get(f"{self.servers.authority}/common/v2.0/.well-known/openid-configuration")
        self.assertEqual(answer.status_code, 404)
        self.assertNotIn("AADSTS", answer.text)

    def test_task_server_takes_the_tokens_and_refuses_the_bad_ones(self):
        def ask(token):
            return requests.get(f"{self.servers.page}/api/tasks", headers={"Authorization": f"Bearer {token}"}).status_code
        requests.post(f"{self.servers.authority}/_mock/clock", json={"skew_s": 0}).raise_for_status()
        flow = self.flow(scope=f"openid {API}/tasks.read {API}/tasks.write")
        self.assertEqual(ask(flow.answer["access_token"]), 200)
        self.assertEqual(ask(self.servers.token()), 200)
        for bad in requests.get(f"{self.servers.authority}/_mock/token/bad", headers={"Accept": "application/json"}).json():
            self.assertEqual(ask(self.servers.token(bad=bad["name"])), bad["statusWithScopes"], bad["name"])
