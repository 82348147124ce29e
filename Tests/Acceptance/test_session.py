"""Staying signed in: one refresh token for all tabs of a browser, and an end for all of them at once."""

import json
import unittest
import urllib.parse
import urllib.request

from person import PASSWORD, PageTest, Person
from servers import CLIENT, Servers
from test_trouble import NO_CONNECTION


class StrictServers(Servers):
    """The authority takes each refresh token once, so a page that uses one twice is found out."""

    def authority_settings(self):
        return {**super().authority_settings(), "MOCK_STRICT_REFRESH": "true"}


_strict = None


def strict():
    global _strict
    _strict = _strict or StrictServers()
    return _strict


class SessionTest(PageTest):
    def setUp(self):
        super().setUp()
        self.servers = strict()
        self.person = Person(self.chrome, self.servers.page)
        self.earlier = self.requests()[-1:]

    # The authority

    def control(self, method, order, body=None):
        request = urllib.request.Request(
            f"{self.servers.authority}/_mock/{order}", method=method, data=body and json.dumps(body).encode())
        with urllib.request.urlopen(request, timeout=5) as answer:
            return answer.read()

    def requests(self):
        """The newest requests of the authority's journal."""
        return json.loads(self.control("GET", "requests"))

    def token_requests(self, kind="refresh_token"):
        """The forms that the token endpoint was sent in this test, with the status of each answer."""
        all_requests = self.requests()
        begin = all_requests.index(self.earlier[0]) + 1 if self.earlier and self.earlier[0] in all_requests else 0
        found = []
        for request in all_requests[begin:]:
            form = dict(urllib.parse.parse_qsl(request.get("body", "")))
            if form.get("grant_type") == kind:
                found.append((form, request["status"]))
        return found

    # The browser

    def shared(self):
        return json.loads(self.chrome.execute_script("return localStorage['tasks.signed-in'] ?? 'null'"))

    def session(self):
        return json.loads(self.chrome.execute_script("return sessionStorage['tasks.session'] ?? 'null'"))

    def change_session(self, **members):
        session = json.dumps({**self.session(), **members})
        self.chrome.execute_script("sessionStorage['tasks.session'] = arguments[0]", session)

    def await_renewed(self):
        self.chrome.until(lambda: self.session()["expires"] > 1, "a new token")

    def stored(self):
        return self.chrome.execute_script("return JSON.stringify([{...localStorage}, {...sessionStorage}])")

    def new_tab(self):
        """A tab that somebody opens, without a copy of another tab's storage."""
        self.chrome.switch_to.new_window("tab")
        self.person.open()
        return self.chrome.current_window_handle

    def go_to(self, tab):
        self.chrome.switch_to.window(tab)

    def await_worker(self):
        self.chrome.until(
            lambda: self.chrome.execute_async_script(
                "navigator.serviceWorker.ready.then((it) => arguments[0](Boolean(it.active)))"), "the worker")

    def without_the_authority(self):
        """This tab does not reach the authority."""
        self.chrome.execute_cdp_cmd("Network.enable", {})
        self.chrome.execute_cdp_cmd("Network.setBlockedURLs", {"urls": [f"{self.servers.authority}/*"]})


