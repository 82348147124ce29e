"""TLS of both programs: what Mozilla's intermediate configuration demands, as sslyze finds it, and what the old iOS samples use."""

import os
import pathlib
import subprocess
import sys
import unittest
import unittest.mock

import secure


class TLS(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        servers = cls.servers = secure.SecureServers()
        cls.addClassCleanup(servers.stop)
        cls.enterClassContext(unittest.mock.patch.dict(os.environ, SSL_CERT_FILE=servers.certificate))
        # The mock's certificate names 127.0.0.1, so the server of the tasks can show it as well.
        state = servers.folder / "state"
        pages = servers.another_page(TASKS_TLS_CERT=str(state / "tls.pem"), TASKS_TLS_KEY=str(state / "tls.key"))
        page = cls.enterClassContext(pages)
        cls.addresses = {
            "mock-authority": f"localhost:{servers.secure_port}", "task-server": page.removeprefix("https://")}

    def test_mozilla_s_intermediate_configuration(self):
        for program, address in self.addresses.items():
            scan = subprocess.run(
                [pathlib.Path(sys.executable).with_name("sslyze"), "--mozilla_config=intermediate",
                 f"--certinfo_ca_file={self.servers.certificate}", address],
                capture_output=True, text=True, timeout=300, check=False)
            result = scan.stdout[scan.stdout.rfind("COMPLIANCE AGAINST"):] + scan.stderr
            self.assertIn(f"{address}: OK - Compliant", result, program)
            self.assertEqual(scan.returncode, 0, result)

    def handshake(self, address, *arguments):
        """Whether a client with these restrictions finds something in common with the server."""
        client = subprocess.run(
            ["openssl", "s_client", "-connect", address, "-CAfile", self.servers.certificate, "-verify_return_error",
             *arguments], stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=60, check=False)
        return client.returncode == 0

    def test_the_suites_of_the_old_ios_samples_and_no_older_ones(self):
        for program, address in self.addresses.items():
            for suite in ["ECDHE-RSA-AES128-GCM-SHA256", "ECDHE-RSA-AES256-GCM-SHA384", "ECDHE-RSA-CHACHA20-POLY1305"]:
                self.assertTrue(self.handshake(address, "-tls1_2", "-cipher", suite), (program, suite))
            for suite in ["AES128-SHA", "AES128-GCM-SHA256", "ECDHE-RSA-AES128-SHA", "ECDHE-RSA-AES128-SHA256",
                          "AES128-CCM", "DHE-RSA-AES128-GCM-SHA256"]:
                self.assertFalse(self.handshake(address, "-tls1_2", "-cipher", suite), (program, suite))
            self.assertFalse(self.handshake(address, "-tls1_1", "-cipher", "DEFAULT@SECLEVEL=0"), program)

    def test_the_groups_of_a_key_agreement(self):
        for program, address in self.addresses.items():
            for version in ["-tls1_2", "-tls1_3"]:
                for group, is_offered in {"X25519": 1, "P-256": 1, "P-384": 1, "P-521": 0, "X448": 0}.items():
                    self.assertEqual(self.handshake(address, version, "-groups", group), bool(is_offered), (program, version, group))
