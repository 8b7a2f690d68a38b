import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { temporaryFolder } from "../support/folder.ts";
import { run } from "../support/process.ts";
import { serve, serveProcess } from "../support/server.ts";

const cluster = { type: "cluster", name: "c1x", cluster_type: "generic" };
const workspace = { type: "workspace", name: "ws1", cluster_fqn: "c1x" };

test("a control plane starts as a copy of a live one, and says what it could not see", async () => {
  const live = await serve();
  await live.call("PUT", "/api/svc/v1/clusters", { manifest: cluster });
  await live.call("PUT", "/api/svc/v1/workspaces", { manifest: workspace });
  const before = live.effects();
  const folder = await temporaryFolder();
  writeFileSync(join(folder, "token"), `${live.token}\n`);
  mkdirSync(join(folder, "names"));
  writeFileSync(join(folder, "names/team.yaml"), "type: team\nname: ml\nmembers: [ann@example.com]\n");
  const flags = ["--snapshot", live.url, "--token-file", join(folder, "token"), "--names", join(folder, "names")];
  const copy = await serveProcess(flags);
  const { data } = await copy.call("GET", "/api/svc/v1/workspaces");
  expect(data).toEqual((await live.call("GET", "/api/svc/v1/workspaces")).data);
  expect(live.effects()).toEqual(before);
  await copy.process.shows("stderr", /1 clusters, 1 workspaces, .* seen/);
  await copy.process.shows("stderr", /not seen: team\/ml: named, and found by no read\n/);
});

test("a snapshot of nothing does not start", async () => {
  const folder = await temporaryFolder();
  const args = ["serve", "--port", "0", "--data", join(folder, "data")];
  const unnamed = await run([...args, "--names", folder], { cwd: folder });
  expect([unnamed.code, unnamed.stderr]).toEqual([3, expect.stringContaining("--snapshot")]);
  const tokenless = await run([...args, "--snapshot", "http://127.0.0.1:9"], { cwd: folder });
  expect([tokenless.code, tokenless.stderr]).toEqual([4, expect.stringContaining("no token")]);
});
