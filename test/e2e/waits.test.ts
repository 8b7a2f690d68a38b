import { once } from "node:events";
import { createServer } from "node:net";
import { describe, expect, test } from "vitest";
import { dropBefore, faultProxy, tooManyRequests } from "../support/fault-proxy.ts";
import { planOf, reportOf } from "../support/json-output.ts";
import { everyKind, foundations, prompt, service } from "../support/manifests.ts";
import { rolloutProxy } from "../support/rollout-proxy.ts";
import { serve } from "../support/server.ts";
import { sourceOf } from "../support/source.ts";

const moment = String.raw`\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ`;

async function proxied() {
  const server = await serve();
  const proxy = await faultProxy(server);
  return { server, proxy, source: await sourceOf(everyKind, proxy.server) };
}

/** The lines that say what was waited for. */
function waits(stderr: string): readonly string[] {
  return stderr.split("\n").filter((line) => line.startsWith("waiting: "));
}

describe("a pause that a control plane asks for", () => {
  test("F81 is said after five seconds, in one line, and sat out", async () => {
    const { proxy, source } = await proxied();
    proxy.inject("listTeams", tooManyRequests(7), { times: 1 });
    const ended = await source.runHere(["plan", "-o", "json"], {}, { once: "the proxy asks for one pause" });
    expect(ended.code).toBe(0);
    expect(planOf(ended)).toMatchObject({ complete: true, summary: { create: 8 } });
    const [line, ...more] = waits(ended.stderr);
    expect(more).toEqual([]);
    expect(line).toMatch(
      new RegExp(`^waiting: ${proxy.url} asks for a pause of 7 s \\(429: too many requests\\), until ${moment}$`),
    );
  });

  test("F81 is not said where it is short", async () => {
    const { proxy, source } = await proxied();
    proxy.inject("listTeams", tooManyRequests(1), { times: 1 });
    expect(await source.runHere(["plan"])).toMatchObject({ code: 0, stderr: "" });
  });

  test("F81 of an hour is an error with the server's word, and the next run asks again", async () => {
    const { server, proxy, source } = await proxied();
    const { stop } = proxy.inject(/./, tooManyRequests(3600));
    for (const command of [["plan"], ["drift"]]) {
      const ended = await source.runHere(command);
      expect(ended.code).toBe(1);
      expect(ended.stderr).toMatch(
        new RegExp(
          `answered 429: too many requests; it asks to wait 3600 s, until ${moment}, and --retry-wait is 60 s`,
        ),
      );
    }
    stop();
    const lease = proxy.inject("putLease", tooManyRequests(3600));
    const ended = await source.runHere(["apply", "--yes"]);
    expect(ended).toMatchObject({ code: 1, stdout: "" });
    expect(ended.stderr).toMatch(
      /^Applying to \S+\nerror: nothing was written: the lease .* answered 429: .* asks to wait 3600 s/,
    );
    expect(server.effects()).toEqual([]);
    lease.stop();
    expect(await source.runHere(["apply", "--yes"])).toMatchObject({ code: 0 });
  });

  test("F81 in the middle of writing stops the rest, which the next run makes", async () => {
    const { server, proxy, source } = await proxied();
    const { hits } = proxy.inject("putTeam", tooManyRequests(3600), { times: 1, dryRun: false });
    const ended = await source.runHere(["apply", "--yes", "--concurrency", "1", "-o", "json"]);
    expect(ended.code).toBe(7);
    expect(hits()).toBe(1);
    const { outcomes } = reportOf(ended);
    expect(outcomes.find(({ identity }) => identity === "team/ml")).toMatchObject({
      result: "failed",
      error: { status: 429, message: expect.stringContaining("it asks to wait 3600 s") },
    });
    expect(await source.runHere(["apply", "--yes"])).toMatchObject({ code: 0 });
    const resources = server.effects().map(({ resource }) => resource);
    expect(new Set(resources).size).toBe(resources.length);
  });

  test("F81 may be made shorter by --retry-wait, and by its twin in the environment", async () => {
    const { proxy, source } = await proxied();
    proxy.inject("listTeams", tooManyRequests(3));
    const says = (seconds: string) => expect.stringContaining(`and --retry-wait is ${seconds} s`);
    expect(await source.runHere(["plan", "--retry-wait", "2"])).toMatchObject({ code: 1, stderr: says("2") });
    expect(await source.runHere(["plan"], { HOLDFAST_RETRY_WAIT: "0.5" })).toMatchObject({
      code: 1,
      stderr: says("0.5"),
    });
    expect(await source.runHere(["plan", "--retry-wait", "soon"])).toMatchObject({ code: 3 });
  });

  test.each([
    ["a read", "listTeams", "plan"],
    ["a write", "putTeam", "apply"],
  ] as const)("F81 before %s ends with the time limit of the command", async (_, operation, command) => {
    const { proxy, source } = await proxied();
    proxy.inject(operation, tooManyRequests(50), { dryRun: false });
    const flags = command === "apply" ? ["--yes", "--no-wait"] : [];
    const started = performance.now();
    const ended = await source.runHere([command, "--timeout", "6", ...flags]);
    expect(ended.code).toBe(9);
    expect(ended.stderr).toContain("error: the time limit of 6 s is over");
    expect(waits(ended.stderr).length).toBeLessThanOrEqual(1);
    expect(performance.now() - started).toBeLessThan(50_000);
  });
});

