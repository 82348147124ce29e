"""Staying signed in: one refresh token for all tabs of a browser, and an end for all of them at once."""

import contextlib
import functools
import json
import signal
import time
import urllib.parse
import urllib.request

from person import PASSWORD, PageTest, Person, fetching
from servers import CLIENT, TENANT, Servers
from test_trouble import NO_CONNECTION


class StrictServers(Servers):
    """The authority takes each refresh token once, so a page that uses one twice is found out."""

    def authority_settings(self):
        return {**super().authority_settings(), "MOCK_STRICT_REFRESH": "true"}


@functools.cache
def strict():
    return StrictServers()


class SessionTest(PageTest):
    def setUp(self):
        super().setUp()
        self.servers = strict()
        self.person = Person(self.chrome, self.servers.page)
        self.earlier = self.requests()[-1:]

    # The authority

    def requests(self):
        """The newest requests of the authority's journal."""
        return self.servers.control("requests")

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

    def await_renewed(self):
        self.chrome.until(lambda: self.session()["expires"] > 1, "a new token")

    def stored(self):
        return self.chrome.execute_script("return JSON.stringify([{...localStorage}, {...sessionStorage}])")

    def without_the_authority(self):
        """This tab does not reach the authority."""
        self.chrome.block(f"{self.servers.authority}/*")


