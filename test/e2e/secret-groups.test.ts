import { existsSync, readFileSync } from "node:fs";
import { chmod, writeFile } from "node:fs/promises";
import { join, resolve } from "node:path";
import { describe, expect, test } from "vitest";
import { temporaryFolder } from "../support/folder.ts";
import { git } from "../support/git.ts";
import { startHoldingProxy } from "../support/holding-proxy.ts";
import { planOf, reportOf } from "../support/json-output.ts";
import { foundations, service } from "../support/manifests.ts";
import type { Ended } from "../support/process.ts";
import { expectInNoFile, expectNowhere } from "../support/secret-search.ts";
import { type Server, serve } from "../support/server.ts";
import { type Source, sourceOf } from "../support/source.ts";

const GROUPS = "/api/svc/v1/secret-groups";
const trace = ["--log-level", "trace"];
const servers = [
  { name: "every operation", flags: [] },
  { name: "the documented operations alone", flags: ["--documented-only"] },
];

/** A group whose keys are those of the sources. */
function group(keys: readonly string[], more = ""): string {
  const secrets = keys.map((key) => `  - { key: ${key}, value: { from: ${key} } }\n`).join("");
  return `type: secret-group\nname: search\nintegration_fqn: builtin\n${more}secrets:${secrets === "" ? " []" : ""}\n${secrets}`;
}

/** The operator's sources: a variable, a file, and a program that notes what it was given. */
async function operator() {
  const folder = await temporaryFolder();
  const path = (name: string) => join(folder, name);
  const values = { variable: "canary-1f6c-variable", file: "canary-2b9e-file", program: "canary-3d07-program" };
  await writeFile(path("file"), `${values.file}\n`);
  await writeFile(path("value"), `${values.program}\n`);
  await writeFile(
    path("program"),
    `#!/bin/sh\ncat /proc/$$/environ /proc/$$/cmdline >> ${path("seen")}\ncat ${path("value")}\n`,
  );
  await chmod(path("program"), 0o700);
  const secretSources = [
    { name: "variable", env: "SEARCH_VARIABLE" },
    { name: "file", file: path("file") },
    { name: "program", command: [path("program"), "an argument"] },
  ];
  await writeFile(path("operator.yaml"), JSON.stringify({ secretSources }));
  return {
    values,
    sources: secretSources,
    env: { HOLDFAST_CONFIG: path("operator.yaml"), SEARCH_VARIABLE: values.variable },
    write: (name: "file" | "value", text: string) => writeFile(path(name), text),
    /** The environment and the arguments of the program, each time that it ran. */
    seen: () => (existsSync(path("seen")) ? readFileSync(path("seen"), "utf8") : ""),
    list: (sources: readonly object[]) => writeFile(path("operator.yaml"), JSON.stringify({ secretSources: sources })),
    path,
  };
}

const KEYS = ["variable", "file", "program"];

/** Further values, with what shells, URLs, YAML, JSON and terminals give a meaning. */
const odd = [
  'canary-4a "quoted" \\ back',
  "canary-5b\nin two lines",
  "canary-6c ünï→cødé",
  "$(canary-7d) `canary-7d`",
  "canary-8e=&%20?#",
  "<canary-9f>&amp;",
  "'canary-10a': [canary-10a]",
  "canary-11b\ttab \u001b[31m",
  "canary-12c {{ canary-12c }} !!",
];

type Version = { readonly version: number };

/** The number of versions of each key of the group. */
async function versions({ call }: Server): Promise<{ readonly [key: string]: number }> {
  const [found] = (await call("GET", GROUPS)).data;
  const entries = found.associatedSecrets.map((secret: { name: string; secretVersions: readonly Version[] }) => [
    secret.name,
    secret.secretVersions.length,
  ]);
  return Object.fromEntries(entries);
}

