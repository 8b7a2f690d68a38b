import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { CloudEvent } from "cloudevents";
import { expect, test } from "vitest";
import { controlPlaneVariants } from "../support/control-plane-variants.ts";
import { commitAll } from "../support/git.ts";
import { everyKind, team } from "../support/manifests.ts";
import { faultsOf } from "../support/output-schemas.ts";
import { type ServerProcess, serve, serveProcess } from "../support/server.ts";
import { sourceOf } from "../support/source.ts";

// biome-ignore lint/suspicious/noExplicitAny: a test reads what it expects, and fails when it is not there
type Row = any;

const lines = (text: string): readonly Row[] =>
  text
    .split("\n")
    .filter((line) => line.startsWith("{"))
    .map((line) => JSON.parse(line));

test("audit shows who changed which fields, of which commit and in which pass, in 80 columns and as JSON", async () => {
  const server = await serve();
  const source = await sourceOf({ ...everyKind, "team.yaml": team("ops", "ada@example.com") }, server);
  const commit = await commitAll(source.folder, "Declare everything");
  expect(await source.runHere(["apply", "--yes", "--sink", "file"])).toMatchObject({ code: 0 });
  await source.write("team.yaml", team("ops", "bob@example.com"));
  const second = await commitAll(source.folder, "Change the team");
  expect(await source.runHere(["apply", "--yes"])).toMatchObject({ code: 0 });
  const told = await source.runHere(["audit", "--resource", "team/ops", "-o", "json"]);
  expect(faultsOf("audit", told.stdout)).toEqual([]);
  const { rows } = JSON.parse(told.stdout);
  expect(rows.map((row: Row) => [row.operation, row.created, row.commit])).toEqual([
    ["putTeam", true, commit],
    ["putTeam", undefined, second],
  ]);
  expect(rows[1].changes).toEqual([
    { field: "members[ada@example.com]", before: "ada@example.com" },
    { field: "members[bob@example.com]", after: "bob@example.com" },
  ]);
  expect(rows[0].pass).not.toBe(rows[1].pass);
  const all = JSON.parse((await source.runHere(["audit", "--since", "1h", "-o", "json"])).stdout).rows;
  // All writes of a pass name the same one.
  expect(new Set(all.filter((row: Row) => row.commit === commit).map((row: Row) => row.pass)).size).toBe(1);
  // By which the pass is found in the history.
  const history = JSON.parse((await source.runHere(["history", "-o", "json"])).stdout);
  expect(history.targets[0].passes).toMatchObject([
    { commit, pass: rows[0].pass },
    { commit: second, pass: rows[1].pass },
  ]);
  expect((await source.runHere(["history"])).stdout).toContain(`; pass ${rows[1].pass}`);
  const shown = await source.runHere(["audit", "--resource", "team/ops", "--subject", "user:admin"], { COLUMNS: "80" });
  expect(shown).toMatchObject({ code: 0, stderr: "" });
  expect(shown.stdout).toMatch(/^\S+Z {2}user:admin {2}putTeam team\/ops: created$/m);
  expect(shown.stdout).toMatch(/^ {4}members\[bob@example\.com\]: \(none\) → bob@example\.com$/m);
  for (const line of shown.stdout.split("\n")) expect(line.length).toBeLessThanOrEqual(80);
  expect(await source.runHere(["audit", "--subject", "user:nobody"])).toMatchObject({
    code: 0,
    stdout: "the audit log has no such row\n",
  });
});

test("audit needs a tenant-admin, the extension, and flags that fit", async () => {
  const server = await serve();
  const permissions = [{ resource_type: "tenant", resource_fqn: "holdfast", role_id: "tenant-viewer" }];
  const manifest = { type: "virtual-account", name: "reader", permissions };
  const { token } = await server.call("PUT", "/api/svc/v1/virtual-accounts", { manifest });
  const source = await sourceOf({}, server);
  const refused = await source.runHere(["audit"], { HOLDFAST_TOKEN: token });
  expect(refused).toMatchObject({ code: 4, stdout: "" });
  expect(refused.stderr).toContain("you may not read the audit log");
  for (const [args, says] of [
    [["audit", "show-it"], "audit does not take show-it"],
    [["audit", "--since", "yesterday"], "--since yesterday is no time"],
    [["audit", "--checkpoint", "file"], "--checkpoint has no effect here"],
    [["audit", "verify", "--subject", "user:admin"], "--subject has no effect here"],
    [["audit", "export", "--follow"], "--follow shows the log"],
    [["audit", "verify", "--data", server.data, "--checkpoint", "none"], "--checkpoint: none"],
  ] as const) {
    const { code, stdout, stderr } = await source.runHere(args);
    expect([args, code, stdout, stderr]).toEqual([args, 3, "", expect.stringContaining(says)]);
  }
  // Which is for commands beside the server.
  const withVariable = await source.runHere(["audit"], { HOLDFAST_DATABASE: "postgres://nowhere/none" });
  expect(withVariable).toMatchObject({ code: 0, stderr: "" });
  for (const [args, form] of [
    [["--subject", "ada@example.com"], "subjects are as user:ada@example.com"],
    [["--resource", "ml"], "resources are as team/ml"],
  ] as const) {
    expect(await source.runHere(["audit", ...args])).toMatchObject({ code: 0, stdout: expect.stringContaining(form) });
  }
  const [, bare] = controlPlaneVariants;
  const old = await sourceOf({}, await bare?.serve());
  const missing = await old.runHere(["audit"]);
  expect(missing).toMatchObject({ code: 1, stdout: "" });
  expect(missing.stderr).toContain("E18 (GET /api/svc/v1/audit)");
});

