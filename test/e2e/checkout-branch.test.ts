import { expect, test } from "vitest";
import { eventually } from "../support/eventually.ts";
import { commitAll, git } from "../support/git.ts";
import { statusOf } from "../support/json-output.ts";
import { team } from "../support/manifests.ts";
import { serve } from "../support/server.ts";
import { sourceOf } from "../support/source.ts";

test("a checkout is applied only at the branch that --ref names, and at rest; a plan says what apply refuses", async () => {
  const server = await serve();
  const { folder, write, run } = await sourceOf({ "ml.yaml": team("ml"), ".gitignore": ".holdfast/\n" }, server);
  await commitAll(folder, "Begin");
  await git(folder, "switch", "--quiet", "--create", "change");
  expect(await run(["apply", "--yes", "--ref", "main"])).toMatchObject({
    code: 5,
    stderr: `error: the checkout ${folder} is at change, not at main\n  → git switch main, or name another one with --ref\n`,
  });
  const planned = await run(["plan", "--strict", "-o", "json"], { HOLDFAST_REF: "main" });
  expect(planned).toMatchObject({ code: 0 });
  expect(JSON.parse(planned.stdout)).toMatchObject({
    summary: { create: 1 },
    diagnostics: [{ severity: "warning", code: "checkout-not-ready", summary: expect.stringContaining("at change") }],
  });
  await git(folder, "switch", "--quiet", "main");
  await write("ml.yaml", team("ml", "bob@example.com"));
  await write("holdfast.yaml", "ref: main\n");
  const refused = await run(["apply", "--yes", "-o", "json"]);
  expect(refused.code).toBe(5);
  expect(refused.stdout + refused.stderr).toContain("holdfast.yaml differs from commit");
  await git(folder, "add", "holdfast.yaml");
  await git(folder, "commit", "--quiet", "--message", "Apply main alone");
  expect((await run(["apply", "--yes"])).stderr).toMatch(/^error: the checkout .* has 1 file changed since commit /m);
  expect(server.effects()).toEqual([]);
  await commitAll(folder, "Change");
  expect(await run(["apply", "--yes"])).toMatchObject({ code: 0, stdout: expect.stringContaining("1 created") });
});

test("watch keeps the last applied revision while its checkout is not at rest, heals drift, and goes on by itself", async () => {
  const server = await serve();
  const { folder, write, start, run } = await sourceOf(
    { "ml.yaml": team("ml"), "web.yaml": team("web"), ".gitignore": ".holdfast/\n" },
    server,
  );
  const commit = await commitAll(folder, "Begin");
  const watch = start(["watch", "--ref", "main", "--sink", "file", "--interval", "3600"]);
  await watch.shows("stdout", /2 created/);
  await git(folder, "switch", "--quiet", "--create", "change");
  await write("ml.yaml", team("ml", "bob@example.com"));
  await write("web.yaml", team("web", "bob@example.com"));
  await watch.shows("stderr", /is at change, not at main\n {2}→ git switch main/);
  await watch.shows("stderr", new RegExp(`keeping the last applied revision, commit ${commit}`));
  const stalled = await eventually("a stalled target", async () => {
    const [target] = statusOf(await run(["status", "-o", "json"])).targets;
    return target?.condition === "Stalled" && target;
  });
  expect(stalled).toMatchObject({ reason: "CheckoutNotReady" });
  await server.call("PUT", "/api/svc/v1/teams", {
    manifest: { type: "team", name: "web", members: ["eve@example.com"] },
  });
  watch.kill("SIGHUP");
  await eventually("drift is healed", () => server.effects().length === 4);
  expect(JSON.stringify(await server.call("GET", "/api/svc/v1/teams"))).not.toContain("bob@example.com");

  // A commit changes no file, and makes the checkout ready all the same.
  await git(folder, "switch", "--quiet", "main");
  await watch.shows("stderr", /has 2 files changed since commit/);
  await commitAll(folder, "Change");
  await watch.shows("stdout", /2 updated/);
  watch.kill("SIGTERM");
  expect(await watch.ended).toMatchObject({ code: 0 });
  expect(server.effects()).toHaveLength(6);
});
