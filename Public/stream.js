// The stream of changes (docs/sync.md), by which other devices' changes are here at once. One tab of this browser holds the
// stream for all of its tabs, and lets it go some time after it was last seen: a phone in a pocket holds no stream.

import { call } from "./api.js";

const LONGEST_SILENCE = 45000; // milliseconds; the server sends something every 15 s
const MINUTE = 60000; // milliseconds until a tab out of sight lets the stream go, and after which its end is no failure
const LONGEST_PAUSE = 300; // seconds

/** Returns {begin, end, isLive}; `isLive` asks whether a tab of this browser hears changes now. `tell` is called with the data
 * of each event, and without when the list must be read again. `rest` returns the milliseconds for which the server wants peace. */
export function streamOf(model, access, { tell, rest }) {
  const lock = `${model.lock}stream.`;
  const live = `${lock}live`; // the name of the lock that is held while the server answers
  let turn; // the AbortController of this tab's turn, also while it waits for that
  let unseen; // timer
  let isEnded = false;

  const read = (signal) => {
    let end, held;
    const ended = new Promise((resolve) => (end = resolve));
    const each = (text) => {
      const events = text.split("\n\n");
      for (const event of events.slice(0, -1).filter((event) => /^event: changes$/m.test(event))) {
        held ??= navigator.locks.request(live, () => ended);
        tell(JSON.parse(/^data: (.*)$/m.exec(event)[1]));
      }
      return events.at(-1);
    };
    const headers = { Accept: "text/event-stream; names=one", ...(model.point && { "Last-Event-ID": model.point }) };
    return call(access, "GET", "/api/tasks/changes", { headers, signal, silence: LONGEST_SILENCE, each }).finally(end);
  };

  /** Reads one stream after the other, with growing pauses while they fail. */
  const follow = async (signal) => {
    await pause(rest(), signal);
    for (let failures = 0; !signal.aborted; failures += 1) {
      const begin = performance.now();
      const { status, retryAfter } = await read(signal).catch((error) => error);
      if (signal.aborted) return;
      if ([400, 401, 410].includes(status)) { // the session has ended, or the server does not know what happened since then
        model.point = null;
        tell();
      }
      if (performance.now() - begin > MINUTE) failures = 0;
      const usual = Math.min(LONGEST_PAUSE, 2 ** failures) * (1 + Math.random()); // not all pages at the same time
      await pause(Math.max(1000 * (retryAfter ?? 0), 1000 * usual, rest()), signal);
    }
  };

  const letGo = () => {
    turn?.abort();
    turn = undefined;
  };
  const look = () => {
    clearTimeout(unseen);
    if (document.visibilityState !== "visible") unseen = setTimeout(letGo, MINUTE);
    else if (!turn && !isEnded) {
      const { signal } = (turn = new AbortController());
      navigator.locks.request(lock, { signal }, () => follow(signal)).catch(() => {}); // let go before its turn came
    }
  };
  return {
    begin() {
      addEventListener("visibilitychange", look);
      addEventListener("online", () => {
        letGo(); // a stream through the network of before tells nothing any more, and does not end either
        look();
      });
      look();
    },
    end() {
      isEnded = true;
      letGo();
    },
    isLive: async () => Boolean((await navigator.locks.query()).held.some(({ name }) => name === live)),
  };
}

const pause = (milliseconds, signal) => new Promise((resolve) => {
  setTimeout(resolve, milliseconds);
  signal.addEventListener("abort", resolve);
});
