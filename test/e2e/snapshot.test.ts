import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { temporaryFolder } from "../support/folder.ts";
import { run } from "../support/process.ts";
import { runHere } from "../support/run-here.ts";
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
  await copy.process.shows("stderr", /1 cluster, 1 workspace, .* seen/);
  await copy.process.shows("stderr", /not seen: team\/ml: named, and found by no read\n/);
  // A list shows a token less, and does not say so.
  const permissions = [{ resource_type: "cluster", resource_fqn: "c1x", role_id: "cluster-viewer" }];
  const manifest = { type: "virtual-account", name: "part", permissions };
  const { token } = await live.call("PUT", "/api/svc/v1/virtual-accounts", { manifest });
  writeFileSync(join(folder, "part"), `${token}\n`);
  const { cwd, env } = { cwd: folder, env: {} };
  const args = ["snapshot", "--server", live.url, "--token-file", "part", "--out", "part.json"];
  const part = (await runHere(args, { cwd, env })).stderr.replaceAll(/\s+/g, " ");
  expect(part).toContain(
    "not seen: what the roles of virtualaccount:part do not show (tenant-viewer on tenant holdfast would show everything)",
  );
  const whole = await runHere(args.with(4, "token").with(6, "whole.json"), { cwd, env });
  expect(whole).toMatchObject({ code: 0, stderr: expect.not.stringContaining("do not show") });
});

test("a snapshot of nothing does not start", async () => {
  const folder = await temporaryFolder();
  const args = ["serve", "--port", "0", "--data", join(folder, "data")];
  const unnamed = await run([...args, "--names", folder], { cwd: folder });
  expect([unnamed.code, unnamed.stderr]).toEqual([3, expect.stringContaining("--snapshot")]);
  const tokenless = await run([...args, "--snapshot", "http://127.0.0.1:9"], { cwd: folder });
  expect([tokenless.code, tokenless.stderr]).toEqual([4, expect.stringContaining("no token")]);
});
