import { createHash } from "node:crypto";
import { request } from "node:http";
import { json } from "node:stream/consumers";
import { expect, onTestFinished, test } from "vitest";
import { systemClock, systemRandom } from "../../../../src/clock/system.ts";
import type { ActionReply, PassesReply, PassRecord, SessionReply } from "../../../../src/contract/generated/output.ts";
import { HoldfastError } from "../../../../src/core/errors.ts";
import { carriesOutActions } from "../../../../src/daemon/api/carry-out-action.ts";
import type { TargetCommand } from "../../../../src/daemon/control-socket.ts";
import { newStatus } from "../../../../src/daemon/status-after-pass.ts";
import { createHttpServer, listen } from "../../../../src/http/server.ts";
import { createLog } from "../../../../src/log/log.ts";
import { serveTargets, storedTarget } from "../../dashboard/shown-daemon.ts";

const TOKEN = "CANARY-page";
const basic = `Basic ${Buffer.from(`Ada Lovelace:${TOKEN}`).toString("base64")}`;
const API = "/api/v1/targets/prod";

type Served = Parameters<typeof serveTargets>[1];

/** A daemon with one target that carries out what it is asked for, and remembers it. */
async function acting(
  served: Served = { token: TOKEN, access: "token" },
  answer: () => Promise<boolean> = async () => true,
) {
  const carried: TargetCommand[] = [];
  const stored = await storedTarget({
    status: newStatus("prod", "platform"),
    resources: [{ identity: "service/dev:web/api", state: "failed", rollout: null, hasDrifted: false, why: "no" }],
  });
  const target = {
    ...stored,
    carryOut: (command: TargetCommand) => {
      carried.push(command);
      return answer();
    },
  };
  const { url } = await serveTargets([target], served);
  return { url, carried, target };
}

type Asked = {
  readonly method?: string;
  readonly headers?: { readonly [name: string]: string };
  readonly body?: string;
};
type Answer = {
  readonly status: number | undefined;
  readonly allow: string | undefined;
  readonly body: { readonly code?: string; readonly message?: string };
};

function ask(url: string, { method = "POST", headers = {}, body }: Asked): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const sent = request(url, { method, headers, agent: false }, (reply) => {
      json(reply).then(
        (read) => resolve({ status: reply.statusCode, allow: reply.headers.allow, body: read as Answer["body"] }),
        reject,
      );
    });
    sent.once("error", reject).end(body);
  });
}

async function sessionOf(url: string): Promise<SessionReply> {
  return (await fetch(`${url}/api/v1/session`, { headers: { authorization: basic } })).json() as Promise<SessionReply>;
}

async function pageHeaders(url: string, key = "key-of-one"): Promise<{ readonly [name: string]: string }> {
  const { pageToken } = await sessionOf(url);
  return {
    authorization: basic,
    "content-type": "application/json",
    "x-holdfast-page": pageToken ?? "",
    "idempotency-key": key,
  };
}

const hold = { by: "Ada", what: "service/dev:web/api", reason: "incident 12", until: "4h" };

async function recordsOf(url: string): Promise<PassesReply["passes"]> {
  const reply = await fetch(`${url}${API}/passes`, { headers: { authorization: basic } });
  return ((await reply.json()) as PassesReply).passes;
}

