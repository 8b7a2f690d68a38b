import { readFile } from "node:fs/promises";
import { createServer } from "node:http";
import { expect, test } from "vitest";
import type { ConformReport } from "../../src/contract/generated/output.ts";
import { operation } from "../../src/contract/operations.ts";
import { conformChecks } from "../../src/engine/conform/run-checks.ts";
import { conformDefects } from "../support/conform-defects.ts";
import { defectiveServer } from "../support/defective-server.ts";
import { listen } from "../support/listen.ts";
import { everyKind } from "../support/manifests.ts";
import type { Ended } from "../support/process.ts";
import { type Server, serve } from "../support/server.ts";
import { type Source, sourceOf } from "../support/source.ts";

const WRITE = ["--write", "--workspace", "dev:web", "--ml-repo", "registry"];

/** A control plane with one resource of every kind, and a folder that no manifest is in. */
async function furnished(flags: readonly string[] = []): Promise<{ readonly server: Server; readonly source: Source }> {
  const server = await serve(flags);
  return { server, source: await sourceOf({}, server) };
}

const reportIn = ({ stdout }: Ended): ConformReport => JSON.parse(stdout);
const named = ({ checks }: ConformReport, result: string): readonly string[] =>
  checks.filter((one) => one.result === result).map(({ check }) => check);

test("a control plane conforms, and nothing but GETs is sent to it, never one that makes a token", async () => {
  const { server } = await furnished();
  expect(await (await sourceOf(everyKind, server)).runHere(["apply", "--yes", "--sink", "file"])).toMatchObject({
    code: 0,
  });
  const before = server.effects();
  const { url, asked } = await defectiveServer(server, {});
  const ended = await (await sourceOf({}, { url, token: server.token })).run(["conform"], { COLUMNS: "80" });
  expect(ended).toMatchObject({ code: 0, stderr: "" });
  expect(ended.stdout).toMatch(/^http:\/\/\S+ conforms, as far as it was checked: \d+ of 20 operations\n/);
  expect(ended.stdout).toContain("\n  only with --write-tenant\n      secret-group, ");
  expect(ended.stdout).not.toContain("Does not hold");
  expect(ended.stdout.split("\n").filter((line) => line.length > 80)).toEqual([]);
  expect(asked.length).toBeGreaterThan(30);
  expect(asked.filter((one) => !one.startsWith("GET ") || /personal-access-tokens\/./.test(one))).toEqual([]);
  expect(server.effects()).toEqual(before);
});

test("with --documented-only it conforms too, and what it lacks is listed", async () => {
  const seed = (await sourceOf(everyKind)).folder;
  const { source } = await furnished(["--documented-only", "--seed", seed]);
  const flags = ["--dry-run", ...WRITE, "--write-tenant", "--yes"];
  const ended = await source.run(["conform", ...flags, "-o", "json"]);
  expect(ended.code).toBe(0);
  const report = reportIn(ended);
  expect(report).toMatchObject({
    format_version: "2.2",
    conforms: true,
    levels: ["read", "dry-run", "write", "write-tenant"],
  });
  const lacking = [
    "E3",
    "E4",
    "E5",
    "E6",
    "E6-own",
    "E8",
    "E12",
    "E14",
    "E15",
    "E18",
    "E17",
    "E1",
    "E2",
    "E7",
    "E11",
    "E10",
  ];
  expect(named(report, "fails")).toEqual(
    [...lacking.slice(0, 6), "E9", ...lacking.slice(6)].map((one) => `extension-${one}`),
  );
  expect(report.operations.filter(({ result }) => result !== "holds").map(({ number }) => number)).toEqual(["2", "9"]);
  expect(report.left).toContain("team/holdfast-conform-team");
  expect(ended.stdout).not.toMatch(/eyJ|not-a-secret/);
});

