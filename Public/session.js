// Signing in and out at the authority: authorization code with PKCE (RFC 7636, S256), state and nonce, by redirect. No URL has a token:
// the authority's answer carries a one-time code in the fragment, which reaches no server and is taken out of the address at once.

import { make } from "./dom.js";
import { begin, current, end, shared } from "./session-store.js";
import { read, write } from "./storage.js";

const ATTEMPT = "tasks.attempt";
const ASK_WHO = "tasks.ask-who"; // set while the authority may still have a session of somebody who has signed out
const redirectURI = new URL(".", location).href;

/** Explains what went wrong at the authority, in words for the person. */
export class SignInError extends Error {}

const OTHER_AUTHORITY = "The answer came from another sign-in service, or is for another application. Please try again; if that "
  + "does not help, tell the people who run this page.";
const NO_CRYPTO = "A sign-in needs an encrypted connection. Open this page by https, or as localhost.";
const NO_ROOM = "This browser has no room for a sign-in. Please free some space, then try again.";
export const WRONG_CLOCK = "The clock of this device is ahead of the sign-in service's. Set it, then try again.";

/** The kinds of policies, which their names tell as the samples name them; the first match counts. */
const KINDS = [
  ["ropc", /ropc/, ""],
  ["reset", /reset|forgot|password/, "Reset password"],
  ["edit", /edit|profile/, "Edit profile"],
  ["facebook", /facebook|(^|_)fb(_|$)/, "Continue with Facebook"],
  ["google", /google/, "Continue with Google"],
  ["signin", /susi|sign_?up_?(or_?)?sign_?in|sign_?in_?(or_?)?sign_?up/, "Sign in or sign up"],
  ["signup", /sign_?up|register/, "Sign up"],
  ["signin", /sign_?in|log_?in/, "Sign in"],
];

export function describe(name) {
  const bare = name.toLowerCase().replace(/^b2c_1a?_/, "").replaceAll("-", "_");
  const found = KINDS.find(([, pattern]) => pattern.test(bare));
  if (found) return { name, kind: found[0], label: found[2] };
  const words = bare.replaceAll("_", " ") || "sign in";
  return { name, kind: "other", label: words[0].toUpperCase() + words.slice(1) };
}

/** Returns the described policies of the configuration, or one without a name if there are none (not B2C). */
export const policies = (config) =>
  config.policies.length ? config.policies.map(describe) : [{ name: "", kind: "signin", label: "Sign in" }];

/** Makes a button that leaves for the authority; `place` gives what to restore later, `complain` shows why it failed. */
export function policyButton(config, policy, className, { place = () => ({}), complain }) {
  const onclick = ({ currentTarget }) => leave(config, policy.name, currentTarget, { place, complain });
  const attributes = { "data-policy": policy.name };
  return make("button", { type: "button", className: `${className} ${policy.kind}`, textContent: policy.label, attributes, onclick });
}

export async function leave(config, policy, button, { place = () => ({}), complain }) {
  button.disabled = true;
  try {
    await signIn(config, policy, place());
  } catch (error) {
    if (!(error instanceof SignInError)) throw error;
    complain(error.message);
  } finally {
    button.disabled = false;
  }
}

/** Returns the policies that a visitor may choose, the likeliest first. */
export function signInPolicies(config) {
  const rank = { signin: 0, signup: 1 };
  return policies(config).filter((policy) => !["edit", "reset", "ropc"].includes(policy.kind))
    .sort((a, b) => (rank[a.kind] ?? 2) - (rank[b.kind] ?? 2));
}

/** Returns the policy to come back with: the last one, unless it was for signing up or for a profile. */
export function returnPolicy(config, used) {
  if (used && !["signup", "edit", "reset"].includes(describe(used).kind)) return used;
  return (signInPolicies(config)[0] ?? policies(config)[0]).name;
}

/** Leaves for the authority; `place` is where to come back to, `stays` whether to ask for a refresh token. */
export async function signIn(config, policy, place, stays = true) {
  if (!crypto.subtle) throw new SignInError(NO_CRYPTO); // plain http on a name of the network
  const { issuer, authorization_endpoint, ...known } = await metadata(config, policy);
  const namesItself = known.authorization_response_iss_parameter_supported === true;
  const attempt = { state: random(), nonce: random(), verifier: random(), policy, place, stays, issuer, namesItself };
  if (!write(sessionStorage, ATTEMPT, attempt)) throw new SignInError(NO_ROOM);
  go(authorization_endpoint, {
    client_id: config.clientId, redirect_uri: redirectURI, scope: scope(config, stays),
    response_type: "code", response_mode: "fragment", state: attempt.state, nonce: attempt.nonce,
    code_challenge: await challenge(attempt.verifier), code_challenge_method: "S256",
    ...(localStorage.getItem(ASK_WHO) && { prompt: "login" }),
  });
}