class Renewal(SessionTest):
    def test_an_access_token_that_has_ended_is_renewed_and_the_refresh_token_replaced(self):
        self.newcomer()
        self.person.add("Buy milk")
        self.person.await_saved()
        first = self.shared()
        for _ in range(2):
            self.change_session(expires=1)
            self.person.refresh()
            self.await_renewed()
            self.person.await_texts("Buy milk")
        self.assertNotEqual(self.shared()["refresh"], first["refresh"])
        self.assertEqual(self.shared()["owner"], self.session()["owner"])
        requests = self.token_requests()
        self.assertEqual([status for _, status in requests], [200, 200])
        self.assertEqual(requests[0][0]["refresh_token"], first["refresh"])
        self.assertNotEqual(requests[1][0]["refresh_token"], first["refresh"])
        self.assertEqual(requests[0][0]["scope"], f"openid profile offline_access {CLIENT}")

    def test_a_token_that_the_server_refuses_is_renewed_without_the_person(self):
        self.expected = ["401"]
        self.newcomer()
        self.person.add("Buy milk")
        self.person.await_saved()
        self.change_session(token=self.servers.token(bad="expired"))
        self.person.refresh()
        self.person.add("Buy bread")
        self.person.await_saved()
        self.person.await_texts("Buy milk", "Buy bread")
        self.assertFalse(self.chrome.one("#ended").is_displayed())
        self.assertEqual(len(self.token_requests()), 1)

    def test_a_server_that_takes_no_token_does_not_start_a_circle(self):
        self.newcomer()
        self.chrome.execute_script("""
            const real = window.fetch;
            const refusal = JSON.stringify({ status: 401, code: "token.audience", title: "Another API" });
            window.fetch = (url, options) =>
              String(url).startsWith("/api/") ? Promise.resolve(new Response(refusal, { status: 401 })) : real(url, options);""")
        # Tokens of one second are equal byte for byte, and an equal token is not tried again.
        self.control("POST", "faults", {"at": "token", "delay_ms": 1100})
        self.person.look_again()
        self.chrome.until(lambda: self.chrome.one("#ended").is_displayed(), "the end of the session")
        self.assertEqual(len(self.token_requests()), 1)

    def test_two_tabs_renew_once(self):
        self.newcomer()
        first = self.chrome.current_window_handle
        second = self.new_tab()
        self.await_renewed()
        for tab in [first, second]:
            self.go_to(tab)
            self.change_session(expires=1)
        before = len(self.token_requests())
        self.control("POST", "faults", {"at": "token", "delay_ms": 1500})
        self.go_to(first)
        self.chrome.execute_script("location.reload()")
        self.chrome.until(lambda: self.held(), "the lock")
        self.go_to(second)
        self.chrome.execute_script("location.reload()")
        tokens = set()
        for tab in [first, second]:
            self.go_to(tab)
            self.await_renewed()
            tokens.add(self.session()["token"])
        self.assertEqual(len(tokens), 1)
        self.assertEqual(len(self.token_requests()), before + 1)

    def held(self):
        return self.chrome.execute_async_script(
            "navigator.locks.query().then(({ held }) => arguments[0](held.some(({ name }) => name === 'tasks.renewal')))")

    def test_a_tab_that_has_not_seen_the_renewal_of_another_goes_on(self):
        self.expected = ["400"]
        self.newcomer()
        old = self.shared()["refresh"]
        self.change_session(expires=1)
        self.person.refresh()
        self.await_renewed()
        new = self.shared()
        # What another tab has stored is seen only when the used token is already on its way.
        self.chrome.execute_cdp_cmd("Page.addScriptToEvaluateOnNewDocument", {"source": f"""
            const real = window.fetch;
            window.fetch = (url, options) => {{
              const stored = {json.dumps(json.dumps(new))};
              if (String(url).endsWith("/token")) setTimeout(() => (localStorage["tasks.signed-in"] = stored), 200);
              return real(url, options);
            }};"""})
        stale = json.dumps({**new, "refresh": old})
        self.chrome.execute_script("localStorage['tasks.signed-in'] = arguments[0]", stale)
        self.change_session(expires=1)
        self.person.refresh()
        self.await_renewed()
        self.assertEqual([status for _, status in self.token_requests()], [200, 400, 200])
        self.assertFalse(self.chrome.one("#ended").is_displayed())

    def test_many_requests_of_a_tab_renew_once(self):
        self.expected = ["401"]
        self.newcomer()
        self.change_session(token=self.servers.token(bad="expired"))
        owner = self.session()["owner"]
        self.chrome.execute_script("""
            for (let number = 0; number < 5; number += 1) {
              const change = { key: crypto.randomUUID(), kind: "add", text: `Task ${number}`, completed: false };
              localStorage.setItem(`tasks.change.${arguments[0]}.0000000000000000${number}.${change.key}`, JSON.stringify(change));
            }""", owner)
        self.person.refresh()
        self.chrome.until(lambda: len(self.person.texts()) == 5, "the tasks")
        self.assertEqual(len(self.token_requests()), 1)

    def test_an_authority_in_trouble_is_asked_again(self):
        self.expected = ["503", "blocked by CORS policy", "ERR_FAILED"]
        self.newcomer()
        self.person.add("Buy milk")
        self.person.await_saved()
        self.change_session(expires=1)
        # A proxy in front of the authority answers without the fields that let a page read it; the authority itself has them.
        self.control("POST", "faults", {"at": "token", "status": 503, "times": 1})
        self.chrome.execute_cdp_cmd("Page.addScriptToEvaluateOnNewDocument", {"source": """
            const real = window.fetch;
            let count = 0;
            window.fetch = (url, options) => String(url).endsWith("/token") && (count += 1) === 2
              ? Promise.resolve(new Response('{"error":"server_error"}', { status: 503 })) : real(url, options);"""})
        self.chrome.refresh()
        self.person.await_status("Offline")
        self.chrome.until(lambda: "sign-in service" in self.chrome.one("#trouble").text, "the trouble")
        self.person.await_texts("Buy milk")
        self.await_renewed()
        self.person.await_saved()

    def test_what_the_authority_has_revoked_ends_and_new_tabs_show_nothing(self):
        self.expected = ["400"]
        address = self.newcomer()
        self.person.add("Buy milk")
        self.person.await_saved()
        self.control("POST", "revoke", {"user": address})
        self.change_session(expires=1)
        self.chrome.refresh()
        self.chrome.until(lambda: self.chrome.one("#ended").is_displayed(), "the end of the session")
        self.person.await_texts("Buy milk")
        self.assertEqual([status for _, status in self.token_requests()], [400])
        self.assertIsNone(self.shared())
        self.new_tab()
        self.person.await_welcome()
        self.assertNotIn("Buy milk", self.chrome.execute_script("return JSON.stringify({...localStorage})"))

    def test_signing_out_ends_a_renewal_that_is_under_way(self):
        self.newcomer()
        first = self.chrome.current_window_handle
        second = self.new_tab()
        self.person.await_list()
        self.go_to(first)
        self.change_session(expires=1)
        self.control("POST", "faults", {"at": "token", "delay_ms": 1500})
        self.chrome.execute_script("location.reload()")
        self.chrome.until(lambda: self.held(), "the lock")
        self.go_to(second)
        self.person.sign_out()
        self.go_to(first)
        self.person.await_welcome()
        self.chrome.until(lambda: not self.held(), "the end of the renewal")
        self.assertIsNone(self.shared())
        self.assertIsNone(self.session())


    def test_what_waits_after_a_sign_out_knows_its_task(self):
        self.newcomer()
        target = self.chrome.execute_async_script("""
            const done = arguments[0];
            import("/model.js").then(({ Model }) => {
              const model = new Model("somebody");
              model.add("Buy milk");
              const [addition] = model.changes();
              model.complete({ id: addition.key }, true);
              model.confirm(addition, { id: 7, text: "Buy milk", completed: false });
              model.forget();
              const again = new Model("somebody");
              const [tick] = again.changes();
              again.drop(tick.key);
              again.forget();
              done([tick.target, "tasks.names.somebody" in localStorage]);
            });""")
        self.assertEqual(target, [7, False])

    def test_a_refresh_token_for_a_session_that_has_ended_is_not_kept(self):
        self.newcomer()
        kept = self.chrome.execute_async_script("""
            const done = arguments[0];
            import("/session-store.js").then((store) => {
              const session = store.shared();
              store.end();
              done([store.rotate(session, "late", null), localStorage["tasks.signed-in"] ?? null, store.current()]);
            });""")
        self.assertEqual(kept, [False, None, None])


