import { describe, expect, test } from "vitest";
import { controlPlaneVariants } from "../support/control-plane-variants.ts";
import { planOf, reportOf } from "../support/json-output.ts";
import { everyKind, foundations, service, team } from "../support/manifests.ts";
import { serve } from "../support/server.ts";
import { sourceOf } from "../support/source.ts";

describe.each(controlPlaneVariants)("a broken manifest among good ones, on a $name control plane", (plane) => {
  const made = plane.name === "full" ? 8 : 5;

  test("B30: makes apply, plan and drift refuse the whole source, and nothing is written", async () => {
    const server = await plane.serve();
    const before = server.effects();
    const source = await sourceOf({ ...everyKind, "broken.yaml": service("broken", "replica: 1\n") }, server);
    for (const args of [["apply", "--yes"], ["plan"], ["drift"]]) {
      const ended = await source.runHere(args);
      expect(ended).toMatchObject({ code: 3, stdout: "" });
      expect(ended.stderr).toMatch(/^broken\.yaml:9:1: error: .*did you mean `replicas`.* \[unknown-field\]$/m);
      expect(ended.stderr).toContain("nothing was sent; --partial goes on with the valid manifests\n");
    }
    expect(server.effects()).toEqual(before);
  });

  test("is left out with --partial, and the rest is applied", async () => {
    const server = await plane.serve();
    const before = server.effects().length;
    const source = await sourceOf({ ...everyKind, "broken.yaml": service("broken", "replica: 1\n") }, server);
    const ended = await source.runHere(["apply", "--yes", "--partial", "-o", "json"]);
    expect(ended.stderr).toContain("broken.yaml:9:1: error: ");
    expect(reportOf(ended).summary).toMatchObject({ created: made, unchanged: 8 - made, failed: 0 });
    expect(server.effects()).toHaveLength(before + made);
  });

  test("is no orphan while it is broken", async () => {
    const server = await plane.serve();
    const source = await sourceOf(everyKind, server);
    expect(await source.runHere(["apply", "--yes"])).toMatchObject({ code: 0 });
    await source.write("services/api.yaml", service("api", "replica: 3\n"));
    const plan = await source.runHere(["plan", "--partial", "-o", "json"]);
    expect(planOf(plan).summary).toMatchObject({ orphan: 0, keep: 7 });
  });
});

test("what refers to a broken manifest is held back with --partial, and says why", async () => {
  const server = await serve();
  const source = await sourceOf(
    {
      ...foundations,
      "platform/workspace.yaml": "type: workspace\nname: web\ncluster_fqn: dev\nlabel: {}\n",
      "services/api.yaml": service("api"),
      "team.yaml": team("ml"),
    },
    server,
  );
  const ended = await source.runHere(["apply", "--yes", "--partial", "-o", "json"]);
  expect(ended.code).toBe(7);
  const { outcomes } = reportOf(ended);
  expect(outcomes.find(({ kind }) => kind === "service")).toMatchObject({
    result: "blocked",
    error: { code: "dependency" },
  });
  expect(outcomes.filter(({ result }) => result === "created").map(({ kind }) => kind)).toEqual([
    "cluster",
    "ml-repo",
    "team",
  ]);
});
