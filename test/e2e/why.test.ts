import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { deployAs, foreignService } from "../support/foreign-service.ts";
import { foundations, service } from "../support/manifests.ts";
import { faultsOf } from "../support/output-schemas.ts";
import { serve } from "../support/server.ts";
import { sourceOf } from "../support/source.ts";
import { operatorOf, upstreamOf } from "../support/upstream.ts";

test("why tells who wanted a value, who wrote it, and who has changed it in live", async () => {
  const server = await serve();
  const upstream = await upstreamOf({ ...foundations, "api.yaml": service("api", "replicas: 2\n") });
  const first = await upstream.git("rev-parse", "HEAD");
  await upstream.commit({ "other.yaml": service("other") });
  const folder = await sourceOf({}, server);
  const run = (...args: string[]) => folder.runHere([...args, "--source", upstream.folder, "--state", "state"]);
  expect(await run("apply", "--yes", "--no-wait")).toMatchObject({ code: 0 });
  const applied = (await upstream.git("rev-parse", "HEAD")).trim();
  const passesOf = async () => JSON.parse((await run("history", "-o", "json")).stdout).targets[0].passes;
  expect(await passesOf()).toMatchObject([{ commit: applied, result: "applied", counts: { created: 5 } }]);
  expect(JSON.parse((await run("status", "-o", "json")).stdout)).toMatchObject({
    daemon: null,
    targets: [
      { sync: "Synced", condition: "Ready", appliedRevision: applied, wantedRevision: applied, nextPassAt: null },
    ],
  });
  // Of a part that is in sync there is nothing new to tell, and the status of the whole stays.
  expect(await run("apply", "--yes", "--only", "service/dev:web/api")).toMatchObject({ code: 0 });
  expect(JSON.parse((await run("status", "-o", "json")).stdout).targets[0].appliedRevision).toBe(applied);
  await foreignService(server);
  // Settings that change what git's blame prints, or make it fail.
  const settings = ["ignoreRevsFile=missing", "markIgnoredLines=true", "showEmail=true", "blankBoundary=true"];
  for (const setting of [...settings, "date=relative", "coloring=highlightRecent"]) {
    const [name = "", value = ""] = setting.split("=");
    await upstream.git("config", `blame.${name}`, value);
  }

  const text = await run("why", "service/dev:web/api/replicas");
  expect(text).toMatchObject({ code: 0 });
  expect(text.stdout).toMatch(/ {2}wanted {3}2\n {11}\S*api\.yaml:\d+\n {11}commit [0-9a-f]{12} of /);
  expect(text.stdout).toMatch(/ {2}written {2}2\n {11}\d{4}-\d\d-\d\dT\S+ v1, for commit [0-9a-f]{12}\n/);
  expect(text.stdout).toMatch(/ {2}live {5}4\n {11}changed since we wrote; newest version v2 by \S+, \d{4}/);
  const json = await run("why", "service/dev:web/api/replicas", "-o", "json");
  expect([json.code, faultsOf("why", json.stdout)]).toEqual([0, []]);
  expect(JSON.parse(json.stdout)).toMatchObject({
    identity: "service/dev:web/api",
    pointer: "/replicas",
    wanted: { value: 2, commit: first.trim(), isOldest: false },
    written: { value: 2, version: 1, commit: applied, isUncommitted: false },
    live: { value: 4, version: 2, cause: "drift", isSince: true },
  });
  const whole = await run("why", "service/dev:web/api");
  expect(whole.stdout).toMatch(
    / {2}differs: live → wanted\n {4}drift +env\.QUEUE .* by virtualaccount:others, \S+\n {4}drift +replicas +4 → 2\n/,
  );
  const wholeJson = await run("why", "service/dev:web/api", "-o", "json");
  expect(faultsOf("why", wholeJson.stdout)).toEqual([]);
  expect(JSON.parse(wholeJson.stdout).changes).toMatchObject([
    { label: "env.QUEUE" },
    { path: "/replicas", before: 4, after: 2 },
  ]);
  // Each field has the author of the version that gave it its value, also where git has come to want the same.
  const { data } = await server.call("GET", "/api/svc/v1/apps?fqn=dev:web:api");
  const env = { ...data[0].deployment.manifest.env, LEVEL: "debug" };
  await server.call("PUT", "/api/svc/v1/apps", { manifest: { ...data[0].deployment.manifest, env } });
  const traced = { ...data[0].deployment.manifest, env: { ...env, TRACE: "all" } };
  await deployAs("tracer", traced, server);
  await upstream.commit({ "api.yaml": service("api", "replicas: 4\n") });
  const later = await run("why", "service/dev:web/api", "-o", "json");
  expect(faultsOf("why", later.stdout)).toEqual([]);
  expect(JSON.parse(later.stdout)).toMatchObject({
    changes: [
      { label: "env.LEVEL", changedBy: { subject: "user:admin" } },
      { label: "env.QUEUE", changedBy: { subject: "virtualaccount:others" } },
      { label: "env.TRACE", changedBy: { subject: "virtualaccount:tracer" } },
    ],
    changedSince: [{ path: "/replicas", before: 2, after: 4, changedBy: { subject: "virtualaccount:others" } }],
  });
  expect((await run("why", "service/dev:web/api")).stdout).toMatch(
    / {2}written by somebody else since, and as wanted: written → live\n {4}drift +replicas +2 → 4 +by virtualaccount:others/,
  );
  expect(await run("why", "service/dev:web/api/nowhere")).toMatchObject({
    code: 3,
    stderr: expect.stringContaining("service/dev:web/api has no field /nowhere"),
  });
  expect(await run("why", "service/dev:web/apu")).toMatchObject({
    code: 3,
    stderr: expect.stringContaining("did you mean service/dev:web/api?"),
  });
  // An uncommitted file has no commit; the others keep theirs.
  await writeFile(join(upstream.folder, "other.yaml"), service("other", "replicas: 3\n"));
  const wantedBy = async (of: string) => JSON.parse((await run("why", of, "-o", "json")).stdout).wanted.commit;
  expect(await wantedBy("service/dev:web/api")).toMatch(/^[0-9a-f]{40}$/);
  expect(await wantedBy("service/dev:web/other")).toBe(null);
  await upstream.git("checkout", "--quiet", "other.yaml");
  // A whole resource was wanted by the commit that last changed any of its lines.
  const document = JSON.parse((await run("why", "service/dev:web/api", "-o", "json")).stdout);
  expect(document.wanted.commit).toBe((await upstream.git("log", "-1", "--format=%H", "--", "api.yaml")).trim());
  await upstream.commit({ "broken.yaml": "type: service\nname: [broken\n" });
  expect(await run("why", "service/dev:web/none")).toMatchObject({
    code: 3,
    stderr: expect.stringMatching(
      /broken\.yaml:2:7: error: [\s\S]* may be declared where a manifest cannot be read: \S*broken\.yaml:2/,
    ),
  });
  await upstream.git("reset", "--quiet", "--hard", "HEAD~1");

  // Of a repository that is followed, whose history is fetched where there is no record.
  const source = { name: "platform", url: upstream.folder, ref: "main" };
  const operator = await operatorOf({ sources: [source], targets: [{ name: "prod" }] }, server);
  const followed = await operator.runHere(["why", "service/dev:web/api", "-o", "json"]);
  expect([followed.code, faultsOf("why", followed.stdout)]).toEqual([0, []]);
  const newest = (await upstream.git("log", "-1", "--format=%H", "--", "api.yaml")).trim();
  expect(JSON.parse(followed.stdout)).toMatchObject({
    pointer: "",
    wanted: { file: "api.yaml", line: 1, commit: newest, isOldest: false },
    written: null,
  });
});
