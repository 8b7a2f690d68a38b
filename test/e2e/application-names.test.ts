import { describe, expect, test } from "vitest";
import { controlPlaneVariants } from "../support/control-plane-variants.ts";
import { startCountingProxy } from "../support/counting-proxy.ts";
import { foundations, service } from "../support/manifests.ts";
import { serve } from "../support/server.ts";
import { sourceOf } from "../support/source.ts";

const job = (name: string) =>
  `type: job\nname: ${name}\nworkspace_fqn: dev:web\nimage: { type: image, image_uri: "registry.example.com/${name}:1" }\n`;

test("two applications of different types with one name in one workspace are refused, both with their place", async () => {
  const source = await sourceOf({
    ...foundations,
    "service.yaml": service("api"),
    "job.yaml": job("api"),
    "other.yaml": job("other"),
    "elsewhere.yaml": job("api").replace("dev:web", "dev:batch"),
    "batch.yaml": "type: workspace\nname: batch\ncluster_fqn: dev\n",
  });
  const { code, stdout } = await source.runHere(["validate", "-o", "json"]);
  const { diagnostics } = JSON.parse(stdout);
  expect(code).toBe(3);
  expect(diagnostics).toMatchObject([
    { code: "duplicate-identity", file: "job.yaml", line: 2, detail: expect.stringContaining("service.yaml:1") },
    { code: "duplicate-identity", file: "service.yaml", line: 2, detail: expect.stringContaining("job.yaml:1") },
  ]);
});

describe.each(controlPlaneVariants)("on a $name control plane", ({ serve }) => {
  test("an application that is live under another type is blocked as type-changed, and nothing is written", async () => {
    const server = await serve();
    const source = await sourceOf({ ...foundations, "app.yaml": service("api") }, server);
    expect(await source.runHere(["apply", "--yes"])).toMatchObject({ code: 0 });
    const before = server.effects().length;
    await source.write("app.yaml", job("api"));
    const planned = await source.runHere(["plan", "-o", "json"]);
    expect(planned.code).toBe(0);
    expect(JSON.parse(planned.stdout)).toMatchObject({ complete: true, summary: { block: 1, create: 0 } });
    expect(JSON.parse(planned.stdout).steps).toContainEqual(
      expect.objectContaining({ identity: "job/dev:web/api", action: "block", reason: "type-changed" }),
    );
    const { stdout } = await source.runHere(["plan"]);
    expect(stdout).toContain("! job/dev:web/api ");
    expect(stdout.replaceAll(/\s+/g, " ")).toMatch(
      /type-changed: an application of another type has this name.*service/,
    );
    expect(await source.runHere(["apply", "--yes"])).toMatchObject({ code: 7 });
    expect(server.effects()).toHaveLength(before);
  });
});

test("of many new names those that another type has are found in the lists of their workspaces", async () => {
  const server = await serve();
  const source = await sourceOf({ ...foundations, "app.yaml": service("n7") }, server);
  expect(await source.runHere(["apply", "--yes"])).toMatchObject({ code: 0 });
  const jobs = Array.from({ length: 40 }, (_, n) => job(`n${n}`)).join("---\n");
  await source.write("app.yaml", jobs);
  const proxy = await startCountingProxy(server);
  const { stdout } = await source.runHere(["plan", "-o", "json"], { HOLDFAST_SERVER: proxy.url });
  expect(JSON.parse(stdout)).toMatchObject({ summary: { block: 1, create: 39 } });
  // A list of all applications may be that of a million.
  const lists = proxy.requests().filter((request) => request.includes("/apps?"));
  expect(lists.filter((request) => !request.includes("workspaceFqn=dev%3Aweb"))).toEqual([]);
  expect(lists).not.toHaveLength(0);
});