/** Takes up the authority's answer if the page was opened with one. Returns the place to go back to, or null if there
 * was no answer; throws SignInError. */
export async function finish(config) {
  const answer = takeAnswer();
  if (!answer) return null;
  const attempt = read(sessionStorage, ATTEMPT);
  sessionStorage.removeItem(ATTEMPT);
  if (!attempt || answer.get("state") !== attempt.state) {
    throw new SignInError("That sign-in was not started in this tab. Please try again.");
  }
  // An authority that does not announce it (RFC 9207), such as B2C, may leave its name out.
  const isOther = answer.has("iss") ? !isIssuer(answer.get("iss"), attempt.issuer) : attempt.namesItself;
  if (isOther) throw new SignInError(OTHER_AUTHORITY);
  if (answer.has("error")) return refused(config, answer, attempt);
  const reply = await redeem(config, attempt, answer.get("code"));
  const claims = identityOf(reply, attempt.issuer, config);
  if (!claims) throw new SignInError(OTHER_AUTHORITY);
  if (claims.nonce !== attempt.nonce) throw new SignInError("That answer does not belong to this sign-in. Please try again.");
  if (isOver(claims.exp)) throw new SignInError(WRONG_CLOCK);
  const lifetime = Number(reply.refresh_token_expires_in);
  begin({
    ...tokenOf(reply),
    policy: attempt.policy, subject: claims.sub,
    mail: [claims.emails, claims.email, claims.preferred_username].flat().find(Boolean),
    refresh: reply.refresh_token, ends: lifetime ? Date.now() + 1000 * lifetime : null,
  });
  if (!current()) throw new SignInError(NO_ROOM);
  localStorage.removeItem(ASK_WHO);
  return attempt.place ?? {};
}

/** Returns the token for the API in a token response, and the time of its end. */
export const tokenOf = (reply) => ({
  token: reply.access_token ?? reply.id_token,
  expires: Date.now() + 1000 * Number(reply.expires_in ?? reply.id_token_expires_in ?? 3600),
});

/** Ends the session in all tabs, then at the authority, without an id_token_hint, because a token has no place in a URL.
 * If the authority cannot be reached, the next sign-in asks for the password. */
export async function signOut(config, policy) {
  const refresh = shared()?.refresh;
  end();
  write(localStorage, ASK_WHO, true);
  const known = await metadata(config, policy).catch(() => null);
  if (known) localStorage.removeItem(ASK_WHO);
  if (known) revoke(known, config, refresh);
  if (!known?.end_session_endpoint) return location.assign(".");
  go(known.end_session_endpoint, { post_logout_redirect_uri: redirectURI, client_id: config.clientId });
}

/** Revokes a token (RFC 7009), if the authority can. The page is being left, so nothing waits for the answer. */
export function revoke({ revocation_endpoint: endpoint }, config, token) {
  if (!token || !endpoint) return;
  const body = new URLSearchParams({ token, token_type_hint: "refresh_token", client_id: config.clientId });
  fetch(endpoint, { method: "POST", body, credentials: "omit", keepalive: true }).catch(() => {});
}

function takeAnswer() {
  for (const text of [location.hash.slice(1), location.search.slice(1)]) {
    const answer = new URLSearchParams(text);
    if (answer.has("state") && (answer.has("code") || answer.has("error"))) {
      history.replaceState(null, "", ".");
      return answer;
    }
  }
  return null;
}

/** The authority refused: cancelled goes back quietly, a forgotten password leads to the policy that resets it. */
async function refused(config, answer, attempt) {
  const description = answer.get("error_description") ?? answer.get("error");
  const reset = policies(config).find((policy) => policy.kind === "reset");
  if (answer.get("error") === "invalid_scope" && attempt.stays) {
    return away(signIn(config, attempt.policy, attempt.place, false)); // this authority does not know offline_access
  }
  if (description.includes("AADB2C90118")) {
    if (reset && reset.name !== attempt.policy) return away(signIn(config, reset.name, attempt.place));
    throw new SignInError("Passwords cannot be reset from here. Please ask the people who run this page.");
  }
  if (description.includes("AADB2C90091")) return { ...attempt.place, cancelled: true };
  throw new SignInError(firstSentence(description));
}

