"""What a soak run shares: the programs, the load, what is tolerated at the moment, and what went wrong."""
import collections
import http.client
import re
import threading
import time

from person import NO_ANSWER
from programs import Failed, wait_until

MEMORY_LIMIT = 256  # MiB resident, at any time
LONGEST_ANSWER = 20  # seconds; the server's own deadline for what waits
LOG_PER_REQUEST = 1024  # bytes of log for a request or a connection
LOG_BESIDE = 4 << 20  # bytes of log that one adversity may add to that: what the server keeps for a slow reader, and events
EVENTS, EVENTS_A_SECOND = 160, 20  # lines of one kind, requests apart, in one adversity: 20 of each of eight reasons
MORE_DESCRIPTORS, MORE_THREADS = 12, 4  # than in the quiet time after a start
COLLECTOR = "00000000-0000-4000-8000-0000000000c0"  # has the longest list
GRACE = 2  # seconds after an adversity in which its consequences may still show


class Window:
    """The time of one adversity, and which answers people may get in it."""

    def __init__(self, name, tolerated):
        self.name, self.tolerated, self.began, self.ended = name, frozenset(tolerated), time.monotonic(), None

    def covers(self, began, ended):
        return ended >= self.began and (self.ended is None or began <= self.ended + GRACE)


class World:
    def __init__(self, folder, mock, seed=0, people=0, pause=0.01):
        self.folder, self.mock, self.seed, self.people_count, self.pause = folder, mock, seed, people, pause
        self.lock, self.stop = threading.Lock(), threading.Event()
        self.windows, self.violations, self.people, self.server, self.database = [], collections.Counter(), [], None, None
        self.log_bytes, self.log_events = 0, collections.Counter()
        self.answers, self.tolerated, self.counts = collections.Counter(), collections.Counter(), collections.Counter()
        self.requests = self.connections = 0
        self.collector, self.probe, self.disk = COLLECTOR, None, None
        self.slowest, self.maxima, self.rotated = collections.defaultdict(float), collections.defaultdict(float), 0.0

    def violation(self, sentence):
        with self.lock:
            self.violations[sentence] += 1
            if self.violations[sentence] == 1:
                print(f"  VIOLATED: {sentence}", flush=True)

    def count(self, what, number=1):
        with self.lock:
            self.counts[what] += number

    def connected(self, number=1):
        """Counts connections and requests of adversities, for which the log may have lines."""
        with self.lock:
            self.connections += number

    def judge(self, status, began, what, person):
        """Whether this answer to a person is one that may be now."""
        what = re.sub(r"\d+", "{id}", what)
        ended = time.monotonic()
        with self.lock:
            self.requests += 1
            self.answers[str(status)] += 1
            windows = [window for window in self.windows[-3:] if window.covers(began, ended)]
            name = windows[-1].name if windows else "quiet"
            self.slowest[name] = max(self.slowest[name], ended - began)
        if any(status in window.tolerated for window in windows):
            return self.count_tolerated(status)
        if status == 401:
            if person.token_at > self.rotated:
                self.violation(f"{what}: a good token was answered 401 ({name})")
        elif status == NO_ANSWER or status >= 500 or status == 429:
            self.violation(f"{what}: {status} ({name})")
        if ended - began > LONGEST_ANSWER:
            self.violation(f"{what}: answered after {ended - began:.0f} s ({name})")

    def count_tolerated(self, status):
        with self.lock:
            self.tolerated[str(status)] += 1

    def note(self, what, value):
        """Keeps the largest value of a figure."""
        with self.lock:
            self.maxima[what] = max(self.maxima[what], value)

    def probe_token(self):
        """A token of a person whose tasks do not matter."""
        if self.probe is None:
            self.probe = self.mock.token("00000000-0000-4000-8000-00000000000b")
        return self.probe

    def forget_probe(self):
        self.probe = None

    # -- bounds

    def sample(self):
        """Looks at the process once. Returns its figures, or None while it is down."""
        try:
            figures = self.server.figures()
        except (OSError, AttributeError):
            return None
        with self.lock:
            for name in ("resident", "most", "threads", "descriptors"):
                self.maxima[name] = max(self.maxima[name], figures[name])
        if figures["most"] > MEMORY_LIMIT:
            self.violation(f"more than {MEMORY_LIMIT} MiB resident ({self.windows[-1].name if self.windows else 'quiet'})")
        return figures

    def watch(self):
        while not self.stop.wait(0.25):
            self.sample()

    def measure_base(self):
        """The descriptors and threads of a server in quiet times, with all people connected."""
        base = collections.defaultdict(int)
        end = time.monotonic() + 3
        while time.monotonic() < end:
            for name, value in (self.sample() or {}).items():
                base[name] = max(base[name], value)
            time.sleep(0.1)
        self.base = base

    def expect_base(self, name, seconds):
        def settled():
            figures = self.sample()
            return figures and figures["descriptors"] <= self.base["descriptors"] + MORE_DESCRIPTORS
        try:
            wait_until("", seconds, settled, 0.1)
        except Failed:
            figures = self.sample() or {}
            self.violation(f"{name}: {figures.get('descriptors')} descriptors open {seconds} s after it, {self.base['descriptors']}"
                           " before")
        figures = self.sample()
        if figures and figures["threads"] > self.base["threads"] + MORE_THREADS:
            self.violation(f"{name}: {figures['threads']} threads after it, {self.base['threads']} before")

    # -- one adversity

    def suffer(self, adversity):
        """Runs one adversity from its beginning until everything is as it was, and holds the log and the process to bounds."""
        window = Window(adversity.name, adversity.tolerated)
        log, sent, events = self.server.log.bytes, self.requests + self.connections, self.server.log.events.copy()
        with self.lock:
            self.windows.append(window)
        try:
            adversity.run(self)
        except Failed as failure:
            self.violation(f"{adversity.name}: {failure}")
        except (OSError, http.client.HTTPException, ValueError, KeyError, SystemExit) as error:
            self.violation(f"{adversity.name}: {type(error).__name__}: {error}")
        self.revive(adversity.name)
        window.ended = time.monotonic()
        self.count(adversity.name)
        self.expect_base(adversity.name, adversity.settles)
        self.judge_log(window, log, sent, events)

    def judge_log(self, window, bytes_before, sent_before, events_before):
        """The log grows with requests, and by no kind of line without a limit."""
        log, seconds = self.server.log, time.monotonic() - window.began
        written, sent = log.bytes - bytes_before, self.requests + self.connections - sent_before
        if seconds > 1:
            self.note("log bytes a second", written / seconds)
        if written > sent * LOG_PER_REQUEST + LOG_BESIDE:
            self.violation(f"{window.name}: {written} bytes of log for {sent} requests and connections")
        for event, count in (log.events - events_before).items():
            if count > EVENTS + EVENTS_A_SECOND * seconds:
                self.violation(f"{window.name}: {count} lines '{event}' in {seconds:.0f} s")

    def revive(self, name):
        """Both programs run and answer again, whatever happened."""
        if not self.mock.is_running():
            self.mock.start()
        if not self.server.is_running():
            self.violation(f"{name}: the server ended by itself (exit code {self.server.process.returncode}): "
                           + " | ".join(list(self.server.log.tail)[-3:])[-400:])
            self.server.start()
        try:
            self.server.await_ready(30)
        except Failed as failure:
            self.violation(f"{name}: {failure}")
