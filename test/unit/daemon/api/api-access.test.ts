import { request } from "node:http";
import { text } from "node:stream/consumers";
import { expect, test } from "vitest";
import { systemClock } from "../../../../src/clock/system.ts";
import { emptyDaemonServer } from "../../../support/daemon-server.ts";

const started = async (given: Parameters<typeof emptyDaemonServer>[0] = {}): Promise<string> =>
  (await emptyDaemonServer(given)).url;

type Answer = { readonly status: number | undefined; readonly code: string | undefined };

function ask(url: string, headers: { readonly [name: string]: string } = {}): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const sent = request(url, { headers, agent: false }, (reply) => {
      text(reply).then((body) => resolve({ status: reply.statusCode, code: JSON.parse(body).code }), reject);
    });
    sent.once("error", reject).end();
  });
}

const paths = ["/targets", "/targets/prod", "/targets/prod/resources", "/plans", "/openapi.json"];

test("S36 on an address of the network the interface needs the token", async () => {
  const url = `${await started({ token: () => "CANARY-page", host: "0.0.0.0" })}/api/v1`;
  for (const path of paths) {
    expect(await ask(url + path)).toEqual({ status: 401, code: "unauthenticated" });
    expect(await ask(url + path, { authorization: "Bearer CANARY-pag" })).toEqual({
      status: 401,
      code: "unauthenticated",
    });
  }
  const basic = `Basic ${Buffer.from("me:CANARY-page").toString("base64")}`;
  for (const authorization of ["Bearer CANARY-page", basic])
    expect(await ask(`${url}/targets`, { authorization })).toEqual({ status: 200, code: undefined });
  expect(await ask(`${await started({ host: "0.0.0.0" })}/api/v1/targets`)).toMatchObject({ status: 401 });
});

test("S25 a host name that is none of the daemon's is refused, and probes are not asked for one", async () => {
  const url = await started();
  for (const host of ["rebound.example.com", "10.0.0.7", "holdfast.example.com.evil.example"]) {
    expect(await ask(`${url}/api/v1/targets`, { host })).toEqual({ status: 421, code: "misdirected" });
    for (const path of ["/healthz", "/readyz"]) expect((await ask(url + path, { host })).status).not.toBe(421);
  }
  // The names of the operator's key are known, and need the token.
  for (const host of ["Holdfast.example.com:7070", "[fd00::7]:7070"])
    expect(await ask(`${url}/api/v1/targets`, { host })).toEqual({ status: 401, code: "unauthenticated" });
  expect(await ask(`${url}/api/v1/targets`, { host: "localhost:7070" })).toMatchObject({ status: 200 });
});

test("replies may not be framed, sniffed, stored or read by other sites", async () => {
  const { headers } = await fetch(`${await started()}/api/v1/targets`);
  expect(Object.fromEntries(headers)).toMatchObject({
    "content-security-policy":
      "default-src 'none'; script-src 'self'; worker-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self' data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
    "x-content-type-options": "nosniff",
    "referrer-policy": "no-referrer",
    "cross-origin-resource-policy": "same-origin",
    "cache-control": expect.stringContaining("no-store"),
  });
});

test("parameters that are not known, and values that they do not take, are refused, and so are other methods", async () => {
  const url = `${await started()}/api/v1/targets`;
  const wrong = [
    "limit=0",
    "limit=501",
    "limit=1e2",
    "limit=1&limit=2",
    "offset=-1",
    "sort=name",
    "attention=1",
    "x=1",
    "state=%ff",
  ];
  for (const query of [...wrong, `search=${"x".repeat(513)}`])
    expect([query, await ask(`${url}/prod/resources?${query}`)]).toEqual([query, { status: 400, code: "bad-request" }]);
  expect((await ask(`${url}/prod/passes?after=1;drop`)).status).toBe(400);
  for (const query of ["", "?identity=", "?identity=a&identity=b", "?identity=a&pointer=b"])
    expect([query, await ask(`${url}/prod/why${query}`)]).toEqual([query, { status: 400, code: "bad-request" }]);
  expect((await ask(`${url}/prod/drift-days?after=2026`)).status).toBe(400);
  expect((await ask(`${url}/prod/events?at=2026-11-22T11:58:04.000Z%25`)).status).toBe(400);
  expect((await ask(`${url}?limit=1`)).status).toBe(400);
  for (const path of [
    "/prod",
    "/prod/resources",
    "/prod/passes",
    "/prod/events",
    "/prod/drift-days",
    "/__proto__",
    "/prod/resource?identity=a",
    "/prod/why?identity=a",
    "/prod/drifts",
    "/prod/commits",
  ])
    expect(await ask(url + path)).toEqual({ status: 404, code: "not-found" });
  for (const method of ["POST", "PUT", "DELETE"]) expect((await fetch(url, { method })).status).toBe(404);
});

test("endless requests are limited, those of a page that scrolls are not", async () => {
  const url = `${await started({ clock: { ...systemClock, now: () => 0 } })}/api/v1/targets`;
  const statuses = await Promise.all(Array.from({ length: 120 }, () => ask(url)));
  expect(statuses.filter(({ status }) => status === 200)).toHaveLength(100);
  expect(statuses.filter(({ status }) => status === 429)).toHaveLength(20);
});