test("S25 an action of another site, or without the page's token, is refused, and no other method acts", async () => {
  const { url, carried } = await acting();
  const own = await pageHeaders(url);
  const body = JSON.stringify(hold);
  const { "x-holdfast-page": _, ...withoutPage } = own;
  const refused: readonly (readonly [string, Asked, number, string])[] = [
    ["without a token", { headers: { ...own, authorization: "Bearer other" } }, 401, "unauthenticated"],
    ["under another host name", { headers: { ...own, host: "rebound.example.com" } }, 421, "misdirected"],
    ["without the page's token", { headers: withoutPage }, 403, "page-token"],
    ["with another page's token", { headers: { ...own, "x-holdfast-page": TOKEN } }, 403, "page-token"],
    ["from another origin", { headers: { ...own, origin: "https://evil.example" } }, 403, "cross-site"],
    ["from an origin without a name", { headers: { ...own, origin: "null" } }, 403, "cross-site"],
    ["from another port", { headers: { ...own, origin: "http://127.0.0.1:9" } }, 403, "cross-site"],
    ["by another site's page", { headers: { ...own, "sec-fetch-site": "cross-site" } }, 403, "cross-site"],
    ["by a page of the same site", { headers: { ...own, "sec-fetch-site": "same-site" } }, 403, "cross-site"],
  ];
  for (const [why, asked, status, code] of refused)
    expect([why, await ask(`${url}${API}/hold`, { body, ...asked })]).toMatchObject([why, { status, body: { code } }]);
  // What a form of another site can send is no JSON.
  for (const type of ["text/plain", "application/x-www-form-urlencoded", "multipart/form-data; boundary=x"])
    expect((await ask(`${url}${API}/hold`, { headers: { ...own, "content-type": type }, body })).status).toBe(415);
  for (const name of ["reconcile", "hold", "release", "adopt", "redeploy", "resolve"])
    for (const method of ["GET", "PUT", "PATCH", "DELETE"])
      expect(await ask(`${url}${API}/${name}`, { method, headers: { authorization: basic } })).toMatchObject({
        status: 405,
        allow: "POST",
      });
  expect([carried, await recordsOf(url)]).toEqual([[], []]);
});

test("nobody acts unless the operator lets those with the token", async () => {
  const body = JSON.stringify(hold);
  for (const [served, authorization] of [
    [{ token: TOKEN }, basic],
    [{ access: "token" }, ""],
    [{}, ""],
  ] as const) {
    const { url, carried } = await acting(served);
    const session = (await (
      await fetch(`${url}/api/v1/session`, { headers: { authorization } })
    ).json()) as SessionReply;
    expect(session).toMatchObject({ mayAct: false, why: expect.any(String), pageToken: null });
    const headers = { ...(await pageHeaders((await acting()).url)), authorization };
    expect(await ask(`${url}${API}/hold`, { headers, body })).toMatchObject({
      status: 403,
      body: { code: "read-only" },
    });
    expect(carried).toEqual([]);
  }
});

test("an action is recorded with the name that the person gives", async () => {
  const { url, carried, target } = await acting();
  expect(await sessionOf(url)).toMatchObject({ mayAct: true, why: null, name: "Ada Lovelace" });
  const origin = { origin: url, "sec-fetch-site": "same-origin" };
  const headers = { ...(await pageHeaders(url)), ...origin };
  const reply = await ask(`${url}${API}/hold`, { headers, body: JSON.stringify(hold) });
  expect(reply).toMatchObject({ status: 200, body: { target: "prod", isRepeated: false } });
  expect(carried).toMatchObject([
    {
      is: "hold",
      by: "Ada",
      hold: { what: hold.what, reason: hold.reason, by: "Ada", until: expect.stringMatching(/Z$/) },
    },
  ]);
  const [record] = await recordsOf(url);
  expect(record).toMatchObject({
    result: "action",
    reason: null,
    message: expect.stringMatching(/^Ada: hold service\/dev:web\/api until \S+Z: incident 12$/),
    action: { name: "hold", by: "Ada", key: "key-of-one" },
  });
  // The status stays as the last pass has left it.
  expect((await target.status()).lastPass).toBe(null);
});

test("an action that is sent twice is carried out once, also by another process", async () => {
  const { url, carried, target } = await acting();
  const asked = { headers: await pageHeaders(url), body: JSON.stringify(hold) };
  const replies = await Promise.all([1, 2, 3].map(() => ask(`${url}${API}/hold`, asked)));
  const bodies = replies.map(({ body }) => body as unknown as ActionReply);
  expect(bodies.map(({ isRepeated }) => isRepeated).toSorted()).toEqual([false, true, true]);
  const other = await serveTargets([target], { token: TOKEN, access: "token" });
  expect(await ask(`${other.url}${API}/hold`, asked)).toMatchObject({ status: 200, body: { isRepeated: true } });
  expect([carried.length, (await recordsOf(url)).length]).toEqual([1, 1]);
  const reused = { ...asked, body: JSON.stringify({ ...hold, reason: "another" }) };
  expect(await ask(`${url}${API}/hold`, reused)).toMatchObject({ status: 409, body: { code: "key-reused" } });
  expect(await ask(`${other.url}${API}/reconcile`, { ...asked, body: '{"by":"Ada"}' })).toMatchObject({ status: 409 });
  expect(carried).toHaveLength(1);
});

