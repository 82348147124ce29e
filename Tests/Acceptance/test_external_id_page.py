"""The page with a tenant of Entra External ID, with the settings of docs/connect-a-tenant.md."""

import unittest

import servers
from person import PASSWORD, PageTest, Person

TENANT = "4f5d1a2b-93c6-4e87-a1b0-2c3d4e5f6a7b"
API = "8c0e7f52-1b3a-4d69-9e8f-7a6b5c4d3e2f"
CLIENT = "2b7d9e41-5c8f-4a03-b6e1-0f9d8c7b6a5e"


class ExternalID(PageTest):
    def settings(self):
        return {
            "TASKS_AUTHORITY": f"{servers.shared().authority}/{TENANT}",
            "TASKS_ISSUER": f"https://{TENANT}.ciamlogin.com/{TENANT}/v2.0",
            "TASKS_POLICIES": "",
            "TASKS_CLIENT_ID": f"{CLIENT},{API}",
            "TASKS_READ_SCOPE": f"api://{API}/Tasks.Read",
            "TASKS_WRITE_SCOPE": f"api://{API}/Tasks.Write",
        }

    def test_a_person_signs_in_and_adds_a_task(self):
        with servers.shared().another_page(**self.settings()) as page:
            person = Person(self.chrome, page)
            person.open()
            person.choose("")
            person.fill(signInName="bob@example.com", password=PASSWORD)
            person.await_list()
            person.add("Buy milk")
            person.await_saved()
            person.refresh()
            person.await_texts("Buy milk")


if __name__ == "__main__":
    unittest.main()
