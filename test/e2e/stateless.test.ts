import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { stringify } from "yaml";
import { temporaryFolder } from "../support/folder.ts";
import { commitAll, git } from "../support/git.ts";
import { driftOf, planOf, reportOf } from "../support/json-output.ts";
import { everyKind, type Files, service, team } from "../support/manifests.ts";
import { runHere } from "../support/run-here.ts";
import { type Server, serve } from "../support/server.ts";
import { sourceOf } from "../support/source.ts";

const scaled = (name: string, replicas: number) => service(name, `replicas: ${replicas}\n`);

/** Makes a virtual account that may write everything; answers its token. */
async function accountOn(server: Server, name: string): Promise<string> {
  const permissions = [{ resource_type: "tenant", resource_fqn: "holdfast", role_id: "tenant-admin" }];
  const manifest = { type: "virtual-account", name, permissions };
  return (await server.call("PUT", "/api/svc/v1/virtual-accounts", { manifest })).token;
}

async function liveService(server: Server, name: string) {
  const { data } = await server.call("GET", `/api/svc/v1/apps?fqn=dev:web:${name}`);
  return data[0].deployment.manifest;
}

/** A repository that a person applies once from a laptop, and jobs that each begin with a new clone and no state. */
async function platformOf(files: Files, server: Server) {
  const bare = await temporaryFolder();
  await git(bare, "init", "--quiet", "--bare", "--initial-branch", "main");
  const laptop = await sourceOf({ ".gitignore": ".holdfast/\n", ...files });
  await commitAll(laptop.folder, "Declare a platform");
  await git(laptop.folder, "remote", "add", "origin", bare);
  const push = async (changed: Files, removed: readonly string[] = []): Promise<string> => {
    for (const [file, text] of Object.entries(changed)) await laptop.write(file, text);
    for (const file of removed) await laptop.remove(file);
    const commit = await commitAll(laptop.folder, "Change");
    await git(laptop.folder, "push", "--quiet", "origin", "HEAD:main");
    return commit;
  };
  await git(laptop.folder, "push", "--quiet", "origin", "main");
  const token = await accountOn(server, "ci-deployer");
  const config = join(await temporaryFolder(), "operator.yaml");
  await writeFile(config, stringify({ writers: ["virtualaccount:ci-deployer", "user:admin"] }));
  const clone = async (...options: readonly string[]): Promise<string> => {
    const folder = await temporaryFolder();
    await git(folder, "clone", "--quiet", ...options, `file://${bare}`, "clone");
    return join(folder, "clone");
  };
  const env = { HOLDFAST_SERVER: server.url, CI: "true", HOLDFAST_CONFIG: config, HOLDFAST_SINK: "file" };
  return {
    laptop,
    bare,
    push,
    clone,
    ci: (cwd: string, ...args: readonly string[]) => runHere(args, { cwd, env: { ...env, HOLDFAST_TOKEN: token } }),
    person: (...args: readonly string[]) =>
      runHere(args, { cwd: laptop.folder, env: { HOLDFAST_SERVER: server.url, HOLDFAST_TOKEN: server.token } }),
  };
}