class Renewal(SessionTest):
    def test_an_access_token_that_has_ended_is_renewed_and_the_refresh_token_replaced(self):
        self.newcomer()
        self.person.save("Buy milk")
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

    def test_a_server_that_takes_no_token_does_not_start_a_circle(self):
        self.newcomer()
        self.chrome.execute_script(
            fetching('return String(url).startsWith("/api/") ? problem(401, "token.audience") : real(url, options);'))
        # Tokens of one second are equal byte for byte, and an equal token is not tried again.
        self.servers.control("faults", {"at": "token", "delay_ms": 1100})
        self.person.look_again()
        self.await_ended()
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
        self.go_to(first)
        # The renewal of the first tab is under way until the second one waits for it.
        self.chrome.before_each_page(fetching("""
            if (String(url).endsWith("/token")) await hold();
            return real(url, options);"""))
        self.chrome.execute_script("location.reload()")
        self.person.await_held()
        self.go_to(second)
        self.chrome.execute_script("location.reload()")
        self.chrome.until(lambda: self.locks("pending"), "the second tab to wait for the first")
        self.go_to(first)
        self.chrome.execute_script("release()")
        tokens = set()
        for tab in [first, second]:
            self.go_to(tab)
            self.await_renewed()
            tokens.add(self.session()["token"])
        self.assertEqual(len(tokens), 1)
        self.assertEqual(len(self.token_requests()), before + 1)

    def locks(self, state):
        """The names of the locks that tabs hold ("held"), or wait for ("pending")."""
        return self.chrome.execute_async_script("""
            const [state, done] = arguments;
            navigator.locks.query().then((all) => done(all[state].map(({ name }) => name)));""", state)

    def test_a_tab_that_has_not_seen_the_renewal_of_another_goes_on(self):
        self.expected = ["400"]
        self.newcomer()
        old = self.shared()["refresh"]
        self.change_session(expires=1)
        self.person.refresh()
        self.await_renewed()
        new = self.shared()
        # What another tab has stored is seen only when the used token is already on its way.
        self.chrome.before_each_page(fetching(f"""
            const stored = {json.dumps(json.dumps(new))};
            if (String(url).endsWith("/token")) setTimeout(() => (localStorage["tasks.signed-in"] = stored), 200);
            // Refused as the used token would be, which would end the new one as well.
            if (options?.body?.get?.("refresh_token") === {json.dumps(old)}) options.body.set("refresh_token", "used");
            return real(url, options);"""))
        stale = json.dumps({**new, "refresh": old})
        self.chrome.execute_script("localStorage['tasks.signed-in'] = arguments[0]", stale)
        self.change_session(expires=1)
        self.person.refresh()
        self.await_renewed()
        self.assertEqual([status for _, status in self.token_requests()], [200, 400, 200])
        self.assertFalse(self.chrome.one("#ended").is_displayed())

    def test_many_requests_with_a_refused_token_renew_it_once_and_without_the_person(self):
        self.expected = ["401"]
        self.newcomer()
        self.change_session(token=self.servers.token(bad="expired"))
        self.person.keep(*({"key": str(number), "kind": "add", "text": f"Task {number}", "completed": False} for number in range(5)))
        self.person.refresh()
        self.chrome.until(lambda: len(self.person.texts()) == 5, "the tasks")
        self.person.await_saved()
        self.assertFalse(self.chrome.one("#ended").is_displayed())
        self.assertEqual(len(self.token_requests()), 1)

    def test_an_authority_in_trouble_is_asked_again(self):
        self.expected = ["503"]
        self.newcomer()
        self.person.save("Buy milk")
        self.change_session(expires=1)
        # First there is no answer that a page can read, then a 503.
        self.chrome.before_each_page("window.trouble = 'silence';" + fetching("""
            if (!String(url).endsWith("/token")) return real(url, options);
            if (trouble === "silence") throw new TypeError("Failed to fetch");
            if (trouble === "503") return new Response('{"error":"server_error"}', { status: 503 });
            return real(url, options);"""))
        self.chrome.refresh()
        self.person.await_status("Offline")
        self.chrome.execute_script("trouble = '503'")
        self.chrome.until(lambda: "sign-in service" in self.chrome.one("#trouble").text, "the trouble")
        self.chrome.execute_script("trouble = ''")
        self.person.await_texts("Buy milk")
        self.await_renewed()
        self.person.await_saved()

    def test_what_the_authority_has_revoked_ends_and_new_tabs_show_nothing(self):
        self.expected = ["400"]
        address = self.newcomer()
        self.person.save("Buy milk")
        self.servers.control("revoke", {"user": address})
        self.expire()
        self.await_ended()
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
        self.servers.control("faults", {"at": "token", "delay_ms": 1500})
        self.chrome.execute_script("location.reload()")
        self.chrome.until(lambda: "tasks.renewal" in self.locks("held"), "the lock")
        self.go_to(second)
        self.person.sign_out()
        self.go_to(first)
        self.person.await_welcome()
        self.chrome.until(lambda: "tasks.renewal" not in self.locks("held"), "the end of the renewal")
        self.assertIsNone(self.shared())
        self.assertIsNone(self.session())

    def test_what_waits_after_a_sign_out_knows_its_task(self):
        self.newcomer()
        self.chrome.execute_script("""
            import("/model.js").then(({ Model }) => {
              const model = new Model("somebody");
              model.add("Buy milk");
              const [addition] = model.queue.all();
              model.complete({ id: addition.key }, true);
              model.confirm([addition, { id: 7, text: "Buy milk", completed: false }]);
              model.forget();
            });""")
        self.chrome.until(
            lambda: [(change["owner"], change["target"]) for change in self.person.waiting()] == [("somebody", 7)], "the tick")

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
    def test_without_a_refresh_token_the_session_is_that_of_the_tab(self):
        self.chrome.before_each_page("""
            const real = Response.prototype.json;
            Response.prototype.json = async function () {
              const { refresh_token, refresh_token_expires_in, ...reply } = await real.call(this);
              return Array.isArray(reply) ? Object.values(reply) : reply;
            };""")
        self.newcomer()
        self.person.save("Buy milk")
        self.assertIsNone(self.shared())
        self.person.refresh()
        self.person.await_texts("Buy milk")
        self.expire()
        self.await_ended()
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
            person.save("Buy milk")
            self.assertEqual(self.chrome.words("#account .name"), "Alice Example")
            self.change_session(expires=1)
            person.refresh()
            person.await_texts("Buy milk")
            person.save("Buy bread")
            self.chrome.switch_to.new_window("tab")
            person.open()
            person.await_list()
            person.await_texts("Buy bread", "Buy milk")
            person.sign_out()


# Alters what the authority answers: members of its metadata, claims of ID tokens, and `iss` beside the code.
ALTER = """
    const altered = JSON.parse(localStorage["test.altered"] ?? "{}");
    const real = Response.prototype.json;
    Response.prototype.json = async function () {
      const body = await real.call(this);
      if (body.id_token) {
        const parts = body.id_token.split(".");
        const claims = JSON.parse(atob(parts[1].replaceAll("-", "+").replaceAll("_", "/")));
        parts[1] = btoa(JSON.stringify({ ...claims, ...altered.claims }));
        body.id_token = parts.join(".");
      }
      return body.token_endpoint ? { ...body, ...altered.metadata } : body;
    };
    if (altered.iss && location.hash.includes("code=")) {
      history.replaceState(null, "", `${location.hash}&iss=${encodeURIComponent(altered.iss)}`);
    }"""
NAMED = {"authorization_response_iss_parameter_supported": True}


