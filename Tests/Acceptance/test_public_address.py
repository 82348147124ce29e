"""MSAL for Python and for JavaScript, and the server of the tasks, at an authority behind nginx, which speaks TLS for it."""

import json
import unittest

import test_msal
import test_msal_js
from secure import SecureServers
from servers import CLIENT, TENANT, free_port
from test_proxies import NGINX


class ByPublicURL(SecureServers):
    """nginx says nothing about its clients; the authority knows its address."""

    fields = ""

    def __init__(self):
        self.proxy_port = free_port()
        self.public = f"https://localhost:{self.proxy_port}"
        super().__init__()
        self.secure = self.public

    def authority_settings(self):
        settings = {**super().authority_settings(), "MOCK_PUBLIC_URL": self.public}
        del settings["MOCK_ISSUER"]
        return settings

    def start_page(self):
        tls = f"ssl_certificate {self.folder}/state/tls.pem; ssl_certificate_key {self.folder}/state/tls.key;"
        locations = f"{tls} location / {{ proxy_pass {self.authority}; {self.fields} }}"
        file = self.folder / "nginx.conf"
        file.write_text(NGINX.format(folder=self.folder, port=f"{self.proxy_port} ssl", locations=locations))
        self._start("/usr/sbin/nginx", "nginx", ["-p", self.folder, "-e", "stderr", "-c", file])
        super().start_page(TASKS_AUTHORITY=f"{self.public}/{TENANT}", TASKS_CA_FILE=str(self.folder / "state/ca.pem"))


class ByItsFields(ByPublicURL):
    """nginx names the address, and the authority trusts nginx."""

    fields = "proxy_set_header X-Forwarded-Proto $scheme; proxy_set_header X-Forwarded-Host $http_host;"

    def authority_settings(self):
        settings = {**super().authority_settings(), "MOCK_TRUSTED_PROXIES": "127.0.0.1", "MOCK_ISSUER": self.public}
        del settings["MOCK_PUBLIC_URL"]
        return settings


class PythonByPublicURL(test_msal.MSAL):
    make_servers = ByPublicURL


class PythonByTheFieldsOfTheProxy(test_msal.MSAL):
    make_servers = ByItsFields


class JavaScript(test_msal_js.Page, unittest.TestCase):
    make_servers = ByPublicURL
    scopes = test_msal_js.B2C.scopes

    @classmethod
    def task_server(cls):
        trust = str(cls.servers.folder / "state/ca.pem")
        return cls.servers.another_page(TASKS_AUTHORITY=f"{cls.servers.public}/{TENANT}", TASKS_CA_FILE=trust)

    @classmethod
    def settings(cls):
        host = cls.servers.public.removeprefix("https://")
        auth = {"clientId": CLIENT, "authority": f"https://{host}/{TENANT}/b2c_1_sign_in", "knownAuthorities": [host]}
        return f"const msalConfig = {json.dumps({'auth': auth})}, request = {json.dumps({'scopes': cls.scopes})};"

    test_popup_then_silently_then_refreshed = test_msal_js.Flows.test_popup_then_silently_then_refreshed
    test_redirect_then_frame_then_sign_out = test_msal_js.Flows.test_redirect_then_frame_then_sign_out
