import { describe, expect, test } from "vitest";
import { controlPlaneVariants } from "../support/control-plane-variants.ts";
import { change } from "../support/drifted-service.ts";
import { driftOf, planOf } from "../support/json-output.ts";
import { everyKind, service } from "../support/manifests.ts";
import { type Server, serve } from "../support/server.ts";
import { type Source, sourceOf } from "../support/source.ts";

async function applied(server: Server): Promise<Source> {
  const source = await sourceOf(everyKind, server);
  expect(await source.runHere(["apply", "--yes"])).toMatchObject({ code: 0 });
  return source;
}

/** Where the manifest that is changed states its number of replicas. */
const replicasAt = { file: "services/api.yaml", line: 9 };

describe.each(controlPlaneVariants)("on a $name control plane", (plane) => {
  const unknown = plane.name === "full" ? 0 : 2;

  test("drift finds the field that moved in live, exits 2, and writes nothing", async () => {
    const server = await plane.serve();
    const source = await applied(server);
    const calm = await source.runHere(["drift", "-o", "json"]);
    expect(calm.code).toBe(0);
    expect(driftOf(calm).summary).toEqual({
      drifted: 0,
      unrecorded: 0,
      absent: 0,
      unchanged: 8 - unknown,
      unknown,
      orphan: 0,
      invalid: 0,
    });

    await change(server, { replicas: 5 });
    const before = server.effects();
    const ended = await source.runHere(["drift", "-o", "json"]);
    expect(ended.code).toBe(2);
    const report = driftOf(ended);
    expect(report).toMatchObject({ format_version: "2.2", server: server.url, complete: true, diagnostics: [] });
    expect(report.summary).toEqual({
      drifted: 1,
      unrecorded: 0,
      absent: 0,
      unchanged: 7 - unknown,
      unknown,
      orphan: 0,
      invalid: 0,
    });
    expect(report.drift.filter(({ state }) => state === "drifted")).toMatchObject([
      {
        identity: "service/dev:web/api",
        kind: "service",
        file: "services/api.yaml",
        line: 1,
        state: "drifted",
        changes: [{ path: "/replicas", label: "replicas", before: 2, after: 5, cause: "drift", diff: null }],
      },
    ]);
    expect(await source.runHere(["drift", "--detailed-exitcode"])).toMatchObject({ code: 2 });
    const text = await source.runHere(["drift", "--no-detailed-exitcode"]);
    expect(text.code).toBe(0);
    expect(text.stdout).toContain("drift      replicas  2 → 5  by ");
    expect(server.effects()).toEqual(before);
  });

  test("plan calls it drift, a changed manifest manifest, and both at once conflict", async () => {
    const server = await plane.serve();
    const source = await applied(server);
    const causes = async (): Promise<unknown> => {
      const plan = planOf(await source.runHere(["plan", "-o", "json"]));
      return [plan.summary.drift, plan.steps[0]?.changes];
    };
    await change(server, { replicas: 5 });
    expect(await causes()).toEqual([
      1,
      [{ path: "/replicas", label: "replicas", before: 5, after: 2, cause: "drift", diff: null, ...replicasAt }],
    ]);
    await source.write("services/api.yaml", service("api", "replicas: 4\n"));
    expect(await causes()).toEqual([
      1,
      [{ path: "/replicas", label: "replicas", before: 5, after: 4, cause: "conflict", diff: null, ...replicasAt }],
    ]);
    await change(server, { replicas: 2 });
    expect(await causes()).toEqual([
      0,
      [{ path: "/replicas", label: "replicas", before: 2, after: 4, cause: "manifest", diff: null, ...replicasAt }],
    ]);
    expect(await source.runHere(["apply", "--yes"])).toMatchObject({ code: 0 });
    expect(await source.runHere(["drift"])).toMatchObject({ code: 0 });
  });

  test("a runner without a record lets the manifests stand in, and says so", async () => {
    const server = await plane.serve();
    const source = await applied(server);
    await change(server, { replicas: 5 });
    const ended = await source.runHere(["drift", "--state", "elsewhere"]);
    expect(ended.code).toBe(2);
    expect(ended.stdout).toContain("8 of 8 have no record in this state: compared with the manifests here instead");
    expect(ended.stdout).toContain("unrecorded replicas  2 → 5");
    const report = driftOf(await source.runHere(["drift", "--state", "elsewhere", "-o", "json"]));
    expect(report.summary).toMatchObject({ drifted: 0, unrecorded: 1, absent: 0 });
    expect(report.drift.filter(({ state }) => state !== "unknown")).toMatchObject([
      { state: "unrecorded", changes: [{ path: "/replicas", before: 2, after: 5, cause: "unrecorded" }] },
    ]);
  });
});

