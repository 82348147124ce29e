// Opens the page at once, with a network or without, from the newest release that is kept: files that were read together. Behind
// that, the worker looks for a newer one, which the next start shows. Nothing of the API and nothing of a person is ever kept.

const LONGEST_ANSWER = 30000; // milliseconds
const MOST_PAGES = 20; // that are remembered

const BASE = new URL(".", location).pathname;
const NOTES = `page-8 ${BASE}`; // other applications may have caches at this origin, too
const FILES = [
  "", "app.css", "main.js", "session.js", "session-store.js", "storage.js", "dom.js", "queue.js", "tasks.html",
  "tasks.css", "task-page.js", "person.js", "undo.js", "api.js", "renewal.js", "model.js", "sync.js", "stream.js", "view.js",
  "row.js", "editor.js", "typed-days.js", "drag.js", "order.js", "days.js", "repeat.js", "search.js", "select.js", "shortcuts.js", "favicon.svg",
  "manifest.webmanifest", "icon-192.png", "config.json",
].map((name) => BASE + name);

const begun = new Map(); // the id of a page -> promise of its release, so that a page never has files of two
let renewal = null; // the promise of the one that is under way
let isElsewhere = false; // whether the network has led to another page, which the next start shows

addEventListener("install", (event) => event.waitUntil(renew()));

addEventListener("message", () => skipWaiting()); // main.js says when nothing is being loaded

addEventListener("activate", (event) => {
  const old = (names) => names.filter((name) => /^page-[1-7] /.test(name) && name.endsWith(` ${BASE}`));
  event.waitUntil(caches.keys().then((names) => Promise.all(old(names).map((name) => caches.delete(name)))).then(() => clients.claim()));
});

addEventListener("fetch", (event) => {
  const { request, clientId, resultingClientId } = event;
  const { origin, pathname } = new URL(request.url);
  if (request.method !== "GET" || origin !== location.origin || !FILES.includes(pathname)) return;
  const isStart = request.mode === "navigate";
  const id = isStart ? resultingClientId : clientId;
  if (!begun.has(id)) begun.set(id, isStart ? begin(id) : releaseOf(id));
  event.respondWith(answer(request, pathname, begun.get(id)));
  if (isStart) event.waitUntil(look(id));
});

/** Returns a file of a release, and the network's answer if there is none or if the network leads elsewhere. */
async function answer(request, path, release) {
  const found = isElsewhere && request.mode === "navigate" && (await fetch(request).catch(() => null));
  if (found) isElsewhere = false;
  if (found?.type === "opaqueredirect") return found;
  const cacheName = await release;
  return (cacheName && (await caches.match(path, { cacheName }))) ?? fetch(request);
}

/** Returns the newest release for a page that starts, and notes it for a worker that takes this one's place meanwhile. */
async function begin(id) {
  const name = await noted(BASE);
  if (name) await note(`${BASE}?${id}`, name).catch(() => {}); // there may be no room
  return name;
}

const releaseOf = async (id) => (await noted(`${BASE}?${id}`)) ?? noted(BASE);

const noted = async (key) => (await caches.match(key, { cacheName: NOTES }))?.text();

const note = async (key, name) => (await caches.open(NOTES)).put(key, new Response(name));

/** Looks for a newer release, and tells the page if there is one, or if the network leads elsewhere. */
async function look(id) {
  renewal ??= renew().finally(() => (renewal = null));
  const news = await renewal.catch(({ cause }) => cause);
  isElsewhere ||= news === "elsewhere";
  if (news) (await clients.get(id))?.postMessage(news);
}

/** Keeps the server's files if they are another release than the newest that is kept; then the answer is "release". */
async function renew() {
  const files = await readAll();
  const [name, last] = await Promise.all([nameOf(files), noted(BASE)]);
  if (name !== last) {
    if (name !== (await nameOf(await readAll()))) throw new TypeError("The files are being replaced.");
    const cache = await caches.open(name);
    await Promise.all(files.map(({ copy }, index) => cache.put(FILES[index], copy)));
    await note(BASE, name);
  }
  await forgetAllBut(name, last);
  return name !== last && "release";
}

/** Forgets all releases but these and those of the pages that were begun last, which may be loading. */
async function forgetAllBut(...releases) {
  const notes = await caches.open(NOTES);
  const pages = (await notes.keys()).filter(({ url }) => new URL(url).search);
  await Promise.all(pages.slice(0, -MOST_PAGES).map((page) => notes.delete(page)));
  releases.push(...(await Promise.all(pages.slice(-MOST_PAGES).map(noted))));
  const isOld = (name) => name.startsWith(`${NOTES} `) && !releases.includes(name);
  await Promise.all((await caches.keys()).filter(isOld).map((name) => caches.delete(name)));
}

/** The files of one release have one name wherever they are read, so that two workers at once do each other no harm. */
async function nameOf(files) {
  const texts = new TextEncoder().encode(JSON.stringify(files.map(({ text }) => text)));
  return `${NOTES} ${btoa(String.fromCharCode(...new Uint8Array(await crypto.subtle.digest("SHA-256", texts))))}`;
}

/** Reads three files at a time: a browser opens six connections to a server, and the page needs some, too. */
async function readAll() {
  const files = [];
  const rest = FILES.entries();
  const lane = async () => {
    for (const [index, path] of rest) files[index] = await read(path);
  };
  await Promise.all([lane(), lane(), lane()]);
  return files;
}

async function read(path) {
  const signal = AbortSignal.timeout(LONGEST_ANSWER); // a silent connection is not kept for ever
  const response = await fetch(path, { cache: "no-cache", redirect: "manual", priority: "low", signal });
  // A network's portal, or a proxy whose server does not run, answers without the field that the server gives every
  // answer. Its page must not replace a file; only a redirect leads to the portal's own page.
  const isOurs = response.ok && response.headers.has("X-Request-Id");
  if (!isOurs) throw new TypeError("Somebody else answered.", { cause: response.type === "opaqueredirect" && "elsewhere" });
  return { copy: response.clone(), text: await response.text() };
}
