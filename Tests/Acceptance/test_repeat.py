"""A task that repeats: its next dates are those of dateutil, which knows RFC 5545."""

import datetime
import random
import unittest

from dateutil import rrule

import servers

DAYS = ["MO", "TU", "WE", "TH", "FR", "SA", "SU"]


def parts_by_chance(chance):
    """Returns a rule as its parts by name."""
    parts = {"FREQ": chance.choice(["DAILY", "WEEKLY", "MONTHLY", "YEARLY"])}
    if chance.random() < 0.6:
        parts["INTERVAL"] = str(chance.choice([1, 2, 3, 5, 12, 100]))
    if parts["FREQ"] == "WEEKLY" and chance.random() < 0.7:
        parts["BYDAY"] = ",".join(chance.sample(DAYS, chance.randint(1, 7)))
    if parts["FREQ"] == "MONTHLY" and chance.random() < 0.7:
        ordinal = f"{chance.choice([-4, -3, -2, -1, 1, 2, 3, 4])}{chance.choice(DAYS)}"
        parts |= chance.choice([{"BYDAY": ordinal}, {"BYMONTHDAY": str(chance.randint(1, 31))}])
    if parts["FREQ"] == "YEARLY" and chance.random() < 0.7:
        parts["BYMONTH"] = str(chance.randint(1, 12))
        if chance.random() < 0.5:
            parts["BYMONTHDAY"] = str(chance.randint(1, 31))
    return parts


def text_of(parts):
    return ";".join(f"{name}={value}" for name, value in parts.items())


def dates(parts, start):
    """Returns the dates of a rule from its start on; where a month lacks the day, the last one of those up to the day counts (SKIP=BACKWARD)."""
    parts = dict(parts)
    if parts["FREQ"] in ("MONTHLY", "YEARLY") and "BYDAY" not in parts:
        day = int(parts.get("BYMONTHDAY", start.day))
        parts |= {"BYMONTHDAY": ",".join(str(number) for number in range(min(28, day), day + 1)), "BYSETPOS": "-1"}
        if parts["FREQ"] == "YEARLY":
            parts.setdefault("BYMONTH", str(start.month))
    return rrule.rrulestr(text_of(parts), dtstart=datetime.datetime.combine(start, datetime.time()))


class Repeat(unittest.TestCase):
    def setUp(self):
        self.token = servers.shared().token()

    def test_rules_by_chance(self):
        chance = random.Random(20161130)
        today = datetime.datetime.now(datetime.UTC).date()
        for _ in range(200):
            parts = parts_by_chance(chance)
            start = today + datetime.timedelta(days=chance.choice([-400, -40, -1, 0, 1, 90]) + chance.randint(-31, 31))
            self.follow(text_of(parts), dates(parts, start), start, today)

    def follow(self, rule, expected, due, today):
        """Completes a task and those that come after it, and compares the days on which they are due."""
        task = self.call("POST", "/api/tasks", {"task": "x", "due": str(due), "repeat": rule})
        for _ in range(3):
            last = max(datetime.date.fromisoformat(task["due"]), today)
            date = expected.after(datetime.datetime.combine(last, datetime.time()))
            done = self.call("PATCH", f"/api/tasks/{task['Id']}", {"completed": True, "completedOn": str(today)})
            self.assertNotIn("repeat", done)
            task = self.call("GET", f"/api/tasks/{task['Id'] + 1}")
            self.assertEqual(task["due"], str(date.date()), f"{rule} from {due}: {task}")

    def call(self, method, path, body=None):
        return servers.shared().request(method, path, body, token=self.token)
