// Leaves for the authority: shows a button for each policy, and remembers the policy for the next sign-in.

import { make } from "./dom.js";
import { describe, policies, signIn, SignInError } from "./session.js";

/** Makes a button that leaves for the authority; `place` gives what to restore later, `complain` shows why it failed. */
export function policyButton(config, policy, className, { place = () => ({}), complain }) {
  const button = make("button", { type: "button", className: `${className} ${policy.kind}`, textContent: policy.label });
  button.dataset.policy = policy.name;
  button.addEventListener("click", () => leave(config, policy.name, button, { place, complain }));
  return button;
}

/** Leaves for the authority, and disables the button meanwhile. */
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
  return policies(config)
    .filter((policy) => !["edit", "reset", "ropc"].includes(policy.kind))
    .sort((a, b) => (rank[a.kind] ?? 2) - (rank[b.kind] ?? 2));
}

/** Returns the policy to come back with: the last one, unless it was for signing up or for a profile. */
export function returnPolicy(config, used) {
  if (used && !["signup", "edit", "reset"].includes(describe(used).kind)) return used;
  return (signInPolicies(config)[0] ?? policies(config)[0]).name;
}
