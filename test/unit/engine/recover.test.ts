import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import type { JsonObject } from "../../../src/contract/json.ts";
import type { WriteOperation } from "../../../src/contract/operations.ts";
import type { Live } from "../../../src/core/live.ts";
import type { Manifest } from "../../../src/core/manifest.ts";
import { judge } from "../../../src/engine/judge.ts";
import type { Intent } from "../../../src/engine/ledger.ts";
import { tokenIn } from "../../../src/engine/token.ts";
import { kindOf } from "../../../src/kinds/index.ts";
import { declare, present, prompt, service, shapeOf } from "../core/given.ts";
import { extensions, passes, results } from "./passes.ts";
import { controlPlane } from "./plane.ts";

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
    written: value,
    versionBefore: null,
    creates: true,
    deadline: 0,
    key: null,
    ...fields,
  };
}

describe("judging a write from live", () => {
  const verdict = (written: JsonObject, live: Live, operation: WriteOperation, fields: Partial<Intent> = {}) => {
    const manifest = declare(written);
    const kind = kindOf(manifest.kind);
    if (kind === undefined) throw new TypeError("no kind");
    return judge(kind, shapeOf(manifest.kind), intentFor(manifest, operation, fields), live).effect;
  };
  const team = { type: "team", name: "ml", members: ["a@x.io", "b@x.io"] };

  test.each<[string, string, JsonObject, Live, WriteOperation, Partial<Intent>]>([
    ["absent", "not-there", service(), { state: "absent" }, "putApp", {}],
    ["unknown", "unreadable", service(), { state: "unknown", reason: "no-read" }, "putApp", {}],
    ["the same and new", "there", service(), present(service(), { version: 1 }), "putApp", {}],
    [
      "the same with the server's additions",
      "there",
      service({ ports: [{ port: 80 }], env: { A: 1 } }),
      present(service({ ports: [{ port: 80, protocol: "TCP" }], env: { A: "1" }, replicas: 1 }), { version: 2 }),
      "putApp",
      { versionBefore: 1 },
    ],
    [
      "the same, and as old as before",
      "not-there",
      service(),
      present(service(), { version: 3 }),
      "putApp",
      { versionBefore: 3 },
    ],
    [
      "newer, and not what was sent",
      "other",
      service({ replicas: 2 }),
      present(service({ replicas: 9 }), { version: 4 }),
      "putApp",
      { versionBefore: 3 },
    ],
    [
      "there, though it was absent, and not what was sent",
      "other",
      service({ replicas: 2 }),
      present(service({ replicas: 9 }), { version: 1 }),
      "putApp",
      {},
    ],
    [
      "another content of what can be repeated",
      "not-there",
      team,
      present({ ...team, members: ["a@x.io"] }),
      "putTeam",
      {},
    ],
    ["the same in another order", "there", team, present({ ...team, members: ["b@x.io", "a@x.io"] }), "putTeam", {}],
    [
      "a version changed in place",
      "there",
      prompt({ version: 2, description: "new" }),
      present(prompt({ version: 2, description: "new" }), { version: 2 }),
      "putPromptVersion",
      { versionBefore: 2 },
    ],
    [
      "a version not changed yet",
      "not-there",
      prompt({ version: 2, description: "new" }),
      present(prompt({ version: 2 }), { version: 2 }),
      "putPromptVersion",
      { versionBefore: 2 },
    ],
  ])("that is %s gives %s", (_, effect, written, live, operation, fields) => {
    expect(verdict(written, live, operation, fields)).toBe(effect);
  });
});