class OtherAuthorities(SessionTest):
    def test_without_locks_nothing_is_shared(self):
        self.chrome.execute_cdp_cmd("Page.addScriptToEvaluateOnNewDocument", {
            "source": "delete Navigator.prototype.locks"})
        self.newcomer()
        self.person.add("Buy milk")
        self.person.await_saved()
        self.assertNotIn("offline_access", self.token_requests("authorization_code")[0][0]["scope"])
        self.assertIsNone(self.shared())
        self.assertNotIn("Buy milk", self.chrome.execute_script("return JSON.stringify({...localStorage})"))
        self.person.refresh()
        self.person.await_texts("Buy milk")
        self.new_tab()
        self.person.await_welcome()

    def test_without_a_refresh_token_the_session_is_that_of_the_tab(self):
        self.chrome.execute_cdp_cmd("Page.addScriptToEvaluateOnNewDocument", {"source": """
            const real = Response.prototype.json;
            Response.prototype.json = async function () {
              const { refresh_token, refresh_token_expires_in, ...reply } = await real.call(this);
              return Array.isArray(reply) ? Object.values(reply) : reply;
            };"""})
        self.newcomer()
        self.person.add("Buy milk")
        self.person.await_saved()
        self.assertIsNone(self.shared())
        self.person.refresh()
        self.person.await_texts("Buy milk")
        self.change_session(expires=1)
        self.chrome.refresh()
        self.chrome.until(lambda: self.chrome.one("#ended").is_displayed(), "the end of the session")
        self.new_tab()
        self.person.await_welcome()

    def test_an_authority_that_does_not_know_offline_access_is_asked_without_it(self):
        self.person.open()
        self.person.await_welcome()
        self.chrome.execute_script("""
            sessionStorage["tasks.attempt"] = JSON.stringify({ state: "s", policy: "b2c_1_sign_in", stays: true });
            location.assign("/#state=s&error=invalid_scope");
            location.reload();""")
        self.chrome.until(lambda: "/authorize" in self.chrome.current_url, "the authority")
        query = dict(urllib.parse.parse_qsl(urllib.parse.urlsplit(self.chrome.current_url).query))
        self.assertEqual(query["scope"], f"openid profile {CLIENT}")
        self.person.fill(signInName="alice@example.com", password=PASSWORD)
        self.person.await_list()
        self.assertIsNone(self.shared())

    def test_external_id(self):
        with self.servers.another_page(**self.servers.external_id_settings()) as page:
            person = Person(self.chrome, page)
            person.open()
            person.choose("")
            person.fill(signInName="alice@example.com", password=PASSWORD)
            person.await_list()
            person.add("Buy milk")
            person.await_saved()
            self.assertEqual(self.chrome.words("#account .name"), "Alice Example")
            self.change_session(expires=1)
            person.refresh()
            person.await_texts("Buy milk")
            person.add("Buy bread")
            person.await_saved()
            self.chrome.switch_to.new_window("tab")
            person.open()
            person.await_list()
            person.await_texts("Buy milk", "Buy bread")
            person.sign_out()


