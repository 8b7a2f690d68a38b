import { once } from "node:events";
import { rm, writeFile } from "node:fs/promises";
import { type AddressInfo, createServer } from "node:net";
import { join } from "node:path";
import { Client } from "pg";
import { expect, onTestFinished, test } from "vitest";
import { temporaryFolder } from "../support/folder.ts";
import { everyKind, service, team } from "../support/manifests.ts";
import { ownPostgres } from "../support/own-postgres.ts";
import { serve } from "../support/server.ts";
import { sourceOf } from "../support/source.ts";
import { operatorOf, upstreamOf } from "../support/upstream.ts";

const keyText = "11".repeat(32);

test("commands share a state by its address, and keep it out of what they print", async ({ skip }) => {
  const postgres = await ownPostgres(skip);
  const { url } = postgres;
  const server = await serve();
  const env = { HOLDFAST_STATE: url, HOLDFAST_STATE_KEY: keyText };
  const first = await sourceOf(everyKind, server);
  expect(await first.runHere(["apply", "--yes", "--sink", "file"], env)).toMatchObject({ code: 0 });
  // Another machine, with nothing but the sources.
  const second = await sourceOf(everyKind, server);
  const before = server.effects();
  expect(await second.runHere(["apply", "--yes", "--sink", "file"], env)).toMatchObject({
    code: 0,
    stdout: expect.stringContaining("Applied: 8 unchanged\n"),
  });
  expect(server.effects()).toEqual(before);
  const hold = ["hold", "team/ml", "--reason", "incident", "--until"];
  const otherKey = { ...env, HOLDFAST_STATE_KEY: "22".repeat(32) };
  for (const args of [[...hold, "commit"], ["status"], ["history"], ["release", "team/ml"], ["unlock", "--yes"]]) {
    const refused = await second.runHere(args, otherKey);
    expect(refused).toMatchObject({ code: 3, stdout: "", stderr: expect.stringContaining("sealed with another key") });
  }
  await second.runHere([...hold, "2h"], env);
  expect((await first.runHere(["status"], env)).stdout).toContain("team/ml until");
  const password = new URL(url).password;
  const asParameter = new URL(url);
  asParameter.password = "";
  asParameter.searchParams.set("password", password);
  const flags = [url, asParameter.href, url.replace(/^postgres/, "POSTGRES"), url.replace(/^postgres/, "mysql")];
  const refusals = [];
  for (const flag of flags) {
    const refused = await first.runHere(["plan", "--state", flag], { ...env, HOLDFAST_STATE: "" });
    expect(refused).toMatchObject({ code: 3, stderr: expect.stringContaining("--state has a password") });
    refusals.push(refused);
  }
  const other = await first.runHere(["plan"], { ...env, HOLDFAST_STATE: url.replace(/^postgres/, "mysql") });
  expect(other).toMatchObject({ code: 3, stderr: expect.stringContaining("postgres://user@host:5432/name") });
  const away = new URL(url);
  away.port = "1";
  const unreachable = await first.runHere(["plan"], { ...env, HOLDFAST_STATE: away.href });
  expect(unreachable).toMatchObject({ code: 1, stderr: expect.stringContaining("it cannot be reached") });
  const silent = createServer().listen(0, "127.0.0.1");
  onTestFinished(() => void silent.close());
  await once(silent, "listening");
  away.port = `${(silent.address() as AddressInfo).port}`;
  for (const command of [["plan"], ["state", "check"], ["state", "export", "out"]]) {
    const silence = { ...env, HOLDFAST_STATE: away.href, HOLDFAST_EXPORT_KEY: keyText };
    const unanswered = await first.runHere([...command, "--timeout", "1"], silence);
    expect(unanswered, command.join(" ")).toMatchObject({
      code: 9,
      stderr: expect.stringMatching(/1 s is over:.*it\s+has\s+not\s+answered/s),
    });
  }
  const client = await connectedTo(url);
  onTestFinished(() => client.end());
  await client.query("CREATE ROLE reader LOGIN PASSWORD 'reading'");
  const reader = Object.assign(new URL(url), { username: "reader", password: "reading" }).href;
  const denied = await first.runHere(["status"], { ...env, HOLDFAST_STATE: reader });
  expect(denied).toMatchObject({ code: 1, stderr: expect.stringMatching(/the\s+right\s+to\s+create\s+schemas/) });
  expect(denied.stderr).toMatch(/permission\s+denied/);
  expect(denied.stderr).not.toContain("password");
  const keyless = await first.runHere(["plan"], { HOLDFAST_STATE: url });
  expect(keyless).toMatchObject({ code: 3, stderr: expect.stringContaining("none is given") });
  for (const { stdout, stderr } of [...refusals, other, unreachable, keyless])
    expect(stdout + stderr).not.toContain(password);
  const keylessWatch = await first.runHere(["watch", "--workers", "2"], { HOLDFAST_STATE: url });
  expect(keylessWatch).toMatchObject({ code: 3, stderr: expect.stringContaining("none is given") });
  const daemon = first.start(["watch", "--workers", "2", "--sink", "file", "--log-format", "json"], env);
  await daemon.shows("stdout", /"event":"started"/);
  daemon.kill("SIGTERM");
  const { stdout: log } = await daemon.ended;
  expect(log).toContain(`"state":"postgres://`);
  expect(log).not.toContain(password);
  const file = join(await temporaryFolder(), "address");
  const named = { HOLDFAST_STATE_KEY: keyText, HOLDFAST_STATE_FILE: file };
  expect(await first.runHere(["plan"], named)).toMatchObject({ code: 1 });
  await writeFile(file, `${url}\n`, { mode: 0o600 });
  expect(await first.runHere(["plan"], named)).toMatchObject({
    code: 0,
    stdout: expect.stringContaining("nothing to do"),
  });
  const check = async (given = env) => {
    const { code, stdout } = await first.runHere(["state", "check", "-o", "json"], given);
    return { code, ledgers: JSON.parse(stdout).ledgers };
  };
  const whole = { target: null, schema: "current", servers: [{ resources: 8, pending: 0 }], problem: null };
  expect(await check()).toMatchObject({ code: 0, ledgers: [whole] });
  const problem = (message: string) => [{ problem: { message: expect.stringContaining(message) } }];
  expect(await check(otherKey)).toMatchObject({ code: 1, ledgers: problem("sealed with another key") });
  await client.query(`UPDATE holdfast.receipt SET sealed = (
    SELECT sealed FROM holdfast.receipt WHERE identity = 'team/ml') WHERE identity = 'cluster/dev'`);
  expect(await check()).toMatchObject({ code: 1, ledgers: problem("(schema holdfast): a sealed value in it was") });
});

