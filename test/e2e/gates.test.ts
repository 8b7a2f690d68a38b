import { createHmac } from "node:crypto";
import { readFile, writeFile } from "node:fs/promises";
import { join, relative } from "node:path";
import { describe, expect, test } from "vitest";
import { controlPlaneVariants } from "../support/control-plane-variants.ts";
import { eventually } from "../support/eventually.ts";
import { type Fault, faultProxy } from "../support/fault-proxy.ts";
import { temporaryFolder } from "../support/folder.ts";
import { JUDGE_KEY, type Judgement, startJudge } from "../support/gate-judge.ts";
import type { Received } from "../support/http-receiver.ts";
import { planOf, reportOf, statusOf } from "../support/json-output.ts";
import { foundations, model, prompt } from "../support/manifests.ts";
import { startMetricsProxy } from "../support/metrics-proxy.ts";
import { serve } from "../support/server.ts";
import { operatorOf, upstreamOf } from "../support/upstream.ts";

function isSigned({ headers, body }: Received): boolean {
  return headers["x-hub-signature-256"] === `sha256=${createHmac("sha256", JUDGE_KEY).update(body).digest("hex")}`;
}

const writesOf = (server: { effects: () => readonly { resource: string }[] }, resource: string) =>
  server.effects().filter((effect) => effect.resource.startsWith(resource)).length;

describe.each(controlPlaneVariants)("a gate that asks a service, on a $name control plane", (plane) => {
  test("blocks a prompt until the service lets exactly its content pass, and no flag skips it", async () => {
    const server = await plane.serve();
    const judge = await startJudge();
    const upstream = await upstreamOf({ ...foundations, "prompt.yaml": prompt("greeting", "Be kind.") });
    const target = { name: "prod", server: server.url, gate: { match: "chat_prompt/**", ...judge.gate } };
    const { runHere } = await operatorOf(
      { sources: [{ name: "ml", url: upstream.folder }], targets: [target] },
      server,
    );

    judge.says(false, "3 of 12 cases", 0.25);
    const planned = await runHere(["plan", "-o", "json"]);
    expect(planOf(planned).steps.find(({ kind }) => kind === "chat_prompt")).toMatchObject({
      action: "block",
      reason: "gate",
      gates: [{ verdict: "fail", score: 0.25, summary: "3 of 12 cases" }],
    });
    const text = await runHere(["plan"]);
    expect(text.stdout.replace(/\s+/g, " ")).toContain("gate: url http://127.0.0.1");
    expect(text.stdout).toContain("3 of 12 cases");

    const applied = await runHere(["apply", "--yes", "--allow-adopt", "--allow-privilege", "-o", "json"]);
    expect(applied.code).toBe(7);
    const outcome = reportOf(applied).outcomes.find(({ kind }) => kind === "chat_prompt");
    expect(outcome).toMatchObject({ result: "blocked", error: { code: "gate" } });
    expect(outcome?.error?.message).toContain("3 of 12 cases");
    expect(writesOf(server, "chat_prompt/")).toBe(0);

    expect(judge.received.every(isSigned)).toBe(true);
    const asked = JSON.parse(judge.received[0]?.body ?? "");
    expect(asked).toEqual({
      identity: expect.stringMatching(/^chat_prompt\/.*greeting$/),
      version: null,
      digest: expect.stringMatching(/^sha256:[0-9a-f]{64}$/),
      at: expect.any(String),
    });

    const status = await runHere(["status", "-o", "json"]);
    expect(JSON.parse(status.stdout).targets[0].gates).toMatchObject({
      ...{ passed: 0, failed: 1, unanswered: 0 },
      closed: [{ verdict: "fail", score: 0.25, summary: "3 of 12 cases", at: expect.any(String) }],
    });
    const red = await runHere(["why", "chat_prompt/registry/greeting"]);
    expect(red.stdout).toContain("gate     failed at ");
    expect(red.stdout).toContain("3 of 12 cases");

    judge.says(true, "12 of 12 cases", 1);
    const open = await runHere(["plan"]);
    expect(open.stdout).toContain("12 of 12 cases");
    expect(await runHere(["apply", "--yes"])).toMatchObject({ code: 0 });
    expect(writesOf(server, "chat_prompt/")).toBe(1);

    expect((await runHere(["status"])).stdout).toContain("\n  gates     1 passed\n");
    const green = await runHere(["why", "chat_prompt/registry/greeting", "-o", "json"]);
    expect(JSON.parse(green.stdout).gates).toMatchObject([{ verdict: "pass", score: 1, summary: "12 of 12 cases" }]);

    // What is live stays when the gate closes, and is not asked about; another content is.
    judge.says(false, "the cases have changed");
    const before = judge.received.length;
    expect(await runHere(["apply", "--yes"])).toMatchObject({ code: 0 });
    expect(judge.received.length).toBe(before);
    await upstream.commit({ "prompt.yaml": prompt("greeting", "Be brief.") });
    const closed = await runHere(["apply", "--yes"]);
    expect(closed.code).toBe(7);
    expect(writesOf(server, "chat_prompt/")).toBe(1);
    const digests = judge.received.map(({ body }) => JSON.parse(body).digest);
    expect(new Set(digests).size).toBe(2);
  });
});

