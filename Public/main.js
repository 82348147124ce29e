// Starts the page: takes up the authority's answer, then shows either the way in or the list.

import { find } from "./dom.js";
import * as session from "./session.js";
import { current, forgetOthers, onChange, shared } from "./session-store.js";

const AT_REST = 5000; // milliseconds after which nothing is being loaded
const slow = setTimeout(() => (find("loading").hidden = false), 300);

const BLOCKED = "This browser lets the page keep nothing on this device, so nobody can sign in. Allow cookies and site data for "
  + "this address in the browser's settings, then reload the page.";

start().catch((error) => {
  if (error.name === "SecurityError") return welcome(null, BLOCKED);
  welcome(null, error instanceof session.SignInError ? error.message : "The page could not start. Please reload it.");
  if (!(error instanceof session.SignInError)) throw error;
});

async function start() {
  const config = await own("config.json", "json");
  let place, failure;
  try {
    place = await session.finish(config);
  } catch (error) {
    if (!(error instanceof session.SignInError)) throw error;
    failure = error.message;
  }
  const me = current();
  if (me) await enter(config, me, place, failure);
  else welcome(config, failure ?? (place?.cancelled && "The sign-in was cancelled. Start again whenever you like."));
}

/** Returns what the server gives for a path, as `json` or `text`. */
async function own(path, form) {
  const read = () => fetch(path, { cache: "no-cache" });
  const response = await read().catch(read).catch(() => null);
  const isOurs = response?.ok && response.headers.has("X-Request-Id"); // a network's portal answers without
  const content = isOurs ? await response[form]().catch(() => null) : null;
  if (!content) throw new session.SignInError("The server cannot be reached. Please reload the page in a moment.");
  return content;
}

/** The worker tells when the network leads elsewhere, or the server has a newer release. Nobody types at the way in. */
navigator.serviceWorker?.addEventListener("message", ({ data }) =>
  (data === "elsewhere" || document.body.dataset.shown === "welcome") && location.reload());

/** Loads the other half of the code, for the list, after sign-in. */
async function enter(config, me, place, failure) {
  const [{ TaskPage }, parts] = await Promise.all([import("./task-page.js"), own("tasks.html", "text")]);
  document.body.append(...new DOMParser().parseFromString(parts, "text/html").body.children);
  const refusal = await TaskPage.open(config, me, place ?? {}, { show, complaint: failure });
  if (refusal) return welcome(config, refusal);
  show("tasks");
  const worker = navigator.serviceWorker;
  const lastFile = () => import("./person.js").catch(() => {}); // before the worker forgets which release this page has
  if (worker?.controller) await lastFile();
  const registration = await worker?.register("worker.js").catch(() => {}); // only for opening the page at once
  worker?.ready.then(lastFile);
  // What a page loads by a worker whose place another one takes comes from the network in Firefox, so the newer one waits until all is loaded.
  setTimeout(() => registration?.waiting?.postMessage("activate"), AT_REST);
}

/** Shows the page for a visitor who is not signed in; `complaint` says what went wrong before. */
function welcome(config, complaint) {
  show("welcome");
  if (config && !current()) forgetOthers();
  onChange(() => shared()?.owner && location.reload()); // signed in in another tab is signed in here
  if (config?.authority) {
    const place = () => (location.hash ? { filter: location.hash.slice(1) } : {}); // the view to open after the sign-in
    const buttons = session.signInPolicies(config).map((policy, index) =>
      session.policyButton(config, policy, index ? "secondary" : "primary", { place, complain }));
    find("policies").replaceChildren(...buttons);
    complain(complaint);
  } else {
    complain(complaint || "This server names no authority to sign in at. Its API takes tokens from elsewhere.");
  }
}

const complain = (message) => (find("welcome-error").textContent = message || "");

/** `isReady` says whether there is something to show before the server has answered. */
function show(section, isReady = true) {
  if (isReady) clearTimeout(slow);
  find("loading").hidden ||= isReady;
  for (const name of ["welcome", "tasks"]) find(name).hidden = name !== section;
  document.body.dataset.shown = section;
  find("account").hidden = section !== "tasks";
}
