import { spawnSync } from "node:child_process";
import { copyFileSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join, normalize, resolve } from "node:path";
import { describe, expect, it } from "vitest";
import { sinks } from "../../src/engine/sinks/index.ts";

const plumbing = ["clock", "contract", "schema", "model", "files", "store", "seal", "http", "log"];
const pure = ["contract", "core", "kinds"];
const outer = [...plumbing, ...pure];

/** Which folders a folder may import, itself aside: the arrows in docs/architecture.md. */
const borders: { readonly [folder: string]: readonly string[] } = {
  clock: [],
  contract: [],
  schema: ["contract", "model"],
  model: ["contract"],
  files: ["contract"],
  store: ["clock", "contract", "files"],
  seal: ["clock", "contract", "files"],
  http: ["clock", "contract", "files"],
  log: ["contract", "model"],
  core: ["contract", "model"],
  kinds: ["contract", "model", "core"],
  client: outer,
  yaml: ["contract", "model"],
  source: [...outer, "yaml"],
  manifests: [...outer, "yaml", "source"],
  state: outer,
  render: outer,
  forge: outer,
  sops: [...outer, "yaml"],
  cache: [...outer, "client", "yaml", "source", "manifests", "state", "render"],
  engine: [...outer, "client", "yaml", "source", "manifests", "state", "render", "sops", "cache"],
  daemon: [...outer, "client", "source", "manifests", "state", "render", "engine", "forge"],
  server: plumbing,
  dashboard: ["contract", "model"],
  commands: [
    ...outer,
    "client",
    "yaml",
    "source",
    "manifests",
    "state",
    "render",
    "cache",
    "engine",
    "daemon",
    "server",
    "forge",
    "sops",
  ],
  cli: [...outer, "commands", "render"],
};

const files = readdirSync("src", { recursive: true, encoding: "utf8" }).filter((path) => /\.tsx?$/.test(path));
const imports = new Map(files.map((file) => [file, importsOf(file)]));

/** The files of ours that a file imports, type imports and dynamic ones included. */
function importsOf(file: string): readonly string[] {
  const text = readFileSync(join("src", file), "utf8");
  const found = text.matchAll(/(?:from|import\(?)\s*"(\.{1,2}\/[^"]+)"/g);
  return Array.from(found, ([, path = ""]) => normalize(join(dirname(file), path)));
}

function folderOf(file: string): string {
  return file.includes("/") ? file.slice(0, file.indexOf("/")) : file.replace(/\.ts$/, "");
}

function codeOf(file: string): string {
  return readFileSync(join("src", file), "utf8").replace(/^\s*(?:\/\/|\/?\*).*$/gm, "");
}

