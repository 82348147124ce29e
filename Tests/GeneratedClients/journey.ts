// The journey of test_generated_clients.py with the generated client for TypeScript.
import { ApiResponse, Configuration, MeApi, ResponseError, TasksApi, TodoProblem, TodoProblemFromJSON, TodoTask } from "./dist";

declare const process: { env: Record<string, string>; exit(code: number): never };

function expect(holds: boolean, what: string): void {
  if (!holds) throw new Error(what);
}

/** Returns the problem with which a request is refused. */
async function refusal(request: Promise<unknown>): Promise<TodoProblem> {
  try {
    await request;
  } catch (error) {
    if (!(error instanceof ResponseError)) throw error;
    const problem = TodoProblemFromJSON(await error.response.json());
    expect(problem.status === error.response.status, `the problem has the status of the answer, ${problem.status}`);
    return problem;
  }
  throw new Error("a request was not refused");
}

function connected(accessToken: string): Configuration {
  return new Configuration({ basePath: process.env.TASKS_URL, accessToken });
}

async function journey(): Promise<void> {
  const configuration = connected(process.env.ACCESS_TOKEN);
  const tasks = new TasksApi(configuration);
  const person = await new MeApi(configuration).whoAmI();
  expect(person.expires > new Date(), "the token is valid");

  const idempotencyKey = String(Math.random());
  const newTask = { task: "Buy milk", due: "2026-12-24", notes: "Oat", position: 2.5 };
  const added = await tasks.addTask({ newTask, idempotencyKey });
  expect(added.owner === person.owner && added.task === "Buy milk" && !added.completed, "the task is added");
  expect(added.due === "2026-12-24" && added.notes === "Oat" && added.position === 2.5, "the details are kept");
  expect(Math.abs(added.date.getTime() - Date.now()) < 60000, "the task was added now");
  expect((await tasks.addTask({ newTask, idempotencyKey })).id === added.id, "a repeated request adds nothing");

  const seen = await tasks.getTaskRaw({ id: added.id });
  const ifMatch = seen.raw.headers.get("ETag") ?? undefined;
  expect((await seen.value()).id === added.id && ifMatch !== undefined, "the task has an ETag");
  const done = await tasks.changeTask({ id: added.id, taskPatch: { completed: true }, ifMatch });
  expect(done.completed && done.due === "2026-12-24" && done.notes === "Oat", "only what the patch names is changed");
  const stale = await refusal(tasks.changeTask({ id: added.id, taskPatch: { task: "Buy bread" }, ifMatch }));
  expect(stale.code === "task.changed" && stale.status === 412, "a change of another state is refused");
  const bare = await tasks.changeTask({ id: added.id, taskPatch: { due: null } });
  expect(bare.due === undefined && bare.notes === "Oat", "null removes a detail");
  const barer = await tasks.changeTask({ id: added.id, taskPatch: { remove: ["position"] } });
  expect(barer.position === undefined && barer.notes === "Oat", "a detail is removed by its name");

  const ids = [added.id];
  for (const task of ["a", "b", "c", "d"]) ids.push((await tasks.addTask({ newTask: { task } })).id);
  const changed = await tasks.changeTasks({ taskChange: ids.map((id) => ({ id, completed: true })) });
  expect(String(changed.map((task) => task.id)) === String(ids) && changed.every((task) => task.completed),
    "many tasks are changed at once");
  const unknown = await refusal(tasks.changeTasks({ taskChange: [{ id: 12345, completed: false }] }));
  expect(String(unknown.ids) === "12345" && unknown.status === 404, "the problem names the task that does not exist");

  const pages: number[][] = [];
  for (let after: number | undefined = 0; after !== undefined;) {
    const answer: ApiResponse<TodoTask[]> = await tasks.listTasksRaw({ limit: 2, after });
    const page = (await answer.value()).map((task) => task.id);
    pages.push(page);
    after = answer.raw.headers.has("Link") ? page[page.length - 1] : undefined;
  }
  expect(JSON.stringify(pages) === JSON.stringify([ids.slice(0, 2), ids.slice(2, 4), ids.slice(4)]), "the list comes in pages");

  await tasks.deleteTask({ id: added.id });
  expect((await refusal(tasks.getTask({ id: added.id }))).code === "task.not_found", "the task is deleted");
  expect((await tasks.deleteCompletedTasks({ completed: true })).deleted === 4, "the tasks that are done are deleted");
  expect((await tasks.listTasks()).length === 0, "nothing is left");

  const refused = await refusal(new TasksApi(connected("a.b.c")).listTasks());
  expect(refused.code === "token.invalid" && refused.status === 401, "a wrong token is refused");
}

journey().catch((error) => {
  console.error(error);
  process.exit(1);
});
