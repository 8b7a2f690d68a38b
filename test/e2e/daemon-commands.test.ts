import { isDeepStrictEqual } from "node:util";
import { expect, test } from "vitest";
import { eventually } from "../support/eventually.ts";
import { foreignService } from "../support/foreign-service.ts";
import { statusOf } from "../support/json-output.ts";
import { foundations, service, team } from "../support/manifests.ts";
import { faultsOf } from "../support/output-schemas.ts";
import { serve } from "../support/server.ts";
import { guarded, sourceOf } from "../support/source.ts";
import { operatorOf, upstreamOf } from "../support/upstream.ts";

test("S60 what others manage holds a target's first write, and a running daemon carries commands out itself", async () => {
  const server = await serve();
  const first = await sourceOf(foundations, server);
  expect(await first.run(["apply", "--yes"])).toMatchObject({ code: 0 });
  await foreignService(server);
  const before = server.effects();
  const upstream = await upstreamOf({ ...foundations, "api.yaml": service("api"), "worker.yaml": service("worker") });
  const { run, start } = await operatorOf(
    {
      sources: [{ name: "platform", url: upstream.folder, ref: "main" }],
      targets: [{ name: "prod", interval: 3600 }],
    },
    server,
  );
  const daemon = start(["watch", "--no-wait"], guarded);
  await daemon.shows("stdout", /2 blocked, 3 unchanged/);
  const status = async () => statusOf(await run(["status", "-o", "json"])).targets[0];
  expect(await status()).toMatchObject({
    condition: "Stalled",
    reason: "NotAdopted",
    message: expect.stringContaining(
      "1 of 5 blocked until adopted or allowed: service/dev:web/api; holdfast import --update service/dev:web/api takes",
    ),
  });
  expect(server.effects()).toEqual(before);

  const adopt = (identity: string, ...flags: string[]) => run(["adopt", identity, ...flags], guarded);
  expect(await adopt("service/dev:web/nowhere")).toMatchObject({
    code: 3,
    stderr: expect.stringContaining("service/dev:web/nowhere is not declared in the source"),
  });
  const adopted = await adopt("service/dev:web/api", "-o", "json");
  expect([adopted.code, faultsOf("records", adopted.stdout)]).toEqual([0, []]);
  expect(JSON.parse(adopted.stdout)).toMatchObject({ changed: [{ identity: "service/dev:web/api" }] });
  // A pass follows by itself: now everything else is written too.
  await daemon.shows("stdout", /1 created, 1 updated, 3 unchanged/);
  await eventually("the target is in sync", async () => ((await status())?.sync === "Synced" ? true : null));

  // An apply beside it writes nothing and leaves its history and status as they are.
  const records = async () => [await status(), (await run(["history", "-o", "json"])).stdout];
  // A pass of the daemon may end in between, once.
  await eventually("the same records before and after", async () => {
    const before = await records();
    expect(await run(["apply", "--yes"])).toMatchObject({ code: 8 });
    return isDeepStrictEqual(await records(), before);
  });

  const hold = ["hold", "service/dev:web/api", "--reason", "incident", "--until", "1h"];
  expect(await run(hold)).toMatchObject({ code: 0 });
  expect(await run(["redeploy", "service/dev:web/api", "--force"])).toMatchObject({
    code: 5,
    stderr: expect.stringContaining("is held"),
  });
  expect(await run(["release", "service/dev:web/api"])).toMatchObject({ code: 0 });
  const effects = server.effects().length;
  const redeployed = await run(["redeploy", "service/dev:web/api", "--force", "-o", "json"]);
  expect(redeployed).toMatchObject({ code: 0 });
  expect(JSON.parse(redeployed.stdout).summary).toMatchObject({ updated: 1 });
  expect(server.effects()).toHaveLength(effects + 1);

  expect(await run(["resolve", "-o", "json"])).toMatchObject({ code: 0 });

  await upstream.remove("worker.yaml");
  expect(await run(["reconcile"])).toMatchObject({ code: 0 });
  expect((await run(["forget", "service/dev:web/worker"])).stdout).toContain("forgotten service/dev:web/worker");
  expect(await run(["forget", "service/dev:web/worker"])).toMatchObject({ code: 3 });
});

test("a daemon whose state folder another one served answers commands once that one has ended", async () => {
  // Without leases both work at the same time.
  const server = await serve(["--documented-only"]);
  const upstream = await upstreamOf({ "one/ml.yaml": team("ml"), "two/web.yaml": team("web") });
  const operator = await operatorOf(
    {
      sources: [{ name: "platform", url: upstream.folder, ref: "main" }],
      targets: [
        { name: "one", paths: ["one"], interval: 3600 },
        { name: "two", paths: ["two"], interval: 3600 },
      ],
    },
    server,
  );
  const daemonOf = async () => statusOf(await operator.run(["status", "-o", "json"])).daemon;
  const first = operator.start(["watch", "--target", "one", "--listen", "127.0.0.1:0"]);
  await first.shows("stdout", /1 created/);
  const served = await daemonOf();
  expect(served).not.toBeNull();
  const second = operator.start(["watch", "--target", "two", "--listen", "127.0.0.1:0"]);
  await second.shows("stdout", /1 created/);
  expect(await daemonOf()).toEqual(served);
  first.kill("SIGKILL");
  const other = await eventually("the second daemon answers", daemonOf);
  expect(other).not.toEqual(served);
  expect(await operator.run(["reconcile", "--target", "two"])).toMatchObject({ code: 0 });
  expect(second.stderr()).not.toMatch(/no socket/);
});