test("what patterns of targets stood for is in the database, for a machine that has never seen it", async ({
  skip,
}) => {
  const postgres = await ownPostgres(skip);
  const server = await serve();
  const env = { HOLDFAST_STATE: postgres.url, HOLDFAST_STATE_KEY: keyText, HOLDFAST_CACHE: "on" };
  const upstream = await upstreamOf({ "c/a/m.yaml": team("a"), "c/b/m.yaml": team("b"), "c/new/m.yaml": team("new") });
  const sources = [{ name: "platform", url: upstream.folder }];
  const machine = () => operatorOf({ sources, targets: [{ name: "{dir}", each: "c/*" }] }, server);
  const first = await machine();
  for (const target of ["a", "b"])
    expect(await first.runHere(["apply", "--target", target, "--yes"], env)).toMatchObject({ code: 0 });
  await upstream.git("rm", "--quiet", "-r", "c/b", "c/new");
  await upstream.commit({});
  expect(await (await machine()).runHere(["apply", "--target", "a", "--yes"], env)).toMatchObject({ code: 0 });
  const statuses = async () =>
    JSON.parse((await (await machine()).runHere(["status", "-o", "json"], env)).stdout).targets;
  // Nothing was ever applied to the third one.
  const kept = [
    { target: "a", sync: "Synced" },
    { target: "b", condition: "Retired" },
  ];
  expect(await statuses()).toMatchObject(kept);
  await upstream.git("rm", "--quiet", "-r", "c");
  await upstream.commit({ "other.yaml": team("other") });
  expect(await (await machine()).runHere(["plan"], env)).toMatchObject({ code: 5 });
  expect(await statuses()).toMatchObject(kept);
  // The manifests of a folder are checked without the database too.
  const away = { ...env, HOLDFAST_STATE: "postgres://nobody:x@127.0.0.1:1/none" };
  const local = await operatorOf({ targets: [{ name: "{dir}", each: "c/*" }] });
  await local.write("c/a/m.yaml", team("a"));
  const validated = await local.runHere(["validate"], away);
  expect(validated).toMatchObject({ code: 0, stderr: expect.stringContaining("cannot be read") });
});