/** Waits for ever, because the page is about to be left. */
const away = (leaving) => leaving.then(() => new Promise(() => {}));

async function redeem(config, attempt, code) {
  const { token_endpoint } = await metadata(config, attempt.policy);
  const form = {
    grant_type: "authorization_code", client_id: config.clientId, redirect_uri: redirectURI, scope: scope(config, attempt.stays),
    code, code_verifier: attempt.verifier,
  };
  const reply = await ask(token_endpoint, ["error", "access_token", "id_token"], { method: "POST", body: new URLSearchParams(form) });
  if (reply.error) throw new SignInError(firstSentence(reply.error_description ?? reply.error));
  return reply;
}

/** Returns the claims of the ID token in a token response, if it is for this application and by this issuer, else null.
 * The token came from the token endpoint itself, so its signature need not be checked (OpenID Connect Core 3.1.3.7). */
export function identityOf({ id_token }, issuer, { clientId }) {
  const claims = id_token && claimsOf(id_token);
  return claims && isIssuer(claims.iss, issuer) && [claims.aud].flat().includes(clientId) ? claims : null;
}

/** Whether a token that ends at `exp` has ended, by a clock that may be a minute ahead, as the server's may. */
export const isOver = (exp) => !(1000 * (exp + 60) > Date.now());

/** Whether a name is that of this issuer. The server decides about a template, Microsoft's issuer for many tenants. */
function isIssuer(name, issuer) {
  const [start, end] = String(issuer).split("{tenantid}");
  const text = String(name);
  return text === issuer || (end !== undefined && text.startsWith(start) && text.endsWith(end));
}

/** Returns the claims of a token, unverified, or null if it has none that can be read. */
function claimsOf(token) {
  try {
    const bytes = atob(token.split(".")[1].replaceAll("-", "+").replaceAll("_", "/"));
    return JSON.parse(new TextDecoder().decode(Uint8Array.from(bytes, (byte) => byte.charCodeAt(0))));
  } catch {
    return null;
  }
}

/** Returns the authority's own description (OpenID Connect Discovery 1.0), of one policy for B2C. */
export function metadata(config, policy) {
  const base = config.authority.replace(/\/+$/, "") + (policy ? `/${policy}/v2.0` : "");
  return ask(`${base}/.well-known/openid-configuration`, ["token_endpoint"]);
}

/** JSON from the authority. Other JSON, without any of these members, is the answer of a network's portal. Reading is
 * tried twice: a request dies when the device changes its network. */
async function ask(url, members, options, attempts = options ? 1 : 2) {
  let response;
  try {
    response = await fetch(url, { ...options, credentials: "omit", signal: AbortSignal.timeout(15000) });
    const answer = await response.json();
    if (members.some((name) => answer[name])) return answer;
  } catch {
    if (!response && attempts > 1) return ask(url, members, options, attempts - 1);
  }
  throw new SignInError(
    response && !response.ok
      ? `The sign-in service answered ${response.status}. Please try again later.`
      : "The sign-in service cannot be reached. Check your connection, then try again.",
  );
}

function go(endpoint, parameters) {
  const url = new URL(endpoint); // it may have a query already: ?p=policy
  for (const [name, value] of Object.entries(parameters)) url.searchParams.set(name, value);
  location.assign(url);
}

/** Returns the scopes to ask for: `profile` because External ID sends no name without it, `offline_access` for a refresh
 * token. At B2C the scope that is the client id itself gets an access token for this very application. */
export function scope(config, stays = true) {
  const own = config.policies.length ? [config.clientId] : [];
  const api = config.scopes.length ? config.scopes : own;
  return ["openid", "profile", ...(stays ? ["offline_access"] : []), ...api].join(" ");
}

/** Returns `AADB2C90077: User does not have ...\r\nCorrelation ID: ...` without the parts that only operators need. */
const firstSentence = (text) => text.split(/\r?\n/)[0].replace(/^AADB2C\d+:\s*/, "");

const random = () => base64URL(crypto.getRandomValues(new Uint8Array(32)));

const challenge = async (verifier) => base64URL(new Uint8Array(await crypto.subtle.digest("SHA-256", new TextEncoder().encode(verifier))));

const base64URL = (bytes) => btoa(String.fromCharCode(...bytes)).replaceAll("+", "-").replaceAll("/", "_").replaceAll("=", "");
