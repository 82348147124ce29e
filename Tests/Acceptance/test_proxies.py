"""The page behind proxies that people have: some compress what passes, some put the server below a path."""

import contextlib
import json
import re
import urllib.parse
import urllib.request

import requests

from person import PageTest, Person
from servers import ROOT, free_port

NGINX = """
    daemon off; master_process off; pid {folder}/nginx.pid; error_log {folder}/nginx.log; events {{}}
    http {{
      access_log off;
      client_body_temp_path {folder}; proxy_temp_path {folder}; fastcgi_temp_path {folder}; uwsgi_temp_path {folder}; scgi_temp_path {folder};
      server {{ listen 127.0.0.1:{port}; {locations} }}
    }}"""
COMPRESSING = "gzip on; gzip_types application/json; gzip_min_length 0; gzip_proxied any; location / { proxy_pass http://127.0.0.1:%d; }"
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
      reverse_proxy 127.0.0.1:{upstream} {{
        header_down Etag `"$` `-zstd"` # as later releases than Debian's do by themselves
      }}
    }}
"""
COMMANDS = {
    "nginx": ["/usr/sbin/nginx", "-p", "{folder}", "-e", "{folder}/nginx.log", "-c"],
    "apache": ["/usr/sbin/apache2", "-D", "FOREGROUND", "-f"],
    "caddy": ["/usr/bin/caddy", "run", "--adapter", "caddyfile", "--config"],
}


@contextlib.contextmanager
def proxy(servers, program, configuration, port=None, path="/", **more):
    """A proxy in front of the page; the page's address there, without a slash at its end."""
    port, upstream, folder = port or free_port(), servers.ports[0], servers.folder
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
            self.chrome.get("about:blank")  # so that no request of the page finds the proxy gone

    def test_nginx(self):
        self.check("nginx", NGINX, "gzip", r'^W/"1\.\d+"$', locations=COMPRESSING % self.servers.ports[0])

    def test_apache(self):
        self.check("apache", APACHE, "gzip", r'^"1\.\d+-gzip"$')

    def test_caddy(self):
        self.check("caddy", CADDY, "zstd", r'^"1\.\d+-zstd"$')