class SignOut(SessionTest):
    def test_all_tabs_and_the_authority(self):
        address = self.newcomer()
        self.person.add("Buy milk")
        self.person.await_saved()
        first = self.chrome.current_window_handle
        kept = self.chrome.execute_script("return {...sessionStorage}")
        self.new_tab()
        self.person.await_list()
        self.person.await_texts("Buy milk")
        third = self.new_tab()
        self.person.await_list()
        self.person.sign_out()
        self.go_to(first)
        self.person.await_welcome()
        self.assertNotIn("Buy milk", self.stored())
        self.assertIsNone(self.shared())
        # A closed tab that the browser opens again comes with what its session storage had.
        self.chrome.execute_script("Object.assign(sessionStorage, arguments[0])", kept)
        self.chrome.refresh()
        self.person.await_welcome()
        self.assertNotIn("Buy milk", self.stored())
        self.person.choose("b2c_1_sign_in")
        self.person.fill(signInName=address, password=PASSWORD)  # the authority asks: its session is over, too
        self.person.await_list()
        self.person.await_texts("Buy milk")
        self.go_to(third)
        self.person.await_list()  # signed in in one tab is signed in in all

    def test_without_the_authority_the_next_sign_in_asks_who_it_is(self):
        self.expected = ["ERR_BLOCKED_BY_CLIENT"]
        self.newcomer()
        self.without_the_authority()
        self.person.sign_out()
        self.assertIsNone(self.shared())
        self.chrome.execute_cdp_cmd("Network.setBlockedURLs", {"urls": []})
        self.person.choose("b2c_1_sign_in")
        self.person.fill(signInName="bob@example.com", password=PASSWORD)
        self.person.await_list()
        self.assertEqual(self.chrome.words("#account .name"), "Bob Example")

    def test_an_authority_that_can_revoke_is_asked_to(self):
        self.newcomer()
        refresh = self.shared()["refresh"]
        self.chrome.execute_script("""
            const real = window.fetch;
            window.fetch = async (url, options) => {
              if (String(url).endsWith("/revoke")) {
                localStorage.setItem("test.revoked", String(options.body));
                return new Response();
              }
              const answer = await real(url, options);
              if (!String(url).endsWith("/openid-configuration")) return answer;
              return Response.json({ ...(await answer.json()), revocation_endpoint: `${new URL(url).origin}/revoke` });
            };""")
        self.person.sign_out()
        form = dict(urllib.parse.parse_qsl(self.chrome.execute_script("return localStorage['test.revoked']")))
        self.assertEqual(form, {"token": refresh, "token_type_hint": "refresh_token", "client_id": CLIENT})


