import { request } from "node:http";
import { text } from "node:stream/consumers";
import { expect, test } from "vitest";
import { systemClock } from "../../../../src/clock/system.ts";
import type { PlanReply, PlanSent, PlansReply } from "../../../../src/contract/generated/output.ts";
import { generateKey } from "../../../../src/seal/seal-key.ts";
import { plansDaemon, plansFacts, planToSend, signedWith } from "../../../support/plans-daemon.ts";
import { sampleChange, samplePlan, sampleStep } from "../../../support/sample-plan.ts";

const DAY = 24 * 3_600_000;
const plan = samplePlan([
  sampleStep("team/ml", { changes: [sampleChange("members[eve@example.com]", null, "eve@example.com")] }),
  sampleStep("service/dev:web/api", {
    ...{ action: "create", risks: ["exposure"], causedBy: "mixed" },
    changes: [{ ...sampleChange("", null, { name: "api", replicas: 2 }), path: "" }],
  }),
  sampleStep("service/dev:web/old", { causedBy: "drift", changes: [sampleChange("replicas", 2, 5, "drift")] }),
  sampleStep("service/dev:web/wait", { causedBy: "pending", changes: [sampleChange("replicas", 1, 3, "pending")] }),
]);

const codeOf = async (reply: Response): Promise<readonly unknown[]> => [
  reply.status,
  ((await reply.json()) as { readonly code?: string }).code,
];

const read = async <Reply>(url: string, path: string): Promise<Reply> =>
  (await (await fetch(`${url}/api/v1${path}`)).json()) as Reply;

test("a plan that was sent is shown by cause, also after a restart", async () => {
  const daemon = await plansDaemon();
  const sent = await daemon.post(planToSend(signedWith(daemon.key, plan)));
  expect(sent.status).toBe(201);
  const { id, ...said } = (await sent.json()) as PlanSent;
  expect(said).toEqual({ path: `/reviews/${id}`, replaced: false, verified: true });
  const { url } = await daemon.again();
  const { plans, next } = await read<PlansReply>(url, "/plans");
  expect(next).toBeNull();
  expect(plans).toEqual([
    {
      ...{ id, at: expect.stringMatching(/Z$/), forge: "github", repository: "ml/platform", pullRequest: 7 },
      ...{ url: "https://github.com/ml/platform/pull/7", commit: plansFacts.commit, name: "default" },
      ...{ verified: true, isGood: true, targets: 1, others: 2 },
      counts: { create: 1, update: 1, ensure: 0, block: 0, orphan: 0 },
    },
  ]);
  const { parts, ...whole } = await read<PlanReply>(url, `/plans/${id}`);
  expect(whole).toEqual({ plan: plans[0], quiet: [], leftOut: 0 });
  expect(parts).toMatchObject([
    {
      ...{ is: "plan", target: null, seal: "valid", complete: true, isGood: true, server: plan.server },
      verdict: "1 to create, 1 to update; not from this pull request: 2 to update",
      blocks: [
        {
          ...{ name: "change", title: "This change", resources: 2 },
          groups: [
            {
              group: "dev:web",
              steps: [
                {
                  ...{ identity: "service/api", action: "create", alsoReverts: true, file: "services.yaml", line: 12 },
                  risks: ["exposure: changes what the network can reach"],
                  diff: ["+ name: api", "+ replicas: 2"],
                },
              ],
            },
            {
              group: null,
              steps: [{ identity: "team/ml", diff: ["@@ grants (manifest) @@", "+ member eve@example.com"] }],
            },
          ],
        },
        { name: "pending", title: "Merged, not yet applied", explanation: expect.stringContaining("not applied yet") },
        { name: "drift", groups: [{ steps: [{ diff: ["@@ replicas (drift) @@", "- 2", "+ 5"] }] }] },
      ],
    },
  ]);
});