async function liveValue({ call }: Server, key: string): Promise<string> {
  const [found] = (await call("GET", GROUPS)).data;
  const { id } = found.associatedSecrets.find(({ name }: { name: string }) => name === key);
  return (await call("GET", `/api/svc/v1/secrets/${id}`)).data.value;
}

const writesOf = ({ effects }: Server) => effects().filter(({ resource }) => resource.startsWith("secret-group/"));

const onlyOutcome = (ended: Ended) => reportOf(ended).outcomes.find(({ kind }) => kind === "secret-group");
const onlyStep = (ended: Ended) => planOf(ended).steps.find(({ kind }) => kind === "secret-group");

describe.each(servers)("on a control plane with $name, a secret group", ({ flags }) => {
  test("is made once from its sources, and its values are nowhere else", async () => {
    const server = await serve(flags);
    const { values: three, env, seen, list, path, sources } = await operator();
    const values = [...Object.values(three), ...odd];
    for (const [nth, value] of odd.entries()) await writeFile(path(`odd-${nth}`), value);
    await list([...sources, ...odd.map((_, nth) => ({ name: `odd-${nth}`, file: path(`odd-${nth}`) }))]);
    const source = await sourceOf({ "group.yaml": group([...KEYS, ...odd.map((_, nth) => `odd-${nth}`)]) }, server);
    const runs = [
      await source.run(["validate", ...trace], env),
      await source.run(["plan", "--out", "plan.json", ...trace], env),
      await source.run(["apply", "--yes", ...trace], env),
    ];
    expect(runs.map(({ code }) => code)).toEqual([0, 0, 0]);
    expect(writesOf(server)).toMatchObject([{ operation: "4", resource: "secret-group/search" }]);
    for (const format of ["text", "json", "markdown"])
      for (const command of [["plan", "--show", "unchanged"], ["apply", "--yes"], ["drift"]])
        runs.push(
          await source.run(
            [...command, ...trace, "-o", format === "markdown" && command[0] === "apply" ? "json" : format],
            env,
          ),
        );
    runs.push(await source.run(["why", "secret-group/search"], env), await source.run(["history"], env));
    expect(writesOf(server)).toHaveLength(1);
    // The documented operations do not list groups.
    const listed = flags.length === 0 ? odd : [];
    for (const [nth, value] of listed.entries()) expect(await liveValue(server, `odd-${nth}`)).toBe(value);
    for (const value of values) {
      expectNowhere(value, runs);
      await expectInNoFile(value, source.folder, []);
      await expectInNoFile(value, server.data, []);
    }
    expect(seen()).toContain("an argument");
    for (const value of [three.variable, three.file, ...odd, server.token]) expect(seen()).not.toContain(value);
  });

  test("is blocked by a name that the operator has not listed: nothing is read, and nothing is run", async () => {
    const server = await serve(flags);
    const { env, seen } = await operator();
    const source = await sourceOf({ "group.yaml": group([...KEYS, "unlisted"]) }, server);
    const planned = await source.runHere(["plan", "-o", "json"], env);
    expect(onlyStep(planned)).toMatchObject({ action: "block", reason: "secret-source" });
    const applied = await source.runHere(["apply", "--yes", "-o", "json"], env);
    expect(onlyOutcome(applied)).toMatchObject({
      result: "blocked",
      error: { code: "secret-source", message: expect.stringContaining("unlisted is not in secretSources") },
    });
    const encrypted = group([]).replace(
      "secrets: []",
      "secrets:\n  - { key: a, value: { from: sops, file: a.yaml, key: b } }",
    );
    await source.write("group.yaml", encrypted);
    expect(onlyStep(await source.runHere(["plan", "-o", "json"], env))).toMatchObject({ reason: "secret-source" });
    expect(seen()).toBe("");
    expect(writesOf(server)).toEqual([]);
  });

  test("that a run has made before it was killed is found by the next one, and not made again", async () => {
    const server = await serve(flags);
    const { env, values } = await operator();
    const proxy = await startHoldingProxy(server);
    const source = await sourceOf({ "group.yaml": group(KEYS) }, { ...server, url: proxy.url });
    const held = proxy.hold("POST", GROUPS);
    const first = source.start(["apply", "--yes"], env);
    await held;
    first.kill("SIGKILL");
    expect((await first.ended).signal).toBe("SIGKILL");
    proxy.open();
    const runs = [await source.runHere(["apply", "--yes"], env), await source.runHere(["apply", "--yes"], env)];
    expect(runs.map(({ code, stderr }) => [code, stderr])).toEqual([
      [0, expect.any(String)],
      [0, expect.any(String)],
    ]);
    expect(writesOf(server)).toMatchObject([{ operation: "4" }]);
    expect(onlyStep(await source.runHere(["plan", "-o", "json", "--show", "unchanged"], env))).toMatchObject({
      action: "keep",
    });
    for (const value of Object.values(values)) await expectInNoFile(value, source.folder, []);
  });

  test("that another state folder has made is not made again, and that its values are not compared is said", async () => {
    const server = await serve(flags);
    const { env } = await operator();
    const source = await sourceOf({ "group.yaml": group(KEYS) }, server);
    await source.runHere(["apply", "--yes"], env);
    const other = ["--state", join(await temporaryFolder(), "state")];
    const ended = [
      await source.runHere(["apply", "--yes", "-o", "json", ...other], env),
      await source.runHere(["apply", "--yes", "-o", "json", ...other], env),
    ];
    expect(ended.map(({ code }) => code)).toEqual([0, 0]);
    expect(writesOf(server)).toMatchObject([{ operation: "4" }]);
    if (flags.length === 0) return;
    for (const one of ended)
      expect(onlyOutcome(one)).toMatchObject({ result: "unchanged", error: { code: "not-compared" } });
    const text = await source.runHere(["apply", "--yes", ...other], env);
    expect(text.stdout.replace(/\s+/g, " ")).toContain("its values were not compared");
  });
});

