import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { temporaryFolder } from "../support/folder.ts";
import { reportOf } from "../support/json-output.ts";
import { everyKind } from "../support/manifests.ts";
import { expectInNoFile, expectNowhere } from "../support/secret-search.ts";
import { type Server, serve } from "../support/server.ts";
import { sourceOf } from "../support/source.ts";
import { startKubernetes } from "../support/token-stores/kubernetes.ts";
import { tokenProgram } from "../support/token-stores/program.ts";
import { startVault } from "../support/token-stores/vault.ts";

/** A file of the operator with a sink and its settings. */
async function configOf(sink: object, files: { readonly [name: string]: string } = {}): Promise<string> {
  const folder = await temporaryFolder();
  const named = Object.entries(files).map(([name, text]) => ({ name, path: join(folder, name), text }));
  for (const { path, text } of named) await writeFile(path, text);
  const paths = Object.fromEntries(named.map(({ name, path }) => [name, path]));
  const path = join(folder, "operator.yaml");
  await writeFile(path, JSON.stringify({ sinks: [{ ...sink, ...paths }] }));
  return path;
}

/** Where tokens go, and what is there. Vault and Kubernetes are doubles here, written from their documentation. */
const stores = {
  vault: async () => {
    const { url, caFile, token, values } = await startVault();
    const config = await configOf({ type: "vault", url, caFile }, { tokenFile: token });
    return { config, values: () => [...values.values()], seen: () => "", location: /secret\/holdfast\/.*ci of Vault/ };
  },
  kubernetes: async () => {
    const { url, caFile, token, values } = await startKubernetes();
    const config = await configOf({ type: "kubernetes", url, caFile, namespace: "tokens" }, { tokenFile: token });
    const decoded = () => [...values.values()].map((value) => Buffer.from(value, "base64").toString("utf8"));
    return { config, values: decoded, seen: () => "", location: /the Secret tokens\/.*\.virtual-account\.ci/ };
  },
  exec: async () => {
    const { command, values, seen } = await tokenProgram();
    const config = await configOf({ type: "exec", command });
    return { config, values, seen, location: /virtual-account\/ci of / };
  },
};

async function isValid(token: string | undefined, { url }: Pick<Server, "url">): Promise<boolean> {
  const headers = { authorization: `Bearer ${token}` };
  return (await fetch(`${url}/api/svc/v1/workspaces`, { headers })).status === 200;
}

describe.each(Object.entries(stores).map(([name, make]) => ({ name, make })))("the sink $name", ({ name, make }) => {
  test("gets the tokens of accounts and people once, and they are nowhere else", async () => {
    const server = await serve();
    const source = await sourceOf(everyKind, server);
    const { config, values, seen, location } = await make();
    const env = { CI: "1", HOLDFAST_CONFIG: config };
    const trace = ["--log-level", "trace"];
    const applied = await source.runHere(["apply", "--yes", ...trace], env);
    expect([applied.code, applied.stderr]).toEqual([0, expect.stringMatching(location)]);
    expect(values()).toHaveLength(1);
    const runs = [
      applied,
      await source.runHere(["apply", "--yes", ...trace], env),
      await source.runHere(["token", "create", "laptop", "--sink", name, ...trace], env),
      await source.runHere(["token", "reissue", "ci", ...trace], env),
    ];
    expect(runs.map(({ code }) => code)).toEqual([0, 0, 0, 0]);
    const tokens = values();
    expect(new Set(tokens).size).toBe(3);
    for (const token of tokens) {
      expect(await isValid(token, server)).toBe(true);
      expectNowhere(token, runs);
      await expectInNoFile(token, source.folder, []);
      await expectInNoFile(token, server.data, []);
      expect(seen()).not.toContain(token);
    }
  });
});

