"""The page behind proxies that people have: some compress what passes, some put the server below a path."""

import contextlib
import urllib.request

from person import PageTest, Person
from servers import free_port

NGINX = """
    daemon off; master_process off; pid {folder}/nginx.pid; error_log {folder}/nginx.log; events {{}}
    http {{
      access_log off;
      client_body_temp_path {folder}; proxy_temp_path {folder}; fastcgi_temp_path {folder}; uwsgi_temp_path {folder}; scgi_temp_path {folder};
      server {{ listen 127.0.0.1:{port}; {locations} }}
    }}"""
COMPRESSING = "gzip on; gzip_types application/json; gzip_min_length 0; gzip_proxied any; location / { proxy_pass http://127.0.0.1:%d; }"
HAPROXY = """
    defaults
      mode http
      timeout connect 5s
      timeout client 60s
      timeout server 60s
    listen tasks
      bind 127.0.0.1:{port}
      compression algo gzip
      compression type application/json
      server tasks 127.0.0.1:{upstream}
"""
APACHE = """
    ServerName localhost
    Listen 127.0.0.1:{port}
    PidFile {folder}/apache.pid
    ErrorLog {folder}/apache.log
    {modules}
    SetOutputFilter DEFLATE
    ProxyPass / http://127.0.0.1:{upstream}/
"""
MODULES = "\n".join(f"LoadModule {name}_module /usr/lib/apache2/modules/mod_{name}.so"
                    for name in ["mpm_event", "authz_core", "filter", "deflate", "proxy", "proxy_http"])
CADDY = """
    {{ admin off
    }}
    http://127.0.0.1:{port} {{
      encode {{
        zstd
        gzip
        minimum_length 1
      }}
      header Etag `^"(.*)"$` `"$1-zstd"` # as later releases than Debian's do by themselves
      reverse_proxy 127.0.0.1:{upstream}
    }}
"""
COMMANDS = {
    "nginx": ["/usr/sbin/nginx", "-p", "{folder}", "-e", "{folder}/nginx.log", "-c"],
    "haproxy": ["/usr/sbin/haproxy", "-db", "-f"],
    "apache": ["/usr/sbin/apache2", "-D", "FOREGROUND", "-f"],
    "caddy": ["/usr/bin/caddy", "run", "--adapter", "caddyfile", "--config"],
}


@contextlib.contextmanager
def proxy(servers, program, configuration, path="/", **more):
    """A proxy in front of the page; the page's address there, without a slash at its end."""
    port, upstream, folder = free_port(), servers.ports[0], servers.folder
    file = folder / f"{program}-{port}.conf"
    file.write_text(configuration.format(port=port, upstream=upstream, folder=folder, modules=MODULES, **more))
    command = [part.format(folder=folder) for part in COMMANDS[program]]
    address = f"http://127.0.0.1:{port}{path}"
    with servers.proxy(f"{address}healthz", *command, file):
        yield address[:-1]


class Compressing(PageTest):
    """Each of them gives an answer another entity tag when it compresses the answer."""

    def check(self, program, configuration, coding, tag, **more):
        with proxy(self.servers, program, configuration, **more) as address:
            self.person = Person(self.chrome, address)
            self.newcomer()
            self.person.save("Buy milk", "Buy bread", "Buy eggs")
            token = self.session()["token"]
            request = urllib.request.Request(
                f"{address}/api/tasks/1", headers={"Authorization": f"Bearer {token}", "Accept-Encoding": coding})
            with urllib.request.urlopen(request) as answer:
                self.assertEqual(answer.headers["Content-Encoding"], coding)
                self.assertRegex(answer.headers["ETag"], tag)
            self.person.rename("Buy milk", "Buy oat milk")
            self.person.await_saved()
            self.person.complete("Buy bread")
            self.person.await_saved()
            self.chrome.one("#clear").click()
            self.chrome.until(lambda: self.saved() == [("Buy oat milk", False), ("Buy eggs", False)], "an edit and a deletion")
            self.person.look_again()
            self.person.await_saved()
            changes = [request for request in self.chrome.requests() if request["method"] in ("PATCH", "DELETE")]
            self.assertEqual([request["method"] for request in changes], ["PATCH", "PATCH", "DELETE"])

    def test_nginx(self):
        self.check("nginx", NGINX, "gzip", r'^W/"1\.\d+"$', locations=COMPRESSING % self.servers.ports[0])

    def test_haproxy(self):
        self.check("haproxy", HAPROXY, "gzip", r'^W/"1\.\d+"$')

    def test_apache(self):
        self.check("apache", APACHE, "gzip", r'^"1\.\d+-gzip"$')

    def test_caddy(self):
        self.check("caddy", CADDY, "zstd", r'^"1\.\d+-zstd"$')