describe("a token in a reply that was put away", () => {
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
    await session.ledger.open(intentFor(manifest, operation, fields));
    if (reply !== undefined) await session.ledger.keepReply("intent-1", Buffer.from(JSON.stringify(reply)));
    return { plane, run };
  }

  test("records what had arrived, and writes it no second time", async () => {
    const { plane, run } = await killed(declare(service()), "putApp");
    await (await passes(plane.url)).apply([cluster, workspace, declare(service())]);
    plane.effects.length = 0;
    const report = await run.apply([cluster, workspace, declare(service())]);
    expect(results(report)["service/c1:ws1/api"]).toBe("unchanged");
    expect([plane.effects, report.pending, report.recovered]).toEqual([[], [], []]);
  });

  test("writes once what had not arrived", async () => {
    const { plane, run } = await killed(declare(service()), "putApp");
    const report = await run.apply([cluster, workspace, declare(service())]);
    expect(results(report)["service/c1:ws1/api"]).toBe("created");
    expect(plane.effects).toHaveLength(1);
    expect(report.pending).toEqual([]);
  });

  test("waits for the deadline before it takes a request for lost", async () => {
    const deadline = Date.now() + 1_500;
    const { plane, run } = await killed(declare(service()), "putApp", { deadline });
    await run.apply([cluster, workspace, declare(service())]);
    expect(Date.now()).toBeGreaterThanOrEqual(deadline);
    expect(plane.effects).toHaveLength(1);
  });

  test("delivers a token that had reached the journal, once", async () => {
    const reply = { data: { manifest: account.value }, token: "CANARY-sealed" };
    const { plane, run } = await killed(account, "putVirtualAccount", { reply });
    plane.rows("accounts").push({ id: "a", key: "ci", name: "ci", manifest: account.value, updatedAt: "x" });
    const report = await run.apply([cluster, workspace, account]);
    expect(report.recovered).toEqual([]);
    expect(report.pending).toEqual([]);
    expect(await readFile(join(run.state.folder, "tokens", "test", "virtual-account", "ci"), "utf8")).toBe(
      "CANARY-sealed\n",
    );
    expect(JSON.stringify(report)).not.toContain("CANARY");
  });

  test("keeps a token that has nowhere to go until there is a place, and says so", async () => {
    const reply = { data: { manifest: account.value }, token: "CANARY-sealed" };
    const { plane, run } = await killed(account, "putVirtualAccount", { reply });
    plane.rows("accounts").push({ id: "a", key: "ci", name: "ci", manifest: account.value, updatedAt: "x" });
    const waiting = await run.apply([cluster, workspace, account], { sink: null });
    expect(waiting.recovered).toMatchObject([{ severity: "error", code: "token-undelivered" }]);
    expect(waiting.pending).toHaveLength(1);
    const delivered = await run.apply([cluster, workspace, account]);
    expect([delivered.recovered, delivered.pending]).toEqual([[], []]);
  });

  test("names the account whose token was lost on the way", async () => {
    const { plane, run } = await killed(account, "putVirtualAccount");
    plane.rows("accounts").push({ id: "a", key: "ci", name: "ci", manifest: account.value, updatedAt: "x" });
    const report = await run.apply([cluster, workspace, account]);
    expect(report.recovered).toMatchObject([
      { code: "token-unrecovered", summary: expect.stringContaining("virtual-account/ci was created") },
    ]);
  });

  test("says that an account may have lost its token where accounts cannot be read", async () => {
    const { plane, run } = await killed(account, "putVirtualAccount");
    for (const name of extensions) plane.manners.missing.add(name);
    const report = await run.apply([cluster, workspace, account]);
    expect(report.recovered).toMatchObject([
      { code: "token-unrecovered", summary: expect.stringContaining("may have been created") },
    ]);
  });

  test("keeps in the journal what it cannot read, and looks again next time", async () => {
    const chat = declare(prompt());
    const { plane, run } = await killed(chat, "putPromptVersion");
    plane.manners.refused.set("listPromptVersions", { status: 400, message: "not now" });
    const first = await run.apply([cluster, workspace]);
    expect(first.recovered).toMatchObject([{ severity: "warning", code: "outcome-unknown" }]);
    expect(first.pending).toHaveLength(1);
    plane.manners.refused.clear();
    expect((await run.apply([cluster, workspace])).pending).toEqual([]);
  });
});