test("F81 a control plane that cannot be reached is said to be waited for, and until when", async () => {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const address = server.address();
  server.close();
  await once(server, "close");
  const url = `http://127.0.0.1:${typeof address === "object" ? address?.port : ""}`;
  const source = await sourceOf(foundations);
  const ended = await source.runHere(
    ["plan", "--connect-timeout", "12"],
    { HOLDFAST_SERVER: url, HOLDFAST_TOKEN: "token" },
    { once: "whether it waits long enough to say so depends on the time" },
  );
  expect(ended.code).toBe(1);
  expect(ended.stderr).toMatch(
    new RegExp(
      String.raw`^waiting: ${url} cannot be reached \(ECONNREFUSED\): trying, until ${moment}\nerror: .*ECONNREFUSED\)\n {2}→ .*\n$`,
    ),
  );
});

test("F81 rollouts are said to be waited for, and until when", async () => {
  const server = await serve();
  const proxy = await rolloutProxy(server);
  proxy.set("stuck");
  const source = await sourceOf(
    { ...foundations, "services/api.yaml": service("api"), "services/worker.yaml": service("worker") },
    server,
  );
  const apply = source.start(["apply", "--yes"], { HOLDFAST_SERVER: proxy.url });
  await apply.shows("stderr", /^waiting: .*rollout.*\n/m);
  proxy.set("healthy");
  const ended = await apply.ended;
  expect(ended.code).toBe(0);
  // On a slow machine, a write may be waited for too.
  const said = waits(ended.stderr).filter((line) => line.includes("rollout"));
  expect(said).toEqual([expect.stringMatching(new RegExp(`^waiting: 2 rollouts, until ${moment} at the latest$`))]);
});

test("F81 a write that may still arrive is said to be waited for, and until when", async () => {
  const server = await serve();
  const proxy = await faultProxy(server);
  const source = await sourceOf({ ...foundations, "prompt.yaml": prompt("greeting", "Be kind.") }, proxy.server);
  proxy.inject("putPromptVersion", dropBefore, { times: 1, dryRun: false });
  const ended = await source.runHere(["apply", "--yes", "--request-timeout", "7"]);
  expect(ended.code).toBe(0);
  expect(waits(ended.stderr)).toEqual([
    expect.stringMatching(
      new RegExp(
        `^waiting: the write of chat_prompt/registry/greeting may still arrive \\(.*\\), until ${moment} at the latest$`,
      ),
    ),
  ]);
});
