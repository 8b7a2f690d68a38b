import { appendFile, readFile, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import type { Deployment } from "kubernetes-types/apps/v1.d.ts";
import { expect, inject, test } from "vitest";
import { parse } from "yaml";
import { startBreakableProxy } from "../support/breakable-proxy.ts";
import { temporaryFolder } from "../support/folder.ts";
import { serveGit } from "../support/git-http.ts";
import { team } from "../support/manifests.ts";
import { type Running, startNode } from "../support/process.ts";
import { type Server, serve } from "../support/server.ts";
import { sourceOf } from "../support/source.ts";
import { type Upstream, upstreamOf } from "../support/upstream.ts";

/** A line of the daemon's log. */
type Line = {
  readonly level: string;
  readonly event: string;
  readonly target?: string;
  readonly revision?: string;
  /** Those that differ from their defaults, in the first line. */
  readonly flags?: object;
  readonly durationMs?: number;
};

/** Starts what the container of the shipped Deployment runs, with its configuration and its mounts below one folder. */
async function startDeployed(
  server: Server,
  upstream: Upstream,
): Promise<{ readonly daemon: Running; readonly config: string }> {
  const { url } = await serveGit(dirname(upstream.folder));
  const volume = await temporaryFolder();
  const inVolume = (text: string) =>
    text
      .replaceAll("/etc/holdfast", volume)
      .replaceAll("/run/secrets/holdfast", volume)
      .replace("0.0.0.0:7072", "127.0.0.1:0");
  const config = inVolume(await readFile("deploy/kubernetes/holdfast.yaml", "utf8"))
    .replace("https://platform.example.com", server.url)
    .replace(/https:\/\/git\S+/, `${url}${upstream.folder.slice(dirname(upstream.folder).length)}/.git`);
  const files = { "holdfast.yaml": config, token: server.token, "git-token": "git", "ui-token": "ui" };
  for (const [file, text] of Object.entries(files)) await writeFile(join(volume, file), text);
  await writeFile(join(volume, "state-key"), Buffer.alloc(32, 1).toString("base64"));
  const deployment: Deployment = parse(await readFile("deploy/kubernetes/deployment.yaml", "utf8"));
  const { args = [], env = [] } = deployment.spec?.template.spec?.containers[0] ?? {};
  const variables = Object.fromEntries(env.map(({ name, value = "" }) => [name, inVolume(value)]));
  const daemon = startNode([inject("holdfast"), ...args.map(inVolume)], {
    cwd: volume,
    env: { ...variables, HOLDFAST_STATE: join(volume, "state"), HOLDFAST_ALLOW_PRIVILEGE: "true" },
  });
  return { daemon, config: join(volume, "holdfast.yaml") };
}

/** Reads lines of JSON as a log collector does: each an object by itself, with no name twice, that has time, level and text. */
function readLines(text: string): readonly Line[] {
  expect(text).toMatch(/\n$/);
  return text
    .slice(0, -1)
    .split("\n")
    .map((line) => {
      const entry = JSON.parse(line);
      expect(JSON.stringify(entry)).toBe(line);
      expect(entry).toMatchObject({
        time: expect.stringMatching(/^\d{4}-\d\d-\d\dT[\d:.]+Z$/),
        level: expect.stringMatching(/^(?:info|warn|error)$/),
        event: expect.stringMatching(/^[a-z-]+$/),
        msg: expect.any(String),
      });
      return entry;
    });
}

test("what the shipped Deployment runs writes one stream: each line of stdout is JSON, and stderr is empty", async () => {
  const server = await serve();
  const upstream = await upstreamOf({ "ml.yaml": team("ml") });
  const wire = await startBreakableProxy(Number(new URL(server.url).port));
  const { daemon, config } = await startDeployed({ ...server, url: `http://127.0.0.1:${wire.port}` }, upstream);
  await daemon.shows("stdout", /"event":"applied"/);
  await wire.disconnect();
  daemon.kill("SIGHUP");
  await daemon.shows("stdout", /"event":"server-unreachable"/);
  await wire.restore();
  await daemon.shows("stdout", /"event":"server-reachable"/);
  const commit = await upstream.commit({ "web.yaml": team("web"), "broken.yaml": "type: team\nname: [\n" });
  daemon.kill("SIGHUP");
  await daemon.shows("stdout", /"event":"incomplete"/);
  await appendFile(config, "# changed\n");
  await daemon.shows("stdout", /"event":"configuration-reloaded"/);
  daemon.kill("SIGTERM");
  const { code, stdout, stderr } = await daemon.ended;
  expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
  const lines = readLines(stdout);
  expect(lines[0]).toMatchObject({
    event: "started",
    version: expect.any(String),
    node: process.versions.node.replace(/^/, "v"),
    state: expect.stringMatching(/state$/),
    schema: expect.stringMatching(/^\d{3}-/),
    keys: [expect.stringMatching(/^[0-9a-f]{8}$/)],
    targets: ["platform"],
    tls: false,
    caFile: false,
  });
  expect(Object.keys(lines[0]?.flags ?? {}).toSorted()).toEqual(["allowPrivilege", "config", "listen", "state"]);
  expect(lines.filter(({ event }) => event === "message")).toEqual([]);
  expect(lines.find(({ event }) => event === "server-reachable")?.durationMs).toSatisfy(Number.isInteger);
  expect(lines.find(({ event }) => event === "incomplete")).toMatchObject({ target: "platform", revision: commit });
});

test("a watch that cannot start, or for people, writes its log to stdout too; with -o its result stands there", async () => {
  const { folder: cwd } = await sourceOf({ "ml.yaml": team("ml") });
  const ended = (...args: readonly string[]) => startNode([inject("holdfast"), "watch", ...args], { cwd }).ended;
  const [plain, pretty, text, help] = await Promise.all([
    ended(),
    ended("--log-format", "pretty"),
    ended("-o", "text"),
    ended("--help"),
  ]);
  expect(plain).toMatchObject({ code: 3, stderr: "" });
  const [failure, ...more] = readLines(plain.stdout).filter(({ level }) => level === "error");
  expect([failure, more]).toEqual([expect.objectContaining({ event: "failed", target: "default" }), []]);
  expect(pretty).toMatchObject({ code: 3, stderr: "" });
  expect(pretty.stdout).toMatch(/^[\d:.]+ ERROR no control plane is named[^\n]+\n$/m);
  expect(text).toMatchObject({ code: 3, stdout: "", stderr: expect.stringMatching(/^error: /m) });
  expect(help).toMatchObject({ code: 0, stdout: expect.stringMatching(/^Usage: /), stderr: "" });
});
