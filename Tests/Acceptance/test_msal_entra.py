"""MSAL Python and azure-identity as they come from PyPI, as daemons of Entra and with a password, by the names of the real hosts."""

import json
import logging
import os
import time
import unittest
import unittest.mock
import urllib.parse
import warnings

import azure.identity
import jwt
import msal
from azure.core.exceptions import ClientAuthenticationError
from cryptography import x509
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import rsa

import secure
import servers
from person import PASSWORD
from test_msal_external_id import ENTRA_API, ENTRA_CLIENT, FABRIKAM, ISSUER, EntraServers, Hosts

AUTHORITY = f"https://login.microsoftonline.com/{FABRIKAM}"
SCOPE = f"api://{ENTRA_API}/.default"
SECRET_DAEMON = "7b2e9d4c-3f5a-4c6e-8b9d-0a1f2e3d4c5b"
DAEMON = "9d4c3b2a-1f0e-4d5c-8b7a-6f5e4d3c2b1a"
FEDERATED = "1c2d3e4f-5a6b-4c7d-8e9f-0a1b2c3d4e5f"
NORTHWIND = "0e7a5d3c-4b2f-4a61-9c8d-3f2e1d0c9b8a"
SUBJECT = "system:serviceaccount:default:tasks"
CLUSTER_PORT = servers.free_port()
CLUSTER = f"http://127.0.0.1:{CLUSTER_PORT}"
CHALLENGE = {"access_token": {"acrs": {"essential": True, "value": "c1"}}}


class Cluster(servers.Handler):
    """The issuer of the tokens of a cluster's workloads, with its keys."""

    key = rsa.generate_private_key(65537, 2048)

    def do_GET(self):
        public = jwt.algorithms.RSAAlgorithm.to_jwk(self.key.public_key(), as_dict=True)
        metadata, keys = {"issuer": CLUSTER, "jwks_uri": f"{CLUSTER}/keys"}, {"keys": [{**public, "kid": "cluster"}]}
        document = {"/.well-known/openid-configuration": metadata, "/keys": keys}[self.path]
        self.answer(200, "application/json", json.dumps(document).encode())


class FederatedServers(EntraServers):
    """The authority lets a second tenant have a client of two federated credentials, and takes passwords at Entra."""

    def authority_settings(self):
        file = self.folder / "federated.json"
        credentials = [
            {"issuer": ISSUER, "subject": SUBJECT, "audience": servers.EXTERNAL_API},
            {"issuer": CLUSTER, "subject": SUBJECT},
        ]
        file.write_text(json.dumps({"entra": [{}, {
            "tenant": {"name": "northwind.onmicrosoft.com", "id": NORTHWIND},
            "clients": [{"id": FEDERATED, "federatedCredentials": credentials}],
        }]}))
        return {**super().authority_settings(), "MOCK_CONFIG": str(file), "MOCK_ENTRA_PASSWORD_GRANT": "true"}


