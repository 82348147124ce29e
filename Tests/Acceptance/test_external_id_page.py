"""The page with a tenant of Entra External ID, with the settings of docs/connect-a-tenant.md."""

import unittest

import servers
from person import PASSWORD, PageTest, Person


class ExternalID(PageTest):
    def test_a_person_signs_in_and_adds_a_task(self):
        with servers.shared().another_page(**servers.shared().external_id_settings()) as page:
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
