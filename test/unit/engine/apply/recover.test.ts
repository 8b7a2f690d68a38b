import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import type { JsonObject } from "../../../../src/contract/json.ts";
import type { WriteOperation } from "../../../../src/contract/operations.ts";
import { freezeRefusal } from "../../../../src/core/guards/write-refusal.ts";
import type { Live } from "../../../../src/core/live.ts";
import type { Manifest } from "../../../../src/core/manifest.ts";
import type { Outcome } from "../../../../src/core/report/report.ts";
import { tokenIn } from "../../../../src/engine/apply/stored-reply.ts";
import { verifyWrite } from "../../../../src/engine/apply/verify-write.ts";
import { kindOf } from "../../../../src/kinds/index.ts";
import type { Intent } from "../../../../src/state/ledger.ts";
import { declare, present, prompt, service } from "../../core/given.ts";
import { extensions, passes, results } from "../passes.ts";
import { controlPlane } from "../plane.ts";

const cluster = declare({ type: "cluster", name: "c1", cluster_type: "generic" });
const workspace = declare({ type: "workspace", name: "ws1", cluster_fqn: "c1" });
const account = declare({
  type: "virtual-account",
  name: "ci",
  permissions: [{ resource_fqn: "t", resource_type: "tenant", role_id: "tenant-member" }],
});

function intentFor(
  { identity, kind, value }: Manifest,
  operation: WriteOperation,
  fields: Partial<Intent> = {},
): Intent {
  return {
    id: "intent-1",
    identity,
    kind,
    operation,
    manifest: value,
    ignored: [],
    versionBefore: null,
    creates: true,
    at: null,
    deadline: 0,
    key: null,
    ...fields,
  };
}

describe("verifying a write against live", () => {
  const verdict = (written: JsonObject, live: Live, operation: WriteOperation, fields: Partial<Intent> = {}) => {
    const manifest = declare(written);
    const kind = kindOf(manifest.kind);
    if (kind === undefined) throw new TypeError("no kind");
    return verifyWrite(kind, intentFor(manifest, operation, fields), live).effect;
  };
  const team = { type: "team", name: "ml", members: ["a@x.io", "b@x.io"] };

  test.each<[string, string, JsonObject, Live, WriteOperation, Partial<Intent>]>([
    ["absent", "not-applied", service(), { state: "absent" }, "putApp", {}],
    ["unknown", "unreadable", service(), { state: "unknown", reason: "no-read" }, "putApp", {}],
    ["the same and new", "applied", service(), present(service(), { version: 1 }), "putApp", {}],
    [
      "the same with the server's additions",
      "applied",
      service({ ports: [{ port: 80 }], env: { A: 1 } }),
      present(service({ ports: [{ port: 80, protocol: "TCP" }], env: { A: "1" }, replicas: 1 }), { version: 2 }),
      "putApp",
      { versionBefore: 1 },
    ],
    [
      "the same, and as old as before",
      "not-applied",
      service(),
      present(service(), { version: 3 }),
      "putApp",
      { versionBefore: 3 },
    ],
    [
      "newer, and not what was sent",
      "superseded",
      service({ replicas: 2 }),
      present(service({ replicas: 9 }), { version: 4 }),
      "putApp",
      { versionBefore: 3 },
    ],
    [
      "there, though it was absent, and not what was sent",
      "superseded",
      service({ replicas: 2 }),
      present(service({ replicas: 9 }), { version: 1 }),
      "putApp",
      {},
    ],
    [
      "another content of what can be repeated",
      "not-applied",
      team,
      present({ ...team, members: ["a@x.io"] }),
      "putTeam",
      {},
    ],
    ["the same in another order", "applied", team, present({ ...team, members: ["b@x.io", "a@x.io"] }), "putTeam", {}],
    [
      "a version changed in place",
      "applied",
      prompt({ version: 2, description: "new" }),
      present(prompt({ version: 2, description: "new" }), { version: 2 }),
      "putPromptVersion",
      { versionBefore: 2 },
    ],
    [
      "a version not changed yet",
      "not-applied",
      prompt({ version: 2, description: "new" }),
      present(prompt({ version: 2 }), { version: 2 }),
      "putPromptVersion",
      { versionBefore: 2 },
    ],
  ])("that is %s gives %s", (_, effect, written, live, operation, fields) => {
    expect(verdict(written, live, operation, fields)).toBe(effect);
  });
});

