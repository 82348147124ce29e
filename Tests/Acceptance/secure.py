"""Both programs with the authority by https, as MSAL insists on it."""

import base64
import hashlib
import random
import re
import socket
import time

import requests
from cryptography import x509
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat

from chrome import Chrome
from servers import Servers, free_port

NO_443 = (
    "MSAL asks https://<host>:443/common/userrealm before it sends a password, whatever the port of the authority, and "
    "this user may not listen on 443: run the tests as root, or sudo sysctl net.ipv4.ip_unprivileged_port_start=443")


def may_listen_on_443(host):
    with socket.socket() as probe:
        try:
            probe.bind((host, 443))
        except PermissionError:
            return False
    return True


def use(page, token, text):
    """Adds a task with a token; the texts of all tasks then."""
    bearer = {"Authorization": f"Bearer {token}"}
    requests.post(f"{page}/api/tasks", headers=bearer, json={"Text": text}, timeout=10).raise_for_status()
    return [task["Text"] for task in requests.get(f"{page}/api/tasks", headers=bearer, timeout=10).json()]


class SecureServers(Servers):
    """The authority listens on a port of localhost, and on 443 of a loopback address that no other program uses."""

    def __init__(self):
        self.host = ".".join(["127", *(str(random.randint(2, 254)) for _ in range(3))])
        self.may_443 = may_listen_on_443(self.host)
        self.secure_port = free_port()
        super().__init__()
        self.secure = f"https://localhost:{self.secure_port}"
        self.certificate = self._line("REQUESTS_CA_BUNDLE=([^ ]+) SSL_CERT_FILE=")

    def _line(self, pattern):
        """What the authority prints; the first start makes a certificate before it does."""
        for _ in range(1200):
            if found := re.search(pattern, (self.folder / "mock-authority.log").read_text()):
                return found[1]
            time.sleep(0.05)
        raise RuntimeError(f"mock-authority printed no line with {pattern}")

    def authority_settings(self):
        addresses = [f"127.0.0.1:{self.secure_port}", *([f"{self.host}:443"] if self.may_443 else [])]
        return {
            **super().authority_settings(), "MOCK_STATE": str(self.folder / "state"),
            "MOCK_TLS_LISTEN": ",".join(addresses), "MOCK_TLS_NAME": self.host,
        }

    def chrome(self, *more):
        """A browser that trusts this authority's certificate, and no other untrusted one."""
        certificate = x509.load_pem_x509_certificate((self.folder / "state/tls.pem").read_bytes())
        key = certificate.public_key().public_bytes(Encoding.DER, PublicFormat.SubjectPublicKeyInfo)
        digest = base64.b64encode(hashlib.sha256(key).digest()).decode()
        return Chrome(f"--ignore-certificate-errors-spki-list={digest}", *more)