test("the token for plans may send them and nothing else, and that of the page may not send any", async () => {
  const daemon = await plansDaemon({ hasPageToken: true });
  const body = planToSend(plan);
  const withToken = (token: string) => ({ authorization: token });
  const basic = `Basic ${Buffer.from(`me:${plansFacts.token}`).toString("base64")}`;
  for (const token of [`Bearer ${plansFacts.page}`, `Bearer ${plansFacts.token}x`, "Bearer", basic, ""])
    expect([token, ...(await codeOf(await daemon.post(body, withToken(token))))]).toEqual([
      ...[token, 401, "unauthenticated"],
    ]);
  for (const path of ["/plans", `/plans/${"0".repeat(32)}`, "/targets", "/stream", "/openapi.json"]) {
    const reply = await fetch(`${daemon.url}/api/v1${path}`, { headers: withToken(`Bearer ${plansFacts.token}`) });
    expect([path, ...(await codeOf(reply))]).toEqual([path, 401, "unauthenticated"]);
  }
  expect((await daemon.post(body)).status).toBe(201);
});

test("without a token for plans none are taken, and none are shown as missing", async () => {
  const daemon = await plansDaemon({ takes: () => false });
  expect(await codeOf(await daemon.post(planToSend(plan)))).toEqual([403, "plans-not-taken"]);
  expect(await read<PlansReply>(daemon.url, "/plans")).toEqual({ plans: [], next: null });
});

test("S25 a plan is taken only under a host name of the daemon", async () => {
  const { url } = await plansDaemon();
  const status = await new Promise((resolve, reject) => {
    const headers = {
      ...{ host: "rebound.example.com", authorization: `Bearer ${plansFacts.token}` },
      "content-type": "application/json",
    };
    const sent = request(`${url}/api/v1/plans`, { method: "POST", headers, agent: false }, (reply) => {
      text(reply).then(() => resolve(reply.statusCode), reject);
    });
    sent.once("error", reject).end(JSON.stringify(planToSend(plan)));
  });
  expect(status).toBe(421);
});

test("a body that is too large is 413, one that is no plan 400, and a token is asked for before any of it is read", async () => {
  const daemon = await plansDaemon({ clock: { ...systemClock, now: growing() } });
  const large = JSON.stringify(planToSend(plan, { name: "x".repeat(8 * 1024 * 1024) }));
  expect(await codeOf(await daemon.post(large))).toEqual([413, "body-too-large"]);
  const good = planToSend(plan);
  const summary = { drifted: 1, unrecorded: 0, absent: 0, unchanged: 0, unknown: 0, orphan: 0, invalid: 0 };
  const drift = { format_version: "2.2", drift: [], summary, server: "s", complete: true, diagnostics: [] };
  const wrong: readonly unknown[] = [
    "{",
    "[]",
    "null",
    `${"[".repeat(300)}${"]".repeat(300)}`,
    { ...good, forge: "gitea" },
    { ...good, repository: "" },
    { ...good, repository: "x".repeat(301) },
    { ...good, pullRequest: 0 },
    { ...good, pullRequest: "7" },
    { ...good, url: "javascript:alert(1)" },
    { ...good, url: "https://user:secret@example.com/" },
    { ...good, url: "/pull/7" },
    { ...good, commit: "main" },
    { ...good, name: null },
    { ...good, unverified: "no" },
    { ...good, plan: null },
    { ...good, plan: { ...plan, format_version: "1.0" } },
    { ...good, plan: { ...plan, steps: [{ ...sampleStep("team/ml"), action: "<b>" }] } },
    { ...good, plan: drift },
  ];
  for (const body of wrong)
    expect([body, ...(await codeOf(await daemon.post(body)))]).toEqual([body, 400, "bad-request"]);
  expect(await codeOf(await daemon.post(good, { "content-type": "text/plain" }))).toEqual([415, "not-json"]);
  expect(await codeOf(await daemon.post("{", { authorization: "Bearer x" }))).toEqual([401, "unauthenticated"]);
  expect((await read<PlansReply>(daemon.url, "/plans")).plans).toEqual([]);
});

/** A clock that goes on by a minute each time, so that no limit of requests per second counts. */
function growing(): () => number {
  let now = Date.parse("2026-11-29T10:00:00Z");
  return () => {
    now += 60_000;
    return now;
  };
}