class Answers(SessionTest):
    def setUp(self):
        super().setUp()
        self.chrome.before_each_page(ALTER)
        address = f"{self.servers.authority}/{TENANT}/b2c_1_sign_in/v2.0/.well-known/openid-configuration"
        with urllib.request.urlopen(address) as answer:
            self.issuer = json.load(answer)["issuer"]

    def alter(self, **altered):
        self.chrome.execute_script("localStorage['test.altered'] = arguments[0]", json.dumps(altered))

    def sign_in(self, **altered):
        self.person.open()
        self.person.await_welcome()
        self.alter(**altered)
        self.chrome.refresh()
        self.person.choose("b2c_1_sign_in")
        # The page that the click leaves has neither.
        self.chrome.until(lambda: self.chrome.all("[name=password]") or self.chrome.one("#welcome-error").text
                          or self.chrome.one("#tasks").is_displayed(), "an answer")
        if self.chrome.all("[name=password]"):
            self.person.fill_at_once(signInName="alice@example.com", password=PASSWORD)

    def check_refused(self, words, **altered):
        self.sign_in(**altered)
        self.chrome.until(lambda: words in self.chrome.one("#welcome-error").text, f"{words!r} because of {altered}")
        self.assertIsNone(self.session())
        self.assertIsNone(self.shared())

    def test_an_id_token_of_somebody_else_or_of_another_time_is_refused(self):
        self.check_refused("another sign-in service", claims={"iss": "https://login.example.com/"})
        self.check_refused("another sign-in service", claims={"iss": None})
        self.check_refused("another sign-in service", claims={"aud": "another-application"})
        self.check_refused("does not belong to this sign-in", claims={"nonce": "another"})
        self.check_refused("clock of this device", claims={"exp": int(time.time()) - 90})
        self.check_refused("clock of this device", claims={"exp": None})

    def test_clocks_may_differ_by_a_minute(self):
        self.sign_in(claims={"exp": int(time.time()) - 5, "aud": [CLIENT, "another-application"]})
        self.person.await_list()

    def test_the_issuer_of_many_tenants_is_a_template(self):
        many = self.issuer.replace(self.issuer.split("/")[-3], "{tenantid}")
        self.assertIn("/{tenantid}/", many)
        self.sign_in(metadata={"issuer": many})
        self.person.await_list()

    def test_an_authority_that_names_itself_in_its_answer_must_be_the_one_that_was_asked(self):
        self.check_refused("another sign-in service", iss="https://login.example.com/")
        self.check_refused("another sign-in service", metadata=NAMED)
        self.sign_in(metadata=NAMED, iss=self.issuer)
        self.person.await_list()

    def test_a_renewal_for_somebody_else_ends_the_session(self):
        for claims in [{"iss": "https://login.example.com/"}, {"aud": "another-application"}, {"sub": "another"}]:
            self.newcomer()
            self.alter(claims=claims)
            self.expire()
            self.chrome.until(lambda: self.chrome.one("#ended").is_displayed(), f"the end of the session because of {claims}")
            self.assertIsNone(self.shared())
            self.alter()
            self.person.sign_out()

    def test_a_clock_that_is_ahead_at_a_renewal_ends_nothing(self):
        self.newcomer()
        refresh = self.shared()["refresh"]
        self.alter(claims={"exp": int(time.time()) - 90})
        self.expire()
        self.chrome.until(lambda: "clock of this device" in self.chrome.one("#trouble").text, "the complaint")
        self.assertNotEqual(self.shared()["refresh"], refresh)  # a strict authority takes none twice
        self.alter()
        self.chrome.refresh()
        self.person.await_list()


class SignOut(SessionTest):
    def test_all_tabs_and_the_authority(self):
        address = self.newcomer()
        self.person.save("Buy milk")
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
        self.person.sign_in(address)  # the authority asks: its session is over, too
        self.person.await_texts("Buy milk")
        self.go_to(third)
        self.person.await_list()  # signed in in one tab is signed in in all

    def test_without_the_authority_the_next_sign_in_asks_who_it_is(self):
        self.expected = ["ERR_BLOCKED_BY_CLIENT"]
        self.newcomer()
        self.without_the_authority()
        self.person.sign_out()
        self.assertIsNone(self.shared())
        self.chrome.block()
        self.person.sign_in("bob@example.com")
        self.assertEqual(self.chrome.words("#account .name"), "Bob Example")

    def test_an_authority_that_can_revoke_is_asked_to(self):
        self.newcomer()
        refresh = self.shared()["refresh"]
        self.chrome.execute_script(fetching("""
            if (String(url).endsWith("/revoke")) {
              localStorage.setItem("test.revoked", String(options.body));
              return new Response();
            }
            const answer = await real(url, options);
            if (!String(url).endsWith("/openid-configuration")) return answer;
            return Response.json({ ...(await answer.json()), revocation_endpoint: `${new URL(url).origin}/revoke` });"""))
        self.person.sign_out()
        form = dict(urllib.parse.parse_qsl(self.chrome.execute_script("return localStorage['test.revoked']")))
        self.assertEqual(form, {"token": refresh, "token_type_hint": "refresh_token", "client_id": CLIENT})


