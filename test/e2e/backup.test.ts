import { randomBytes } from "node:crypto";
import { copyFile, cp, mkdir, readdir, readFile, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { eventually } from "../support/eventually.ts";
import { temporaryFolder } from "../support/folder.ts";
import { run } from "../support/process.ts";
import { type Server, serve, serveProcess } from "../support/server.ts";

const account = {
  type: "virtual-account",
  name: "ci",
  permissions: [{ resource_fqn: "holdfast", resource_type: "tenant", role_id: "tenant-admin" }],
};
const service = (name: string) => ({
  type: "service",
  name,
  workspace_fqn: "c1x:ws1",
  image: { type: "image", image_uri: "registry.example.com/api:1" },
});

/** One resource of each sort that is hard to carry over: sealed, signed, hashed, or a file. */
async function plant({ call }: Server) {
  const put = async (path: string, manifest: object) => (await call("PUT", path, { manifest })).data;
  await put("/api/svc/v1/clusters", { type: "cluster", name: "c1x", cluster_type: "generic" });
  await put("/api/svc/v1/workspaces", { type: "workspace", name: "ws1", cluster_fqn: "c1x" });
  await put("/api/svc/v1/ml-repos", { type: "ml-repo", name: "repo" });
  const group = { name: "g", integrationId: "builtin", secrets: [{ key: "k", value: "CANARY-value" }] };
  const secret = (await call("POST", "/api/svc/v1/secret-groups", group)).data.associatedSecrets[0].id;
  const robot = (await call("PUT", "/api/svc/v1/virtual-accounts", { manifest: account })).token;
  const personal = (await call("GET", "/api/svc/v1/personal-access-tokens/mine")).token;
  const staged = { manifest: { type: "model-version", name: "m", ml_repo: "repo" } };
  const { id } = await call("POST", "/api/ml/v1/artifact-versions/stage", staged);
  return { secret, tokens: [robot, personal], staged: id };
}

/** Deploys one application again and again until told to stop; answers the last version that was accepted. */
function writing({ call }: Server, name: string) {
  const state = { version: 0, isOver: false };
  const done = (async () => {
    while (!state.isOver) {
      const { data } = await call("PUT", "/api/svc/v1/apps", { manifest: service(name) });
      state.version = data.version;
    }
  })();
  return { state, done };
}

async function statusOf({ url }: Server, token: string): Promise<number> {
  return (await fetch(`${url}/api/svc/v1/workspaces`, { headers: { authorization: `Bearer ${token}` } })).status;
}

describe("backup", () => {
  test("copies the data while it is written, and a server on the copy has all of it", async () => {
    const server = await serveProcess();
    const { secret, tokens, staged } = await plant(server);
    const writers = ["a", "b", "c"].map((name) => writing(server, name));
    await eventually("some writes", () => writers.every(({ state }) => state.version > 5), { everyMs: 1 });
    const before = writers.map(({ state }) => state.version);
    const folder = await temporaryFolder();
    const ended = await run(["backup", "copy.db", "--data", server.data], { cwd: folder });
    for (const { state } of writers) state.isOver = true;
    await Promise.all(writers.map(({ done }) => done));
    expect(ended).toMatchObject({ code: 0, stdout: `the data of ${server.data} is in copy.db\n` });
    expect(ended.stderr).toMatch(/the server's key [0-9a-f]{8} \(.*server-key .*artifacts/);
    expect(await readdir(folder)).toEqual(["copy.db"]);
    expect((await stat(join(folder, "copy.db"))).mode & 0o777).toBe(0o600);
    expect((await readFile(join(folder, "copy.db"))).includes("CANARY")).toBe(false);
    server.process.kill("SIGKILL");
    await server.process.ended;

    const data = join(await temporaryFolder(), "restored");
    await mkdir(data);
    await copyFile(join(folder, "copy.db"), join(data, "control-plane.db"));
    // With the administrator's token go the personal ones that were made with it.
    for (const file of ["server-key", "admin-token"]) await copyFile(join(server.data, file), join(data, file));
    await cp(join(server.data, "artifacts"), join(data, "artifacts"), { recursive: true });
    const restored = await serve([], { data });
    for (const token of tokens) expect(await statusOf(restored, token)).toBe(200);
    expect((await restored.call("GET", `/api/svc/v1/secrets/${secret}`)).data.value).toBe("CANARY-value");
    expect(await readdir(join(data, "artifacts"))).toEqual([staged]);
    await restored.call("POST", "/api/ml/v1/artifact-versions/mark-stage-failure", { id: staged });
    const apps = (await restored.call("GET", "/api/svc/v1/apps")).data;
    let versions = 0;
    for (const [nth, name] of ["a", "b", "c"].entries()) {
      const { id, lastVersion } = apps.find((app: { name: string }) => app.name === name);
      expect(lastVersion).toBeGreaterThanOrEqual(before[nth] ?? 0);
      const { pagination } = await restored.call("GET", `/api/svc/v1/apps/${id}/deployments`);
      expect(pagination.total).toBe(lastVersion);
      versions += lastVersion;
    }
    expect(restored.effects().filter(({ operation }) => operation === "16")).toHaveLength(versions);
    expect((await restored.call("PUT", "/api/svc/v1/apps", { manifest: service("d") })).data.version).toBe(1);
  });

  test("F71 is not served with another key, and is left as it is", async () => {
    const server = await serve();
    const { secret } = await plant(server);
    const data = join(await temporaryFolder(), "restored");
    await mkdir(data);
    const copy = join(data, "control-plane.db");
    expect(await run(["backup", copy, "--data", server.data], { cwd: data })).toMatchObject({ code: 0 });
    const flags = ["serve", "--port", "0", "--data", data];
    for (const key of ["", randomBytes(32).toString("base64")]) {
      const ended = await run(flags, { cwd: data, env: { HOLDFAST_SERVER_KEY: key } });
      expect(ended).toMatchObject({ code: 3, stdout: "" });
      expect(ended.stderr).toMatch(/there is no key|sealed with another key/);
    }
    expect(await readdir(data)).not.toContain("server-key");
    await copyFile(join(server.data, "server-key"), join(data, "server-key"));
    const restored = await serve([], { data });
    // Its admin token was not kept, so it makes a new one.
    const others = restored.effects().filter(({ operation }) => operation !== "admin-token");
    expect(others).toEqual(server.effects());
    expect((await restored.call("GET", `/api/svc/v1/secrets/${secret}`)).data.value).toBe("CANARY-value");
  });

  test("writes over nothing, and says what stands in its way", async () => {
    const folder = await temporaryFolder();
    const server = await serve();
    await writeFile(join(folder, "taken.db"), "mine");
    for (const [args, code, why] of [
      [["taken.db", "--data", server.data], 1, /taken\.db exists already/],
      [["no/such/copy.db", "--data", server.data], 1, /could not be copied to .*copy\.db: ENOENT/],
      [["copy.db", "--data", "absent"], 1, /absent\/control-plane\.db: there is no such file/],
      [["copy.db", "--database", "postgres://u:CANARY@h/x"], 3, /pg_dump/],
    ] as const) {
      const ended = await run(["backup", ...args], { cwd: folder });
      expect(ended).toMatchObject({ code, stdout: "", stderr: expect.stringMatching(why) });
      expect(ended.stderr).not.toMatch(/CANARY|^\s+at /m);
    }
    expect(await readdir(folder)).toEqual(["taken.db"]);
    expect(await readFile(join(folder, "taken.db"), "utf8")).toBe("mine");
  });
});

describe("revoke", () => {
  test("makes tokens void while the server runs and writes, and tells who is not known", async () => {
    const server = await serve();
    const { tokens } = await plant(server);
    const [robot = "", personal = ""] = tokens;
    const { state, done } = writing(server, "a");
    const args = ["revoke", "virtualaccount:ci", "--data", server.data];
    const cwd = await temporaryFolder();
    expect(await run(args, { cwd })).toMatchObject({
      code: 0,
      stdout:
        "the tokens of virtualaccount:ci are void\n  it and its roles stay, and new tokens may be issued to it\n" +
        "  holdfast disable virtualaccount:ci ends that for good\n",
      stderr: "",
    });
    await eventually("it is void", async () => (await statusOf(server, robot)) === 401);
    expect(await statusOf(server, personal)).toBe(200);
    state.isOver = true;
    await done;
    expect(server.effects().filter(({ principal }) => principal === "revocation")).toEqual([
      { principal: "revocation", operation: "18", resource: "virtual-account/ci" },
    ]);
    const unknown = await run(["revoke", "virtualaccount:nobody", "--data", server.data], { cwd });
    expect(unknown).toMatchObject({
      code: 3,
      stdout: "",
      stderr: 'error: there is no virtual account "nobody"\n',
    });
    const absent = await run(["revoke", "user:admin", "--data", "absent"], { cwd });
    expect(absent).toMatchObject({ code: 1, stdout: "", stderr: expect.stringContaining("there is no such file") });
    expect(await readdir(cwd)).toEqual([]);
  });
});

test("admin-token makes a second token while the server runs, and ends the former one", async () => {
  const server = await serve();
  const cwd = await temporaryFolder();
  const data = ["--data", server.data];
  const rotated = await run(["admin-token", "rotate", ...data], { cwd });
  expect(rotated).toMatchObject({ code: 0, stderr: "" });
  expect(rotated.stdout).toContain(`a new admin token is in ${join(server.data, "admin-token")}; the former one stays`);
  const newest = (await readFile(join(server.data, "admin-token"), "utf8")).trim();
  expect(rotated.stdout).not.toContain(newest);
  expect([await statusOf(server, server.token), await statusOf(server, newest)]).toEqual([200, 200]);
  expect(await run(["admin-token", "end-former", ...data], { cwd })).toMatchObject({
    code: 0,
    stdout: "1 former admin token ended, with the personal tokens created with it\n",
  });
  await eventually("it has ended", async () => (await statusOf(server, server.token)) === 401);
  const again = () => run(["admin-token", "rotate", ...data], { cwd });
  const ended = "1 earlier admin token ended";
  expect([await again(), await again()].map(({ stdout }) => stdout.includes(ended))).toEqual([false, true]);
  expect(await run(["admin-token", "renew", ...data], { cwd })).toMatchObject({ code: 3, stdout: "" });
});