class BelowAPath(PageTest):
    """The server at /todo/ of another server's name."""

    @contextlib.contextmanager
    def below(self, locations):
        """The server behind nginx with these locations of a server at port 3000."""
        port = free_port()
        with self.servers.another_page(TASKS_PUBLIC_URL=f"http://127.0.0.1:{port}/todo") as upstream:
            locations = locations.replace("http://127.0.0.1:3000", upstream)
            with proxy(self.servers, "nginx", NGINX, port, "/todo/", locations=locations) as self.site:
                yield

    def documented(self):
        return re.search("```nginx\n(location /todo/.*?)```", (ROOT / "docs/operate.md").read_text(), re.DOTALL)[1]

    def ask(self, path, method="GET", body=None, **headers):
        """The status, the fields and the text of an answer through the proxy."""
        address = urllib.parse.urljoin(f"{self.site}/", path)
        fields = {"Authorization": f"Bearer {self.servers.token()}", "Accept": "application/json"}
        answer = requests.request(method, address, json=body, headers={**fields, **headers}, timeout=30)
        return answer.status_code, answer.headers, answer.text

    def check_links(self):
        """What the server's answers name is there."""
        for text in ["Buy milk", "Buy bread"]:
            status, headers, _ = self.ask("api/tasks", "POST", {"task": text})
            self.assertEqual((status, headers["Location"][:16]), (201, "/todo/api/tasks/"))
        self.assertEqual(json.loads(self.ask(headers["Location"])[2])["task"], "Buy bread")
        link = self.ask("api/tasks?limit=1")[1]["Link"]
        self.assertEqual([task["task"] for task in json.loads(self.ask(re.match("<(.+)>", link)[1])[2])][0], "Buy bread")
        for path, method, code in [("api/tasks/999999", "GET", "task.not_found"), ("api/tasks", "BREW", "request.method_unknown")]:
            problem = json.loads(self.ask(path, method)[2])
            page, _, anchor = problem["type"].partition("#")
            self.assertEqual(anchor, code)
            self.assertIn(f'id="{code}"', self.ask(page)[2])
        status, headers, _ = self.ask("api/tasks", Authorization="")
        resource = re.search('resource_metadata="(.+)"', headers["WWW-Authenticate"])[1]
        self.assertEqual(json.loads(self.ask(resource)[2])["resource"], f"{self.site}/api/tasks")
        status, headers, page = self.ask("no/such/page", Accept="text/html")
        self.assertEqual((status, 'href="/todo/app.css"' in page, '="/app.css"' in page), (404, True, False))

    def test_a_proxy_that_takes_the_path_away(self):
        with self.below(self.documented()):
            self.check_links()
            self.check_page()

    def test_a_proxy_that_passes_the_path_on(self):
        with self.below(self.documented().replace("3000/;", "3000;")):
            self.check_links()
            self.person = Person(self.chrome, self.site)
            self.newcomer()
            self.person.save("Buy milk")
            self.chrome.get("about:blank")  # so that no request of the page finds the proxy gone

    def check_page(self):
        """Chromium complains about each file that is missing, and the test with it."""
        self.expected = ["no/such/page.* 404", "ERR_INTERNET_DISCONNECTED"]
        self.person = Person(self.chrome, self.site)
        self.person.open("?")  # nginx leads there from /todo, too
        self.newcomer()
        asked = next(request["url"] for request in self.chrome.requests() if "/authorize?" in request["url"])
        self.assertEqual(urllib.parse.parse_qs(urllib.parse.urlsplit(asked).query)["redirect_uri"], [f"{self.site}/"])
        self.assertEqual(self.chrome.current_url, f"{self.site}/")
        self.person.save("Buy milk", "Buy bread")
        self.person.rename("Buy milk", "Buy oat milk")
        self.person.await_saved()
        self.person.filter("today")
        self.assertEqual(self.chrome.current_url, f"{self.site}/#today")
        self.person.filter("all")
        self.assertEqual(self.chrome.current_url, f"{self.site}/")
        self.check_installed()
        self.chrome.connect(False)
        self.chrome.refresh()
        self.person.await_texts("Buy oat milk", "Buy bread")
        self.chrome.connect(True)
        self.check_documents()
        self.person.await_list()
        self.person.sign_out()
        self.assertEqual(self.chrome.current_url, f"{self.site}/")

    def check_installed(self):
        self.await_worker()
        scope, caches = self.chrome.execute_async_script("""
            const [done] = arguments;
            Promise.all([navigator.serviceWorker.ready, caches.keys()]).then(async ([{ scope }, [name]]) =>
              done([scope, (await (await caches.open(name)).keys()).map(({ url }) => url)]));""")
        self.assertEqual(scope, f"{self.site}/")
        self.assertIn(f"{self.site}/tasks.html", caches)
        manifest = self.chrome.execute_cdp_cmd("Page.getAppManifest", {})
        self.assertEqual((manifest["url"], manifest["errors"]), (f"{self.site}/manifest.webmanifest", []))
        members = json.loads(manifest["data"])
        for member in [members["start_url"], members["scope"]]:
            self.assertEqual(urllib.parse.urljoin(manifest["url"], member), f"{self.site}/")
        for icon in [*members["icons"], {"src": "icon-180.png", "type": "image/png"}]:
            self.assertEqual(self.ask(icon["src"], Accept="*/*")[1]["Content-Type"], icon["type"])
        self.assertEqual(self.chrome.execute_cdp_cmd("Page.getInstallabilityErrors", {})["installabilityErrors"], [])

    def check_documents(self):
        self.person.open("/api.html")
        tasks = self.chrome.until(lambda: self.chrome.one("#listTasks .try"), "the contract")
        tasks.find_element("css selector", "summary").click()
        send = self.chrome.until(lambda: tasks.find_element("css selector", "form [type=submit]"), "the form")
        self.assertIn(f"'{self.site}/api/tasks'", tasks.find_element("css selector", "form pre").text)
        send.click()
        self.chrome.until(lambda: tasks.find_element("css selector", "form [role=status]").text.startswith("200 "), "the answer")
        self.person.open("/problems.html")
        self.chrome.one("a[href='api.html']").click()
        self.chrome.until(lambda: self.chrome.current_url == f"{self.site}/api.html", "the other document")
        self.person.open("/no/such/page")
        self.assertEqual(self.chrome.words("h1"), "There is nothing at this address")
        self.assertNotEqual(self.chrome.execute_script("return getComputedStyle(document.body).backgroundColor"), "rgba(0, 0, 0, 0)")
        self.chrome.one("#start").click()