test("a plan shows on request which of the values that it writes are equal, by what another run cannot be compared with", async () => {
  const server = await serve();
  const { values, env, list, sources, path } = await operator();
  await list([...sources, { name: "same", file: path("file") }]);
  const source = await sourceOf({ "group.yaml": group([...KEYS, "same"]) }, server);
  // Otherwise each plan is made twice and compared.
  const once = { ...env, HOLDFAST_CACHE: "off" };
  const shown = async () =>
    planOf(await source.run(["plan", "-o", "json", "--show", "fingerprints"], once)).fingerprints;
  const [first = [], second = []] = [await shown(), await shown()];
  const of = (key: string) => first.find((one) => one.key === key)?.fingerprint;
  expect(first.map(({ key }) => key)).toEqual([...KEYS, "same"]);
  expect(of("same")).toBe(of("file"));
  expect(new Set(first.map(({ fingerprint }) => fingerprint)).size).toBe(KEYS.length);
  expect(new Set([...first, ...second].map(({ fingerprint }) => fingerprint)).size).toBe(2 * KEYS.length);
  const text = await source.run(["plan", "--show", "fingerprints"], once);
  expect(text.stdout).toMatch(/^Fingerprints of this run: secret-group\/search\[variable\] [\w-]{8}, /m);
  for (const value of Object.values(values)) expectNowhere(value, [text]);
  expect(planOf(await source.run(["plan", "-o", "json"], env)).fingerprints).toBeUndefined();
});

