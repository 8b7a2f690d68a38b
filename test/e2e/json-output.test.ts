import { once } from "node:events";
import { readFile, writeFile } from "node:fs/promises";
import { createServer } from "node:net";
import { join } from "node:path";
import { describe, expect, onTestFinished, test } from "vitest";
import { startHoldingProxy } from "../support/holding-proxy.ts";
import { everyKind, foundations, service, team } from "../support/manifests.ts";
import { faultsOf } from "../support/output-schemas.ts";
import type { Ended } from "../support/process.ts";
import { serve } from "../support/server.ts";
import { sourceOf } from "../support/source.ts";

const commands = ["validate", "plan", "apply", "drift"] as const;
type Command = (typeof commands)[number];

/** The document of a command that ended with its result. */
function expectResult(command: Command, code: number, ended: Ended): void {
  expect(ended.code).toBe(code);
  expect(faultsOf(command, ended.stdout)).toEqual([]);
}

/** The document of a command that ended without one. */
function expectFailure(code: number, reason: string, ended: Ended): void {
  expect([ended.code, ended.stdout]).toEqual([code, expect.stringMatching(/^\{/)]);
  expect(faultsOf("failure", ended.stdout)).toEqual([]);
  expect(JSON.parse(ended.stdout).error.code).toBe(reason);
}

const json = ["-o", "json"];
const argsOf = (command: Command): readonly string[] => [command, ...(command === "apply" ? ["--yes"] : []), ...json];

const anyToken = { HOLDFAST_TOKEN: "any" };

/** A server that takes connections and never answers. */
async function silentServer(): Promise<{ readonly url: string; readonly connected: Promise<unknown> }> {
  const server = createServer().listen(0, "127.0.0.1");
  onTestFinished(() => void server.close());
  await once(server, "listening");
  const address = server.address();
  if (address === null || typeof address === "string") throw new TypeError("it does not listen on a port");
  return { url: `http://127.0.0.1:${address.port}`, connected: once(server, "connection") };
}

describe.each(commands)("%s -o json", (command) => {
  test("ends with 3 and a document for flags and manifests that are wrong", async () => {
    const source = await sourceOf({ ...foundations, "team.yaml": "type: team\nname: ml\nmembers: []\nmembres: []\n" });
    expectFailure(3, "invalid", await source.runHere([...argsOf(command), "--no-such-flag"]));
    const ended = await source.runHere(argsOf(command), { HOLDFAST_SERVER: "http://127.0.0.1:9" });
    if (command === "validate") expectResult(command, 3, ended);
    else expectFailure(3, "invalid", ended);
    expect(JSON.parse(ended.stdout).diagnostics).toMatchObject([{ file: "team.yaml" }, { file: "team.yaml" }]);
  });

  test("ends with 0 and its result where all is well", async () => {
    const source = await sourceOf(foundations, await serve());
    expect(await source.runHere(["apply", "--yes"])).toMatchObject({ code: 0 });
    expectResult(command, 0, await source.runHere(argsOf(command)));
  });
});

test("JSON is answered whatever is wrong with the rest of the command line", async () => {
  const source = await sourceOf({ "holdfast.yaml": "ignore: yes\n" });
  const all: readonly (readonly [readonly string[], { readonly [name: string]: string }])[] = [
    [["plan", "--no-such-flag", "--output=json"], {}],
    [["plan", "-ojson", "--timeout", "soon"], {}],
    [["plan", "--no-such-flag"], { HOLDFAST_OUTPUT: "json" }],
    [["plan", ...json], { HOLDFAST_TIMEOUT: "soon" }],
    [["plan", ...json, "nowhere"], {}],
    [["plann", ...json], {}],
  ];
  for (const [args, env] of all) expectFailure(3, "invalid", await source.runHere(args, env));
  expect(JSON.parse((await source.runHere(["plan", ...json])).stdout).diagnostics).toMatchObject([
    { file: "holdfast.yaml" },
  ]);
  expectResult("validate", 3, await source.runHere(["validate", ...json]));
});

test("what is not asked for in JSON is not answered in it", async () => {
  const source = await sourceOf({});
  for (const args of [
    ["plan", "-o", "json", "-o", "text", "--nope"],
    ["plan", "--nope", "--", "-o", "json"],
  ]) {
    expect(await source.runHere(args)).toMatchObject({ code: 3, stdout: "" });
  }
});

describe.each(["plan", "apply", "drift"] as const)("%s -o json of a control plane", (command) => {
  test("ends with 3 and a document without a server", async () => {
    expectFailure(3, "invalid", await (await sourceOf(foundations)).run(argsOf(command)));
  });

  test("ends with 4 and a document for a token that is refused, or not there", async () => {
    const source = await sourceOf(foundations, await serve());
    expectFailure(4, "unauthorized", await source.runHere(argsOf(command), { HOLDFAST_TOKEN: "wrong" }));
    expectFailure(4, "unauthorized", await source.runHere(argsOf(command), { HOLDFAST_TOKEN: "" }));
  });

  test("ends with 1 and a document for a server that is not reached", async () => {
    const source = await sourceOf(foundations);
    const env = { ...anyToken, HOLDFAST_SERVER: "http://127.0.0.1:9" };
    expectFailure(1, "error", await source.runHere([...argsOf(command), "--connect-timeout", "0.1"], env));
  });

  test("ends with 9 and a document when its time is over", async () => {
    const source = await sourceOf(foundations);
    const { url } = await silentServer();
    expectFailure(
      9,
      "timeout",
      await source.runHere([...argsOf(command), "--timeout", "1"], { ...anyToken, HOLDFAST_SERVER: url }),
    );
  });

  test("ends with 130 and a document when it is interrupted", async () => {
    const { url, connected } = await silentServer();
    const running = (await sourceOf(foundations)).start(argsOf(command), { ...anyToken, HOLDFAST_SERVER: url });
    await connected;
    running.kill("SIGINT");
    running.kill("SIGINT");
    expectFailure(130, "interrupted", await running.ended);
  });
});

describe("the other ends have a document too", () => {
  test("2: changes, and drift", async () => {
    const server = await serve();
    const source = await sourceOf({ ...foundations, "team.yaml": team("ml") }, server);
    await source.runHere(["apply", "--yes"]);
    await server.call("PUT", "/api/svc/v1/teams", {
      manifest: { type: "team", name: "ml", members: ["alan@example.com"] },
    });
    expectResult("plan", 2, await source.runHere([...argsOf("plan"), "--detailed-exitcode"]));
    expectResult("drift", 2, await source.runHere(argsOf("drift")));
  });

  test("5: a source that was emptied", async () => {
    const source = await sourceOf({ "team.yaml": team("ml") }, await serve());
    await source.runHere(["apply", "--yes"]);
    await source.remove("team.yaml");
    for (const command of ["plan", "apply"] as const)
      expectFailure(5, "refused", await source.runHere(argsOf(command)));
  });

  test("6: a plan that is stale", async () => {
    const source = await sourceOf({ "team.yaml": team("ml") }, await serve());
    await source.runHere(["plan", "--out", "plan.json"]);
    expect(faultsOf("plan", await readFile(join(source.folder, "plan.json"), "utf8"))).toEqual([]);
    await source.write("team.yaml", team("ml", "alan@example.com"));
    expectFailure(6, "stale", await source.runHere(["apply", "--plan", "plan.json", ...json]));
    await writeFile(join(source.folder, "plan.json"), "{}");
    expectFailure(3, "invalid", await source.runHere(["apply", "--plan", "plan.json", ...json]));
  });

  test("7: an apply in part", async () => {
    const files = { ...everyKind, "services/api.yaml": service("api", "env:\n  A: secret://none:none:none\n") };
    expectResult("apply", 7, await (await sourceOf(files, await serve())).run([...argsOf("apply"), "--yes"]));
  });

  test("8: another writer", async () => {
    const server = await serve();
    const [gate, source] = [await startHoldingProxy(server), await sourceOf(foundations, server)];
    const held = gate.hold("PUT", "/api/svc/v1/clusters");
    source.start(["apply", "--yes"], { HOLDFAST_SERVER: gate.url });
    await held;
    const other = await sourceOf(foundations, server);
    expectFailure(8, "locked", await other.runHere(argsOf("apply")));
  });
});

test("watch -o json --log-format json writes JSON alone, one event a line, to its end", async () => {
  const source = await sourceOf({ ...foundations, "stray.yaml": "hello: world\n" }, await serve());
  const watch = source.start(["watch", ...json, "--log-format", "json", "--sink", "file"]);
  await watch.shows("stdout", /"event":"idle"/);
  watch.kill("SIGTERM");
  const ended = await watch.ended;
  expect(ended.code).toBe(0);
  const events = ended.stdout.trimEnd().split("\n");
  expect(events.flatMap((line) => faultsOf("watch", line))).toEqual([]);
  const names = events.map((line) => JSON.parse(line).event);
  expect(new Set(names)).toEqual(new Set(["started", "read", "lease", "outcome", "applied", "idle", "stopped"]));
  const logged = ended.stderr
    .trimEnd()
    .split("\n")
    .map((line) => JSON.parse(line));
  for (const entry of logged) {
    expect(Object.keys(entry)).toEqual(
      expect.arrayContaining(["time", "level", "event", "revision", "identity", "msg"]),
    );
  }
  // What ends before a command begins is told in JSON too.
  const wrong = await source.run(["plan", "--no-such-flag", "--log-format=json"]);
  expect([wrong.code, JSON.parse(wrong.stderr.split("\n")[0] ?? "").level]).toEqual([3, "error"]);
  for (const line of wrong.stderr.trimEnd().split("\n")) expect(JSON.parse(line).event).toBe("message");
});

test("apply --log-format json logs its diagnostics and outcomes as events, each once, and requests at level debug", async () => {
  const source = await sourceOf({ ...foundations, "bad.yaml": "type: team\nname: bad\n" }, await serve());
  const logged = async (...flags: readonly string[]) => {
    const { code, stdout, stderr } = await source.run([
      "apply",
      "--yes",
      "-o",
      "json",
      "--log-format",
      "json",
      ...flags,
    ]);
    expect(() => JSON.parse(stdout)).not.toThrow();
    return {
      code,
      entries: stderr
        .trimEnd()
        .split("\n")
        .map((line) => JSON.parse(line)),
    };
  };
  const refused = await logged();
  expect(refused.code).toBe(3);
  expect(refused.entries.map(({ event }) => event)).toEqual(expect.arrayContaining(["read", "failed"]));
  expect(refused.entries.filter(({ event }) => event === "outcome")).toEqual([]);
  const { entries } = await logged("--partial", "--log-level", "debug");
  const told = entries.filter(({ event }) => event === "outcome");
  expect(told.map(({ identity, result }) => `${identity} ${result}`).toSorted()).toEqual([
    "cluster/dev created",
    "ml-repo/registry created",
    "team/bad invalid",
    "workspace/dev:web created",
  ]);
  expect(entries.find(({ event }) => event === "read").diagnostics).toContainEqual(
    expect.objectContaining({ severity: "error", file: "bad.yaml" }),
  );
  expect(entries.filter(({ event }) => event === "applied" || event === "incomplete")).toEqual([
    expect.objectContaining({ event: "incomplete", durationMs: expect.any(Number) }),
  ]);
  expect(entries).toContainEqual(expect.objectContaining({ event: "request", level: "debug" }));
  for (const entry of entries) expect(entry).toMatchObject({ event: expect.any(String), msg: expect.any(String) });
});
