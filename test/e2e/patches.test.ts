import { describe, expect, test } from "vitest";
import { planOf, reportOf } from "../support/json-output.ts";
import { foundations, service, team } from "../support/manifests.ts";
import { serve } from "../support/server.ts";
import { operatorOf, upstreamOf } from "../support/upstream.ts";

const patch = `match: service/prod:web/api
patch:
  replicas: 3
  env: { MODE: production }
`;

async function environments() {
  const server = await serve();
  const upstream = await upstreamOf({
    ...foundations,
    "api.yaml": service("api", "replicas: 1\nenv: { MODE: staging }\n"),
    "patches/prod/api.yaml": patch,
    "team.yaml": team("ml"),
    "patches/other/api.yaml": "type: service\nname: [\n",
  });
  const source = { name: "platform", url: upstream.folder, ref: "main" };
  const prod = {
    name: "prod",
    paths: ["platform", "api.yaml", "patches"],
    patches: "patches/prod/",
    rename: { clusters: { dev: "prod" } },
  };
  const other = { name: "other", paths: ["team.yaml"], patches: "patches/other" };
  const operator = await operatorOf({ sources: [source], targets: [prod, other] }, server);
  return { server, upstream, run: operator.runHere };
}

describe("a target with patches", () => {
  test("applies its manifests with them, and explains each value by the line of the patch", async () => {
    const { upstream, run } = await environments();
    expect(await run(["validate", "--target", "prod"])).toMatchObject({ code: 0 });
    const applied = await run(["apply", "--target", "prod", "--yes", "--no-wait", "-o", "json"]);
    expect(applied).toMatchObject({ code: 0 });
    expect(reportOf(applied).outcomes.map(({ identity }) => identity)).toContain("service/prod:web/api");
    const why = await run(["why", "service/prod:web/api/replicas", "--target", "prod", "-o", "json"]);
    expect(JSON.parse(why.stdout)).toMatchObject({
      wanted: { value: 3, file: "patches/prod/api.yaml", line: 3, commit: await upstream.git("rev-parse", "HEAD") },
      live: { value: 3 },
    });
    const commit = await upstream.commit({ "patches/prod/api.yaml": patch.replace("3", "4") });
    const planned = await run(["plan", "--target", "prod", "-o", "json"]);
    expect(planOf(planned)).toMatchObject({
      revision: commit,
      steps: [{ identity: "service/prod:web/api", changes: [{ path: "/replicas", before: 3, after: 4 }] }],
    });
  });

  test("refuses what a patch makes invalid at the patch, and nothing of other targets is read", async () => {
    const { upstream, run } = await environments();
    await upstream.commit({ "patches/prod/b.yaml": "match: service/prod:web/*\npatch: { replicas: many }\n" });
    const ended = await run(["plan", "--target", "prod"]);
    expect(ended.code).toBe(3);
    expect(ended.stderr).toContain("patches/prod/b.yaml:2:20: error: `replicas`");
    expect(ended.stderr).not.toContain("patches/other");
  });
});