test("a plan is verified only where its signature is one of this daemon's state, and no job without secrets made it", async () => {
  const daemon = await plansDaemon({ clock: { ...systemClock, now: growing() } });
  const { key } = daemon;
  const signed = signedWith(key, plan) as { readonly seal: { readonly signature: string } };
  const forged = { ...signed, seal: { ...signed.seal, signature: signedWith(key, samplePlan([])) } };
  const edited = { ...signed, steps: [] };
  const failure = { format_version: "2.2", error: { code: "error", message: "no", hint: null }, diagnostics: [] };
  const both = (...targets: readonly object[]) => ({
    format_version: "2.2",
    targets: targets.map((one, nth) => ({ target: `t${nth}`, ...one })),
  });
  const cases = [
    [planToSend(signed), true, ["valid"]],
    [planToSend(signed, { unverified: true }), false, ["valid"]],
    [planToSend(plan), false, ["none"]],
    [planToSend(signedWith(generateKey(), plan)), false, ["other-key"]],
    [planToSend(forged), false, ["broken"]],
    [planToSend({ ...signed, seal: { ...signed.seal, signature: "hmac-sha256:00" } }), false, ["broken"]],
    [planToSend({ ...edited, diagnostics: [{ ...sampleDiagnostic }] }), false, ["broken"]],
    [planToSend(both(signed, signed)), true, ["valid", "valid"]],
    [planToSend(both(signed, plan)), false, ["valid", "none"]],
    [planToSend(both(signed, failure)), false, ["valid", "none"]],
  ] as const;
  for (const [body, verified, seals] of cases) {
    const sent = (await (await daemon.post(body)).json()) as PlanSent;
    const { parts } = await read<PlanReply>(daemon.url, `/plans/${sent.id}`);
    expect([sent.verified, parts.map(({ seal }) => seal)]).toEqual([verified, seals]);
  }
  // Without steps it is still signed, and shown in a line.
  const quiet = (await (await daemon.post(planToSend(signedWith(key, samplePlan([]))))).json()) as PlanSent;
  expect(quiet).toMatchObject({ verified: true, replaced: true });
});

const sampleDiagnostic = {
  ...{ severity: "warning", code: "x", summary: "said", detail: null, file: "a.yaml", line: 3, column: 1 },
};

test("what policies find in the whole plan is shown with it, once, and its signature covers it", async () => {
  const daemon = await plansDaemon();
  const finding = {
    name: "small-plans",
    severity: "confirm",
    message: "too much",
    file: "p/a.yaml",
    line: 5,
    column: 3,
  };
  const warned = { ...sampleDiagnostic, code: "policy", summary: "the plan: too much" };
  const own = { ...plan, policies: [finding], diagnostics: [warned] } as typeof plan;
  const judged = signedWith(daemon.key, own) as object;
  const partOf = async (given: object) => {
    const sent = (await (await daemon.post(planToSend(given))).json()) as PlanSent;
    return (await read<PlanReply>(daemon.url, `/plans/${sent.id}`)).parts[0];
  };
  expect(await partOf(judged)).toMatchObject({
    seal: "valid",
    notes: ["policy small-plans asks a person: too much (p/a.yaml:5)"],
  });
  expect(await partOf({ ...judged, policies: undefined })).toMatchObject({ seal: "broken", notes: [] });
});

test("a simulation is shown by its lists, and a target without a plan by why there is none", async () => {
  const daemon = await plansDaemon();
  const phase = { created: ["team/ml"], updated: [], rollouts: [], refused: [{ identity: "team/x", why: "no" }] };
  const simulation = {
    ...{ format_version: "2.2", simulation: true, base: phase, change: phase, revert: phase, diagnostics: [] },
    ...{ stays: [{ identity: "team/ml", what: "token" }], notComparable: [], unknown: [], unseen: [] },
  };
  const sent = (await (await daemon.post(planToSend(simulation, { unverified: true }))).json()) as PlanSent;
  const { parts, plan: about } = await read<PlanReply>(daemon.url, `/plans/${sent.id}`);
  expect([about.verified, about.isGood]).toEqual([false, false]);
  expect(parts).toMatchObject([{ is: "simulation", seal: "none", verdict: "simulation: 1 to create, 1 refused" }]);
  expect(parts[0]?.notes).toEqual([
    "Refused: team/x: no",
    "Created: team/ml",
    "Not undone by a revert: team/ml: keeps the token that was issued",
    "Refused when it is reverted: team/x: no",
    "Refused already without the change: team/x: no",
  ]);
  const error = { code: "unauthorized", message: "the token is refused", hint: "give another one" };
  const failed = { format_version: "2.2", error, diagnostics: [] };
  const other = (await (await daemon.post(planToSend(failed))).json()) as PlanSent;
  expect((await read<PlanReply>(daemon.url, `/plans/${other.id}`)).parts).toMatchObject([
    { is: "failure", verdict: "no plan: unauthorized", notes: ["the token is refused", "give another one"] },
  ]);
});

