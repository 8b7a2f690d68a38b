import { once } from "node:events";
import { Agent, type IncomingMessage, request } from "node:http";
import { connect } from "node:net";
import { text } from "node:stream/consumers";
import fc from "fast-check";
import { decodeProtectedHeader } from "jose";
import { expect, onTestFinished, test } from "vitest";
import { createLog } from "../../src/log/log.ts";
import { startControlPlane } from "../control-plane.ts";
import { worthlessTokens } from "../support/arbitrary-token.ts";
import { eventually } from "../support/eventually.ts";
import { standingClock } from "../support/standing-clock.ts";

const WORKSPACES = "/api/svc/v1/workspaces";
const seed = Number(process.env.HOLDFAST_FUZZ_SEED ?? Math.floor(Math.random() * 2 ** 31));

/** A control plane that knows a signing key, with its log. */
async function started(options: Parameters<typeof startControlPlane>[0] = {}) {
  const lines: string[] = [];
  const log = createLog({ level: "debug", stream: { write: (line) => lines.push(line) } });
  const plane = await startControlPlane({ log, ...options });
  const permissions = [{ resource_fqn: "holdfast", resource_type: "tenant", role_id: "tenant-member" }];
  const manifest = { type: "virtual-account", name: "ci", permissions };
  const { token } = (await plane.admin.put("/api/svc/v1/virtual-accounts", { manifest })).body;
  const agent = new Agent({ keepAlive: true, maxSockets: 4 });
  onTestFinished(() => agent.destroy());
  const ask = async (authorization: string) => {
    const sent = request(plane.url + WORKSPACES, { agent, headers: { authorization } }).end();
    const [reply]: [IncomingMessage] = (await once(sent, "response")) as [IncomingMessage];
    return { status: reply.statusCode, headers: reply.headers, body: JSON.parse(await text(reply)) };
  };
  lines.length = 0;
  return { ...plane, ask, lines, token: String(token), kid: String(decodeProtectedHeader(token).kid) };
}

test(`S49 whatever a token is made of, it is 401 and one line of log (seed ${seed})`, async () => {
  const { ask, lines, kid, token } = await started();
  let asked = 0;
  const isRefused = async (worthless: string) => {
    asked += 1;
    const { status, headers, body } = await ask(`Bearer ${worthless}`);
    expect({ status, code: body.code }).toEqual({ status: 401, code: "unauthorized" });
    expect(headers["www-authenticate"]).toMatch(/^Bearer/);
  };
  await fc.assert(fc.asyncProperty(worthlessTokens([kid, kid.slice(1), "k"]), isRefused), { seed, numRuns: 500 });
  expect(asked).toBeGreaterThanOrEqual(500);
  await eventually("the log", () => lines.length >= asked);
  const refused = { level: "info", msg: "answered", operation: "listWorkspaces", status: 401, caller: null };
  expect(lines.map((line) => JSON.parse(line))).toMatchObject(Array(asked).fill(refused));
  expect((await ask(`Bearer ${token}`)).status).toBe(200);
});

test("S49 a key's name of another type, form or length is 401", async () => {
  const { ask, lines } = await started();
  const part = (value: unknown) => Buffer.from(JSON.stringify(value)).toString("base64url");
  const payload = part({ iss: "holdfast", sub: "a", jti: "b" });
  const kids = [
    7,
    1e308,
    true,
    null,
    ["a"],
    { a: 1 },
    "\0",
    "a\0b",
    "\ud800",
    "",
    "__proto__",
    "x".repeat(5000),
    "é😀",
  ];
  for (const kid of kids) {
    const token = `${part({ alg: "EdDSA", kid })}.${payload}.${"A".repeat(86)}`;
    expect([kid, (await ask(`Bearer ${token}`)).status]).toEqual([kid, 401]);
  }
  expect(lines.filter((line) => JSON.parse(line).msg !== "answered")).toEqual([]);
});

test("S49 a malformed credential counts for the rate limit of its address", async () => {
  const { ask, admin } = await started({ rateLimit: 2, clock: standingClock().clock });
  const part = (value: unknown) => Buffer.from(JSON.stringify(value)).toString("base64url");
  const token = `${part({ alg: "EdDSA", kid: { a: 1 } })}.${part({})}.AAAA`;
  const replies = await Promise.all(Array.from({ length: 6 }, () => ask(`Bearer ${token}`)));
  const statuses = replies.map(({ status }) => status);
  expect(statuses.toSorted()).toEqual([401, 401, 429, 429, 429, 429]);
  expect((await admin.get(WORKSPACES)).status).toBe(200);
});

test("S49 bytes that no client library would send as a credential are refused", async () => {
  const { url, lines } = await started();
  for (const [value, status] of [
    ["Bearer \xff\xfe", 401],
    ["Bearer a\x00b", 400],
    ["Bearer \x7f", 400],
    ["Bearer \t", 401],
    ["\x80", 401],
    [`Bearer ${"a".repeat(20_000)}`, 431],
    [`Bearer ${"=".repeat(100)}`, 401],
    ["Bearer a\r\n b", 400],
  ] as const) {
    const socket = connect(Number(new URL(url).port), "127.0.0.1");
    const answer = text(socket);
    const head = `GET ${WORKSPACES} HTTP/1.1\r\nHost: x\r\nConnection: close\r\nAuthorization: ${value}\r\n\r\n`;
    socket.write(Buffer.from(head, "latin1"));
    expect([value, (await answer).slice(0, 12)]).toEqual([value, `HTTP/1.1 ${status}`]);
  }
  expect(lines.filter((line) => JSON.parse(line).msg !== "answered")).toEqual([]);
});