test.for(["one daemon", "a fleet"])(
  "a target that is sealed with another key is Stalled, and %s goes on with the others",
  async (who, { skip }) => {
    const { url } = await ownPostgres(skip);
    const upstream = await upstreamOf({ "c/a/m.yaml": team("a"), "c/b/m.yaml": team("b"), "c/c/m.yaml": team("c") });
    const sources = [{ name: "platform", url: upstream.folder }];
    const server = await serve();
    const operator = await operatorOf({ sources, targets: [{ name: "{dir}", each: "c/*" }] }, server);
    const env = { HOLDFAST_STATE: url, HOLDFAST_STATE_KEY: keyText };
    const sealed = { ...env, HOLDFAST_STATE_KEY: "22".repeat(32) };
    expect(await operator.runHere(["apply", "--target", "b", "--yes"], sealed)).toMatchObject({ code: 0 });
    const daemon = operator.start(["watch", "--interval", "1", ...(who === "a fleet" ? ["--workers", "2"] : [])], env);
    await daemon.shows(
      "stderr",
      /the\s+state\s+in\s+\S+\s+\(schema\s+holdfast_b_\w+\)\s+was\s+sealed\s+with\s+another\s+key/,
    );
    await expect.poll(() => server.effects()).toHaveLength(3);
    const shown = async () => JSON.parse((await operator.runHere(["status", "-o", "json"], env)).stdout).targets;
    await expect.poll(shown).toMatchObject([
      { target: "a", sync: "Synced", condition: "Ready" },
      {
        target: "b",
        sync: "Unknown",
        condition: "Stalled",
        message: expect.stringContaining("sealed with another key"),
      },
      { target: "c", sync: "Synced", condition: "Ready" },
    ]);
    const commit = await upstream.commit({ "c/a/m.yaml": team("a", "grace@example.com") });
    await expect.poll(async () => (await shown())[0].appliedRevision, { timeout: 60_000 }).toBe(commit);
    daemon.kill("SIGTERM");
    expect(await daemon.ended).toMatchObject({ code: 0 });
  },
);

