// The place of the session: a tab keeps its part in its session storage, and all tabs share a part in the local
// storage. Only the refresh token and its person are shared. SECURITY.md says why the token is kept there.

import { read, write } from "./storage.js";

const TAB = "tasks.session"; // {token, expires, policy, since, subject, mail, owner, claims}
const SHARED = "tasks.signed-in"; // {refresh, ends, policy, since, subject, mail, owner, claims}
const SIGNED_OUT = "tasks.signed-out"; // when somebody last signed out in this browser

/** Returns the session of this tab, or null; in a new tab that of the browser, without an access token yet. It may have
 * expired, which only the server decides. */
export function current() {
  const [tab, all] = [valid(read(sessionStorage, TAB)), shared()];
  if (!all || tab?.since === all.since) return tab;
  const { refresh, ends, ...session } = all;
  return { ...session, token: null, expires: 0 };
}

/** Returns the part of the last session that the tabs of this browser share, or null. */
export const shared = () => valid(read(localStorage, SHARED));

/** A sign-in: from now on the session of all tabs, or of this one if there is no refresh token. `ends` may be unknown.
 * Without room in this browser there is no session. */
export function begin({ refresh, ends, token, expires, ...session }) {
  session.since = Math.max(Date.now(), signedOut() + 1);
  forget();
  write(sessionStorage, TAB, { ...session, token, expires });
  const isShared = refresh && write(localStorage, SHARED, { ...session, refresh, ends });
  if (!isShared) localStorage.removeItem(SHARED);
}

/** Keeps new facts about this tab's session: its token and its person. */
export function keep(session) {
  write(sessionStorage, TAB, session);
  const all = shared();
  if (all?.since !== session.since || all.owner === session.owner) return;
  write(localStorage, SHARED, { ...all, owner: session.owner, claims: session.claims });
}

/** Replaces the refresh token of a session, if there is room: most authorities take the old one again. Returns false if
 * the session has been ended or replaced meanwhile. */
export function rotate({ since }, refresh, ends) {
  const all = shared();
  if (all?.since !== since) return false;
  write(localStorage, SHARED, { ...all, refresh, ends });
  return true;
}

/** Ends a session that cannot be renewed any more: new tabs do not begin with it, and find no list of it. */
export function unshare({ since, refresh }) {
  const all = shared();
  if (all?.since !== since || (refresh && all.refresh !== refresh)) return; // another tab has renewed it
  localStorage.removeItem(SHARED);
  removeAll(localStorage, "tasks.list.");
}

export const forget = () => sessionStorage.removeItem(TAB);

/** Signs out: ends all sessions that were begun until now, in each tab, also in a tab that is opened again. */
export function end() {
  const until = Math.max(Date.now(), shared()?.since ?? 0, current()?.since ?? 0);
  localStorage.removeItem(SHARED);
  forget();
  write(localStorage, SIGNED_OUT, until);
}

/** Whether there was no sign-out since the session was begun. */
export const isValid = (session) => (session.since ?? 0) > signedOut() || !signedOut();

/** Removes the lists and drafts of everybody else; their changes that are not saved wait for them. */
export function forgetOthers(owner) {
  removeAll(localStorage, "tasks.list.", owner);
  for (const kind of ["tasks.list.", "tasks.draft."]) removeAll(sessionStorage, kind, owner);
}

export function onChange(action) {
  addEventListener("storage", ({ key }) => (key === null || key === SHARED || key === SIGNED_OUT) && action());
}

const signedOut = () => Number(localStorage.getItem(SIGNED_OUT)) || 0;

const valid = (session) => (session && isValid(session) ? session : null);

function removeAll(storage, kind, owner) {
  for (const name of Object.keys(storage)) {
    if (name.startsWith(kind) && name !== `${kind}${owner}`) storage.removeItem(name);
  }
}
