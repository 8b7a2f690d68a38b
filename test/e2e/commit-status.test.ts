import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { eventually } from "../support/eventually.ts";
import { temporaryFolder } from "../support/folder.ts";
import { serveGit } from "../support/git-http.ts";
import { startReceiver, status } from "../support/http-receiver.ts";
import { team } from "../support/manifests.ts";
import { serve } from "../support/server.ts";
import { operatorOf, upstreamOf } from "../support/upstream.ts";

test("each commit that watch applies gets its status on the git host", async () => {
  const server = await serve();
  const upstream = await upstreamOf({ "ml.yaml": team("ml") });
  const remote = await serveGit(upstream.folder);
  const host = await startReceiver(status(201));
  const tokenFile = join(await temporaryFolder(), "status-token");
  await writeFile(tokenFile, "CANARY-status-token\n");
  const commitStatus = { provider: "github", tokenFile, apiUrl: host.url };
  const { start } = await operatorOf(
    {
      sources: [{ name: "platform", url: remote.url, ref: "main", commitStatus }],
      targets: [{ name: "prod", interval: 0.3 }],
    },
    server,
  );
  const first = await upstream.git("rev-parse", "HEAD");
  const watch = start(["watch"]);
  await eventually("the first status", () => host.received.length === 1);
  const second = await upstream.commit({ "a.yaml": team("a") });
  await eventually("the second status", () => host.received.length === 2);
  expect(host.received.map(({ path }) => path.split("/").at(-1))).toEqual([first.trim(), second.trim()]);
  expect(JSON.parse(host.received[1]?.body ?? "")).toMatchObject({ state: "success", context: "holdfast/prod" });
  watch.kill("SIGTERM");
  const ended = await watch.ended;
  expect(ended).toMatchObject({ code: 0 });
  expect(ended.stdout + ended.stderr).not.toContain("CANARY");
});
