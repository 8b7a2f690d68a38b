import { request } from "node:http";
import { createServer } from "node:net";
import { text as readText } from "node:stream/consumers";
import { expect, test } from "vitest";
import { eventually } from "../support/eventually.ts";
import { everyKind, service } from "../support/manifests.ts";
import type { Running } from "../support/process.ts";
import { serve } from "../support/server.ts";
import { sourceOf } from "../support/source.ts";

const listening = ["--listen", "127.0.0.1:0"];

async function urlOf(watch: Running): Promise<string> {
  const [, url = ""] = await watch.shows("stderr", /^health and metrics on (http:\/\/127\.0\.0\.1:\d+)$/m);
  return url;
}

async function get(url: string): Promise<{ readonly status: number; readonly text: string }> {
  const answer = await fetch(url);
  return { status: answer.status, text: await answer.text() };
}

/** Headers and text of a reply to another machine, which uses another host name than this one. */
async function saidToStranger(url: string): Promise<string> {
  const headers = { host: "holdfast.example.com" };
  return new Promise((resolve, reject) => {
    const asked = request(url, { headers, agent: false }, (reply) =>
      readText(reply).then((body) => resolve(JSON.stringify(reply.headers) + body), reject),
    );
    asked.once("error", reject).end();
  });
}

/** The samples of Prometheus text, by name and labels. */
function samples(text: string): ReadonlyMap<string, number> {
  const lines = text.split("\n").filter((line) => line !== "" && !line.startsWith("#"));
  return new Map(lines.map((line) => [line.slice(0, line.lastIndexOf(" ")), Number(line.split(" ").at(-1))]));
}

test("watch answers health and readiness, and counts passes and steps", async () => {
  const server = await serve();
  const source = await sourceOf(everyKind, server);
  const watch = source.start(["watch", "--sink", "file", ...listening]);
  const url = await urlOf(watch);
  expect(await get(`${url}/healthz`)).toMatchObject({ status: 200 });
  await eventually("readiness", async () => (await get(`${url}/readyz`)).status === 200);
  await watch.shows("stdout", /^Applied: [58] created/m);
  const first = samples((await get(`${url}/metrics`)).text);
  expect(first.get('holdfast_passes_total{target="default",trigger="start",result="applied"}')).toBe(1);
  expect(first.get('holdfast_steps_total{target="default",result="created"}')).toBe(8);
  expect(first.get('holdfast_writes_total{target="default",result="sent"}')).toBe(8);
  expect(first.get('holdfast_cache_lookups_total{target="default",result="miss"}')).toBeGreaterThan(0);
  expect(first.get('holdfast_api_request_duration_seconds_count{operation="putTeam"}')).toBeGreaterThan(0);
  expect(first.get('holdfast_lease_held{target="default"}')).toBe(1);
  expect(first.get('holdfast_oldest_unapplied_seconds{target="default"}')).toBe(0);
  expect(first.get('holdfast_unresolved_resources{target="default"}')).toBe(0);
  expect(first.get('holdfast_last_success_timestamp_seconds{target="default"}')).toBeGreaterThan(1.7e9);
  await source.write("services/api.yaml", service("api", "replicas: 3\n"));
  await watch.shows("stdout", /updated {3}service\/dev:web\/api/);
  await eventually("the second pass", async () => {
    const now = samples((await get(`${url}/metrics`)).text);
    return now.get('holdfast_passes_total{target="default",trigger="change",result="applied"}') === 1;
  });
  const second = samples((await get(`${url}/metrics`)).text);
  expect(second.get('holdfast_steps_total{target="default",result="updated"}')).toBe(1);
  expect(second.get('holdfast_writes_total{target="default",result="skipped-equal"}')).toBe(7);
  const { targets } = JSON.parse((await get(`${url}/status`)).text);
  expect(targets).toMatchObject([{ target: "default", sync: "Synced", condition: "Ready", troubled: 0 }]);
  expect(targets[0].resources).toContainEqual(
    expect.objectContaining({ identity: "service/dev:web/api", state: "updated", why: null }),
  );
  watch.kill("SIGTERM");
  expect(await watch.ended).toMatchObject({ code: 0 });
});

test("a watch that cannot reach its control plane is alive and ready, and its metrics say that its target is stalled", async () => {
  const server = await serve();
  const source = await sourceOf(everyKind, server);
  const away = { HOLDFAST_SERVER: "http://127.0.0.1:9", HOLDFAST_CONNECT_TIMEOUT: "0.2" };
  const watch = source.start(["watch", "--sink", "file", ...listening], away);
  const url = await urlOf(watch);
  expect(await get(`${url}/healthz`)).toMatchObject({ status: 200 });
  expect(await get(`${url}/readyz`)).toEqual({ status: 200, text: '{"status":"ready"}' });
  await eventually("the first pass", async () => {
    const now = samples((await get(`${url}/metrics`)).text);
    return now.get('holdfast_target_info{target="default",sync="Unknown",condition="Stalled",reason="Failed"}') === 1;
  });
  const after = samples((await get(`${url}/metrics`)).text);
  expect(after.get('holdfast_last_success_timestamp_seconds{target="default"}')).toBe(0);
  expect(await source.runHere(["status", "--wait", "--timeout", "0.5"])).toMatchObject({
    code: 9,
    stderr: expect.stringMatching(/^waiting: default is Unknown: /m),
  });
});

test("S36 the health server tells strangers no version, and refuses what it does not serve", async () => {
  const server = await serve();
  const source = await sourceOf(everyKind, server);
  const watch = source.start(["watch", "--sink", "file", ...listening]);
  const url = await urlOf(watch);
  for (const path of ["/healthz", "/readyz", "/metrics", "/", "/api/svc/v1/teams"]) {
    const said = await saidToStranger(url + path);
    expect(said).not.toMatch(/holdfast\/|fastify|version="|0\.1\.0|v24/i);
    if (path !== "/metrics") expect(said).not.toMatch(/node\.?js/i);
  }
  expect(await get(`${url}/nothing`)).toMatchObject({ status: 404 });
  const post = await fetch(`${url}/healthz`, { method: "POST", body: "x".repeat(9_000_000) });
  expect(post.status).toBe(404);
});

test("an address of --listen that is wrong or taken ends watch before it begins", async () => {
  const source = await sourceOf(everyKind, await serve());
  expect(await source.run(["watch", "--listen", "7072"])).toMatchObject({
    code: 3,
    stderr: expect.stringContaining("such as 127.0.0.1:7072"),
  });
  const taken = createServer();
  await new Promise<void>((done) => taken.listen(0, "127.0.0.1", done));
  const address = taken.address();
  const port = typeof address === "object" ? address?.port : 0;
  const ended = await source.run(["watch", "--sink", "file", "--listen", `127.0.0.1:${port}`]);
  taken.close();
  expect(ended).toMatchObject({ code: 1, stdout: "", stderr: expect.stringMatching(/EADDRINUSE.*\n {2}→ name/) });
});
