import { describe, expect, test } from "vitest";
import { controlPlaneVariants } from "../support/control-plane-variants.ts";
import { answer, faultProxy } from "../support/fault-proxy.ts";
import { planOf, reportOf } from "../support/json-output.ts";
import { everyKind, foundations, service, team } from "../support/manifests.ts";
import { serve } from "../support/server.ts";
import { sourceOf } from "../support/source.ts";

// Told by E8 where the control plane has it, and by the dry run where it has not.
const absent = /^\/mounts\/0\/secret_fqn: (there is no secret "|the secret .* does not exist)/;

const mount = "mounts:\n  - { type: secret, mount_path: /run/key, secret_fqn: holdfast:absent:key }\n";

describe.each(controlPlaneVariants)("a manifest that the control plane refuses, on a $name control plane", (plane) => {
  test("is told with the control plane's words and its place, and everything else is made", async () => {
    const server = await plane.serve();
    const source = await sourceOf({ ...everyKind, "services/refused.yaml": service("refused", mount) }, server);
    const ended = await source.runHere(["apply", "--yes", "-o", "json"]);
    expect(ended.code).toBe(7);
    const { outcomes, summary } = reportOf(ended);
    expect(outcomes).toHaveLength(9);
    expect(summary).toMatchObject({ blocked: 1, failed: 0, skipped: 0, unknown: 0 });
    expect(outcomes.find(({ error }) => error !== null)).toMatchObject({
      identity: "service/dev:web/refused",
      result: "blocked",
      file: "services/refused.yaml",
      error: { code: "refused", message: expect.stringMatching(absent), pointer: "/mounts/0/secret_fqn" },
    });
    const text = await source.runHere(["apply", "--yes"]);
    expect(text.code).toBe(7);
    expect(text.stdout).toMatch(
      /service\/dev:web\/refused\n +at services\/refused\.yaml:10:55\n[\s\S]*secret_fqn: the(re is no)?\s+secret /,
    );
  });

  test("alone gives exit code 1", async () => {
    const server = await plane.serve();
    const ground = await sourceOf(foundations, server);
    expect(await ground.runHere(["apply", "--yes"])).toMatchObject({ code: 0 });
    const source = await sourceOf({ "refused.yaml": service("refused", mount) }, server);
    const before = server.effects();
    expect(await source.runHere(["apply", "--yes"])).toMatchObject({ code: 1 });
    expect(server.effects()).toEqual(before);
  });
});

test("a refusal on a full control plane points at the field", async () => {
  const server = await serve();
  const source = await sourceOf({ ...foundations, "refused.yaml": service("refused", mount) }, server);
  const ended = await source.runHere(["apply", "--yes"]);
  expect(ended.stdout).toMatch(/at refused\.yaml:10:55\n/);
});

test("what refers to something blocked is held back, and nothing else", async () => {
  const server = await serve();
  const source = await sourceOf(
    {
      ...foundations,
      "platform/workspace.yaml": `${foundations["platform/workspace.yaml"]}collaborators:\n  - { subject: "team:ghosts", role_id: workspace-viewer }\n`,
      "services/api.yaml": service("api"),
    },
    server,
  );
  const planned = planOf(await source.runHere(["plan", "-o", "json"]));
  expect(planned.diagnostics).toMatchObject([
    { code: "reference-absent", line: 5, column: 16, related: [{ line: 3 }] },
  ]);
  const shown = (await source.runHere(["plan"])).stdout.replaceAll(/\s+/g, " ");
  expect(shown).toContain("neither declared here nor live (team/ghosts) ");
  const { outcomes } = reportOf(await source.runHere(["apply", "--yes", "-o", "json"]));
  const because = "what it refers to is";
  expect(outcomes.map(({ identity, result, error }) => [identity, result, error?.code, error?.message])).toEqual([
    ["cluster/dev", "created", undefined, undefined],
    ["ml-repo/registry", "created", undefined, undefined],
    ["workspace/dev:web", "blocked", "reference-absent", `${because} neither declared here nor live (team/ghosts)`],
    [
      "service/dev:web/api",
      "blocked",
      "dependency",
      `${because} blocked or invalid: fix that first (workspace/dev:web)`,
    ],
  ]);
});

test("with --fail-fast nothing more is started after a failure, and what was not is said to be skipped", async () => {
  const proxy = await faultProxy(await serve());
  const source = await sourceOf(foundations, proxy.server);
  expect(await source.runHere(["apply", "--yes"])).toMatchObject({ code: 0 });
  await source.write("services/first.yaml", service("first"));
  await source.write("services/next.yaml", service("zz-next"));
  proxy.inject("putApp", answer(422, { statusCode: 422, message: "no" }), { dryRun: false });
  const ended = await source.runHere(["apply", "--yes", "--fail-fast", "--concurrency", "1", "-o", "json"]);
  const { summary, outcomes } = reportOf(ended);
  expect(summary.failed).toBe(1);
  expect(outcomes.find(({ identity }) => identity === "service/dev:web/zz-next")?.result).toBe("skipped");
});

test("F35 a disk without room stops the writes: none is sent that is not journaled, and the next run makes each once", async () => {
  const server = await serve();
  const count = 80;
  const members = Array.from({ length: 200 }, (_, nth) => `somebody-${nth}@example.com`).join(", ");
  const teams = Array.from({ length: count }, (_, nth) => [`team-${nth}.yaml`, team(`team-${nth}`, members)] as const);
  const source = await sourceOf(Object.fromEntries(teams), server);
  const ended = await source.runWithin(2048, ["apply", "--yes", "--request-timeout", "2", "-o", "json"]);
  const { summary, outcomes } = reportOf(ended);
  expect(ended.code).toBe(7);
  expect(summary).toMatchObject({ failed: 0, blocked: 0 });
  expect(Math.min(summary.created ?? 0, summary.unknown ?? 0, summary.skipped ?? 0)).toBeGreaterThan(0);
  const troubled = outcomes.filter(({ result }) => result === "unknown");
  expect(new Set(troubled.map(({ error }) => error?.code))).toEqual(new Set(["ledger-unwritable"]));
  const sent = server.effects().length;
  expect(sent).toBeLessThanOrEqual((summary.created ?? 0) + (summary.unknown ?? 0));
  expect(await source.runHere(["apply", "--yes"])).toMatchObject({ code: 0 });
  expect(server.effects()).toHaveLength(count);
  expect(reportOf(await source.runHere(["apply", "--yes", "-o", "json"])).summary).toMatchObject({ unchanged: count });
});
