import { describe, expect, test } from "vitest";
import { controlPlaneVariants } from "../support/control-plane-variants.ts";
import { foundations, service } from "../support/manifests.ts";
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

test("of many new names those that another type has are found in one list", async () => {
  const server = await controlPlaneVariants[0]?.serve();
  const source = await sourceOf({ ...foundations, "app.yaml": service("n7") }, server);
  expect(await source.runHere(["apply", "--yes"])).toMatchObject({ code: 0 });
  const jobs = Array.from({ length: 40 }, (_, n) => job(`n${n}`)).join("---\n");
  await source.write("app.yaml", jobs);
  const { stdout } = await source.runHere(["plan", "-o", "json"]);
  expect(JSON.parse(stdout)).toMatchObject({ summary: { block: 1, create: 39 } });
});
