import { chmodSync, cpSync, existsSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { describe, expect, test } from "vitest";
import { temporaryFolder } from "../support/folder.ts";
import { commitAll, git } from "../support/git.ts";
import { planOf, reportOf } from "../support/json-output.ts";
import type { Ended } from "../support/process.ts";
import { expectInNoFile, expectNowhere } from "../support/secret-search.ts";
import { type Server, serve } from "../support/server.ts";
import { type Source, sourceOf } from "../support/source.ts";
import { operatorOf, upstreamOf } from "../support/upstream.ts";

const fixtures = resolve(import.meta.dirname, "../unit/sops/files");
const keyOf = (file: string): string => join(fixtures, file);
const withKey = { HOLDFAST_AGE_KEY_FILE: keyOf("identity.txt") };
const trace = ["--log-level", "trace"];

/** A group of which each secret is a key of a file. */
function group(keys: { readonly [key: string]: string }, file = "secrets/values.yaml"): string {
  const secrets = Object.entries(keys).map(
    ([key, of]) => `  - { key: ${key}, value: { from: sops, file: ${file}, key: ${of} } }\n`,
  );
  return `type: secret-group\nname: search\nintegration_fqn: builtin\nsecrets:\n${secrets.join("")}`;
}

const VALUES = { password: "password", nested: "db.password", first: "/db/hosts/0" };
const CANARIES = ["correct horse battery staple", "nested secret"];

/** A source with a group, and with an encrypted file of the fixtures below a folder. */
async function sourceWith(text: string, server: Server, file = "values.yaml"): Promise<Source> {
  const source = await sourceOf({ "group.yaml": text }, server);
  mkdirSync(join(source.folder, "secrets"), { recursive: true });
  cpSync(join(fixtures, file), join(source.folder, "secrets", file));
  return source;
}

async function liveValue({ call }: Server, key: string): Promise<string> {
  const [found] = (await call("GET", "/api/svc/v1/secret-groups")).data;
  const { id } = found.associatedSecrets.find(({ name }: { name: string }) => name === key);
  return (await call("GET", `/api/svc/v1/secrets/${id}`)).data.value;
}

const onlyStep = (ended: Ended) => planOf(ended).steps.find(({ kind }) => kind === "secret-group");
const onlyOutcome = (ended: Ended) => reportOf(ended).outcomes.find(({ kind }) => kind === "secret-group");

describe("a secret group whose values are in a SOPS file", () => {
  test("is made from it, and the values and the identity are nowhere else", async () => {
    const server = await serve();
    const source = await sourceWith(group(VALUES), server);
    const identity = /AGE-SECRET-KEY-\w+/.exec(readFileSync(keyOf("identity.txt"), "utf8"))?.[0] ?? "";
    const runs = [
      await source.run(["validate", ...trace], withKey),
      await source.run(["plan", "--out", "plan.json", ...trace], withKey),
      await source.run(["apply", "--yes", ...trace], { HOLDFAST_AGE_KEY: identity }),
      await source.run(["plan", "--detailed-exitcode", "-o", "json", ...trace], withKey),
      await source.run(["drift", ...trace], withKey),
    ];
    expect(runs.map(({ code }) => code)).toEqual([0, 0, 0, 0, 0]);
    expect(await liveValue(server, "password")).toBe("correct horse battery staple");
    expect(await liveValue(server, "nested")).toBe("nested secret");
    expect(await liveValue(server, "first")).toBe("alpha");
    for (const canary of [...CANARIES, identity]) {
      expectNowhere(canary, runs);
      await expectInNoFile(canary, source.folder, []);
      await expectInNoFile(canary, server.data, []);
    }
  });

  test("gets a new version of what holdfast secret set has changed, and of nothing else", async () => {
    const server = await serve();
    const recipient = /age1\w+/.exec(readFileSync(keyOf("identity.txt"), "utf8"))?.[0];
    const text = group({ user: "search.user", password: "search.password" }, "secrets.sops.yaml");
    const rules = `creation_rules: [{ age: ${recipient} }]\n`;
    const source = await sourceOf({ "group.yaml": text, ".sops.yaml": rules }, server);
    const set = async (key: string, value: string) => {
      const through = ["sh", "-c", 'printf %s "$0" | exec "$@"', value];
      expect(await source.runThrough(through, ["secret", "set", "search", key], withKey)).toMatchObject({ code: 0 });
    };
    await set("user", "app");
    await set("password", "canary-7d51-first");
    expect((await source.run(["apply", "--yes"], withKey)).code).toBe(0);
    await set("password", "canary-8e62-second");
    const applied = await source.run(["apply", "--yes", "-o", "json"], withKey);
    expect(onlyOutcome(applied)).toMatchObject({ result: "updated" });
    expect(await liveValue(server, "password")).toBe("canary-8e62-second");
    const [found] = (await server.call("GET", "/api/svc/v1/secret-groups")).data;
    const versions = found.associatedSecrets.map((secret: { name: string; secretVersions: readonly object[] }) => [
      secret.name,
      secret.secretVersions.length,
    ]);
    expect(Object.fromEntries(versions)).toEqual({ user: 1, password: 2 });
  });

  test.each<
    readonly [string, { keys?: object; file?: string; env?: object; change?: (text: string) => string }, string]
  >([
    ["no identity", { env: {} }, "no age identity was given to decrypt it"],
    [
      "the identity of somebody else",
      { env: { HOLDFAST_AGE_KEY_FILE: keyOf("identity-of-nobody.txt") } },
      "it is encrypted for age1",
    ],
    ["a value in clear text", { keys: { host: "db.host_unencrypted" } }, "stands in clear text"],
    ["a key that is not there", { keys: { absent: "absent" } }, "the key `absent` is not there"],
    ["a changed value", { change: (text) => text.replace(/data:..../, "data:AAAA") }, "was changed, moved or cut off"],
    ["a changed MAC", { change: (text) => text.replace("port: 8080", "port: 8081") }, "its MAC does not match"],
    ["a truncated file", { change: (text) => text.slice(0, 500) }, "no SOPS file"],
    ["a file that is not there", { file: "secrets/absent.yaml" }, "is no YAML or JSON file of this source"],
    ["a file outside of the source", { file: "../outside.yaml" }, "is no YAML or JSON file of this source"],
    ["an absolute path", { file: keyOf("values.yaml") }, "is no YAML or JSON file of this source"],
    ["a link that leads out of it", { file: "link/values.yaml" }, "is no YAML or JSON file of this source"],
  ])(
    "is blocked by %s, and says why without a value",
    async (_, { keys = VALUES, file, env = withKey, change }, why) => {
      const server = await serve();
      const source = await sourceWith(group(keys as { readonly [key: string]: string }, file), server);
      symlinkSync(fixtures, join(source.folder, "link"));
      const path = join(source.folder, "secrets/values.yaml");
      if (change !== undefined) writeFileSync(path, change(readFileSync(path, "utf8")));
      const planned = await source.runHere(["plan", "-o", "json"], env as { readonly [name: string]: string });
      expect(onlyStep(planned)).toMatchObject({ action: "block", reason: "secret-source" });
      expect(planned.stdout).toContain(why);
      const applied = await source.runHere(
        ["apply", "--yes", "-o", "json"],
        env as { readonly [name: string]: string },
      );
      expect(onlyOutcome(applied)).toMatchObject({ result: "blocked" });
      for (const canary of CANARIES) expectNowhere(canary, [planned, applied]);
      expect((await server.call("GET", "/api/svc/v1/secret-groups")).data).toEqual([]);
    },
  );

  test("is not decrypted by validate, by a plan with a base, or by drift", async () => {
    const server = await serve();
    const source = await sourceWith(group(VALUES), server);
    await commitAll(source.folder, "Change");
    await git(source.folder, "branch", "base");
    await source.write("team.yaml", "type: team\nname: ml\nmembers: [ada@example.com]\n");
    await commitAll(source.folder, "Change");
    // The identity is none, which reading it would say.
    const broken = { HOLDFAST_AGE_KEY: "none" };
    for (const args of [["validate"], ["plan", "--base", "base"], ["drift"]]) {
      const { stdout, stderr } = await source.run(args, broken);
      expect(stdout + stderr).not.toContain("identity");
    }
    expect((await source.run(["plan"], broken)).stdout).toContain("HOLDFAST_AGE_KEY has no age identity");
  });

  test("may be in a commit of a repository that is followed", async () => {
    const server = await serve();
    const files = { "group.yaml": group(VALUES), "secrets/values.yaml": readFileSync(keyOf("values.yaml"), "utf8") };
    const { folder: url } = await upstreamOf(files);
    const sops = { ageKeyFile: keyOf("identity.txt") };
    const sources = [{ name: "platform", url, ref: "main" }];
    const { run } = await operatorOf({ sops, sources, targets: [{ name: "prod" }] }, server);
    expect(await run(["apply", "--yes", "--target", "prod"])).toMatchObject({ code: 0 });
    expect(await liveValue(server, "nested")).toBe("nested secret");
  });
});

describe("the program sops of the operator", () => {
  const PGP = (text: string): string =>
    text.replace(/ {4}age:\n(?: {8,}.*\n)+/, "    pgp:\n        - fp: F\n          enc: x\n          created_at: t\n");

  /** A program in place of sops, which notes what it was given: the real one is not to be had where the tests run. */
  async function program(prints: string, code = 0) {
    const folder = await temporaryFolder();
    const path = (name: string) => join(folder, name);
    writeFileSync(path("printed"), prints);
    const note = `cat /proc/$$/environ /proc/$$/cmdline > ${path("seen")}; cat > ${path("input")}`;
    writeFileSync(path("sops"), `#!/bin/sh\n${note}\ncat ${path("printed")}\nexit ${code}\n`);
    chmodSync(path("sops"), 0o755);
    writeFileSync(path("operator.yaml"), JSON.stringify({ sops: { program: [path("sops"), "--verbose"] } }));
    return {
      env: { HOLDFAST_CONFIG: path("operator.yaml"), KMS_REGION: "eu" },
      seen: () => (existsSync(path("seen")) ? readFileSync(path("seen"), "latin1") : null),
      input: () => readFileSync(path("input"), "utf8"),
    };
  }

  const printed = JSON.stringify({ password: "by-the-program", db: { password: "nested too", hosts: ["alpha"] } });

  async function sourceOfPgp(server: Server, keys: { readonly [key: string]: string } = VALUES) {
    const source = await sourceWith(group(keys), server);
    const path = join(source.folder, "secrets/values.yaml");
    writeFileSync(path, PGP(readFileSync(path, "utf8")));
    return { source, path };
  }

  test("decrypts what no age identity does, by its standard input, without credentials of Holdfast", async () => {
    const server = await serve();
    const { source, path } = await sourceOfPgp(server);
    const { env, seen, input } = await program(printed);
    const applied = await source.run(["apply", "--yes", "-o", "json"], { ...env, HOLDFAST_AGE_KEY: "" });
    expect(onlyOutcome(applied)).toMatchObject({ result: "created" });
    expect(await liveValue(server, "password")).toBe("by-the-program");
    expect(await liveValue(server, "nested")).toBe("nested too");
    expect(input()).toBe(readFileSync(path, "utf8"));
    expect(seen()).toContain("--verbose\0--decrypt\0--input-type\0yaml\0--output-type\0json\0/dev/stdin");
    expect(seen()).toContain("KMS_REGION=eu");
    for (const kept of ["HOLDFAST_", server.token, "by-the-program"]) expect(seen()).not.toContain(kept);
    await expectInNoFile("by-the-program", source.folder, []);
  });

  test.each([
    ["ends with an error", "canary-9f73", 1, "ended with the exit code 1, and did not decrypt it"],
    ["prints something else", "canary-9f73", 0, "printed no JSON object"],
    ["does not give the value", '{"other":"canary-9f73"}', 0, "was not decrypted"],
  ])("blocks the group where it %s", async (_, prints, code, why) => {
    const server = await serve();
    const { source } = await sourceOfPgp(server);
    const { env } = await program(prints, code);
    const planned = await source.runHere(["plan", "-o", "json"], env);
    expect(onlyStep(planned)).toMatchObject({ action: "block", reason: "secret-source" });
    expect(planned.stdout).toContain(why);
    expectNowhere("canary-9f73", [planned]);
  });

  test("gives no value that stands in clear text in the file", async () => {
    const server = await serve();
    const { source } = await sourceOfPgp(server, { host: "db.host_unencrypted" });
    const { env } = await program(JSON.stringify({ db: { host_unencrypted: "db.example.com" } }));
    const planned = await source.runHere(["plan", "-o", "json"], env);
    expect(onlyStep(planned)).toMatchObject({ action: "block", reason: "secret-source" });
    expect(planned.stdout).toContain("stands in clear text");
  });

  test("is not asked where the MAC of a file does not match", async () => {
    const server = await serve();
    const source = await sourceWith(group(VALUES), server);
    const path = join(source.folder, "secrets/values.yaml");
    writeFileSync(path, readFileSync(path, "utf8").replace("port: 8080", "port: 8081"));
    const { env, seen } = await program(printed);
    const planned = await source.runHere(["plan", "-o", "json"], { ...env, ...withKey });
    expect(planned.stdout).toContain("its MAC does not match");
    expect(seen()).toBe(null);
  });
});