test("each report names the line of the operator's configuration that has a closed gate", async () => {
  const server = await serve();
  const judge = await startJudge();
  const upstream = await upstreamOf({ ...foundations, "prompt.yaml": prompt("greeting", "Be kind.") });
  const gate = [{ metric: "accuracy", atLeast: 0.9 }, judge.gate];
  const target = { name: "prod", server: server.url, gate };
  const sources = [{ name: "ml", url: upstream.folder }];
  const { config, folder, runHere } = await operatorOf({ sources, targets: [target] }, server);
  judge.says(false, "3 of 12 cases");
  const lines = (await readFile(config, "utf8")).split("\n");
  const line = lines.findIndex((text) => text.includes(`- url: ${judge.gate.url}`)) + 1;
  const place = { file: relative(folder, config), line };
  const named = `url ${judge.gate.url} (${place.file}:${place.line}): 3 of 12 cases`;
  for (const [args, code] of [
    [["plan"], 0],
    [["plan", "-o", "markdown"], 0],
    [["apply", "--yes"], 7],
    [["status"], 0],
    [["why", "chat_prompt/registry/greeting"], 0],
  ] as const) {
    const shown = await runHere(args);
    expect([args, shown.code, shown.stdout.replace(/\s+/g, " ")]).toEqual([args, code, expect.stringContaining(named)]);
  }
  const answered = { verdict: "fail", summary: "3 of 12 cases", place };
  const planned = planOf(await runHere(["plan", "-o", "json"]));
  expect(planned.steps.find(({ kind }) => kind === "chat_prompt")?.gates).toMatchObject([answered]);
  const { targets } = statusOf(await runHere(["status", "-o", "json"]));
  expect(targets[0]?.gates?.closed).toMatchObject([answered]);
  const { gates } = JSON.parse((await runHere(["why", "chat_prompt/registry/greeting", "-o", "json"])).stdout);
  expect(gates).toMatchObject([answered]);
});

test("whatever else a service answers is not green", async () => {
  const server = await serve();
  const judge = await startJudge();
  const upstream = await upstreamOf({ ...foundations, "prompt.yaml": prompt("greeting", "Be kind.") });
  const target = { name: "prod", server: server.url, gate: judge.gate };
  const { runHere } = await operatorOf({ sources: [{ name: "ml", url: upstream.folder }], targets: [target] }, server);
  expect(await runHere(["apply", "--yes"])).toMatchObject({ code: 7 });
  const good = JSON.stringify({ pass: true, summary: "fine" });
  const lies: readonly [Judgement, string][] = [
    [{ status: 302, type: "application/json", body: good }, "it redirects (302), which is not followed"],
    [{ status: 500, type: "application/json", body: good }, "it answered 500"],
    [{ status: 200, type: "text/html", body: good }, "its answer is not application/json"],
    [{ status: 200, type: "application/json", body: good + " ".repeat(70_000) }, "its answer is longer than 64 KiB"],
  ];
  for (const [judgement, why] of lies) {
    Object.assign(judge.judgement, judgement);
    const applied = await runHere(["apply", "--yes", "-o", "json"]);
    expect(applied.code).toBe(7);
    expect(applied.stdout).toContain(why);
  }
  expect(writesOf(server, "chat_prompt/")).toBe(0);
});

/** A model with a gate over a metric of what a first target runs; `production` is reached through a proxy. */
async function modelBehindMetric() {
  const [staging, production] = [await serve(), await serve()];
  const { url, metrics } = await startMetricsProxy(staging);
  const proxy = await faultProxy(production);
  const upstream = await upstreamOf({ ...foundations, "model.yaml": model("ranker") });
  const gate = { match: "model-version/**", metric: "ndcg", atLeast: 0.4, from: "staging" };
  const folder = await temporaryFolder();
  await writeFile(join(folder, "staging"), staging.token);
  await writeFile(join(folder, "production"), production.token);
  const { runHere, start } = await operatorOf({
    sources: [{ name: "ml", url: upstream.folder }],
    targets: [
      { name: "staging", server: url, tokenFile: join(folder, "staging") },
      { name: "production", server: proxy.url, tokenFile: join(folder, "production"), gate },
    ],
  });
  const args = (target: string) => ["apply", "--yes", "--target", target, "-o", "json"];
  const apply = (target: string) => runHere(args(target));
  const measure = (value: number) => metrics.set("ranker", [{ key: "ndcg", value, step: 1, timestamp: 1 }]);
  const status = async () => statusOf(await runHere(["status", "--target", "production", "-o", "json"])).targets[0];
  return { production, proxy, apply, begin: (target: string) => start(args(target)), measure, status };
}

