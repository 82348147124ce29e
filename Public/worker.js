// Opens the page without a connection: the page's own files, from the network while there is one, else as they were
// last seen. Nothing of the API and nothing that belongs to a person is ever kept.

const CACHE = "page-3";
const FILES = [
  "/", "/app.css", "/main.js", "/session.js", "/session-store.js", "/storage.js", "/sign-in.js", "/dom.js",
  "/task-page.js", "/person.js", "/undo.js", "/api.js", "/renewal.js", "/model.js", "/sync.js", "/view.js", "/row.js",
  "/editor.js", "/drag.js", "/order.js", "/days.js", "/search.js", "/shortcuts.js", "/favicon.svg",
  "/manifest.webmanifest", "/icon-192.png", "/config.json",
];

addEventListener("install", (event) => {
  event.waitUntil(caches.open(CACHE).then((cache) => cache.addAll(FILES)).then(() => skipWaiting()));
});

addEventListener("activate", (event) => {
  const old = (names) => names.filter((name) => name !== CACHE).map((name) => caches.delete(name));
  event.waitUntil(caches.keys().then((names) => Promise.all(old(names))).then(() => clients.claim()));
});

addEventListener("fetch", (event) => {
  const url = new URL(event.request.url);
  const isPage = event.request.method === "GET" && url.origin === location.origin && FILES.includes(url.pathname);
  if (isPage) event.respondWith(newest(event.request, url.pathname));
});

async function newest(request, path) {
  const cache = await caches.open(CACHE);
  try {
    const response = await fetch(request);
    if (response.ok) await cache.put(path, response.clone());
    return response;
  } catch (error) {
    const kept = await cache.match(path);
    if (!kept) throw error;
    return kept;
  }
}