test("it writes only what is agreed to, under its own prefix", async () => {
  const { server, source } = await furnished();
  await (await sourceOf(everyKind, server)).runHere(["apply", "--yes", "--sink", "file"]);
  const before = server.effects().length;
  const flags = ["conform", ...WRITE, "--write-tenant"];
  const unasked = await source.runHere(flags);
  expect(unasked).toMatchObject({ code: 3, stdout: "" });
  expect(unasked.stderr).toContain("needs confirmation, and there is no terminal\n  → run it with --yes");
  const listed = ["service/dev:web/", "chat_prompt/registry/", "team/"].map((kind) => `\n  ${kind}holdfast-conform-`);
  for (const text of [...listed, "a lease of dev:web"]) expect(unasked.stderr).toContain(text);
  const declined = await source.runHere(flags, {}, { answer: "n\n" });
  expect(declined).toMatchObject({ code: 0, stdout: "" });
  expect(declined.stderr).toContain("since the interface has no delete:");
  expect(declined.stderr).toContain("nothing was written, and nothing was checked");
  expect(server.effects()).toHaveLength(before);
  for (let times = 0; times < 2; times += 1) {
    const ended = await source.runHere([...flags, "--yes", "-o", "json"]);
    expect([ended.code, named(reportIn(ended), "fails")]).toEqual([0, []]);
  }
  const written = server.effects().slice(before);
  expect(written.length).toBeGreaterThan(15);
  const foreign = written.filter(({ resource }) => !/holdfast-conform-|^stage\//.test(resource));
  expect(foreign).toEqual([]);
});

test("wrong names and flags are refused before anything is sent", async () => {
  const { server, source } = await furnished();
  const refused = async (...args: readonly string[]): Promise<string> => {
    const ended = await source.runHere(["conform", ...args]);
    expect(ended).toMatchObject({ code: 3, stdout: "" });
    return ended.stderr;
  };
  expect(await refused("--write", "--yes")).toContain("error: --workspace is missing\n");
  expect(await refused("--write-tenant")).toContain("error: --write is missing\n");
  expect(await refused("--ml-repo", "registry")).toContain("error: --ml-repo has no effect here\n");
  expect(await refused("--wait-timeout", "3")).toContain("error: --wait-timeout has no effect here\n");
  const absent = ["--write", "--yes", "--workspace", "dev:absent"];
  expect(await refused(...absent)).toContain("error: there is no workspace dev:absent, or this token cannot see it\n");
  expect(server.effects()).toEqual([]);
});

test("what is required and does not hold is exit 1, and with --strict also what is not required", async () => {
  const { server } = await furnished();
  await (await sourceOf(everyKind, server)).runHere(["apply", "--yes", "--sink", "file"]);
  const run = async (check: string, ...flags: readonly string[]): Promise<Ended> => {
    const { url } = await defectiveServer(server, conformDefects[check] ?? {});
    return (await sourceOf({}, { url, token: server.token })).runHere(["conform", ...flags], { COLUMNS: "80" });
  };
  const broken = await run("bad-token");
  expect(broken.code).toBe(1);
  expect(broken.stdout).toContain("does not conform: ");
  expect(broken.stdout).toContain(
    "\nDoes not hold\n  x bad-token (1): a token that was never issued is answered 401\n      found: it is answered with success\n",
  );
  expect((await run("server-time")).code).toBe(0);
  expect((await run("server-time", "--strict")).code).toBe(1);
});

test("a token that sees little is no failure: what it may not see is named", async () => {
  const { server } = await furnished();
  await (await sourceOf(everyKind, server)).runHere(["apply", "--yes", "--sink", "file"]);
  const permission = { resource_fqn: "dev:web", resource_type: "workspace", role_id: "workspace-viewer" };
  const manifest = { type: "virtual-account", name: "viewer", permissions: [permission] };
  const { token } = await server.call("PUT", "/api/svc/v1/virtual-accounts", { manifest });
  const source = await sourceOf({}, { url: server.url, token });
  const ended = await source.runHere(["conform", "--dry-run", "-o", "json"]);
  expect([ended.code, named(reportIn(ended), "fails")]).toEqual([0, []]);
  const forbidden = reportIn(ended).checks.filter(({ reason }) => reason?.startsWith("this token may not"));
  expect(forbidden.map(({ check }) => check)).toEqual(expect.arrayContaining(["extension-E18", "extension-E17"]));
});

test("where a dry run deploys, no second one is sent; and a model that has versions is not posted", async () => {
  const { server } = await furnished();
  await (await sourceOf(everyKind, server)).runHere(["apply", "--yes", "--sink", "file"]);
  const ignoring = await defectiveServer(server, conformDefects["dry-run"] ?? {});
  const at = async ({ url }: { readonly url: string }, ...flags: readonly string[]): Promise<Ended> =>
    (await sourceOf({}, { url, token: server.token })).runHere(["conform", "-o", "json", ...flags]);
  const ended = await at(ignoring, "--dry-run");
  expect(ended.code).toBe(1);
  const isDryRun = /^PUT \/api\/svc\/v1\/(?:apps|clusters|virtual-accounts|teams)$/;
  expect(ignoring.asked.filter((one) => isDryRun.test(one))).toEqual(["PUT /api/svc/v1/apps"]);
  const sound = await defectiveServer(server, {});
  const posts = () => sound.asked.filter((one) => one === "POST /api/ml/v1/model-versions");
  for (let times = 0; times < 2; times += 1) await at(sound, ...WRITE, "--yes");
  expect(posts()).toHaveLength(1);
});

test("a control plane that answers ids and texts of its own making does no harm", async () => {
  const { server } = await furnished();
  await (await sourceOf(everyKind, server)).runHere(["apply", "--yes", "--sink", "file"]);
  const odd = "\u001b[31m".repeat(100_000);
  const { url } = await defectiveServer(server, {
    reply: ({ body }) => {
      for (const row of Array.isArray(body.data) ? body.data : []) {
        Object.assign(row, { id: "..", clusterId: "..", fqn: odd, artifact_id: ".", model_id: ".", prompt_id: "." });
      }
    },
  });
  const source = await sourceOf({}, { url, token: server.token });
  const ended = await source.runHere(["conform", "--dry-run"], { COLUMNS: "80" });
  expect(ended.stderr).toBe("");
  expect(ended.stdout).not.toContain("\u001b");
  expect(ended.stdout.length).toBeLessThan(20_000);
  expect(await source.runHere(["conform", "--application", ".."])).toMatchObject({ code: 3 });
});

test("a server that is no control plane, or gives no answer, is said to be so", async () => {
  const answering = (status: number, headers: { readonly [name: string]: string }, body: string) =>
    listen(createServer((_, response) => response.writeHead(status, headers).end(body)));
  const source = await sourceOf({});
  const run = (url: string, ...flags: readonly string[]): Promise<Ended> =>
    source.runHere(["conform", "--server", url, "--connect-timeout", "1", ...flags], { HOLDFAST_TOKEN: "some-token" });
  const page = await run(
    await answering(200, { "content-type": "text/html" }, "<!doctype html><title>Welcome</title>"),
  );
  expect(page).toMatchObject({ code: 1, stderr: "" });
  expect(page.stdout).toContain("and the reply is not JSON (text/html)");
  expect(page.stdout).toContain("\n→ check that --server is the control plane's own address");
  const redirect = await run(await answering(302, { location: "https://login.example.com/" }, ""));
  expect(redirect).toMatchObject({ code: 1, stdout: expect.stringContaining("a redirect, which is not followed") });
  const huge = await answering(200, { "content-type": "application/json" }, " ".repeat(9 * 1024 * 1024));
  expect(await run(huge)).toMatchObject({ code: 1, stdout: expect.stringContaining("does not conform") });
  const silent = await listen(createServer(() => undefined));
  expect(await run(silent, "--timeout", "2")).toMatchObject({
    code: 9,
    stdout: expect.stringMatching(/^\S+ is not known to conform: 0 of 20 .* the time limit of 2 s is over\n$/),
  });
  expect(await run("http://127.0.0.1:1")).toMatchObject({
    code: 1,
    stderr: expect.stringContaining("cannot be reached"),
  });
  const { server } = await furnished();
  expect(await run(server.url)).toMatchObject({
    code: 4,
    stdout: expect.stringMatching(/^\S+ is not known to conform: 0 of 20 .* answered 401/),
    stderr: expect.stringContaining("check the token"),
  });
  expect(await source.runHere(["conform"])).toMatchObject({
    code: 3,
    stderr: expect.stringContaining("no control plane is named"),
  });
});

test("the page about it lists each check as it is", async () => {
  const page = await readFile("docs/conform.md", "utf8");
  const rows = conformChecks.map(({ check, operations, part, required = part === "interface", asserts, without }) => {
    const numbers = operations.map((name) => operation(name).number).join(", ");
    return `| \`${check}\` | ${numbers} | ${required ? "yes" : "no"} | ${asserts} | ${without} |`;
  });
  expect(page.split("\n").filter((line) => line.startsWith("| `") && line.split(" | ").length === 5)).toEqual(rows);
});
