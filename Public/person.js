// The person who is signed in, until when, and the way out.

import { policyButton, returnPolicy } from "/sign-in.js";
import { counted, find, locale, make } from "/dom.js";
import { policies, signOut } from "/session.js";
import { shared } from "/session-store.js";

/** Fills the account button and its dialog; `page` gives {config, me, model, sync, signInOptions}. */
export function showPerson(page) {
  const { claims, mail } = page.me;
  const name = claims.name || mail || "Signed in";
  for (const box of document.querySelectorAll(".initials")) box.textContent = initials(name);
  for (const box of [find("account").querySelector(".name"), find("person-title")]) box.textContent = name;
  find("person-mail").textContent = mail ?? "";
  find("claims").replaceChildren(...facts(claims).map(([term, value]) =>
    make("div", {}, make("dt", { textContent: term }), make("dd", { textContent: value }))));
  const edits = policies(page.config).filter((policy) => policy.kind === "edit");
  find("profile-actions").replaceChildren(
    ...edits.map((policy) => policyButton(page.config, policy, "secondary", page.signInOptions)));
  find("account").addEventListener("click", () => openDialog(page.me));
  find("person-close").addEventListener("click", () => find("person").close());
  find("person").addEventListener("click", (event) => event.target === find("person") && find("person").close());
  find("sign-out").addEventListener("click", () => leave(page));
}

function openDialog({ claims }) {
  const all = shared(); // another tab may have renewed the session
  const time = all ? all.ends : claims.expires;
  const date = time && new Date(time).toLocaleString(locale(), { dateStyle: "medium", timeStyle: "short" });
  find("person-ends").textContent = date ? `Signed in until ${date}.` : "Signed in until you sign out.";
  find("leaving").hidden = true;
  find("person").showModal();
}

const facts = (claims) => [
  ["Object ID", claims.owner],
  ["Policy", claims.policy || "not in the token"],
  ["Scopes", claims.scopes.join(" ") || "none"],
];

const initials = (name) =>
  name.split(/\s+/).filter(Boolean).map((word) => [...word][0]).slice(0, 2).join("").toUpperCase();

/** Tries once more to save; changes that remain unsaved stay in this browser, and the person is told. */
async function leave({ config, me, model, sync, others }) {
  const isTold = !find("leaving").hidden;
  sync.leave();
  if (!isTold && model.changes().length) {
    await Promise.race([sync.run(), new Promise((resolve) => setTimeout(resolve, 3000))]);
    const left = model.changes();
    if (left.length) return tell(left.length, left.filter((change) => model.stateOf(change) !== "kept").length);
  }
  model.forget();
  others.postMessage({ left: me.owner });
  await signOut(config, returnPolicy(config, me.policy));
}

function tell(left, unkept) {
  const [are, they] = left === 1 ? ["is", "It stays in this browser and is"] : ["are", "They stay in this browser and are"];
  find("leaving").textContent = `${counted(left, "change")} ${are} not saved yet. `
    + (unkept ? `This browser could not keep ${unkept} of them, which would be lost. `
      : `${they} saved when you sign in here again. `)
    + "Press “Sign out” once more to leave now.";
  find("leaving").hidden = false;
}