describe("a changed value", () => {
  test("is a new version of its secret and nothing else, whose blast radius the plan shows", async () => {
    const server = await serve();
    const { env, write, values } = await operator();
    const more = "env:\n  PASSWORD: secret://holdfast:search:file\n";
    const source = await sourceOf(
      { ...foundations, "group.yaml": group(KEYS), "api.yaml": service("api", more) },
      server,
    );
    expect((await source.runHere(["apply", "--yes"], env)).code).toBe(0);
    const before = writesOf(server).length;
    await write("file", "canary-2b9e-second");
    const planned = await source.runHere(["plan", "-o", "json"], env);
    expect(onlyStep(planned)).toMatchObject({
      action: "update",
      changes: [{ path: expect.stringContaining("/secrets/"), before: "(sensitive)", cause: "manifest" }],
    });
    expect(planOf(planned)).toMatchObject({
      secretUses: [
        {
          identity: "secret-group/search",
          key: "file",
          total: 1,
          deployments: [{ fqn: "dev:web:api:1", older: false }],
        },
      ],
    });
    for (const output of ["text", "markdown"])
      expect((await source.runHere(["plan", "-o", output], env)).stdout.replace(/[\s`]+/g, " ")).toMatch(
        /Blast radius of secret-group\/search\[file\] ?: 1 active deployment, .*: dev:web:api:1/,
      );
    expect(await source.runHere(["apply", "--yes"], env)).toMatchObject({ code: 0 });
    expect(await versions(server)).toEqual({ variable: 1, file: 2, program: 1 });
    expect(await liveValue(server, "file")).toBe("canary-2b9e-second");
    expect(await source.runHere(["apply", "--yes"], env)).toMatchObject({ code: 0 });
    expect(writesOf(server)).toHaveLength(before + 1);
    // The service still runs with the first version when the value changes again.
    await write("file", values.file);
    expect(planOf(await source.runHere(["plan", "-o", "json"], env))).toMatchObject({
      secretUses: [{ key: "file", deployments: [{ older: true }] }],
    });
  });

  test("cannot be written where the control plane only creates groups", async () => {
    const server = await serve(["--documented-only"]);
    const { env, write } = await operator();
    const source = await sourceOf({ "group.yaml": group(KEYS) }, server);
    await source.runHere(["apply", "--yes"], env);
    await write("file", "another");
    const ended = await source.runHere(["apply", "--yes", "-o", "json"], env);
    expect(onlyOutcome(ended)).toMatchObject({ result: "blocked", error: { code: "create-only" } });
    await source.write(
      "group.yaml",
      group(KEYS, 'collaborators: [{ subject: "user:ada@example.com", role_id: secret-group-user }]\n'),
    );
    const other = ["--state", join(await temporaryFolder(), "state")];
    const granted = await source.runHere(["plan", "-o", "json", ...other], env);
    expect(onlyStep(granted)).toMatchObject({ action: "block", reason: "create-only" });
    expect(writesOf(server)).toHaveLength(1);
  });

  test("that somebody has put in by hand is drift, and is put right", async () => {
    const server = await serve();
    const { env, values } = await operator();
    const source = await sourceOf({ "group.yaml": group(KEYS) }, server);
    await source.runHere(["apply", "--yes"], env);
    const secrets = [{ key: "file", value: "by-hand" }];
    await server.call("PUT", GROUPS, { manifest: { type: "secret-group", name: "search", secrets } });
    expect((await source.runHere(["drift"], env)).code).toBe(2);
    expect(onlyStep(await source.runHere(["plan", "-o", "json"], env))).toMatchObject({
      changes: [{ cause: "drift" }],
    });
    await source.runHere(["apply", "--yes"], env);
    expect([await liveValue(server, "file"), await versions(server)]).toEqual([
      values.file,
      { variable: 1, file: 3, program: 1 },
    ]);
  });
});

test("a key that git no longer names stays, and is named; a new one is there before a service needs it", async () => {
  const server = await serve();
  const { env } = await operator();
  const source = await sourceOf({ ...foundations, "group.yaml": group(["variable", "file"]) }, server);
  await source.runHere(["apply", "--yes"], env);
  await source.write("group.yaml", group(["file", "program"]));
  await source.write("api.yaml", service("api", "env:\n  PASSWORD: secret://holdfast:search:program\n"));
  const planned = await source.runHere(["plan", "-o", "json"], env);
  expect(planOf(planned)).toMatchObject({
    summary: { block: 0, update: 1, create: 1 },
    diagnostics: [
      { severity: "warning", summary: expect.stringContaining("keeps variable, which it does not declare") },
    ],
  });
  const applied = await source.runHere(["apply", "--yes", "--no-wait"], env);
  expect([applied.code, applied.stderr.replace(/\s+/g, " ")]).toEqual([
    0,
    expect.stringContaining("secret-group/search keeps variable"),
  ]);
  expect(await versions(server)).toEqual({ variable: 1, file: 1, program: 1 });
  expect(await source.runHere(["apply", "--yes", "--no-wait"], env)).toMatchObject({
    code: 0,
    stdout: expect.stringContaining("5 unchanged"),
  });
});

test("a literal value is refused without being shown, and the file is named as one of a seed", async () => {
  const value = "canary-51ab-literal";
  const literal = `type: secret-group\nname: search\nintegration_fqn: builtin\nsecrets:\n  - { key: password, value: ${value} }\n`;
  const source = await sourceOf({ "group.yaml": literal });
  const runs = await Promise.all(
    ["text", "json", "github"].map((output) => source.runHere(["validate", "-o", output])),
  );
  for (const { code, stdout, stderr } of runs) {
    expect(code).toBe(3);
    expect((stdout + stderr).replace(/\s+/g, " ")).toContain("serve --seed");
  }
  expectNowhere(value, runs);
  const server = await serve(["--seed", source.folder]);
  expect(await liveValue(server, "password")).toBe(value);
});

test("sources that the repository names are refused", async () => {
  const server = await serve();
  const { path, seen } = await operator();
  const secretSources = [{ name: "program", command: [path("program")] }];
  const source = await sourceOf(
    { "group.yaml": group(["program"]), "holdfast.yaml": JSON.stringify({ secretSources }) },
    server,
  );
  const ended = await source.runHere(["apply", "--yes"]);
  expect(ended).toMatchObject({ code: 3, stderr: expect.stringContaining("holdfast.yaml sets secretSources") });
  expect([writesOf(server), seen()]).toEqual([[], ""]);
});

test("validate, drift and a plan with a base resolve nothing, and a changed reference is a change", async () => {
  const server = await serve();
  const { env, seen, list, path } = await operator();
  const source = await sourceOf({ "group.yaml": group(KEYS) }, server);
  await source.runHere(["apply", "--yes"], env);
  const ran = seen();
  const commit = async () => {
    await git(source.folder, "add", "group.yaml");
    await git(source.folder, "commit", "-qm", "group");
  };
  await git(source.folder, "init", "-q", "-b", "main");
  await commit();
  await list([{ name: "program", command: [path("program"), "again"] }]);
  const base = ["plan", "--base", "main", "-o", "json"];
  await git(source.folder, "checkout", "-q", "-b", "change");
  expect((await source.runHere(["validate"], env)).code).toBe(0);
  expect((await source.runHere(["drift"], env)).code).toBe(0);
  expect(planOf(await source.runHere(base, env)).steps).toEqual([]);
  await source.write("group.yaml", group(KEYS).replace("from: file", "from: program"));
  await commit();
  expect(onlyStep(await source.runHere(base, env))).toMatchObject({ action: "update", causedBy: "change" });
  expect(seen()).toBe(ran);
});

describe("a source that gives no value", () => {
  const faults = [
    { what: "an absent file", source: () => ({ file: "absent" }), why: /the file absent cannot be read \(ENOENT\)/ },
    {
      what: "a variable that is not set",
      source: () => ({ env: "NOT_SET_HERE" }),
      why: /the variable NOT_SET_HERE is not set/,
    },
    {
      what: "a program that fails",
      source: () => ({ command: ["sh", "-c", "echo canary-77 >&2; echo canary-78; exit 4"] }),
      why: /exit code 4/,
    },
    {
      what: "a program that is absent",
      source: () => ({ command: ["/absent/program"] }),
      why: /cannot be run \(ENOENT\)/,
    },
    {
      what: "a program without an end",
      source: () => ({ command: ["sh", "-c", "yes canary-78"] }),
      why: /printed more than 65536 bytes/,
    },
    { what: "an empty value", source: () => ({ command: ["echo"] }), why: /its value is empty/ },
    { what: "bytes that are no text", source: () => ({ command: ["printf", "\\377\\376"] }), why: /not text in UTF-8/ },
  ];

  test.each(faults)("blocks the group and says why: $what", async ({ source: made, why }) => {
    const server = await serve();
    const { env, list } = await operator();
    await list([{ name: "broken", ...made() }]);
    const source = await sourceOf({ "group.yaml": group(["broken"]) }, server);
    const ended = await source.runHere(["apply", "--yes", "-o", "json", ...trace], env);
    expect(onlyOutcome(ended)).toMatchObject({ error: { code: "secret-source", message: expect.stringMatching(why) } });
    expectNowhere("canary-7", [ended]);
    expect(writesOf(server)).toEqual([]);
  });
});

describe("a SOPS file of the source", () => {
  const keyFile = resolve(import.meta.dirname, "../unit/sops/files/identity.txt");
  const recipient = /age1\w+/.exec(readFileSync(keyFile, "utf8"))?.[0] ?? "";
  const encrypted =
    "type: secret-group\nname: search\nintegration_fqn: builtin\nsecrets:\n  - key: password\n    value: { from: sops, file: ../secrets.sops.yaml, key: search.password }\n";

  test("gives values where a manifest names it and the operator gives the identity, and else says why not", async () => {
    const value = "canary-77f0-encrypted";
    const server = await serve();
    const rules = `creation_rules:\n  - path_regex: \\.sops\\.yaml$\n    age: ${recipient}\n`;
    const source = await sourceOf(
      { "holdfast.yaml": "", ".sops.yaml": rules, "groups/search.yaml": encrypted },
      server,
    );
    await source.runThrough(["sh", "-c", 'printf %s "$0" | exec "$@"', value], ["secret", "set", "search", "password"]);
    const without = await source.runHere(["plan", "-o", "json"]);
    expect(onlyStep(without)).toMatchObject({ action: "block", reason: "secret-source" });
    const env = { HOLDFAST_AGE_KEY_FILE: keyFile };
    const runs = [
      without,
      await source.run(["apply", "--yes", ...trace], env),
      await source.run(["plan", ...trace], env),
    ];
    expect(await liveValue(server, "password")).toBe(value);
    expect(runs.map(({ code }) => code)).toEqual([0, 0, 0]);
    expectNowhere(value, runs);
    await expectInNoFile(value, source.folder, []);
    await source.write("groups/search.yaml", encrypted.replace("search.password", "search.absent"));
    expect(onlyOutcome(await source.runHere(["apply", "--yes", "-o", "json"], env))).toMatchObject({
      error: { code: "secret-source", message: expect.stringContaining("secrets.sops.yaml") },
    });
  });

  test("outside of the source is not read", async () => {
    const server = await serve();
    const source = await sourceOf(
      { "holdfast.yaml": "", "groups/search.yaml": encrypted.replace("../", "../../") },
      server,
    );
    const env = { HOLDFAST_AGE_KEY_FILE: keyFile };
    expect(onlyOutcome(await source.runHere(["apply", "--yes", "-o", "json"], env))).toMatchObject({
      error: { message: expect.stringContaining("is no YAML or JSON file of this source") },
    });
  });
});

test("one line end at the end of a file or of an output is not part of the value, and all else is", async () => {
  const server = await serve();
  const { env, write } = await operator();
  const source: Source = await sourceOf({ "group.yaml": group(["file", "program"]) }, server);
  await write("file", "two\nlines\n\n");
  await write("value", "  spaces \r\n");
  await source.runHere(["apply", "--yes"], env);
  expect([await liveValue(server, "file"), await liveValue(server, "program")]).toEqual(["two\nlines\n", "  spaces "]);
});