test("of two processes that get an action in the same instant, one carries it out, and both answer its end", async () => {
  const { promise: isDone, resolve: done } = Promise.withResolvers<boolean>();
  const { url, carried, target } = await acting(undefined, () => isDone);
  const other = await serveTargets([target], { token: TOKEN, access: "token" });
  const asked = { headers: await pageHeaders(url), body: '{"by":"Ada"}' };
  const replies = [url, other.url].map((one) => ask(`${one}${API}/reconcile`, asked));
  await expect.poll(() => carried.length, { timeout: 60_000 }).toBe(1);
  done(true);
  const bodies = (await Promise.all(replies)).map(({ body }) => body as unknown as ActionReply);
  expect(bodies.map(({ isRepeated }) => isRepeated).toSorted()).toEqual([false, true]);
  expect(bodies[0]?.record).toEqual(bodies[1]?.record);
  expect([carried.length, (await recordsOf(url)).length]).toEqual([1, 1]);
});

test("an action whose process has ended before it was done is not carried out again, and the history says so", async () => {
  const { url, carried, target } = await acting();
  const headers = await pageHeaders(url);
  const body = { by: "Ada", identities: ["service/dev:web/api"] };
  const content = createHash("sha256")
    .update(JSON.stringify(["redeploy", body]))
    .digest("hex");
  const at = new Date().toISOString();
  const left: PassRecord = {
    ...{ startedAt: at, endedAt: at, commit: null, counts: {}, result: "action" as const, reason: "Interrupted" },
    ...{ action: { name: "redeploy" as const, by: "Ada", key: "key-of-one" }, message: "Ada: redeploy; interrupted" },
  };
  const failure = { code: "interrupted", message: "host/7 ended before it was done" } as const;
  const taken = { key: "key-of-one", content, interrupted: { record: left, failure } };
  await target.read((store) => store.takeAction(taken, { now: Date.now(), forMs: 0 }));
  const reply = await ask(`${url}${API}/redeploy`, { headers, body: JSON.stringify(body) });
  expect(reply).toMatchObject({ status: 409, body: { code: "action-interrupted", message: failure.message } });
  expect([carried, await recordsOf(url)]).toMatchObject([[], [{ reason: "Interrupted", action: left.action }]]);
});

test("a long action outlives the connections of those who wait for it", async () => {
  const silence = 3000;
  const { target } = await acting();
  const { promise: isDone, resolve: done } = Promise.withResolvers<boolean>();
  const serving = async (replyMs: number) => {
    const log = createLog({ level: "silent", format: "json", stream: { write: () => {} } });
    const options = { clock: systemClock, random: systemRandom, log, timeouts: { silence }, explain: () => null };
    const app = createHttpServer({ ...options, readiness: async () => ({ is: "ready" }) });
    const carriesOut = carriesOutActions({
      reader: {
        found: () => ({ ...target, carryOut: () => isDone }),
        stored: async (_, use) => {
          const used = await target.read(async (store) => ({ read: await use(store) }));
          return (used ?? expect.fail("the state does not answer")).read;
        },
        resources: () => expect.fail("no resource is named"),
      },
      ...{ isShared: () => false, onChange: () => {}, clock: systemClock, replyMs },
    });
    app.post<{ Params: { key: string } }>("/:key", async ({ params: { key }, body }) =>
      carriesOut({ target: "prod", name: "reconcile", key, body }),
    );
    onTestFinished(() => app.close());
    return listen(app, "127.0.0.1", 0);
  };
  const asked = { headers: { "content-type": "application/json" }, body: '{"by":"Ada"}' };
  // A request that waited for the end would lose its connection.
  await expect(ask(`${await serving(600_000)}/key-silent`, asked)).rejects.toMatchObject({ code: "ECONNRESET" });
  const url = `${await serving(200)}/key-of-one`;
  const began = performance.now();
  do {
    const { body } = await ask(url, asked);
    expect(body).toMatchObject({ target: "prod", record: null });
  } while (performance.now() - began < silence + 1000);
  done(true);
  await expect
    .poll(async () => (await ask(url, asked)).body, { timeout: 60_000 })
    .toMatchObject({ record: { message: "Ada: reconcile", reason: null }, isRepeated: true });
});