class SomebodyElse(SessionTest):
    def test_no_tab_shows_the_tasks_of_the_first(self):
        self.newcomer("Nora Newcomer")
        self.person.add("Nora's secret")
        self.person.await_saved()
        first = self.chrome.current_window_handle
        self.new_tab()
        self.person.await_list()
        # The session of this tab ends, and so does that of the authority; somebody else uses "Sign in again".
        self.change_session(expires=1)
        self.chrome.execute_script("localStorage.removeItem('tasks.signed-in')")
        self.chrome.refresh()
        self.chrome.until(lambda: self.chrome.one("#ended").is_displayed(), "the end of the session")
        self.chrome.delete_all_cookies()
        self.chrome.one("#again").click()
        self.person.fill(signInName="bob@example.com", password=PASSWORD)
        self.person.await_list()
        self.assertEqual(self.chrome.words("#account .name"), "Bob Example")
        self.assertNotIn("Nora's secret", self.person.texts())
        self.assertNotIn("Nora's secret", self.stored())
        self.go_to(first)
        self.chrome.until(lambda: self.chrome.words("#account .name") == "Bob Example", "Bob")
        self.person.await_saved()
        self.assertNotIn("Nora's secret", self.person.texts())
        self.assertNotIn("Nora's secret", self.stored())

    def test_the_same_person_again_goes_on_in_all_tabs(self):
        self.expected = ["400"]
        address = self.newcomer()
        self.person.add("Buy milk")
        self.person.await_saved()
        first = self.chrome.current_window_handle
        second = self.new_tab()
        self.person.await_list()
        self.control("POST", "revoke", {"user": address})
        for tab in [first, second]:
            self.go_to(tab)
            self.change_session(expires=1)
            self.chrome.refresh()
            self.chrome.until(lambda: self.chrome.one("#ended").is_displayed(), "the end of the session")
        self.chrome.one("#again").click()
        self.chrome.until(lambda: "/authorize" in self.chrome.current_url or self.chrome.one("#tasks"), "the authority")
        if "/authorize" in self.chrome.current_url:
            self.person.fill(signInName=address, password=PASSWORD)
        self.person.await_list()
        self.go_to(first)
        self.chrome.until(lambda: not self.chrome.one("#ended").is_displayed(), "the session to go on")
        self.person.await_list()
        self.person.add("Buy bread")
        self.person.await_saved()


class WithoutANetwork(SessionTest):
    def setUp(self):
        super().setUp()
        self.expected = [NO_CONNECTION, "ERR_BLOCKED_BY_CLIENT"]
        self.newcomer("Nora Newcomer")
        self.person.add("Buy milk", "Buy bread")
        self.person.await_saved()
        self.await_worker()
        self.chrome.until(lambda: self.kept_list() == ["Buy milk", "Buy bread"], "the list to be kept")

    def kept_list(self):
        kept = self.chrome.execute_script("return localStorage[`tasks.list.${arguments[0]}`]", self.session()["owner"])
        return [task["text"] for task in json.loads(kept)["tasks"]]

    def tearDown(self):
        if "task-server" not in self.servers.running:
            self.servers.start_page()

    def open_offline(self):
        self.chrome.switch_to.new_window("tab")
        self.without_the_authority()
        self.person.open()

    def test_a_new_tab_shows_the_tasks_and_takes_changes(self):
        self.servers.stop_page()
        self.open_offline()
        self.person.await_texts("Buy milk", "Buy bread")
        self.assertEqual(self.chrome.words("#account .name"), "Nora Newcomer")
        self.person.await_status("Offline")
        self.person.add("Written in the new tab")
        self.person.await_status("Offline · 1 change kept")
        self.chrome.refresh()
        self.person.await_texts("Buy milk", "Buy bread", "Written in the new tab")
        self.servers.start_page()
        self.chrome.execute_cdp_cmd("Network.setBlockedURLs", {"urls": []})
        self.person.await_status("Saved")
        self.person.await_texts("Buy milk", "Buy bread", "Written in the new tab")

    def test_a_new_tab_after_signing_out_shows_nothing(self):
        self.person.sign_out()
        self.servers.stop_page()
        self.open_offline()
        self.person.await_welcome()
        self.assertNotIn("Buy bread", self.stored())

    def test_a_change_has_room_where_the_list_has_taken_all(self):
        self.chrome.connect(False)
        self.chrome.execute_script("""
            const real = Storage.prototype.setItem;
            Storage.prototype.setItem = function (name, value) {
              const isFull = Object.keys(localStorage).some((name) => name.startsWith("tasks.list"));
              if (this === localStorage && isFull && name.startsWith("tasks.change")) throw new DOMException("", "QuotaExceededError");
              real.call(this, name, value);
            };""")
        self.person.add("One more")
        self.person.await_status("Offline · 1 change kept")
        self.chrome.connect(True)
        self.person.look_again()
        self.person.await_saved()
        self.person.await_texts("Buy milk", "Buy bread", "One more")


if __name__ == "__main__":
    unittest.main()