test("a state folder is moved into a database and back, and every command says what it said before", async ({
  skip,
}) => {
  const postgres = await ownPostgres(skip);
  const server = await serve();
  const all = Object.entries(everyKind).map(([file, text]) => [`c/all/${file}`, text]);
  const upstream = await upstreamOf({ ...Object.fromEntries(all), "c/b/m.yaml": team("b") });
  const sources = [{ name: "platform", url: upstream.folder }];
  const operator = await operatorOf({ sources, targets: [{ name: "{dir}", each: "c/*" }] }, server);
  const { runHere } = operator;
  const folder = join(operator.folder, ".holdfast");
  const moving = { HOLDFAST_EXPORT_KEY: "ab".repeat(32) };
  const inFolder = { HOLDFAST_STATE: folder, HOLDFAST_STATE_KEY: "22".repeat(32) };
  const inDatabase = { HOLDFAST_STATE: postgres.url, HOLDFAST_STATE_KEY: keyText };
  const commands = [
    ["status"],
    ["history", "--target", "all"],
    ["why", "team/ml", "--target", "all"],
    ["plan", "--target", "all"],
  ];
  const answers = async (env: { readonly [name: string]: string }) => {
    const said = [];
    for (const args of commands) {
      const { code, stdout } = await runHere(args, env);
      said.push({ args, code, stdout });
    }
    return said;
  };
  const done = async (args: readonly string[], env: { readonly [name: string]: string }) => {
    const ended = await runHere(args, env);
    expect(ended).toMatchObject({ code: 0 });
    return ended;
  };
  for (const target of ["all", "b"]) await done(["apply", "--target", target, "--yes", "--sink", "file"], inFolder);
  await done(["hold", "team/b", "--target", "b", "--reason", "incident", "--until", "2h"], inFolder);
  await upstream.commit({ "c/all/services/api.yaml": service("api", "replicas: 3\n") });
  await done(["apply", "--target", "all", "--yes"], inFolder);
  await server.call("PUT", "/api/svc/v1/teams", {
    manifest: { type: "team", name: "ml", members: ["eve@example.com"] },
  });
  const before = await answers(inFolder);
  const effects = server.effects();

  const exported = join(operator.folder, "exported");
  const { stdout } = await done(["state", "export", exported], { ...inFolder, ...moving });
  expect(stdout).toBe(`${folder}: 3 ledgers and 1 token are in ${exported} now\n`);
  // Makes an empty schema, which the import replaces; nobody can while it is read.
  await done(["status"], inDatabase);
  await using client = await connectedTo(postgres.url);
  await client.query("BEGIN; LOCK TABLE holdfast.receipt IN ACCESS SHARE MODE");
  const importing = operator.start(["state", "import", exported], { ...inDatabase, ...moving });
  const waiting = "SELECT count(*)::int AS count FROM pg_locks WHERE NOT granted AND mode = 'AccessExclusiveLock'";
  await expect.poll(async () => (await client.query(waiting)).rows).toEqual([{ count: 1 }]);
  importing.kill("SIGKILL");
  await importing.ended;
  await client.query("ROLLBACK");
  expect((await done(["status"], inDatabase)).stdout).toContain("all  Unknown");
  const imported = await done(["state", "import", exported], { ...inDatabase, ...moving });
  expect(imported.stdout).toMatch(
    /: 3 ledgers and 1 token are in postgres:.*\/postgres \(tokens: .*\.holdfast\) now\n$/,
  );
  const { rows } = await client.query("SELECT nspname FROM pg_namespace WHERE nspname ~ '^holdfast_importing'");
  expect(rows).toEqual([]);
  expect(await answers(inDatabase)).toEqual(before);
  expect(await runHere(["state", "import", exported], { ...inDatabase, ...moving })).toMatchObject({ code: 5 });

  const back = join(operator.folder, "back");
  await done(["state", "export", back], { ...inDatabase, ...moving });
  for (const name of ["ledger.db", "targets"]) await rm(join(folder, name), { recursive: true });
  await done(["state", "import", back], { ...inFolder, ...moving });
  expect(await answers(inFolder)).toEqual(before);
  for (const env of [inFolder, inDatabase])
    expect((await done(["apply", "--target", "b", "--yes"], env)).stdout).toContain("Applied: 1 unchanged\n");
  expect(server.effects()).toEqual(effects);
});

async function connectedTo(url: string): Promise<Client & AsyncDisposable> {
  const client = new Client({ connectionString: url });
  await client.connect();
  return Object.assign(client, { [Symbol.asyncDispose]: () => client.end() });
}
