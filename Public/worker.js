// Opens the page without a connection: its own files come from the network while there is one, else as they were last
// seen. Nothing of the API and nothing that belongs to a person is ever kept.

const PATIENCE = 2000; // milliseconds
const LONGEST_ANSWER = 30000;
let late = null; // the promise of an answer that did not come in time, until it comes or fails

const BASE = new URL(".", location).pathname;
const CACHE = `page-7 ${BASE}`; // other applications may have caches at this origin, too
const FILES = [
  "", "app.css", "main.js", "session.js", "session-store.js", "storage.js", "dom.js", "queue.js", "tasks.html",
  "tasks.css", "task-page.js", "person.js", "undo.js", "api.js", "renewal.js", "model.js", "sync.js", "stream.js", "view.js",
  "row.js", "editor.js", "typed-days.js", "drag.js", "order.js", "days.js", "search.js", "select.js", "shortcuts.js", "favicon.svg",
  "manifest.webmanifest", "icon-192.png", "config.json",
].map((name) => BASE + name);

addEventListener("install", (event) => {
  event.waitUntil(caches.open(CACHE).then((cache) => cache.addAll(FILES)).then(() => skipWaiting()));
});

addEventListener("activate", (event) => {
  const isOld = (name) => name !== CACHE && (name.endsWith(` ${BASE}`) || /^page-\d$/.test(name));
  const old = (names) => names.filter(isOld).map((name) => caches.delete(name));
  event.waitUntil(caches.keys().then((names) => Promise.all(old(names))).then(() => clients.claim()));
});

addEventListener("fetch", (event) => {
  const url = new URL(event.request.url);
  const isPage = event.request.method === "GET" && url.origin === location.origin && FILES.includes(url.pathname);
  if (isPage) event.respondWith(newest(event, url.pathname));
});

/** Returns the network's answer. After 2 s without one, this file and all that follow are those last seen until it comes. */
async function newest(event, path) {
  const cache = await caches.open(CACHE);
  const kept = await cache.match(path);
  if (kept && late) {
    event.waitUntil(late.then(() => ask(event.request, path, cache)).catch(() => {}));
    return kept;
  }
  const asked = ask(event.request, path, cache);
  if (!kept) return asked;
  event.waitUntil(asked.catch(() => {}));
  const answer = await Promise.race([asked.catch(() => kept), new Promise((resolve) => setTimeout(resolve, PATIENCE))]);
  if (!answer) {
    late = asked.finally(() => (late = null));
    late.catch(() => {});
  }
  return answer ?? kept;
}

/** A browser opens six connections to a server, so a silent one is not kept for ever. */
async function ask({ cache: mode, redirect }, path, cache) {
  const response = await fetch(path, { cache: mode, redirect, signal: AbortSignal.timeout(LONGEST_ANSWER) });
  // A network's portal, or a proxy whose server does not run, answers without the field that the server gives every
  // answer. Its page must not replace a file; only a redirect leads to the portal's own page.
  const isOurs = response.headers.has("X-Request-Id");
  if (!isOurs && response.type !== "opaqueredirect") throw new TypeError("Somebody else answered.");
  if (response.ok) await cache.put(path, response.clone()).catch(unlessFull);
  return response;
}

/** A file for which there is no room is shown all the same; one that was cut off is not. */
const unlessFull = (error) => error.name === "QuotaExceededError" || Promise.reject(error);