class SomebodyElse(SessionTest):
    def test_no_tab_shows_the_tasks_of_the_first(self):
        self.newcomer("Nora Newcomer")
        self.person.save("Nora's secret")
        first = self.chrome.current_window_handle
        self.new_tab()
        self.person.await_list()
        # The session of this tab ends, and so does that of the authority; somebody else uses "Sign in again".
        self.change_session(expires=1)
        self.forget_refresh_token()
        self.chrome.refresh()
        self.await_ended()
        self.assertNotEqual(self.chrome.switch_to.active_element.get_attribute("id"), "again")  # told, not interrupted
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
        self.person.save("Buy milk")
        first = self.chrome.current_window_handle
        second = self.new_tab()
        self.person.await_list()
        self.servers.control("revoke", {"user": address})
        for tab in [first, second]:
            self.go_to(tab)
            self.expire()
            self.await_ended()
        self.chrome.one("#again").click()
        self.chrome.until(
            lambda: "/authorize" in self.chrome.current_url or not self.chrome.one("#ended").is_displayed(), "the authority")
        if "/authorize" in self.chrome.current_url:
            self.person.fill(signInName=address, password=PASSWORD)
        self.person.await_list()
        self.go_to(first)
        self.chrome.until(lambda: not self.chrome.one("#ended").is_displayed(), "the session to go on")
        self.person.await_list()
        self.person.save("Buy bread")


class WithoutANetwork(SessionTest):
    def setUp(self):
        super().setUp()
        self.expected = [NO_CONNECTION, "ERR_BLOCKED_BY_CLIENT"]
        self.newcomer("Nora Newcomer")
        self.person.save("Buy milk", "Buy bread")
        self.await_worker()
        self.chrome.until(lambda: self.kept_list() == ["Buy bread", "Buy milk"], "the list to be kept")

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
        self.person.await_status("Offline, 1 change kept")
        self.chrome.refresh()
        self.person.await_texts("Written in the new tab", "Buy milk", "Buy bread")
        self.servers.start_page()
        self.chrome.block()
        self.person.await_status("Saved")
        self.person.await_texts("Written in the new tab", "Buy milk", "Buy bread")

    def test_a_network_that_is_silent_is_not_waited_for(self):
        with self.silence():
            self.chrome.switch_to.new_window("tab")
            self.person.open()
            self.person.await_texts("Buy milk", "Buy bread")
            self.assertFalse(self.chrome.one("#loading").is_displayed())
            self.person.await_status("No answer")
            self.person.add("Written meanwhile")
            self.person.await_status("No answer, 1 change kept")
        self.person.await_status("Saved")
        self.person.await_texts("Written meanwhile", "Buy milk", "Buy bread")

    @contextlib.contextmanager
    def silence(self):
        """Both programs stand still, and the system goes on taking connections for them."""
        programs = list(self.servers.running.values())
        try:
            for program in programs:
                program.send_signal(signal.SIGSTOP)
            yield
        finally:
            for program in programs:
                program.send_signal(signal.SIGCONT)

    def test_a_new_tab_after_signing_out_shows_nothing(self):
        self.person.sign_out()
        self.servers.stop_page()
        self.open_offline()
        self.person.await_welcome()
        self.assertNotIn("Buy bread", self.stored())

    def test_the_session_has_room_where_the_list_has_taken_all(self):
        self.chrome.execute_script("""
            const real = Storage.prototype.setItem;
            Storage.prototype.setItem = function (name, value) {
              const isFull = Object.keys(this).some((name) => name.startsWith("tasks.list"));
              if (isFull && !name.startsWith("tasks.list")) throw new DOMException("", "QuotaExceededError");
              real.call(this, name, value);
            };""")
        before = self.shared()["refresh"]
        self.chrome.execute_async_script("""
            const [done] = arguments;
            import("/session-store.js").then((store) => done(store.rotate(store.shared(), "another", null)));""")
        self.assertNotEqual(self.shared()["refresh"], before)
