import { describe, expect, test } from "vitest";
import { controlPlaneVariants } from "../support/control-plane-variants.ts";
import { eventually } from "../support/eventually.ts";
import { planOf, statusOf } from "../support/json-output.ts";
import { interrupted, writeElsewhere } from "../support/open-write.ts";
import { faultsOf } from "../support/output-schemas.ts";
import { serve } from "../support/server.ts";

const API = "service/dev:web/api";
const TEAM = "team/ml";

describe.each(controlPlaneVariants)("resolve on a $name control plane", (plane) => {
  test("S69 shows that a write took effect although another one came after it, and closes it as that alone", async () => {
    const server = await plane.serve();
    const { source, env, gate } = await interrupted(server, "/api/svc/v1/apps", { arrives: true });
    gate.open();
    await writeElsewhere(server);
    const before = server.effects();
    const shown = await source.runHere(["resolve", "-o", "json"], env);
    expect([shown.code, faultsOf("resolve", shown.stdout)]).toEqual([0, []]);
    expect(JSON.parse(shown.stdout)).toMatchObject({
      resolvedAs: null,
      writes: [
        {
          identity: API,
          operation: "PUT /api/svc/v1/apps",
          creates: true,
          versionBefore: null,
          live: { state: "present", version: 2, hasContent: false, changedBy: { at: expect.any(String) } },
          evidence: "applied",
        },
      ],
    });
    const refused = await source.runHere(["resolve", API, "--as", "refused"], env);
    expect(refused).toMatchObject({ code: 5, stdout: "" });
    expect(refused.stderr).toContain(`live shows that the write of ${API} took effect`);
    const closed = await source.runHere(["resolve", API, "--as", "applied"], env);
    expect(closed.code).toBe(0);
    expect(closed.stdout).toMatch(
      /^service\/dev:web\/api\n {2}journal {3}PUT \/api\/svc\/v1\/apps, sent \S+; before, it was absent\n/,
    );
    expect(closed.stdout).toContain("  evidence  live shows that it took effect\n\n1 write closed as applied.\n");
    expect((await source.runHere(["resolve"], env)).stdout).toBe("No write is open: the outcome of each is known.\n");
    // What was written is recorded, so what came after it is drift.
    const [step] = planOf(await source.runHere(["plan", "--kind", "service", "-o", "json"], env)).steps;
    expect(step).toMatchObject({ identity: API, action: "update", causedBy: "drift" });
    expect(server.effects()).toEqual(before);
  });
});

test("S69 closes a write that live cannot tell of, as a person says, once it can no longer arrive", async () => {
  const server = await serve();
  const { source, env, gate } = await interrupted(server, "/api/svc/v1/apps", { arrives: false }, 3);
  await writeElsewhere(server);
  const early = await source.runHere(["resolve", API, "--as", "refused"], env);
  expect(early).toMatchObject({ code: 5, stdout: "" });
  expect(early.stderr).toMatch(/may still arrive\n {2}→ nothing was closed: run it again after \d{4}-/);
  gate.open();
  const { writes } = JSON.parse((await source.runHere(["resolve", API, "-o", "json"], env)).stdout);
  expect(writes).toMatchObject([{ evidence: "unclear" }]);
  await eventually("the deadline", () => Date.now() > Date.parse(writes[0].arrivesUntil) + 1_000);
  expect(await source.runHere(["resolve", API, "--as", "refused"], env)).toMatchObject({ code: 0 });
  expect(await source.runHere(["resolve", API], env)).toMatchObject({ code: 3 });
  const [step] = planOf(await source.runHere(["plan", "--kind", "service", "-o", "json"], env)).steps;
  expect(step).toMatchObject({ identity: API, action: "update", causedBy: "unrecorded" });
});

test("S69 what has no read is recorded as a person says, and nothing is written again", async () => {
  const [, documentedOnly] = controlPlaneVariants;
  const server = await (documentedOnly ?? expect.fail("there is no such plane")).serve();
  const { source, env, gate } = await interrupted(server, "/api/svc/v1/teams", { arrives: true });
  gate.open();
  const before = server.effects();
  const closed = await source.runHere(["resolve", TEAM, "--as", "applied"], env);
  expect(closed.code).toBe(0);
  expect(closed.stdout).toContain(
    "  live      cannot be read here\n  evidence  live does not show whether it took effect\n",
  );
  expect(await source.runHere(["resolve", "--as", "applied"], env)).toMatchObject({ code: 3 });
  const applied = await source.runHere(["apply", "--yes", "--kind", "team"], env);
  expect(applied).toMatchObject({ code: 0, stdout: expect.stringContaining("\nApplied: 1 unchanged\n") });
  expect(server.effects()).toEqual(before);
});

test("S69 a running daemon shows an open write, and closes it as a person says", async () => {
  const server = await serve();
  const { source, env, gate } = await interrupted(server, "/api/svc/v1/apps", { arrives: false });
  await writeElsewhere(server);
  gate.open();
  const hold = ["hold", API, "--reason", "a write is open", "--until", "1h"];
  expect(await source.runHere(hold, env)).toMatchObject({ code: 0 });
  const daemon = source.start(["watch", "--sink", "file", "--interval", "3600"], env);
  await daemon.shows("stderr", /idle until/);
  const before = server.effects();
  const resolve = (...args: string[]) => source.runHere(["resolve", "-o", "json", ...args], env);
  const shown = await resolve();
  const [{ arrivesUntil }] = JSON.parse(shown.stdout).writes;
  const status = async () => statusOf(await source.runHere(["status", "-o", "json"])).targets[0];
  expect(await status()).toMatchObject({ unknown: [API] });
  expect(await resolve("service/dev:web/other", "--as", "refused")).toMatchObject({ code: 3 });
  await eventually("the deadline", () => Date.now() > Date.parse(arrivesUntil) + 1_000);
  const closed = await resolve(API, "--as", "refused");
  expect([closed.code, faultsOf("resolve", closed.stdout)]).toEqual([0, []]);
  expect(JSON.parse(closed.stdout)).toMatchObject({ resolvedAs: "refused", writes: [{ evidence: "unclear" }] });
  expect(server.effects()).toEqual(before);
  // From here on the daemon goes by that: what is live is not ours, and the manifest counts.
  expect(await source.runHere(["release", API])).toMatchObject({ code: 0 });
  await daemon.shows("stdout", /updated {3}service\/dev:web\/api/);
  await eventually("no write is open", async () => (await status())?.unknown.length === 0);
});
