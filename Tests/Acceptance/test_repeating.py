"""What goes wrong again and again: the page tries it less and less often, and then says so."""

import time

from person import PageTest, in_both_browsers

# Changes the answers of the server as long as `altered` is set: a function of the request, to the answer in its place, if any.
ALTER = """
    const real = window.fetch;
    window.sent = [];
    window.problem = (status, headers) => new Response(
      JSON.stringify({ status, code: "task.changed", title: "The task has changed", detail: "Read it again." }), { status, headers });
    window.fetch = async (url, options) => {
      sent.push(`${options?.method} ${url}`);
      return window.altered?.(url, options) || real(url, options);
    };"""
REFUSE = "window.altered = (url, { method }) => ['PATCH', 'DELETE'].includes(method) && problem(412);"


@in_both_browsers
class Repeating(PageTest):
    def setUp(self):
        super().setUp()
        self.newcomer()
        self.person.save("Buy milk", "Buy bread")
        self.chrome.execute_script(ALTER)

    def sent(self, *methods):
        return [request for request in self.chrome.execute_script("return sent") if request.startswith(methods)]

    def stop_altering(self):
        self.chrome.execute_script("window.altered = null")

    def test_an_edit_that_the_server_never_takes_ends_at_its_row(self):
        self.chrome.execute_script(REFUSE)
        self.person.rename("Buy milk", "Buy oat milk")
        self.person.await_status("1 change not saved")
        self.assertIn("Not saved. The server says each time that the task has just changed.", self.person.row("Buy oat milk").text)
        self.assertEqual(self.sent("PATCH", "DELETE"), ["PATCH /api/tasks/2"] * 4)
        self.assertLess(len(self.sent("GET")), 8)
        self.stop_altering()
        self.chrome.one("[data-decision=retry]").click()
        self.person.await_saved()
        self.assertEqual(self.saved(), [("Buy oat milk", False), ("Buy bread", False)])

    def test_a_change_that_needs_no_comparison_is_not_taken_for_a_deletion(self):
        self.chrome.execute_script(REFUSE)
        self.person.complete("Buy milk")
        self.person.await_status("1 change not saved")
        self.assertIn("The task has changed", self.person.row("Buy milk").text)
        self.assertEqual(self.sent("PATCH"), ["PATCH /api/tasks/2"])

    def test_done_tasks_that_the_server_never_deletes_come_back(self):
        for number in range(30):
            self.request("POST", "/api/tasks", {"task": f"Task {number}", "completed": True})
        self.person.look_again()
        self.chrome.until(lambda: self.chrome.one("#clear").text == "Clear 30", "the list")
        self.chrome.execute_script(REFUSE)
        self.chrome.one("#clear").click()
        self.person.await_status("30 changes not saved")
        self.assertEqual(len(self.chrome.all("#finished-rows .problem")), 30)
        self.assertLessEqual(len(self.sent("DELETE")), 5 * 4)
        self.stop_altering()
        self.chrome.one("#retry").click()
        self.person.await_saved()
        self.assertEqual(self.saved(), [("Buy milk", False), ("Buy bread", False)])

    def test_a_server_that_asks_for_a_month_of_patience_gets_some(self):
        self.chrome.execute_script("window.altered = (url, { method }) => method === 'POST' && problem(503, { 'Retry-After': '2592000' })")
        self.person.add("Buy eggs")
        self.person.await_status("Not saved, 1 change kept")
        time.sleep(2)
        self.assertEqual(self.sent("POST"), ["POST /api/tasks"])
        self.stop_altering()
        self.chrome.execute_script("localStorage.removeItem('tasks.refusal')")  # a day later
        self.person.look_again()
        self.person.await_saved()

    def test_pages_that_lead_in_a_circle_end(self):
        self.request("POST", "/api/tasks", {"task": "Buy eggs"})
        self.chrome.execute_script("""
            window.altered = async (url, { method, headers }) => new Response('[{"Id":1,"task":"Buy milk","completed":false}]', {
              headers: { Link: '</api/tasks?after=1>; rel="next"', "client-request-id": headers["client-request-id"] } });""")
        self.person.look_again()
        self.person.await_status("Offline")
        self.assertLessEqual(len(self.sent("GET")), 4)
        self.stop_altering()
        self.person.await_saved()
        self.person.await_texts("Buy milk", "Buy bread", "Buy eggs")


class TwoTabs(PageTest):
    def test_do_not_ask_each_other_to_try_again(self):
        self.newcomer()
        first = self.chrome.current_window_handle
        second = self.new_tab()
        count = "return sent.filter((request) => request.startsWith('POST')).length"
        for tab in [second, first]:
            self.go_to(tab)
            self.person.await_list()
            self.chrome.execute_script(ALTER)
            self.chrome.execute_script("window.altered = (url, { method }) => method === 'POST' && problem(503)")
        self.person.add("Buy milk")
        self.chrome.until(lambda: self.chrome.execute_script(count) >= 3, "three tries")
        counts = [self.chrome.execute_script(count)]
        self.go_to(second)
        counts.append(self.chrome.execute_script(count))
        self.assertLessEqual(sum(counts), 6, counts)