/** What reads or waits for real time, or makes randomness, by its form; each with a line that has it. */
const unhanded: readonly (readonly [form: RegExp, line: string])[] = [
  [/\bDate\.now\b/, "export const probe = Date.now();"],
  [/\bnew Date\(\)/, "export const probe = new Date();"],
  [/\bnew Date\b(?!\()/, "export const probe = new Date;"],
  [/(?<!\bnew )\bDate\(\)/, "export const probe = Date();"],
  [/\bperformance\b/, "export const probe = performance.now();"],
  [/\bprocess\.hrtime\b/, "export const probe = process.hrtime.bigint();"],
  [/\bsetTimeout\b/, "setTimeout(() => undefined, 1);"],
  [/\bsetInterval\b/, "setInterval(() => undefined, 1);"],
  [/\bsetImmediate\b/, "setImmediate(() => undefined);"],
  [/"node:timers"/, 'import * as probe from "node:timers";'],
  [/"node:timers\/promises"/, 'export { scheduler } from "node:timers/promises";'],
  [/\bAbortSignal\.timeout\b/, "export const probe = AbortSignal.timeout(1);"],
  [/\bMath\.random\b/, "export const probe = Math.random();"],
  [/\brandomUUID\b/, "export const probe = crypto.randomUUID();"],
  [/\brandomBytes\b/, 'import { randomBytes } from "node:crypto";'],
  [/\brandomInt\b/, 'import { randomInt } from "node:crypto";'],
  [/\brandomFill\b/, 'import { randomFill } from "node:crypto";'],
  [/\brandomFillSync\b/, 'import { randomFillSync } from "node:crypto";'],
  [/\bgetRandomValues\b/, "crypto.getRandomValues(new Uint8Array(1));"],
];

/** The files that have such forms all the same, by their reasons. */
const exceptions = {
  "the clock and the randomness of the machine": ["clock/system.ts"],
  "what must not be foreseen or repeated: keys, tokens, nonces, and the marker that no page may contain": [
    "cache/read-page-rows.ts",
    "commands/snapshots/snapshot-file.ts",
    "commands/configuration/page-token.ts",
    "daemon/http/webhooks.ts",
    "dashboard/action-key.ts",
    "seal/seal-key.ts",
    "seal/seal.ts",
    "sops/encrypted-value.ts",
    "server/auth/admin-token/token-file.ts",
    "server/resources/personal-access-token/rows.ts",
  ],
  "the clock of the browser": ["dashboard/browser-clock.ts"],
  "names of temporary files, beside those of other processes": ["files/write-file.ts"],
  "waits for other processes, which go by real time": ["source/remote/run-git.ts", "yaml/exact/exact-process.ts"],
};

/** Starts the linter on files that are written into an empty folder; returns its report. */
function lint(probes: readonly (readonly [file: string, text: string])[], only: readonly string[]): string {
  const folder = mkdtempSync(join(tmpdir(), "holdfast-borders-"));
  const config = JSON.parse(readFileSync("biome.json", "utf8"));
  writeFileSync(join(folder, "biome.json"), JSON.stringify({ ...config, vcs: { enabled: false } }));
  mkdirSync(join(folder, "src/clock"), { recursive: true });
  copyFileSync("src/clock/handed-in.grit", join(folder, "src/clock/handed-in.grit"));
  for (const [file, text] of probes) {
    mkdirSync(join(folder, dirname(file)), { recursive: true });
    writeFileSync(join(folder, file), text);
  }
  const args = ["lint", "--reporter=github", "--max-diagnostics=none", ...only, "."];
  return spawnSync(resolve("node_modules/.bin/biome"), args, { cwd: folder, encoding: "utf8" }).stdout;
}

describe("the source", () => {
  it("has no folder without borders", () => {
    expect(new Set(files.map(folderOf)).difference(new Set(Object.keys(borders)))).toEqual(new Set());
  });

  it("lets imports go one way, type imports too", () => {
    const wrong = [...imports].flatMap(([file, targets]) => {
      const folder = folderOf(file);
      const allowed = [folder, ...(borders[folder] ?? [])];
      return targets.filter((target) => !allowed.includes(folderOf(target))).map((target) => `${file} → ${target}`);
    });
    expect(wrong).toEqual([]);
  });

  it("lets nothing but the state's own folder know how state is kept", () => {
    const inside = (file: string) => /^state\/[^/]+\//.test(file);
    const outside = [...imports].filter(([file]) => folderOf(file) !== "state");
    expect(files.filter(inside)).not.toEqual([]);
    expect(outside.filter(([, targets]) => targets.some(inside)).map(([file]) => file)).toEqual([]);
    const named = files.filter((file) => /ledger\.db/.test(readFileSync(join("src", file), "utf8")));
    expect(named.map((file) => dirname(file))).toEqual(["state/sqlite"]);
  });

  it("lets nothing but the folder yaml know its two readers", () => {
    const inside = (file: string) => /^yaml\/(?:fast|exact)\//.test(file);
    const outside = [...imports].filter(([file]) => folderOf(file) !== "yaml");
    expect(files.filter(inside)).not.toEqual([]);
    expect(outside.filter(([, targets]) => targets.some(inside)).map(([file]) => file)).toEqual([]);
    const parsing = files.filter((file) => /from "yaml"/.test(readFileSync(join("src", file), "utf8")));
    // A text that the readers have read within their limits may be changed by its nodes.
    const editing = ["yaml/edit-yaml.ts", "yaml/reorder-fields.ts"];
    const reading = parsing.filter((file) => !editing.includes(file));
    expect(new Set(reading.map((file) => dirname(file)))).toEqual(new Set(["yaml/exact"]));
    expect(files.filter((file) => readFileSync(join("src", file), "utf8").includes('"js-yaml"'))).toEqual([]);
  });

  it("runs the exact reader in its process only", () => {
    const entering = [...imports].flatMap(([file, targets]) => {
      const entered = targets.filter((target) => target.startsWith("yaml/exact/"));
      return dirname(file) === "yaml/exact" ? [] : entered.map((target) => `${file} → ${target}`);
    });
    expect(entering).toEqual(["yaml/read-yaml.ts → yaml/exact/exact-process.ts"]);
    const calling = [...imports].filter(([, targets]) => targets.includes("yaml/exact/exact-reader.ts"));
    expect(calling.map(([file]) => file)).toEqual(["yaml/exact/worker.ts"]);
  });

  it("leaves the name of a sink to the sink's own file", () => {
    const others = files.filter(
      (file) => /^(?:engine|commands|daemon)\//.test(file) && !file.startsWith("engine/sinks/"),
    );
    const literal = new RegExp(sinks.map(({ name }) => `"${name}"`).join("|"));
    expect(others.filter((file) => literal.test(readFileSync(join("src", file), "utf8")))).toEqual([]);
  });

  it("lets the page of the dashboard have types of the contract alone", () => {
    const page = files.filter((file) => folderOf(file) === "dashboard");
    const statements = page.flatMap((file) => codeOf(file).split(";\n"));
    const ofContract = statements.filter((statement) => statement.includes('"../contract/'));
    expect(page.length).toBeGreaterThan(5);
    expect(ofContract.filter((statement) => !/^\s*import type /.test(statement))).toEqual([]);
    // It is no part of the program: its files are, which the build makes.
    const importing = [...imports].filter(
      ([file, targets]) => folderOf(file) !== "dashboard" && targets.some((target) => folderOf(target) === "dashboard"),
    );
    expect(importing).toEqual([]);
  });

  it("has no cycle of imports, type imports included", () => {
    const left = new Map(
      [...imports].map(([file, targets]) => [file, new Set(targets.filter((target) => imports.has(target)))]),
    );
    for (let shrinks = true; shrinks; ) {
      const free = [...left].filter(([, targets]) => targets.size === 0).map(([file]) => file);
      shrinks = free.length > 0;
      for (const file of free) left.delete(file);
      for (const targets of left.values()) for (const file of free) targets.delete(file);
    }
    expect([...left.keys()]).toEqual([]);
  });

  it("leaves the clock and the randomness of the machine to the command line", () => {
    const taking = [...imports].filter(([, targets]) => targets.includes("clock/system.ts"));
    expect(taking.map(([file]) => file)).toEqual(["cli.ts"]);
  });

  it("leaves ending the process to the command line", () => {
    const ending = files.filter((file) => /process\.exit(?!Code)\b/.test(readFileSync(join("src", file), "utf8")));
    expect(ending).toEqual(["cli.ts"]);
  });

  it("leaves V8 as it was launched", () => {
    const steering = files.filter((file) =>
      /setFlagsFromString|node:vm|expose-gc/.test(readFileSync(join("src", file), "utf8")),
    );
    expect(steering).toEqual([]);
  });

  it("decides, parses and talks to a control plane without a cache", () => {
    const folders = ["core", "kinds", "client", "yaml", "manifests"];
    const plain = files.filter((file) => folders.includes(folderOf(file)));
    expect(plain.filter((file) => /cache/i.test(readFileSync(join("src", file), "utf8")))).toEqual([]);
  });

  it("reads real time and makes randomness in few named places", () => {
    const found = files.filter((file) => unhanded.some(([form]) => form.test(codeOf(file))));
    expect(found.toSorted()).toEqual(Object.values(exceptions).flat().toSorted());
    expect(unhanded.filter(([form, line]) => !form.test(line))).toEqual([]);
  });

  it("has a linter that refuses real time and randomness anywhere else", () => {
    const probes = unhanded.map(([, line], nth) => [`src/engine/probe${nth}.ts`, `${line}\n`] as const);
    const handedIn = "export const probe = ({ now }: { now: () => number }) => [new Date(now()), Date.UTC(2026, 1)];\n";
    const stdout = lint([...probes, ["src/engine/handed-in.ts", handedIn]], []);
    const isRefused = (file: string): boolean => new RegExp(`title=plugin,file=[^,]*/${file},`).test(stdout);
    expect(probes.filter(([file]) => !isRefused(file))).toEqual([]);
    expect(isRefused("src/engine/handed-in.ts")).toBe(false);
  });

  it("keeps the outside world out of what decides", () => {
    const deciding = files.filter((file) => ["contract", "model", "core", "kinds"].includes(folderOf(file)));
    const reaching = deciding.filter((file) =>
      /process\.|node:(?:fs|net|http|child_process)/.test(readFileSync(join("src", file), "utf8")),
    );
    expect(reaching).toEqual([]);
  });

  const refused: readonly (readonly [file: string, target: string])[] = [
    ["src/core/probe.ts", "../engine/apply-plan.ts"],
    ["src/clock/probe.ts", "../contract/secret.ts"],
    ["src/core/probe.ts", "../clock/clock.ts"],
    ["src/engine/probe.ts", "../clock/system.ts"],
    ["src/commands/watch/probe.ts", "../../clock/system.ts"],
    ["src/contract/probe.ts", "../core/plan.ts"],
    ["src/kinds/probe.ts", "../client/connect.ts"],
    ["src/client/probe.ts", "../engine/apply-plan.ts"],
    ["src/state/probe.ts", "../source/folder.ts"],
    ["src/core/probe.ts", "../state/ledger.ts"],
    ["src/model/probe.ts", "../core/plan.ts"],
    ["src/yaml/probe.ts", "../source/open.ts"],
    ["src/yaml/probe.ts", "../core/diagnostic.ts"],
    ["src/source/probe.ts", "../manifests/load.ts"],
    ["src/manifests/probe.ts", "../engine/apply-plan.ts"],
    ["src/cache/probe.ts", "../engine/apply-plan.ts"],
    ["src/manifests/probe.ts", "../cache/live-facts-cache.ts"],
    ["src/engine/probe.ts", "../server/control-plane.ts"],
    ["src/engine/probe.ts", "../commands/apply.ts"],
    ["src/engine/probe.ts", "../daemon/daemon.ts"],
    ["src/daemon/probe.ts", "../commands/watch.ts"],
    ["src/daemon/probe.ts", "../cache/source-facts-cache.ts"],
    ["src/daemon/probe.ts", "../yaml/read-yaml.ts"],
    ["src/source/probe.ts", "../yaml/exact/exact-process.ts"],
    ["src/commands/input/probe.ts", "../../yaml/fast/read-plain.ts"],
    ["src/manifests/probe.ts", "yaml"],
    ["src/yaml/probe.ts", "yaml"],
    ["src/yaml/probe.ts", "./exact/exact-process.ts"],
    ["src/yaml/fast/probe.ts", "../exact/exact-reader.ts"],
    ["src/yaml/read-yaml.ts", "./exact/exact-reader.ts"],
    ["src/yaml/exact/probe.ts", "js-yaml"],
    ["src/commands/probe.ts", "js-yaml"],
    ["src/server/probe.ts", "js-yaml"],
    ["src/cli.ts", "js-yaml"],
    ["src/server/probe.ts", "../core/plan.ts"],
    ["src/dashboard/probe.ts", "../core/plan/plan.ts"],
    ["src/dashboard/probe.ts", "../daemon/daemon.ts"],
    ["src/daemon/probe.ts", "../dashboard/daemon.ts"],
    ["src/server/probe.ts", "../yaml/read-yaml.ts"],
    ["src/sops/probe.ts", "../source/open.ts"],
    ["src/sops/probe.ts", "../engine/apply-plan.ts"],
    ["src/manifests/probe.ts", "../sops/read-sops-value.ts"],
    ["src/server/probe.ts", "../sops/read-sops-value.ts"],
  ];

  // One start of the linter for all.
  it("has a linter that refuses each import against the arrows", () => {
    const probes = refused.map(
      ([file, target], nth) =>
        [
          file.replace("/probe.ts", `/probe${nth}.ts`),
          `import { x } from "${target}";\n\nexport const y = x;\n`,
        ] as const,
    );
    const stdout = lint(probes, ["--only=style/noRestrictedImports"]);
    expect(probes.filter(([file]) => !stdout.includes(`${file},`))).toEqual([]);
    expect(stdout.match(/noRestrictedImports/g)).toHaveLength(probes.length);
  });
});
