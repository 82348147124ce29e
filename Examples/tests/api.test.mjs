// A test of an API with mock-authority, which is in PATH, for the runner of Node 18 (node --test); Jest and Vitest take the same functions.
import assert from "node:assert";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import { after, before, test } from "node:test";

// Starts a program; gives the process, and the JSON of the first line that it prints.
async function start(program, parameters, settings = {}) {
  // mock-authority ends with this process, however that ends, because its standard input does.
  const process = spawn(program, parameters, { env: { ...globalThis.process.env, ...settings }, stdio: ["pipe", "pipe", "inherit"] });
  const [line] = await once(createInterface(process.stdout), "line");
  return { process, ready: JSON.parse(line) };
}

export class Authority {
  static async start() {
    return Object.assign(new Authority(), await start("mock-authority", ["--listen", "127.0.0.1:0", "--print-ready", "--end-with-input"]));
  }

  token(user = "alice", query = {}) {
    return this.control(`token?${new URLSearchParams({ user, ...query })}`);
  }

  async control(name, body) {
    const answer = await fetch(`${this.ready.controls}/${name}`, body && { method: "POST", body: JSON.stringify(body) });
    return answer.text();
  }
}

let authority, api;

before(async () => {
  authority = await Authority.start();
  const { address, tenant, clients } = authority.ready;
  api = await start("task-server", [], {
    TASKS_AUTHORITY: `${address}/${tenant}`, TASKS_CLIENT_ID: clients[0].id, TASKS_POLICIES: "b2c_1_sign_in",
    TASKS_LISTEN: "127.0.0.1:0", TASKS_ADMIN_LISTEN: "off", TASKS_DATABASE: "memory:", TASKS_PUBLIC: "off",
  });
});

after(() => {
  for (const each of [authority, api]) each?.process.kill();
});

for (const [bad, expected] of [[undefined, 200], ["expired", 401], ["wrong-aud", 401], ["bad-signature", 401]]) {
  test(`the API answers ${expected} to ${bad ?? "a good token"}`, async () => {
    const headers = { Authorization: `Bearer ${await authority.token("alice", bad && { bad })}` };
    const ask = async () => (await fetch(`http://${api.ready.listen}/api/tasks`, { headers })).status;
    let status;
    while ((status = await ask()) === 503); // task-server has no keys yet
    assert.equal(status, expected);
  });
}
