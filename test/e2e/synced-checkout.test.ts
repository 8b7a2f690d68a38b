import { join } from "node:path";
import { expect, test } from "vitest";
import { eventually } from "../support/eventually.ts";
import { syncedCheckout } from "../support/git-sync.ts";
import { team } from "../support/manifests.ts";
import { serve } from "../support/server.ts";
import { sourceOf } from "../support/source.ts";

/** The events of one name that a watch has written, a line each. */
function eventsIn(stdout: string, name: string) {
  const events = stdout.split("\n").flatMap((line) => (line.startsWith("{") ? [JSON.parse(line)] : []));
  return events.filter(({ event }) => event === name);
}

test("F58 watch follows the link of a git-sync sidecar, at the commit that it leads to, and keeps it where the next is broken", async () => {
  const server = await serve();
  const { source, sync } = await syncedCheckout({
    "a/ml.yaml": team("ml"),
    "a/web.yaml": team("web"),
    "holdfast.yaml": "paths: [a]\n",
  });
  const { folder, start, run } = await sourceOf({}, server);
  const flags = ["--source", source, "--sink", "file", "-o", "json"];
  expect(await run(["watch", ...flags])).toMatchObject({
    code: 3,
    stderr: expect.stringMatching(/^error: the state folder .*\n {2}→ name a folder elsewhere with --state/m),
  });
  const watch = start(["watch", ...flags, "--state", "state", "--interval", "3600"]);
  const events = (name: string) => eventsIn(watch.stdout(), name);
  await eventually("the first pass", () => events("applied").length === 1);
  const commit = await sync({ "a/ml.yaml": team("ml", "bob@example.com") });
  await eventually("a pass at the new commit", () => events("applied").length === 2);
  expect(events("applied").at(-1)).toMatchObject({ revision: commit, message: "Applied: 1 updated, 1 unchanged" });

  // The next one is refused, and the work tree of the last applied one is gone; drift is healed all the same.
  await sync({ "holdfast.yaml": "paths: [b]\n", "a/ml.yaml": team("ml", "eve@example.com") });
  await eventually("the refusal", () => events("kept").length === 1);
  expect(events("kept")).toMatchObject([{ revision: commit, message: "the path b does not exist" }]);
  await server.call("PUT", "/api/svc/v1/teams", {
    manifest: { type: "team", name: "web", members: ["eve@example.com"] },
  });
  watch.kill("SIGHUP");
  await eventually("drift is healed", () => events("applied").at(-1)?.message === "Applied: 1 updated, 1 unchanged");

  // A broken manifest is named by the link, as it is in the next revision.
  await sync({ "holdfast.yaml": "paths: [a]\n", "a/ml.yaml": "type: team\nname: 7\n" });
  const file = await eventually("the fault", () => events("read").at(-1)?.diagnostics[0]?.file);
  expect(join(folder, file)).toBe(join(source, "a/ml.yaml"));
  watch.kill("SIGTERM");
  expect(await watch.ended).toMatchObject({ code: 0 });
});

test("F58 a watch that is started anew goes on with the last applied revision, though its work tree is gone", async () => {
  const server = await serve();
  const { source, sync } = await syncedCheckout({
    "a/ml.yaml": team("ml"),
    "a/web.yaml": team("web"),
    "holdfast.yaml": "paths: [a]\n",
  });
  const { start, run } = await sourceOf({}, server);
  const flags = ["--source", source, "--sink", "file", "-o", "json", "--state", "state"];
  expect(await run(["apply", "--yes", "--allow-privilege", ...flags])).toMatchObject({ code: 0 });
  // Twice, so that it is known that nothing has to be read.
  for (const _ of [1, 2]) expect(await run(["plan", ...flags])).toMatchObject({ code: 0 });
  const watch = start(["watch", ...flags, "--interval", "3600"]);
  const messages = (name: string) => eventsIn(watch.stdout(), name).map(({ message }) => message);
  await eventually("the first pass", () => messages("applied").length === 1);
  await sync({ "a/ml.yaml": team("ml", "bob@example.com") });
  await eventually("a pass at the new commit", () => messages("applied").length === 2);
  await sync({ "holdfast.yaml": "paths: [b]\n" });
  await eventually("the refusal", () => messages("kept").length === 1);
  await server.call("PUT", "/api/svc/v1/teams", {
    manifest: { type: "team", name: "web", members: ["eve@example.com"] },
  });
  watch.kill("SIGHUP");
  await eventually("drift is healed", () => messages("applied").at(-1) === "Applied: 1 updated, 1 unchanged");
  watch.kill("SIGTERM");
  expect(await watch.ended).toMatchObject({ code: 0 });
});
