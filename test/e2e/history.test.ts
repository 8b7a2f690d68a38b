import { expect, test } from "vitest";
import { team } from "../support/manifests.ts";
import { serve } from "../support/server.ts";
import { operatorOf, upstreamOf } from "../support/upstream.ts";

test("history tells what became of a resource, and when live had drifted", async () => {
  const server = await serve();
  const upstream = await upstreamOf({ "ml.yaml": team("ml"), "web.yaml": team("web") });
  const source = { name: "platform", url: upstream.folder, ref: "main" };
  const { start, run } = await operatorOf({ sources: [source], targets: [{ name: "prod", interval: 3600 }] }, server);
  const daemon = start(["watch"]);
  await daemon.shows("stdout", /created/);
  const first = await upstream.git("rev-parse", "HEAD");
  await server.call("PUT", "/api/svc/v1/teams", {
    manifest: { type: "team", name: "ml", members: ["joe@example.com"] },
  });
  expect(await run(["reconcile"])).toMatchObject({ code: 0 });
  const invalid = await upstream.commit({ "web.yaml": `${team("web")}nonsense: 1\n` });
  expect(await run(["reconcile"])).toMatchObject({ code: 1 });
  daemon.kill("SIGTERM");
  await daemon.ended;
  const audited = JSON.parse((await run(["audit", "--resource", "team/ml", "-o", "json"])).stdout).rows;
  const { passes } = JSON.parse((await run(["history", "-o", "json"])).stdout).targets[0];
  const written = passes.filter(({ pass }: { readonly pass?: string }) => pass !== undefined);
  expect(written).toMatchObject([
    { commit: first, pass: audited[0].pass },
    { commit: first, pass: audited[2].pass },
  ]);
  const eventsOf = async (...args: readonly string[]) => {
    const { targets } = JSON.parse((await run(["history", ...args, "-o", "json"])).stdout);
    return targets[0].events.map((event: { [name: string]: unknown }) => {
      const { commit, identity, state, hasDrifted } = event;
      return { commit, identity, state, hasDrifted };
    });
  };
  const ml = { commit: first, identity: "team/ml" };
  const web = { identity: "team/web", hasDrifted: false };
  expect(await eventsOf("team/ml")).toEqual([
    { ...ml, state: "created", hasDrifted: false },
    { ...ml, state: "updated", hasDrifted: true },
  ]);
  // Named twice, a resource is shown once.
  expect(await eventsOf("team/web", "team/web")).toEqual([
    { ...web, commit: first, state: "created" },
    { ...web, commit: invalid, state: "invalid" },
  ]);
  expect(await eventsOf("--drifted")).toEqual([{ ...ml, state: "updated", hasDrifted: true }]);
  const shown = (await run(["history", "--drifted"], { COLUMNS: "80" })).stdout;
  expect(shown).toMatch(
    /^prod\n {2}\d{4}-\d\d-\d\d {2}1 drift of 1 resource\n {2}\S+Z {2}\w{12} {2}team\/ml\s+updated, /,
  );
  expect((await run(["history", "team/web"])).stdout).toMatch(/team\/web {2}invalid: web\.yaml:\d+: /);
  expect(await run(["history", "ml"])).toMatchObject({
    code: 3,
    stderr: expect.stringContaining("ml is no identity of a resource"),
  });
});
