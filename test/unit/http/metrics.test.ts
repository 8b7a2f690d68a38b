import { connect } from "node:net";
import { expect, onTestFinished, test } from "vitest";
import { conflict } from "../../../src/http/http-error.ts";
import { createHttpServer, listen } from "../../../src/http/server.ts";
import { createLog } from "../../../src/log/log.ts";
import { machine } from "../../support/machine.ts";

async function started() {
  const log = createLog({ level: "silent" });
  const app = createHttpServer({
    ...machine,
    log,
    readiness: async () => ({ is: "ready" }),
    explain: () => null,
    operations: ["look", "refuse"],
  });
  const held = Promise.withResolvers<void>();
  app.get("/look", { config: { operation: "look" } }, async () => ({}));
  app.get("/refuse", { config: { operation: "refuse" } }, async () => {
    throw conflict("no", "no");
  });
  app.get("/hold", { config: { operation: "look" } }, async () => {
    await held.promise;
    return {};
  });
  onTestFinished(async () => {
    held.resolve();
    await app.close();
  });
  const url = await listen(app, "127.0.0.1", 0);
  return { url, release: held.resolve, metric: async (line: string) => metricIn(await scrape(url), line) };
}

const scrape = async (url: string) => (await fetch(`${url}/metrics`)).text();

/** The number that a line of metrics gives. */
function metricIn(text: string, name: string): number | null {
  const line = text.split("\n").find((one) => one.startsWith(`${name} `));
  return line === undefined ? null : Number(line.slice(name.length + 1));
}

test("every series exists from the start with the value zero", async () => {
  const { metric } = await started();
  for (const operation of ["look", "refuse"]) {
    for (const status of ["2xx", "4xx", "5xx"]) {
      expect(await metric(`holdfast_http_requests_total{operation="${operation}",status="${status}"}`)).toBe(0);
    }
    expect(await metric(`holdfast_http_refusals_total{operation="${operation}",status="429"}`)).toBe(0);
    expect(await metric(`holdfast_http_request_duration_seconds_count{operation="${operation}"}`)).toBe(0);
    expect(await metric(`holdfast_http_requests_in_flight{operation="${operation}"}`)).toBe(0);
  }
});

test("requests are counted by operation and status, refusals and what is no operation too", async () => {
  const { url, metric } = await started();
  for (const path of ["look", "look", "refuse", "absent?operation=forged", "healthz"]) await fetch(`${url}/${path}`);
  expect(await metric('holdfast_http_requests_total{operation="look",status="2xx"}')).toBe(2);
  expect(await metric('holdfast_http_request_duration_seconds_count{operation="look"}')).toBe(2);
  expect(await metric('holdfast_http_requests_total{operation="refuse",status="4xx"}')).toBe(1);
  expect(await metric('holdfast_http_refusals_total{operation="refuse",status="409"}')).toBe(1);
  expect(await metric('holdfast_http_refusals_total{operation="other",status="404"}')).toBe(1);
});

test("requests in flight are counted, until their client disconnects", async () => {
  const { url, metric, release } = await started();
  const inFlight = () => metric('holdfast_http_requests_in_flight{operation="look"}');
  const waiting = fetch(`${url}/hold`);
  const leaving = connect(Number(new URL(url).port), "127.0.0.1");
  leaving.write("GET /hold HTTP/1.1\r\nHost: x\r\n\r\n");
  await expect.poll(inFlight, { interval: 5 }).toBe(2);
  leaving.destroy();
  await expect.poll(inFlight, { interval: 5 }).toBe(1);
  release();
  expect((await waiting).status).toBe(200);
  await expect.poll(inFlight, { interval: 5 }).toBe(0);
});

test("S19 S36 no input of a client creates a series, and no version is shown", async () => {
  const { url } = await started();
  const count = (await scrape(url)).split("\n").length;
  const odd = ["x%22%7D%0Aevil", "CANARY-path", "look?CANARY=1", "a".repeat(500)];
  for (const path of odd) await fetch(`${url}/${path}`, { headers: { "x-request-id": "CANARY-id" } });
  const after = await scrape(url);
  expect(after.split("\n")).toHaveLength(count);
  expect(after).not.toContain("CANARY");
  expect(after).not.toMatch(/version/i);
  expect(after).toMatch(/^process_resident_memory_bytes \d+$/m);
});