test("what the daemon refuses is told and recorded, and may be asked for again, as another action", async () => {
  let isRefused = true;
  const { url, carried } = await acting(undefined, async () => {
    if (isRefused) throw new HoldfastError("locked", "this daemon stands by: another process");
    return true;
  });
  const asked = { headers: await pageHeaders(url), body: '{"by":"Ada"}' };
  expect(await ask(`${url}${API}/reconcile`, asked)).toMatchObject({
    status: 409,
    body: { code: "action-locked", message: "this daemon stands by: another process" },
  });
  expect(await recordsOf(url)).toMatchObject([
    { reason: "Refused", message: "Ada: reconcile; refused: this daemon stands by: another process" },
  ]);
  isRefused = false;
  // The end of an action stays: whoever waits for it may not know it yet.
  expect(await ask(`${url}${API}/reconcile`, asked)).toMatchObject({ status: 409, body: { code: "action-locked" } });
  const again = { ...asked, headers: { ...asked.headers, "idempotency-key": "key-of-two" } };
  expect(await ask(`${url}${API}/reconcile`, again)).toMatchObject({ status: 200, body: { isRepeated: false } });
  expect(carried).toHaveLength(2);
});

test("bodies that say too little, too much or something else are refused before anything is done", async () => {
  const { url, carried } = await acting();
  const headers = await pageHeaders(url);
  const wrong: readonly (readonly [string, unknown])[] = [
    ["reconcile", []],
    ["reconcile", {}],
    ["reconcile", { by: " " }],
    ["reconcile", { by: "A\u202eda" }],
    ["reconcile", { by: "x".repeat(101) }],
    ["reconcile", { by: "Ada", force: true }],
    ["hold", { ...hold, reason: "" }],
    ["hold", { ...hold, until: "2020-01-01T00:00:00Z" }],
    ["hold", { ...hold, until: "soon" }],
    ["hold", { ...hold, what: "service/dev:web/other" }],
    ["hold", { ...hold, what: "stage/production" }],
    ["hold", { ...hold, what: "nothing" }],
    ["release", { by: "Ada" }],
    ["adopt", { by: "Ada", identities: [] }],
    ["adopt", { by: "Ada", identities: ["service/dev:web/api", "service/dev:web/api"] }],
    ["redeploy", { by: "Ada", identities: ["service/dev:web/other"] }],
    ["redeploy", { by: "Ada", identities: ["service/dev:web/api"], force: "yes" }],
    ["resolve", { by: "Ada", identities: ["service/dev:web/api"], as: "unknown" }],
  ];
  for (const [name, body] of wrong)
    expect([name, body, (await ask(`${url}${API}/${name}`, { headers, body: JSON.stringify(body) })).status]).toEqual([
      name,
      body,
      400,
    ]);
  const messages: readonly (readonly [string, unknown, string])[] = [
    ["reconcile", [], "the body must be an object"],
    ["reconcile", {}, "`by` is missing: the name of the person who asks"],
    ["reconcile", { by: " " }, "`by` must be your name, of at most 100 printable characters"],
    ["reconcile", { by: "x".repeat(101) }, "`by` must have at most 100 characters"],
    ["reconcile", { by: "Ada", force: true }, "unknown field `force`. The fields here are by."],
    ["hold", { ...hold, reasons: "x" }, "unknown field `reasons`; did you mean `reason`?"],
    ["hold", { ...hold, reason: 7 }, "`reason` must be a string; quote it"],
    ["adopt", { by: "Ada", identities: [] }, "`identities` must have at least one item"],
    ["adopt", { by: "Ada", identities: ["team/a", "team/a"] }, "identities has team/a twice"],
    ["resolve", { by: "Ada", identities: ["team/a"], as: "x" }, "`as` must be `applied` or `refused`"],
  ];
  for (const [name, body, message] of messages)
    expect((await ask(`${url}${API}/${name}`, { headers, body: JSON.stringify(body) })).body.message).toBe(message);
  const { "idempotency-key": _, ...keyless } = headers;
  expect((await ask(`${url}${API}/reconcile`, { headers: keyless, body: '{"by":"Ada"}' })).status).toBe(400);
  expect((await ask(`${url}/api/v1/targets/other/reconcile`, { headers, body: '{"by":"Ada"}' })).status).toBe(404);
  expect((await ask(`${url}${API}/reconcile`, { headers, body: `{"by":"${"x".repeat(70_000)}"}` })).status).toBe(413);
  expect([carried, await recordsOf(url)]).toEqual([[], []]);
});