test("sent again for the same pull request, commit and name, it takes the place of the earlier one", async () => {
  const daemon = await plansDaemon();
  const send = async (...more: Parameters<typeof planToSend>): Promise<PlanSent> =>
    (await (await daemon.post(planToSend(...more))).json()) as PlanSent;
  const first = await send(plan);
  const again = await send(samplePlan([]));
  expect([again.id, again.replaced]).toEqual([first.id, true]);
  const others = [await send(plan, { name: "prod" }), await send(plan, { commit: "b".repeat(40) })];
  expect(others.map(({ replaced }) => replaced)).toEqual([false, false]);
  const pages: string[] = [];
  for (let after: string | null = ""; after !== null; ) {
    const query: string = after === "" ? "" : `&after=${encodeURIComponent(after)}`;
    const page: PlansReply = await read<PlansReply>(daemon.url, `/plans?limit=2${query}`);
    pages.push(...page.plans.map(({ id }) => id));
    after = page.next;
  }
  expect(pages.toSorted()).toEqual([first.id, ...others.map(({ id }) => id)].toSorted());
  for (const query of ["limit=501", "after=1", "state=x"])
    expect((await fetch(`${daemon.url}/api/v1/plans?${query}`)).status).toBe(400);
});

test("what is older than 30 days is not shown, also where nothing else was sent since", async () => {
  let now = Date.parse("2026-11-01T00:00:00Z");
  const daemon = await plansDaemon({ clock: { ...systemClock, now: () => now } });
  const { id } = (await (await daemon.post(planToSend(plan))).json()) as PlanSent;
  now += 30 * DAY;
  expect((await read<PlansReply>(daemon.url, "/plans")).plans).toHaveLength(1);
  now += 1;
  expect((await read<PlansReply>(daemon.url, "/plans")).plans).toEqual([]);
  expect((await fetch(`${daemon.url}/api/v1/plans/${id}`)).status).toBe(404);
});

test("of a plan of nearly 8 MiB a beginning is kept, and the rest counted", async () => {
  const daemon = await plansDaemon();
  const image = sampleChange("image.image_uri", "registry.example.com/a:1", "registry.example.com/a:2");
  const steps = Array.from({ length: 18_000 }, (_, nth) =>
    sampleStep(`service/dev:web/s${nth}`, { changes: [sampleChange("replicas", nth, nth + 1), image] }),
  );
  const body = JSON.stringify(planToSend(samplePlan(steps)));
  expect(body.length).toBeGreaterThan(7_500_000);
  const { id } = (await (await daemon.post(body)).json()) as PlanSent;
  const reply = await (await fetch(`${daemon.url}/api/v1/plans/${id}`)).text();
  expect(reply.length).toBeLessThan(500_000);
  const { parts, leftOut, plan: about } = JSON.parse(reply) as PlanReply;
  const [change] = parts[0]?.blocks ?? [];
  const shown = change?.groups.reduce((sum, group) => sum + group.steps.length, 0) ?? 0;
  expect([about.counts.update, change?.resources, shown + leftOut]).toEqual([18_000, 18_000, 18_000]);
  expect(shown).toBeGreaterThan(1000);
});

test("more than 5 plans per second are refused, and guesses of the token do not block who has it", async () => {
  const daemon = await plansDaemon({ clock: { ...systemClock, now: () => Date.parse("2026-11-29T10:00:00Z") } });
  const body = planToSend(plan);
  const guesses = await Promise.all(
    Array.from({ length: 8 }, () => daemon.post(body, { authorization: "Bearer guess" })),
  );
  expect(guesses.filter(({ status }) => status === 429)).toHaveLength(3);
  const sent = await Promise.all(Array.from({ length: 8 }, () => daemon.post(body)));
  expect(sent.filter(({ status }) => status === 429)).toHaveLength(3);
});
