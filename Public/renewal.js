// The access token of this tab, renewed when it has ended (RFC 6749 section 6). One tab renews for all: it holds a lock
// while it uses the refresh token and keeps the one that replaces it, and then tells the others the new access token.

import { Problem, unreachable } from "./api.js";
import { identityOf, isOver, metadata, revoke, scope, tokenOf, WRONG_CLOCK } from "./session.js";
import * as store from "./session-store.js";

const LOCK = "tasks.renewal";
const EARLY = 30000; // milliseconds before its end at which a token is renewed: it must live until it arrives
const LONGEST_NEWS = 1000; // milliseconds to wait for the news of another tab
const LONGEST_ANSWER = 15000;

export class Access {
  #config;
  #session;
  #left;
  #renewing; // promise of a token, for all requests that wait for one
  #channel = new BroadcastChannel("tasks.access");

  /** `left` is called when somebody has signed out in another tab, or signed in as somebody else. */
  constructor(config, session, left) {
    this.#config = config;
    this.#session = session;
    this.#left = left;
    this.#channel.addEventListener("message", ({ data }) => data.since === session.since && this.#take(data));
    store.onChange(() => this.#look());
  }

  /** Returns the access token as long as it need not be renewed, else null. */
  get token() {
    const { token, expires } = this.#session;
    return token && (expires - EARLY > Date.now() || !this.canRenew) ? token : null;
  }

  get canRenew() {
    const all = store.shared();
    return Boolean(all?.refresh && all.since === this.#session.since);
  }

  /** Returns a new token; `refused` is a token that the server did not take. Returns null if the session has ended.
   * Throws Unreachable, or the Problem of a sign-in service that may answer later. */
  renew(refused) {
    if (refused && this.#session.token === refused) this.#session.token = null;
    if (!this.canRenew || this.token) return Promise.resolve(this.token);
    this.#renewing ??= this.#takeTurn().finally(() => (this.#renewing = undefined));
    return this.#renewing;
  }

  #takeTurn() {
    const before = store.shared().refresh;
    return navigator.locks.request(LOCK, async () => {
      const all = store.shared();
      if (!all || all.since !== this.#session.since) return null;
      if (all.refresh !== before) await this.#news(); // another tab has renewed while this one waited
      return this.token ?? (await this.#exchange(all));
    });
  }

  async #news() {
    const end = Date.now() + LONGEST_NEWS;
    while (!this.token && Date.now() < end) await new Promise((resolve) => setTimeout(resolve, 20));
  }

  async #exchange(all) {
    const reply = await redeem(this.#config, all);
    if (!reply) {
      // Another tab may have used this token just before: its news can arrive after the lock.
      await this.#news();
      if (this.token) return this.token;
      const now = store.shared();
      if (now?.since === all.since && now.refresh !== all.refresh) return this.#exchange(now);
      store.unshare(all);
      return null;
    }
    const ends = reply.refresh_token_expires_in ? Date.now() + 1000 * reply.refresh_token_expires_in : all.ends;
    if (!store.rotate(all, reply.refresh_token ?? all.refresh, ends)) {
      // Somebody has signed out meanwhile.
      metadata(this.#config, all.policy).then((known) => revoke(known, this.#config, reply.refresh_token), () => {});
      return null;
    }
    // The clock is checked only now, because the new refresh token must be kept: the old one may be refused.
    if (reply.claims && isOver(reply.claims.exp)) throw new Problem(503, { title: "No new token", detail: WRONG_CLOCK });
    const news = { since: all.since, ...tokenOf(reply) };
    this.#take(news);
    this.#channel.postMessage(news);
    return news.token;
  }

  #take({ token, expires }) {
    Object.assign(this.#session, { token, expires });
    store.keep(this.#session);
  }

  /** Acts when another tab has signed in or out. */
  #look() {
    const all = store.shared();
    const { owner, since } = this.#session;
    if (!store.isValid(this.#session) || (all?.owner && all.owner !== owner)) return this.#left();
    if (!all?.owner || all.since === since) return;
    Object.assign(this.#session, { since: all.since, policy: all.policy, token: null, expires: 0 });
    store.keep(this.#session);
    location.reload(); // the same person has signed in again: this tab continues with the new one
  }
}

/** Returns the token response with the claims of its ID token, if it has one, or null if the authority will never again
 * give a token of this person for this refresh token. */
async function redeem(config, { policy, refresh, subject }) {
  const { issuer, token_endpoint } = await metadata(config, policy).catch(unreachable);
  const form = { grant_type: "refresh_token", client_id: config.clientId, refresh_token: refresh, scope: scope(config) };
  const response = await fetch(token_endpoint, {
    method: "POST", body: new URLSearchParams(form), credentials: "omit", signal: AbortSignal.timeout(LONGEST_ANSWER),
  }).catch(unreachable);
  const reply = await response.json().catch(() => null);
  if (response.ok && tokenOf(reply ?? {}).token) {
    if (!reply.id_token) return reply;
    const claims = identityOf(reply, issuer, config);
    return claims?.sub === subject ? { ...reply, claims } : null; // OpenID Connect Core 12.2
  }
  if (reply?.error && response.status < 500 && ![408, 429].includes(response.status)) return null;
  throw new Problem(503, {
    title: "The sign-in service failed", detail: `It answered ${response.status}. The page tries again by itself.`,
  });
}