class Daemons(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.enterClassContext(servers.serving(Cluster, CLUSTER_PORT))
        cls.servers = FederatedServers()
        cls.addClassCleanup(cls.servers.stop)
        cls.enterClassContext(unittest.mock.patch.dict(os.environ, REQUESTS_CA_BUNDLE=cls.servers.certificate))
        cls.enterClassContext(unittest.mock.patch("socket.getaddrinfo", Hosts(cls.servers).look_up))
        cls.pem = cls.servers.folder / "state/client.pem"
        logging.getLogger("azure.identity").addHandler(logging.NullHandler())  # It logs each refusal.

    def setUp(self):
        if not self.servers.may_443:
            self.fail(secure.NO_443)
        self.enterContext(warnings.catch_warnings(action="ignore", category=DeprecationWarning))  # Passwords are deprecated.

    def check(self, token, client, kind):
        claims = servers.claims_of(token)
        self.assertEqual([claims[name] for name in ("aud", "azp", "azpacr")], [ENTRA_API, client, kind])

    def test_msal_signs_by_a_certificate(self):
        text = self.pem.read_text()
        key = text[text.index("-----BEGIN PRIVATE KEY"):]
        thumbprint = x509.load_pem_x509_certificate(text.encode()).fingerprint(hashes.SHA1()).hex()
        for sent, credential in (
            ("PS256 x5c x5t#S256", {"private_key": key, "public_certificate": text}),
            ("RS256 x5t", {"private_key": key, "thumbprint": thumbprint}),
            ("RS256 x5c x5t", {"private_key": key, "thumbprint": thumbprint, "public_certificate": text}),
        ):
            with self.subTest(sent):
                client = msal.ConfidentialClientApplication(DAEMON, client_credential=credential, authority=AUTHORITY)
                result = client.acquire_token_for_client([SCOPE])
                self.assertIn("access_token", result, result)
                self.check(result["access_token"], DAEMON, "2")
                body = urllib.parse.parse_qs(self.servers.control("requests?profile=entra")[-1]["body"])
                header = jwt.get_unverified_header(body["client_assertion"][0])
                self.assertEqual(" ".join([header["alg"], *sorted(set(header) - {"alg", "typ"})]), sent)

    def test_azure_identity_has_a_secret_or_a_certificate(self):
        credential = azure.identity.ClientSecretCredential(FABRIKAM, SECRET_DAEMON, "mock-secret")
        self.check(credential.get_token(SCOPE).token, SECRET_DAEMON, "1")
        for chain in (False, True):
            credential = azure.identity.CertificateCredential(
                FABRIKAM, DAEMON, str(self.pem), send_certificate_chain=chain)
            self.check(credential.get_token(SCOPE).token, DAEMON, "2")
        wrong = azure.identity.CertificateCredential(FABRIKAM, SECRET_DAEMON, str(self.pem))
        with self.assertRaisesRegex(ClientAuthenticationError, "AADSTS700027"):
            wrong.get_token(SCOPE)

    def answers(self, assertion):
        """What MSAL and two credentials of azure-identity get for an assertion: a token, or the reason for none."""
        client = msal.ConfidentialClientApplication(
            FEDERATED, client_credential={"client_assertion": lambda: assertion},
            authority=f"https://login.microsoftonline.com/{NORTHWIND}")
        result = client.acquire_token_for_client([SCOPE])
        yield result.get("access_token") or result["error_description"]
        file = self.servers.folder / "assertion"
        file.write_text(assertion)
        for credential in (
            azure.identity.ClientAssertionCredential(NORTHWIND, FEDERATED, lambda: assertion),
            azure.identity.WorkloadIdentityCredential(tenant_id=NORTHWIND, client_id=FEDERATED, token_file_path=str(file)),
        ):
            try:
                yield credential.get_token(SCOPE).token
            except ClientAuthenticationError as error:
                yield error.message

    def test_a_token_of_another_issuer_is_a_credential(self):
        def of_cluster(key=Cluster.key, **claims):
            good = {"iss": CLUSTER, "sub": SUBJECT, "aud": "api://AzureADTokenExchange", "exp": time.time() + 600}
            return jwt.encode({**good, **claims}, key, "RS256", {"kid": "cluster"})

        for code, assertion in (
            ("", self.servers.token("alice", profile="external-id", claim=f"sub={SUBJECT}")),
            ("", of_cluster()),
            ("AADSTS700211", of_cluster(iss="http://127.0.0.1:1")),
            ("AADSTS700212", of_cluster(aud="api://other")),
            ("AADSTS700213", of_cluster(sub="other")),
            ("AADSTS700024", of_cluster(exp=time.time() - 600)),
            ("AADSTS700027", of_cluster(rsa.generate_private_key(65537, 2048))),
        ):
            for answer in self.answers(assertion):
                with self.subTest(code):
                    self.assertRegex(answer, code or "^ey")
                    if not code:
                        self.check(answer, FEDERATED, "2")

    def test_msal_sends_a_password_and_passes_a_claims_challenge_on(self):
        client = msal.PublicClientApplication(ENTRA_CLIENT, authority=AUTHORITY, client_capabilities=["CP1"])
        scopes = [f"api://{ENTRA_API}/Tasks.Read"]

        def sign_in(claims=None):
            return client.acquire_token_by_username_password("alice@fabrikam.com", PASSWORD, scopes, claims_challenge=claims)

        token = sign_in()["access_token"]
        self.check(token, ENTRA_CLIENT, "0")
        claims = servers.claims_of(token)
        self.assertGreaterEqual(claims["exp"] - claims["iat"], 20 * 3600)
        self.servers.control("challenge?profile=entra", {"user": "alice", "suberror": "basic_action", "claims": CHALLENGE})
        refused = client.acquire_token_silent_with_error(scopes, client.get_accounts()[0], force_refresh=True)
        self.assertEqual([refused["error"], refused["classification"]], ["interaction_required", "basic_action"])
        claims = servers.claims_of(sign_in(refused["claims"])["access_token"])
        self.assertEqual([claims["acrs"], claims["xms_cc"]], [["c1"], ["CP1"]])

    def test_azure_identity_sends_a_password_and_passes_a_claims_challenge_on(self):
        def token(password=PASSWORD, **more):
            credential = azure.identity.UsernamePasswordCredential(
                ENTRA_CLIENT, "alice@fabrikam.com", password, tenant_id=FABRIKAM)
            return credential.get_token(f"api://{ENTRA_API}/Tasks.Read", **more).token

        self.check(token(), ENTRA_CLIENT, "0")
        with self.assertRaisesRegex(ClientAuthenticationError, "AADSTS50126"):
            token("wrong")
        self.servers.control("challenge?profile=entra", {"user": "alice", "error": "53003", "claims": CHALLENGE})
        with self.assertRaisesRegex(ClientAuthenticationError, "AADSTS53003") as refused:
            token(enable_cae=True)
        asked = {"claims": refused.exception.response.json()["claims"], "enable_cae": True}
        daemon = azure.identity.CertificateCredential(FABRIKAM, DAEMON, str(self.pem)).get_token(SCOPE, **asked).token
        for claims in map(servers.claims_of, (token(**asked), daemon)):
            self.assertEqual([claims["acrs"], claims["xms_cc"]], [["c1"], ["CP1"]])