async function put({ call }: Pick<ServerProcess, "call">, name: string): Promise<void> {
  await call("PUT", "/api/svc/v1/teams", { manifest: { type: "team", name, members: ["ada@example.com"] } });
}

test("audit --follow shows rows as they are written, once each, until it is stopped", async () => {
  const server = await serveProcess();
  await put(server, "before");
  const source = await sourceOf({}, server);
  const following = source.start(["audit", "--follow", "-o", "json"]);
  await following.shows("stdout", /team\/before/);
  await put(server, "first");
  await following.shows("stdout", /team\/first/);
  await put(server, "second");
  await following.shows("stdout", /team\/second/);
  following.kill("SIGTERM");
  const { stdout } = await following.ended;
  expect(lines(stdout).map(({ resource }) => resource)).toEqual(["team/before", "team/first", "team/second"]);
});

test("an export has CloudEvents with checkpoints, by which a verification finds what was removed later", async () => {
  const server = await serveProcess(["--log-format", "json"]);
  const source = await sourceOf({}, server);
  for (const name of ["one", "two", "three"]) await put(server, name);
  server.process.kill("SIGTERM");
  expect(await server.process.ended).toMatchObject({ code: 0 });
  const checkpoints = lines(server.process.stderr()).filter(({ event }) => event === "audit-checkpoint");
  expect(checkpoints).toMatchObject([{ number: 3 }]);
  // Exported by the server that runs next.
  const next = await serveProcess([], { data: server.data });
  const env = { HOLDFAST_SERVER: next.url, HOLDFAST_TOKEN: next.token };
  const exported = await source.runHere(["audit", "export"], env);
  const events = lines(exported.stdout);
  for (const event of events) expect(new CloudEvent(event).validate()).toBe(true);
  expect(events.map(({ type, subject }) => [type, subject])).toEqual([
    ["dev.holdfast.audit.done", "team/one"],
    ["dev.holdfast.audit.done", "team/two"],
    ["dev.holdfast.audit.done", "team/three"],
    ["dev.holdfast.audit.checkpoint", `audit-chain/${checkpoints[0].chain}`],
  ]);
  await source.write("audit.jsonl", exported.stdout);
  await source.write("server.log", server.process.stderr());
  const verify = ["audit", "verify", "--data", server.data];
  for (const file of ["audit.jsonl", "server.log"]) {
    const sound = await source.runHere([...verify, "--checkpoint", file], { COLUMNS: "80" });
    expect(sound).toMatchObject({ code: 0, stderr: "" });
    expect(sound.stdout).toContain("the audit log has 3 rows in 1 chain, with 1 checkpoint\n");
    for (const line of sound.stdout.split("\n")) expect(line.length).toBeLessThanOrEqual(80);
  }
  {
    using database = new DatabaseSync(join(server.data, "control-plane.db"), { timeout: 60_000 });
    database.exec("DELETE FROM audit WHERE resource = 'team/three'; DELETE FROM audit_marks");
  }
  // Nothing in the database tells of it any more.
  expect((await source.runHere(verify)).stdout).toContain("no checkpoint covers rows 1 to 2");
  const found = await source.runHere([...verify, "--checkpoint", "audit.jsonl"]);
  expect(found).toMatchObject({ code: 1, stderr: "" });
  expect(found.stdout).toContain(`removed: row 3 of chain ${checkpoints[0].chain}\n`);
  const report = await source.runHere([...verify, "--checkpoint", "server.log", "-o", "json"]);
  expect(faultsOf("audit-verification", report.stdout)).toEqual([]);
  expect(JSON.parse(report.stdout).findings).toMatchObject([{ kind: "removed", from: 3, to: 3 }]);
});
