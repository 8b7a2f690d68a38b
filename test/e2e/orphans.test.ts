import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { foundations, service } from "../support/manifests.ts";
import { faultsOf } from "../support/output-schemas.ts";
import { serve } from "../support/server.ts";
import { sourceOf } from "../support/source.ts";

const extra = "type: workspace\nname: old\ncluster_fqn: dev\n";

/** A source whose service and the workspace around it were applied, and then removed from it. */
async function orphanedSource() {
  const server = await serve();
  const inner = service("api").replace("dev:web", "dev:old");
  const source = await sourceOf({ ...foundations, "old.yaml": extra, "api.yaml": inner }, server);
  expect(await source.runHere(["apply", "--yes"])).toMatchObject({ code: 0 });
  await source.remove("old.yaml");
  await source.remove("api.yaml");
  return { source, server };
}

test("orphans are a checklist, what is within another first, with the command that drops their records", async () => {
  const { source, server } = await orphanedSource();
  const before = server.effects();
  const ended = await source.run(["orphans"], { COLUMNS: "80" });
  expect(ended.code).toBe(0);
  expect(ended.stdout).toBe(
    [
      `2 resources on ${server.url} that git no longer declares. Holdfast`,
      "  never deletes. Remove them on the platform, in this order:",
      "",
      "[ ] service/dev:old/api",
      "    recorded, no longer declared",
      "[ ] workspace/dev:old",
      "    recorded, no longer declared",
      "",
      "Then drop their records:",
      "",
      "  holdfast forget service/dev:old/api workspace/dev:old",
      "",
    ].join("\n"),
  );
  expect(server.effects()).toEqual(before);
  const forget = ended.stdout.trimEnd().split("\n").at(-1)?.trim().split(" ").slice(1) ?? [];
  expect(await source.runHere(forget)).toMatchObject({ code: 0 });
  const { stdout } = await source.runHere(["orphans"]);
  expect(stdout).toBe(`No orphans: git declares everything on ${server.url} that it ever declared\n`);
});

test("orphans -o markdown is the body of an issue, also in a file, and -o json has its schema", async () => {
  const { source, server } = await orphanedSource();
  const { code, stdout } = await source.runHere(["orphans", "-o", "markdown", "-o", "json=orphans.json"]);
  expect([code, stdout]).toEqual([
    0,
    [
      `2 resources on ${server.url} that git no longer declares. Holdfast never deletes. Remove them on the platform, in this order.`,
      "",
      "- [ ] remove `service/dev:old/api`: `recorded, no longer declared`",
      "- [ ] remove `workspace/dev:old`: `recorded, no longer declared`",
      "- [ ] then drop their records:",
      "",
      "  ```console",
      "  holdfast forget service/dev:old/api workspace/dev:old",
      "  ```",
      "",
    ].join("\n"),
  ]);
  const text = readFileSync(join(source.folder, "orphans.json"), "utf8");
  expect(faultsOf("orphans", text)).toEqual([]);
  expect(JSON.parse(text)).toMatchObject({
    complete: true,
    orphans: [
      { identity: "service/dev:old/api", kind: "service", orphan: { recorded: true, isLive: true } },
      { identity: "workspace/dev:old" },
    ],
    forget: "holdfast forget service/dev:old/api workspace/dev:old",
  });
});

test("without a server, or with a wrong flag, orphans ends with 3", async () => {
  const source = await sourceOf(foundations);
  expect(await source.runHere(["orphans"])).toMatchObject({
    code: 3,
    stdout: "",
    stderr: expect.stringContaining("--server"),
  });
  expect(await source.runHere(["orphans", "-o", "sarif"])).toMatchObject({ code: 3 });
  const failed = await source.runHere(["orphans", "-o", "json"]);
  expect(faultsOf("failure", failed.stdout)).toEqual([]);
});