describe("a token in a reply that was stored", () => {
  const bytes = (value: unknown) => Buffer.from(JSON.stringify(value));

  test.each<[string, Uint8Array, string | null]>([
    ["is found", bytes({ data: { manifest: account.value }, token: "t" }), "t"],
    ["is found where the reply names no resource", bytes({ token: "t" }), "t"],
    ["is not another account's", bytes({ data: { manifest: { ...account.value, name: "other" } }, token: "t" }), null],
    ["is not there", bytes({ data: { manifest: account.value } }), null],
    ["is not an empty text", bytes({ token: "" }), null],
    ["is not in a reply cut short", Buffer.from('{"token":"t'), null],
    ["is not in a reply of another form", bytes([{ token: "t" }]), null],
  ])("%s", (_, reply, token) => {
    expect(tokenIn(reply, account.value)?.open() ?? null).toBe(token);
  });
});

describe("a run after one that was killed", () => {
  async function killed(
    manifest: Manifest,
    operation: WriteOperation,
    { reply, ...fields }: Partial<Intent> & { readonly reply?: object } = {},
  ) {
    const plane = await controlPlane();
    const run = await passes(plane.url);
    await run.apply([cluster, workspace]);
    plane.effects.length = 0;
    await using session = await run.session({});
    await session.ledger.begin(intentFor(manifest, operation, fields));
    if (reply !== undefined) await session.ledger.keepReply("intent-1", Buffer.from(JSON.stringify(reply)));
    return { plane, run };
  }

  const left = ({ outcomes }: { readonly outcomes: readonly Outcome[] }) =>
    outcomes
      .filter(({ interrupted }) => interrupted !== undefined)
      .map(({ identity, result, interrupted, error }) => [identity, interrupted, result, error?.code ?? null]);
  const team = declare({ type: "team", name: "ml", members: ["a@x.io"] });
  const ground = [cluster, workspace];

  test("records what had arrived, and writes it no second time", async () => {
    const { plane, run } = await killed(declare(service()), "putApp");
    await (await passes(plane.url)).apply([...ground, declare(service())]);
    plane.effects.length = 0;
    const report = await run.apply([...ground, declare(service())]);
    expect(results(report)["service/c1:ws1/api"]).toBe("unchanged");
    expect([plane.effects, report.pending, left(report)]).toEqual([[], [], []]);
  });

  test("writes once what had not arrived", async () => {
    const { plane, run } = await killed(declare(service()), "putApp");
    const report = await run.apply([...ground, declare(service())]);
    expect(results(report)["service/c1:ws1/api"]).toBe("created");
    expect(plane.effects).toHaveLength(1);
    expect([report.pending, left(report)]).toEqual([[], []]);
  });

  test("closes in a freeze what had arrived, and writes nothing", async () => {
    const { plane, run } = await killed(declare(service()), "putApp");
    await (await passes(plane.url)).apply([...ground, declare(service())]);
    plane.effects.length = 0;
    const refusal = () => freezeRefusal({ until: null, reason: null });
    const report = await run.apply([...ground, declare(service()), team], { refusal });
    expect(results(report)).toMatchObject({ "service/c1:ws1/api": "unchanged", "team/ml": "skipped" });
    expect([plane.effects, report.pending]).toEqual([[], []]);
  });

  test("F80 sends what had not arrived under the key that the journal holds, in its place", async () => {
    const key = "key-of-the-first-send";
    const { plane, run } = await killed(declare(service()), "putApp", { key });
    plane.manners.lost.set("putApp", 1);
    await run.apply([...ground, declare(service())]);
    expect(keysOf(plane)).toEqual([key, key]);
    expect(plane.effects).toHaveLength(1);
  });

  test("F80 uses another key for another content", async () => {
    const key = "key-of-the-first-send";
    const { plane, run } = await killed(declare(service()), "putApp", { key });
    const report = await run.apply([...ground, declare(service({ replicas: 2 }))]);
    expect(keysOf(plane)).toHaveLength(1);
    expect(keysOf(plane)).not.toContain(key);
    expect(left(report)).toEqual([["service/c1:ws1/api", "not-made", "skipped", null]]);
    expect([results(report)["service/c1:ws1/api"], report.pending]).toEqual(["created", []]);
  });

  test("waits for the deadline before it takes a request for lost", async () => {
    const deadline = Date.now() + 1_500;
    const { plane, run } = await killed(declare(service()), "putApp", { deadline });
    await run.apply([...ground, declare(service())]);
    expect(Date.now()).toBeGreaterThanOrEqual(deadline);
    expect(plane.effects).toHaveLength(1);
  });

  test("F75 sends nothing of a manifest that has left git, and says that it was not made", async () => {
    const { plane, run } = await killed(declare(service()), "putApp");
    const report = await run.apply(ground);
    expect(left(report)).toEqual([["service/c1:ws1/api", "not-made", "skipped", null]]);
    expect([plane.effects, report.pending]).toEqual([[], []]);
    expect(left(await run.apply(ground))).toEqual([]);
  });

  test("F75 records what was made of a manifest that has left git, and says so", async () => {
    const { plane, run } = await killed(declare(service()), "putApp");
    await (await passes(plane.url)).apply([...ground, declare(service())]);
    plane.effects.length = 0;
    const report = await run.apply(ground);
    expect(left(report)).toEqual([["service/c1:ws1/api", "made", "created", null]]);
    expect([plane.effects, report.pending]).toEqual([[], []]);
    expect((await run.plan(ground)).plan.summary).toMatchObject({ orphan: 1 });
  });

  test("F75 finds what was made below a version that somebody else has made since", async () => {
    const { plane, run } = await killed(declare(service({ replicas: 2 })), "putApp");
    const other = await passes(plane.url);
    await other.apply([...ground, declare(service({ replicas: 2 }))]);
    await other.apply([...ground, declare(service({ replicas: 9 }))]);
    plane.effects.length = 0;
    const report = await run.apply(ground);
    expect(left(report)).toEqual([["service/c1:ws1/api", "made", "created", null]]);
    expect([plane.effects, report.pending]).toEqual([[], []]);
  });

  test("F75 cannot tell of versions that all have another content whether one of them was ours", async () => {
    const { plane, run } = await killed(declare(service({ replicas: 2 })), "putApp");
    await (await passes(plane.url)).apply([...ground, declare(service({ replicas: 9 }))]);
    const report = await run.apply(ground);
    expect(left(report)).toEqual([["service/c1:ws1/api", "unknown", "unknown", "outcome-unknown"]]);
    expect(report.pending).toEqual([]);
  });

  test("F75 finds a changed manifest's first write and makes the second, once each", async () => {
    const { plane, run } = await killed(declare(service()), "putApp");
    await (await passes(plane.url)).apply([...ground, declare(service())]);
    plane.effects.length = 0;
    const report = await run.apply([...ground, declare(service({ replicas: 2 }))]);
    expect(left(report)).toEqual([["service/c1:ws1/api", "made", "created", null]]);
    expect(results(report)["service/c1:ws1/api"]).toBe("updated");
    expect([plane.effects.length, report.pending]).toEqual([1, []]);
  });

  test("F75 asks for no token under the key of an account that left git and cannot be read", async () => {
    const { plane, run } = await killed(account, "putVirtualAccount", { key: "key-of-the-first-send", creates: false });
    for (const name of extensions) plane.manners.missing.add(name);
    const report = await run.apply(ground);
    expect(left(report)).toEqual([["virtual-account/ci", "unknown", "unknown", "token-unrecovered"]]);
    expect([plane.effects, report.pending]).toEqual([[], []]);
    expect(plane.asked.filter(({ operation }) => operation === "putVirtualAccount")).toEqual([]);
  });

  test("F75 does not take the ledger's word for what an interrupted write may have changed", async () => {
    const { plane, run } = await killed({ ...team, value: { ...team.value, members: ["b@x.io"] } }, "putTeam", {
      creates: false,
    });
    await run.apply([...ground, team]);
    plane.effects.length = 0;
    for (const name of extensions) plane.manners.missing.add(name);
    await using session = await run.session({});
    await session.ledger.begin(intentFor({ ...team, value: { ...team.value, members: ["b@x.io"] } }, "putTeam"));
    const report = await run.apply([...ground, team]);
    expect(plane.effects).toEqual([{ operation: "putTeam", key: "ml" }]);
    expect(report.pending).toEqual([]);
  });

  test("F75 keeps what a step that is held back may still need, and asks for it once it is not", async () => {
    const key = "key-of-the-first-send";
    const { plane, run } = await killed(account, "putVirtualAccount", { key, creates: false });
    for (const name of extensions) plane.manners.missing.add(name);
    const held = await run.apply([...ground, account], { sink: null });
    expect(left(held)).toEqual([["virtual-account/ci", "unknown", "unknown", "token-unrecovered"]]);
    expect([results(held)["virtual-account/ci"], held.pending.length]).toEqual(["blocked", 1]);
    const report = await run.apply([...ground, account]);
    expect(report.tokens).toHaveLength(1);
    expect([keysOf(plane), report.pending, left(report)]).toEqual([[key], [], []]);
  });

  test("F75 leaves alone what is not selected", async () => {
    const { run } = await killed(declare(service()), "putApp", { key: "key-of-the-first-send" });
    const report = await run.apply([...ground, declare(service())], { only: ground.map(({ identity }) => identity) });
    expect([left(report), report.pending.length]).toEqual([[], 1]);
  });

  test("F75 tells an account that is there, and not as it was sent, from one that is not", async () => {
    const { plane, run } = await killed(account, "putVirtualAccount");
    const manifest = {
      ...account.value,
      permissions: [{ resource_fqn: "t", resource_type: "tenant", role_id: "tenant-admin" }],
    };
    plane.rows("accounts").push({ id: "a", key: "ci", name: "ci", manifest, updatedAt: "x" });
    const report = await run.apply(ground);
    expect(left(report)).toEqual([["virtual-account/ci", "unknown", "unknown", "token-unrecovered"]]);
    expect([plane.effects, report.pending]).toEqual([[], []]);
  });

  test("F75 delivers the token of an account that left git, from a reply that had reached the journal", async () => {
    const reply = { data: { id: "a", name: "ci", manifest: account.value }, token: "CANARY-sealed" };
    const { plane, run } = await killed(account, "putVirtualAccount", { reply });
    for (const name of extensions) plane.manners.missing.add(name);
    const report = await run.apply(ground);
    expect(left(report)).toEqual([["virtual-account/ci", "made", "created", null]]);
    expect(report.tokens).toEqual([{ identity: account.identity, location: tokenFile(run) }]);
    expect(await readFile(tokenFile(run), "utf8")).toBe("CANARY-sealed\n");
    expect([plane.effects, report.pending]).toEqual([[], []]);
  });

  test("delivers a token that had reached the journal, once", async () => {
    const reply = { data: { manifest: account.value }, token: "CANARY-sealed" };
    const { plane, run } = await killed(account, "putVirtualAccount", { reply });
    plane.rows("accounts").push({ id: "a", key: "ci", name: "ci", manifest: account.value, updatedAt: "x" });
    const report = await run.apply([...ground, account]);
    expect([left(report), report.pending]).toEqual([[], []]);
    expect(await readFile(tokenFile(run), "utf8")).toBe("CANARY-sealed\n");
    expect(JSON.stringify(report.outcomes)).not.toContain("CANARY");
  });

  test("keeps a token that has nowhere to go until there is a place, and says so", async () => {
    const reply = { data: { manifest: account.value }, token: "CANARY-sealed" };
    const { plane, run } = await killed(account, "putVirtualAccount", { reply });
    plane.rows("accounts").push({ id: "a", key: "ci", name: "ci", manifest: account.value, updatedAt: "x" });
    const waiting = await run.apply([...ground, account], { sink: null });
    expect(left(waiting)).toEqual([["virtual-account/ci", "made", "failed", "token-undelivered"]]);
    expect(waiting.pending).toHaveLength(1);
    const delivered = await run.apply([...ground, account]);
    expect([left(delivered), delivered.pending, delivered.tokens.length]).toEqual([[], [], 1]);
  });

  test("names the account whose token was lost on the way", async () => {
    const { plane, run } = await killed(account, "putVirtualAccount");
    plane.rows("accounts").push({ id: "a", key: "ci", name: "ci", manifest: account.value, updatedAt: "x" });
    const report = await run.apply([...ground, account]);
    expect(left(report)).toEqual([["virtual-account/ci", "made", "unknown", "token-unrecovered"]]);
    expect(report.outcomes[0]?.error?.message).toContain("virtual-account/ci was created");
  });

  test("F76 learns from a model that was made that postModelVersion registers", async () => {
    const repo = declare({ type: "ml-repo", name: "r" });
    const model = declare({ type: "model-version", name: "m", ml_repo: "r", source: { type: "platform" } });
    const { plane, run } = await killed(model, "postModelVersion");
    await run.apply([...ground, repo]);
    plane.manners.missing.add("putModelVersion");
    const row = { id: "m1", key: "r/m", fqn: "x:t/r/m:1", manifest: { ...model.value, version: 1 }, updated_at: "x" };
    plane.rows("models").push(row);
    await using session = await run.session({});
    await session.ledger.begin(intentFor(model, "postModelVersion", { id: "intent-2" }));
    const report = await run.apply([...ground, repo, model]);
    expect([results(report)["model-version/r/m"], report.facts.registers]).toEqual(["unchanged", true]);
  });

  test("keeps in the journal what it cannot read, and looks again next time", async () => {
    const chat = declare(prompt());
    const { plane, run } = await killed(chat, "putPromptVersion");
    plane.manners.refused.set("listPromptVersions", { status: 400, message: "not now" });
    const first = await run.apply(ground);
    expect(left(first)).toEqual([["chat_prompt/r/greeter", "unknown", "unknown", "outcome-unknown"]]);
    expect(first.pending).toHaveLength(1);
    plane.manners.refused.clear();
    const second = await run.apply(ground);
    expect(left(second)).toEqual([["chat_prompt/r/greeter", "not-made", "skipped", null]]);
    expect(second.pending).toEqual([]);
  });
});

function tokenFile({ folder }: Pick<Awaited<ReturnType<typeof passes>>, "folder">): string {
  return join(folder, "tokens", "test", "virtual-account", "ci");
}

/** The Idempotency-Keys of the writes since the ground was laid, in order. */
function keysOf({ seen }: Awaited<ReturnType<typeof controlPlane>>): readonly unknown[] {
  return seen.flatMap(({ headers }) => headers["idempotency-key"] ?? []).slice(2);
}