describe.each(controlPlaneVariants)("a field that a rule suppresses, on a $name control plane", (plane) => {
  const rule = 'ignore:\n  - { path: /replicas, match: "service/dev:web/*", reason: scaled by hand }\n';
  const apply = ["apply", "--yes"];
  const changesOf = async (source: Source): Promise<unknown> => {
    const plan = planOf(await source.runHere(["plan", "-o", "json"]));
    const drift = driftOf(await source.runHere(["drift", "-o", "json", "--kind", "service"]));
    return [plan.steps.flatMap(({ changes }) => changes), drift.drift.flatMap(({ changes }) => changes)];
  };

  test("F77 is shown as drift once the rule is gone, whatever was applied under it", async () => {
    const server = await plane.serve();
    const source = await applied(server);
    await source.write("holdfast.yaml", rule);
    await change(server, { replicas: 5 });
    for (const more of ["", "service_account: runner\n"]) {
      await source.write("services/api.yaml", service("api", `replicas: 2\n${more}`));
      expect(await source.runHere(apply)).toMatchObject({ code: 0 });
      expect(await source.runHere([...apply, "-o", "json"])).toMatchObject({ code: 0 });
      await source.write("holdfast.yaml", "");
      expect(await changesOf(source)).toEqual([
        [{ path: "/replicas", label: "replicas", before: 5, after: 2, cause: "drift", diff: null, ...replicasAt }],
        [{ path: "/replicas", label: "replicas", before: 2, after: 5, cause: "drift", diff: null }],
      ]);
      await source.write("holdfast.yaml", rule);
    }
    await source.write("holdfast.yaml", "");
    expect(await source.runHere(apply)).toMatchObject({ code: 0 });
    expect(await changesOf(source)).toEqual([[], []]);
  });

  test("F77 is shown as unrecorded once the rule is gone, where it was never ours", async () => {
    const server = await plane.serve();
    const source = await applied(server);
    await source.write("holdfast.yaml", rule);
    await change(server, { replicas: 5 });
    const fresh = ["--state", "fresh"];
    expect(await source.runHere([...apply, ...fresh])).toMatchObject({ code: 0 });
    await source.write("holdfast.yaml", "");
    const steps = planOf(await source.runHere(["plan", "-o", "json", ...fresh])).steps;
    expect(steps).toMatchObject([
      {
        changes: [{ path: "/replicas", label: "replicas", before: 5, after: 2, cause: "unrecorded", diff: null }],
        action: "update",
      },
    ]);
  });
});

describe("drift", () => {
  test("reports what is gone from live", async () => {
    const server = await serve();
    const source = await applied(server);
    const fresh = await serve(["--port", "0"]);
    const ended = await source.runHere(["drift", "-o", "json", "--server", fresh.url], { HOLDFAST_TOKEN: fresh.token });
    expect(ended.code).toBe(2);
    expect(driftOf(ended).summary).toMatchObject({ absent: 8, unchanged: 0 });
  });

  test("leaves out what a rule ignores", async () => {
    const server = await serve();
    const source = await applied(server);
    await source.write(
      "holdfast.yaml",
      'ignore:\n  - { path: /replicas, match: "service/dev:web/*", reason: scaled by hand }\n',
    );
    await change(server, { replicas: 5 });
    expect(await source.runHere(["drift"])).toMatchObject({ code: 0 });
    expect(await source.runHere(["plan", "--detailed-exitcode"])).toMatchObject({
      code: 0,
      stdout: "Plan: nothing to do, 8 unchanged; 1 field ignored\n",
    });
    const json = await source.runHere(["plan", "-o", "json"]);
    expect(planOf(json)).toMatchObject({ steps: [], ignored: 1 });
  });
});