describe("a gate over a metric", () => {
  test("reads the metrics of the version with the same content in another target, and holds back its users", async () => {
    const { production, apply, measure } = await modelBehindMetric();
    const early = await apply("production");
    expect(early.stdout).toContain("no version with this content is registered in target staging");
    expect(await apply("staging")).toMatchObject({ code: 0 });
    expect((await apply("production")).stdout).toContain("has no metric ndcg: it has none");
    measure(0.3);
    expect((await apply("production")).stdout).toContain("below 0.4");
    expect(writesOf(production, "model-version/")).toBe(0);
    measure(0.41);
    expect(await apply("production")).toMatchObject({ code: 0 });
    expect(writesOf(production, "model-version/")).toBe(1);
  });

  test("that falls after a killed apply has lost the reply of a write: it is settled, and written once", async () => {
    const { production, proxy, apply, begin, measure, status } = await modelBehindMetric();
    expect(await apply("staging")).toMatchObject({ code: 0 });
    measure(0.41);
    const running = { kill: (): unknown => undefined };
    const write = /^(?:PUT|POST) \/api\/ml\/v1\/model-versions/;
    const killAfter: Fault = async ({ forward, reply }) => {
      await forward();
      running.kill();
      reply.destroy();
    };
    const lost = proxy.inject(write, killAfter, { dryRun: false });
    const killed = begin("production");
    running.kill = () => killed.kill("SIGKILL");
    expect(await killed.ended).toMatchObject({ signal: "SIGKILL" });
    expect(lost.hits()).toBe(1);
    proxy.heal();
    expect(writesOf(production, "model-version/")).toBe(1);
    measure(0.3);
    const next = await apply("production");
    expect(next.code).toBe(0);
    const models = reportOf(next).outcomes.filter(({ kind }) => kind === "model-version");
    expect(models).toMatchObject([{ result: "unchanged", error: null }]);
    expect(writesOf(production, "model-version/")).toBe(1);
    // The receipt of the write is in the state, and nothing has asked the gate since.
    expect(await status()).toMatchObject({ sync: "Synced", gates: { passed: 1, failed: 0 } });
  });
});

test("a daemon asks again in each pass, and writes once the gate opens", async () => {
  const server = await serve();
  const judge = await startJudge();
  const upstream = await upstreamOf({ ...foundations, "prompt.yaml": prompt("greeting", "Be kind.") });
  const target = { name: "prod", server: server.url, sync: "heal", interval: 0.2, gate: judge.gate };
  const { start } = await operatorOf({ sources: [{ name: "ml", url: upstream.folder }], targets: [target] }, server);
  judge.says(false, "not yet");
  const watch = start(["watch", "--sink", "file", "--listen", "127.0.0.1:0"]);
  const [, url = ""] = await watch.shows("stderr", /^health and metrics on (\S+)$/m);
  await eventually("two questions", () => judge.received.length >= 2);
  const { targets } = (await (await fetch(`${url}/status`)).json()) as { targets: object[] };
  const closed = [{ identity: "chat_prompt/registry/greeting", verdict: "fail", summary: "not yet" }];
  expect(targets).toMatchObject([{ target: "prod", gates: { passed: 0, failed: 1, closed } }]);
  expect(writesOf(server, "chat_prompt/")).toBe(0);
  judge.says(true, "now");
  await eventually("the write", () => writesOf(server, "chat_prompt/") === 1);
  watch.kill("SIGTERM");
  expect(await watch.ended).toMatchObject({ code: 0 });
});

test.each([
  [{ metric: "accuracy" }, "has metric without a bound"],
  [{ metric: "accuracy", atLeast: 2, atMost: 1 }, "lets no value pass"],
  [{ metric: "accuracy", atLeast: 1, url: "https://example.com" }, "has metric and url"],
  [{ match: "model-version/**" }, "has none of them"],
  [{ url: "https://example.com" }, "has url without secretFile"],
  [{ url: "https://user:pass@example.com", secretFile: "key" }, "has a url with credentials"],
  [{ url: "http://example.com", secretFile: "key" }, "has a url that is not https"],
  [{ metric: "accuracy", atLeast: 1, match: "chat_prompt/**" }, 'has the match "chat_prompt/**"'],
  [{ job: "job/c1:w/check", match: "service/**" }, 'has the match "service/**"'],
  [{ job: "job/c1:w/check", match: "chat_prompt" }, 'has the match "chat_prompt"'],
  [{ job: "service/c1:w/api" }, 'has the job "service/c1:w/api"'],
  [{ job: "job/c1:w/check", atLeast: 1 }, "has job and atLeast"],
  [{ metric: "accuracy", atLeast: 1, from: "staging" }, "reads from target staging, which does not exist"],
])("the gate %j is refused before anything is read", async (gate, why) => {
  const { runHere } = await operatorOf({ targets: [{ name: "prod", server: "http://127.0.0.1:9", gate: [gate] }] });
  const refused = await runHere(["plan"]);
  expect(refused).toMatchObject({ code: 3, stdout: "" });
  expect(refused.stderr.replace(/\s+/g, " ")).toContain(`a gate of target prod ${why}`);
});
