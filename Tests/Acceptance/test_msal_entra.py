"""MSAL Python and azure-identity as they come from PyPI, as daemons of Entra and with a password, by the names of the real hosts."""

import json
import os
import pathlib
import tempfile
import unittest
import unittest.mock
import warnings

import azure.core.exceptions
import azure.identity
import msal
import requests
from cryptography import x509
from cryptography.hazmat.primitives import hashes

import secure
import servers
from person import PASSWORD
from test_msal_external_id import ENTRA_API, ENTRA_CLIENT, FABRIKAM, ISSUER, EntraServers, Hosts

AUTHORITY = f"https://login.microsoftonline.com/{FABRIKAM}"
SCOPE = f"api://{ENTRA_API}/.default"
SECRET_DAEMON = "7b2e9d4c-3f5a-4c6e-8b9d-0a1f2e3d4c5b"
DAEMON = "9d4c3b2a-1f0e-4d5c-8b7a-6f5e4d3c2b1a"
FEDERATED = "1c2d3e4f-5a6b-4c7d-8e9f-0a1b2c3d4e5f"
SUBJECT = "system:serviceaccount:default:tasks"


class FederatedServers(EntraServers):
    """The authority lets a second tenant have a client of a federated credential, and takes passwords at Entra."""

    def authority_settings(self):
        file = self.folder / "federated.json"
        audience = servers.EXTERNAL_API
        credential = {"issuer": ISSUER, "subject": SUBJECT, "audience": audience}
        file.write_text(json.dumps({"entra": [{}, {
            "tenant": {"name": "northwind.onmicrosoft.com", "id": "0e7a5d3c-4b2f-4a61-9c8d-3f2e1d0c9b8a"},
            "clients": [{"id": FEDERATED, "federatedCredentials": [credential]}],
        }]}))
        return {**super().authority_settings(), "MOCK_CONFIG": str(file), "MOCK_ENTRA_PASSWORD_GRANT": "true"}


class Daemons(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.servers = FederatedServers()
        cls.addClassCleanup(cls.servers.stop)
        for patch in (
            unittest.mock.patch.dict(os.environ, REQUESTS_CA_BUNDLE=cls.servers.certificate),
            unittest.mock.patch("socket.getaddrinfo", Hosts(cls.servers).look_up),
        ):
            patch.start()
            cls.addClassCleanup(patch.stop)
        cls.pem = cls.servers.folder / "state/client.pem"

    def setUp(self):
        if not self.servers.may_443:
            self.fail(secure.NO_443)

    def check(self, token, client, kind):
        claims = servers.claims_of(token)
        self.assertEqual([claims[name] for name in ("aud", "azp", "azpacr")], [ENTRA_API, client, kind])

    def test_msal_signs_by_a_certificate(self):
        text = self.pem.read_text()
        key = text[text.index("-----BEGIN PRIVATE KEY"):]
        thumbprint = x509.load_pem_x509_certificate(text.encode()).fingerprint(hashes.SHA1()).hex()
        for credential in (
            {"private_key": key, "public_certificate": text},
            {"private_key": key, "thumbprint": thumbprint},
            {"private_key": key, "thumbprint": thumbprint, "public_certificate": text},
        ):
            with self.subTest(sorted(credential)):
                client = msal.ConfidentialClientApplication(DAEMON, client_credential=credential, authority=AUTHORITY)
                result = client.acquire_token_for_client([SCOPE])
                self.assertIn("access_token", result, result)
                self.check(result["access_token"], DAEMON, "2")

    def test_azure_identity_has_a_secret_or_a_certificate(self):
        credential = azure.identity.ClientSecretCredential(FABRIKAM, SECRET_DAEMON, "mock-secret")
        self.check(credential.get_token(SCOPE).token, SECRET_DAEMON, "1")
        for chain in (False, True):
            credential = azure.identity.CertificateCredential(
                FABRIKAM, DAEMON, str(self.pem), send_certificate_chain=chain)
            self.check(credential.get_token(SCOPE).token, DAEMON, "2")
        wrong = azure.identity.CertificateCredential(FABRIKAM, SECRET_DAEMON, str(self.pem))
        with self.assertRaisesRegex(azure.core.exceptions.ClientAuthenticationError, "AADSTS700027"):
            wrong.get_token(SCOPE)

    def federated_token(self):
        address = f"{self.servers.authority}/_mock/token?user=alice&profile=external-id&claim=sub={SUBJECT}"
        return requests.get(address, timeout=10).text.strip()

    def test_a_token_of_another_issuer_is_a_credential(self):
        northwind = "0e7a5d3c-4b2f-4a61-9c8d-3f2e1d0c9b8a"
        client = msal.ConfidentialClientApplication(
            FEDERATED, client_credential={"client_assertion": self.federated_token()},
            authority=f"https://login.microsoftonline.com/{northwind}")
        result = client.acquire_token_for_client([SCOPE])
        self.assertIn("access_token", result, result)
        self.check(result["access_token"], FEDERATED, "2")
        with tempfile.TemporaryDirectory() as folder:
            file = pathlib.Path(folder) / "token"
            file.write_text(self.federated_token())
            identity = azure.identity.WorkloadIdentityCredential(
                tenant_id=northwind, client_id=FEDERATED, token_file_path=str(file))
            self.check(identity.get_token(SCOPE).token, FEDERATED, "2")

    def test_msal_sends_a_password_and_passes_a_claims_challenge_on(self):
        client = msal.PublicClientApplication(ENTRA_CLIENT, authority=AUTHORITY, client_capabilities=["CP1"])
        scopes = [f"api://{ENTRA_API}/Tasks.Read"]

        def sign_in(claims=None):
            with warnings.catch_warnings(action="ignore", category=DeprecationWarning):
                return client.acquire_token_by_username_password(
                    "alice@fabrikam.com", PASSWORD, scopes, claims_challenge=claims)

        token = sign_in()["access_token"]
        self.check(token, ENTRA_CLIENT, "0")
        claims = servers.claims_of(token)
        self.assertGreaterEqual(claims["exp"] - claims["iat"], 20 * 3600)
        asked = {"access_token": {"acrs": {"essential": True, "value": "c1"}}}
        self.servers.control("challenge?profile=entra", {"user": "alice", "suberror": "basic_action", "claims": asked})
        refused = client.acquire_token_silent_with_error(scopes, client.get_accounts()[0], force_refresh=True)
        self.assertEqual([refused["error"], refused["classification"]], ["interaction_required", "basic_action"])
        claims = servers.claims_of(sign_in(refused["claims"])["access_token"])
        self.assertEqual([claims["acrs"], claims["xms_cc"]], [["c1"], ["CP1"]])