test("CI goes on where a person began, corrects what was changed by hand, and adopts nothing", async () => {
  const server = await serve();
  const files = { ...everyKind, "other.yaml": scaled("other", 1) };
  const { person, push, clone, ci } = await platformOf(files, server);
  expect(await person("apply", "--yes", "--allow-privilege")).toMatchObject({ code: 0 });
  await push({ "other.yaml": scaled("other", 3), "team.yaml": team("ml", "bob@example.com") });
  const first = await clone();
  const planned = planOf(await ci(first, "plan", "-o", "json"));
  expect(planned.steps.map(({ identity, causedBy, risks }) => [identity, causedBy, risks])).toEqual([
    ["team/ml", "change", ["privilege-growth"]],
    ["service/dev:web/other", "change", []],
  ]);
  expect(await ci(first, "plan", "--out", "plan.json", "--allow-privilege")).toMatchObject({ code: 0 });
  const applied = await ci(
    await clone(),
    "apply",
    "--plan",
    join(first, "plan.json"),
    "--allow-privilege",
    "-o",
    "json",
  );
  expect([applied.code, reportOf(applied).summary.updated]).toEqual([0, 2]);

  // A hand edit, by somebody who writes for nobody, of what has versions and of what has none.
  const other = await accountOn(server, "somebody");
  const manifest = { ...(await liveService(server, "other")), replicas: 9 };
  await server.call("PUT", "/api/svc/v1/apps", { manifest }, other);
  await server.call(
    "PUT",
    "/api/svc/v1/teams",
    { manifest: { type: "team", name: "ml", members: ["eve@example.com"] } },
    other,
  );
  const drifted = await ci(await clone(), "drift", "-o", "json");
  expect(driftOf(drifted).drift).toMatchObject([
    {
      identity: "service/dev:web/other",
      state: "drifted",
      changes: [{ path: "/replicas", before: 3, after: 9, cause: "drift" }],
      changedBy: { subject: "virtualaccount:somebody" },
    },
    { identity: "team/ml", state: "drifted" },
  ]);
  await push({ "services/api.yaml": scaled("api", 5) });
  const both = planOf(await ci(await clone(), "plan", "-o", "json"));
  expect(both.steps.map(({ identity, causedBy, risks }) => [identity, causedBy, risks])).toEqual([
    ["team/ml", "drift", ["reverts", "privilege-growth"]],
    ["service/dev:web/api", "change", []],
    ["service/dev:web/other", "drift", ["reverts"]],
  ]);
  const corrected = await ci(await clone(), "apply", "--yes", "--allow-privilege");
  expect(corrected).toMatchObject({ code: 0, stdout: expect.stringContaining("3 updated") });

  // What left git is listed as long as it lives, with who removed it; nobody has recorded it.
  const removal = await push({}, ["account.yaml"]);
  const orphan = {
    recorded: false,
    isLive: true,
    removedBy: { commit: removal, author: "Ada <ada@example.com>", at: expect.stringMatching(/Z$/) },
  };
  const jobs = await clone();
  expect(planOf(await ci(jobs, "plan", "-o", "json"))).toMatchObject({
    summary: { orphan: 1, update: 0 },
    steps: [{ action: "orphan", identity: "virtual-account/ci", causedBy: null, orphan }],
    history: { ended: "start" },
  });
  expect(driftOf(await ci(jobs, "drift", "-o", "json")).drift).toMatchObject([{ state: "orphan", orphan }]);
  expect((await ci(jobs, "drift")).stdout).toContain(": declared → live\n");
  const state = ["--state", join(await temporaryFolder(), "state")];
  const applies = await ci(jobs, "apply", "--yes", ...state);
  const listed = /○ virtual-account\/ci\n {4}removed by [0-9a-f]{12}, Ada <ada@example.com>, /;
  expect(applies.stdout).toMatch(listed);
  // What nobody has recorded cannot be forgotten.
  expect(applies.stdout).toContain("Holdfast never deletes: remove it on the platform\n");
  expect((await ci(jobs, "plan", "--history", "1")).stdout).toContain(
    "known from 1 commit only: --history N reads more",
  );
  // Its records do not hide what it had never recorded.
  expect((await ci(jobs, "apply", "--yes", ...state)).stdout).toMatch(listed);
  expect(planOf(await ci(jobs, "plan", "-o", "json", ...state)).steps).toMatchObject([{ action: "orphan", orphan }]);
  expect(driftOf(await ci(jobs, "drift", "-o", "json", ...state)).drift).toMatchObject([{ state: "orphan", orphan }]);
  expect(await ci(jobs, "forget", "virtual-account/ci", ...state)).toMatchObject({ code: 0 });
  expect(planOf(await ci(jobs, "plan", "-o", "json", ...state)).steps).toEqual([]);
  const adopts = ["--state", join(await temporaryFolder(), "state")];
  expect(await ci(jobs, "adopt", "--all", ...adopts)).toMatchObject({ code: 0 });
  expect((await ci(jobs, "plan", ...adopts)).stdout).toMatch(listed);
  const shallow = await ci(await clone("--depth", "1"), "plan");
  expect(shallow.stdout).toContain("orphans are known from 1 commit only, since this is a shallow clone");

  // What somebody else made remains theirs.
  await server.call("PUT", "/api/svc/v1/apps", { manifest: { ...manifest, name: "foreign" } }, other);
  await push({ "foreign.yaml": scaled("foreign", 1) });
  const foreign = await ci(await clone(), "apply", "--yes");
  expect(foreign).toMatchObject({ code: 5, stderr: expect.stringContaining("--allow-adopt") });
  // To whoever made it, it is their own.
  const theirs = { cwd: await clone(), env: { HOLDFAST_SERVER: server.url, HOLDFAST_TOKEN: other } };
  const byAuthor = planOf(await runHere(["plan", "-o", "json", "--only", "service/dev:web/foreign"], theirs));
  expect(byAuthor.steps).toMatchObject([{ action: "update", causedBy: "unrecorded", risks: [] }]);

  // A manifest that does not say what it declares makes no orphan of it, and nothing is forgotten.
  await push({ "other.yaml": scaled("other", 3).replace("name:", "nmae:") });
  const typo = await clone();
  for (const more of [[], ["--base", "HEAD~1"]]) {
    const planned = planOf(await ci(typo, "plan", "--partial", "-o", "json", ...more));
    expect(planned.steps.filter(({ action }) => action === "orphan").map(({ identity }) => identity)).toEqual([
      "virtual-account/ci",
    ]);
    expect(planned.diagnostics).toContainEqual(
      expect.objectContaining({ code: "may-be-declared", file: "other.yaml" }),
    );
  }
  const forgotten = await ci(typo, "forget", "service/dev:web/other", ...adopts);
  expect(forgotten).toMatchObject({ code: 5, stderr: expect.stringContaining("other.yaml:") });
});