describe("a sink that fails", () => {
  test("its check keeps an account from being created, with the reason", async () => {
    const server = await serve();
    const source = await sourceOf(everyKind, server);
    const { url, caFile, token, fault } = await startVault();
    const config = await configOf({ type: "vault", url, caFile }, { tokenFile: token });
    for (const wrong of ["full", "refused", "lying", "quoting"] as const) {
      fault(wrong);
      const ended = await source.runHere(["apply", "--yes", "--config", config, "-o", "json"]);
      const account = reportOf(ended).outcomes.find(({ identity }) => identity === "virtual-account/ci");
      expect(account).toMatchObject({
        result: "failed",
        error: { code: "token-sink", message: expect.stringMatching(/^nothing was sent.*Vault/) },
      });
      const created = await source.runHere(["token", "create", "laptop", "--config", config]);
      expect(created).toMatchObject({
        code: 1,
        stderr: expect.stringContaining("the sink cannot store a token: Vault"),
      });
    }
    expect(server.effects().filter(({ operation }) => operation === "18" || operation === "7")).toEqual([]);
  });

  test("after its check has the token sealed in the state until it is delivered, once", async () => {
    const server = await serve();
    const source = await sourceOf(everyKind, server);
    // It fails once the token comes: what is checked is no token.
    const vault = await startVault({ onWrite: (key) => (key.includes("/check/") ? null : "lying") });
    const config = await configOf({ type: "vault", url: vault.url, caFile: vault.caFile }, { tokenFile: vault.token });
    const apply = ["apply", "--yes", "--config", config, "--log-level", "trace"];
    const runs = [await source.runHere(apply), await source.runHere(apply)];
    expect(runs[0]?.stdout.replace(/\s+/g, " ")).toMatch(
      /could not be stored \(Vault accepted the token for .*kept sealed/,
    );
    expect(runs.map(({ code }) => code)).not.toContain(0);
    expect(vault.values.size).toBe(0);
    vault.recover();
    runs.push(await source.runHere(apply));
    const [token = "", ...others] = vault.values.values();
    expect(others).toEqual([]);
    expect(await isValid(token, server)).toBe(true);
    expectNowhere(token, runs);
    await expectInNoFile(token, source.folder, []);
    expect(server.effects().filter(({ operation }) => operation === "18")).toHaveLength(1);
  });

  test("is told from one that is misspelt, or that lies in the source", async () => {
    const server = await serve();
    const { command } = await tokenProgram();
    const source = await sourceOf(
      { ...everyKind, "holdfast.yaml": JSON.stringify({ sinks: [{ type: "exec", command }] }) },
      server,
    );
    const inSource = await source.runHere(["apply", "--yes"]);
    expect(inSource).toMatchObject({ code: 3, stderr: expect.stringContaining("holdfast.yaml sets sinks") });
    expect(server.effects()).toEqual([]);
  });
});

/** Applies while the process is killed at a request to Vault, then until it ends well; returns how the sink was used. */
async function killedAt(nth: number, { isStored }: { readonly isStored: boolean }) {
  const server = await serve();
  const source = await sourceOf(everyKind, server);
  let kill: (() => void) | null = null;
  let asked = 0;
  const vault = await startVault({
    onRequest: () => {
      asked += 1;
      if (asked !== nth) return "go on";
      kill?.();
      return isStored ? "store and stay silent" : "stay silent";
    },
  });
  const config = await configOf({ type: "vault", url: vault.url, caFile: vault.caFile }, { tokenFile: vault.token });
  const apply = ["apply", "--yes", "--config", config];
  const first = source.start(apply);
  kill = () => first.kill("SIGKILL");
  const { signal } = await first.ended;
  const again = await source.runHere(apply);
  expect([again.code, again.stderr]).toEqual([0, expect.any(String)]);
  return { wasKilled: signal === "SIGKILL", vault, server };
}

/** Write, read, delete and read for the check, then write and read for the token. */
const requests = [1, 2, 3, 4, 5, 6];

test.each(
  requests.flatMap((nth) => [
    { nth, isStored: false },
    { nth, isStored: true },
  ]),
)(
  "a run that is killed at request $nth to a sink (stored: $isStored) loses no token, and stores it once",
  async (at) => {
    const { wasKilled, vault, server } = await killedAt(at.nth, at);
    expect(wasKilled).toBe(true);
    const tokens = [...vault.values].filter(([key]) => !key.includes("/check/"));
    expect(tokens).toHaveLength(1);
    expect(await isValid(tokens[0]?.[1], server)).toBe(true);
    expect(server.effects().filter(({ operation }) => operation === "18")).toHaveLength(1);
  },
);

const tokenCommands = [
  { command: ["token", "create", "laptop"], operation: "7" },
  { command: ["token", "reissue", "ci"], operation: "E20" },
];

/** The command was killed when it had a token that was not stored. */
async function killedWithToken(command: readonly string[]) {
  const server = await serve();
  const permissions = [{ resource_fqn: "holdfast", resource_type: "tenant", role_id: "tenant-member" }];
  await server.call("PUT", "/api/svc/v1/virtual-accounts", {
    manifest: { type: "virtual-account", name: "ci", permissions },
  });
  const source = await sourceOf({}, server);
  let kill: (() => void) | null = null;
  const vault = await startVault({
    onWrite: (key) => {
      if (key.includes("/check/")) return null;
      const killNow = kill;
      kill = null;
      killNow?.();
      return killNow === null ? null : "full";
    },
  });
  const config = await configOf({ type: "vault", url: vault.url, caFile: vault.caFile }, { tokenFile: vault.token });
  const first = source.start([...command, "--config", config]);
  kill = () => first.kill("SIGKILL");
  await first.ended;
  const run = () => source.runHere([...command, "--config", config]);
  return { server, source, vault, run };
}

test.each(tokenCommands)("$command that is killed before its token is stored stores it when run again", async (one) => {
  const { server, vault, run } = await killedWithToken(one.command);
  const again = await run();
  expect([again.code, again.stderr]).toEqual([0, ""]);
  const [token, ...others] = vault.values.values();
  expect(others).toEqual([]);
  expect(await isValid(token, server)).toBe(true);
  expect(server.effects().filter(({ operation }) => operation === one.operation)).toHaveLength(1);
  // It was the end of that request: the next one is another.
  expect((await run()).code).toBe(one.operation === "7" ? 1 : 0);
  expect(vault.values.size).toBe(one.operation === "7" ? 1 : 2);
});

test("a token that was revoked after its command was killed is not stored, but another one", async () => {
  const { server, source, vault, run } = await killedWithToken(["token", "create", "laptop"]);
  const rows = await server.call("GET", "/api/svc/v1/personal-access-tokens");
  const [{ id }] = rows.data as unknown as readonly [{ readonly id: string }];
  expect((await source.runHere(["token", "revoke", id])).code).toBe(0);
  expect((await run()).code).toBe(0);
  const [token] = vault.values.values();
  expect(await isValid(token, server)).toBe(true);
});
