import { describe, expect, test } from "vitest";
import { controlPlaneVariants } from "../support/control-plane-variants.ts";
import { planOf, reportOf } from "../support/json-output.ts";
import { everyKind, service, team } from "../support/manifests.ts";
import { serve } from "../support/server.ts";
import { sourceOf } from "../support/source.ts";

const source = { ...everyKind, "services/worker.yaml": service("worker") };
const needed = ["cluster/dev", "workspace/dev:web"];

describe("a selection takes what is chosen, with what that needs", () => {
  test.each([
    { args: ["services"], chosen: [...needed, "service/dev:web/api", "service/dev:web/worker"] },
    { args: ["services/api.yaml"], chosen: [...needed, "service/dev:web/api"] },
    { args: ["--only", "service/dev:web/worker"], chosen: [...needed, "service/dev:web/worker"] },
    { args: ["--only", "service/*/work*"], chosen: [...needed, "service/dev:web/worker"] },
    { args: ["--kind", "team", "cluster"], chosen: ["cluster/dev", "team/ml"] },
    { args: ["services", "--exclude", "service/*/api"], chosen: [...needed, "service/dev:web/worker"] },
    // A flag with a list takes no path that follows it.
    { args: ["--exclude", "service/*/api", "services"], chosen: [...needed, "service/dev:web/worker"] },
    {
      args: ["--exclude", "service/*/api,team/**", "--exclude", "ml-repo/**", "services"],
      chosen: [...needed, "service/dev:web/worker"],
    },
    { args: ["--writers", "user:ada@example.com", "services/api.yaml"], chosen: [...needed, "service/dev:web/api"] },
    { args: ["--kind", "chat_prompt"], chosen: ["ml-repo/registry", "chat_prompt/registry/greeting"] },
  ])("$args", async ({ args, chosen }) => {
    const server = await serve();
    const repository = await sourceOf(source, server);
    const plan = planOf(await repository.runHere(["plan", "-o", "json", ...args]));
    expect(plan.steps.map(({ identity }) => identity).toSorted()).toEqual(chosen.toSorted());
    expect(await repository.runHere(["apply", "--yes", ...args])).toMatchObject({ code: 0 });
    expect(
      server
        .effects()
        .map(({ resource }) => resource.replace(/@1$/, ""))
        .toSorted(),
    ).toEqual(chosen.toSorted());
  });
});

describe.each(controlPlaneVariants)("what left the source, on a $name control plane", (plane) => {
  test("is reported as an orphan and never deleted, and is counted with a selection", async () => {
    const server = await plane.serve();
    const repository = await sourceOf(source, server);
    expect(await repository.runHere(["apply", "--yes"])).toMatchObject({ code: 0 });
    await repository.remove("services/worker.yaml");
    const before = server.effects();

    const ended = await repository.runHere(["plan", "--detailed-exitcode"]);
    expect(ended.code).toBe(0);
    expect(ended.stdout).toContain("Plan: nothing to do, 8 unchanged; 1 orphan\n");
    expect(ended.stdout).toContain("○ service/dev:web/worker\n");
    const plan = planOf(await repository.runHere(["plan", "-o", "json"]));
    expect(plan.summary.orphan).toBe(1);
    expect(plan.steps).toMatchObject([{ action: "orphan", identity: "service/dev:web/worker", file: null }]);
    expect((await repository.runHere(["drift"])).code).toBe(0);
    const part = planOf(await repository.runHere(["plan", "-o", "json", "services"]));
    expect([part.summary.orphan, part.steps]).toEqual([1, []]);
    const applied = await repository.runHere(["apply", "--yes", "-o", "json", "services"]);
    expect(reportOf(applied)).toMatchObject({ summary: { orphan: 1 } });
    const counted = "1 orphan not listed with a selection; Holdfast never deletes";
    for (const command of [["plan"], ["apply", "--yes"], ["drift"]]) {
      expect((await repository.runHere([...command, "services"])).stdout).toContain(counted);
      const whole = await repository.runHere(command);
      expect(whole).toMatchObject({ code: 0, stdout: expect.stringContaining("○ service/dev:web/worker\n") });
      expect(whole.stdout).toContain("remove it on the platform, then `holdfast forget`");
    }
    expect(server.effects()).toEqual(before);
  });

  test("when it is everything, is an accident: apply refuses", async () => {
    const server = await plane.serve();
    const repository = await sourceOf(everyKind, server);
    expect(await repository.runHere(["apply", "--yes"])).toMatchObject({ code: 0 });
    for (const file of Object.keys(everyKind)) await repository.remove(file);
    const before = server.effects();
    const ended = await repository.runHere(["apply", "--yes"]);
    expect(ended).toMatchObject({ code: 5, stdout: "" });
    expect(ended.stderr).toMatch(/^error: the source declares nothing, .*\n {2}→ .*--allow-shrink$/m);
    expect(server.effects()).toEqual(before);
  });
});

describe("a source that shrank", () => {
  const teams = Object.fromEntries(
    Array.from({ length: 10 }, (_, index) => [`team-${index}.yaml`, team(`team-${index}`)]),
  );

  test("by more than 30 % is refused, until that is allowed; what is left is applied, nothing deleted", async () => {
    const server = await serve();
    const repository = await sourceOf(teams, server);
    expect(await repository.runHere(["apply", "--yes"])).toMatchObject({ code: 0 });
    for (const index of [0, 1, 2]) await repository.remove(`team-${index}.yaml`);
    expect(await repository.runHere(["apply", "--yes"])).toMatchObject({ code: 0 });
    await repository.remove("team-3.yaml");
    await repository.write("team-4.yaml", team("team-4", "grace@example.com"));
    const refused = await repository.runHere(["apply", "--yes"]);
    expect(refused).toMatchObject({ code: 5, stdout: "" });
    expect(refused.stderr).toContain("the source declares 6 of the 10 resources");
    expect(server.effects()).toHaveLength(10);

    const allowed = await repository.runHere(["apply", "--yes", "--allow-shrink"]);
    expect(allowed.code).toBe(0);
    expect(server.effects()).toHaveLength(11);
    const { pagination } = await server.call("GET", "/api/svc/v1/teams");
    expect(pagination.total).toBe(10);
  });

  test("stops watch from writing until it is whole again", async () => {
    const server = await serve();
    const repository = await sourceOf(teams, server);
    const watch = repository.start(["watch"]);
    await watch.shows("stdout", /^Applied: 10 created/m);
    await Promise.all([0, 1, 2, 3, 5, 6].map((index) => repository.remove(`team-${index}.yaml`)));
    await watch.shows("stderr", /error: the source declares 4 of the 10 resources/);
    await repository.write("team-4.yaml", team("team-4", "grace@example.com"));
    await Promise.all([0, 1, 2, 3, 5].map((index) => repository.write(`team-${index}.yaml`, team(`team-${index}`))));
    await watch.shows("stdout", /updated {3}team\/team-4/);
    expect(server.effects()).toHaveLength(11);
  });
});
