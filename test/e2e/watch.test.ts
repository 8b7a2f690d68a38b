import { describe, expect, test } from "vitest";
import { controlPlaneVariants } from "../support/control-plane-variants.ts";
import { eventually } from "../support/eventually.ts";
import { everyKind, service, team } from "../support/manifests.ts";
import { rolloutProxy } from "../support/rollout-proxy.ts";
import { serve, serveProcess } from "../support/server.ts";
import { sourceOf } from "../support/source.ts";

describe.each(controlPlaneVariants)("watch on a $name control plane", (plane) => {
  test("follows an edit at once, and drains and ends well on SIGTERM", async () => {
    const server = await plane.serve();
    const source = await sourceOf(everyKind, server);
    // The next pass that an edit does not cause comes after the end of the test.
    const watch = source.start(["watch", "--sink", "file", "--interval", "3600"]);
    await watch.shows("stdout", /^Applied: [58] created/m);

    await source.write("services/api.yaml", service("api", "replicas: 3\n"));
    await watch.shows("stdout", /updated {3}service\/dev:web\/api/);
    await source.write("team.yaml", team("ml", "grace@example.com"));
    await watch.shows("stdout", /updated {3}team\/ml/);
    await source.write("services/worker.yaml", service("worker"));
    await watch.shows("stdout", /created {3}service\/dev:web\/worker/);

    watch.kill("SIGTERM");
    expect(await watch.ended).toMatchObject({
      code: 0,
      stderr: expect.stringMatching(/stopped: the process was asked to end\n$/),
    });
    expect(await source.run(["apply", "--yes"])).toMatchObject({
      code: 0,
      stdout: expect.stringContaining("\nApplied: 9 unchanged\n"),
    });
  });
});

describe("watch", () => {
  test("follows an edit while rollouts go on, puts off what they hold up, and tells how they end", async () => {
    const server = await serve();
    const proxy = await rolloutProxy(server);
    proxy.set("stuck");
    const source = await sourceOf(everyKind, server);
    const watch = source.start(["watch", "--sink", "file"], { HOLDFAST_SERVER: proxy.url });
    await eventually("the deployment", () =>
      server.effects().find(({ resource }) => resource === "service/dev:web/api"),
    );
    await source.write("team.yaml", team("ml", "grace@example.com"));
    await watch.shows("stdout", /updated {3}team\/ml/);
    await source.write("services/api.yaml", service("api", "replicas: 3\n"));
    await watch.shows("stderr", /^waiting: 1 rollout, until /m);
    await watch.shows("stdout", /Z service\/dev:web\/api {2}rollout superseded at ROLLOUT_STARTED$/m);
    proxy.set("healthy");
    await eventually("the second deployment", () =>
      server
        .effects()
        .filter(({ resource }) => resource === "service/dev:web/api")
        .at(1),
    );
    watch.kill("SIGTERM");
    expect(await watch.ended).toMatchObject({ code: 0 });
  });

  test("puts right on its interval what moved in live", async () => {
    const server = await serve();
    const source = await sourceOf(everyKind, server);
    const watch = source.start(["watch", "--sink", "file", "--interval", "0.2"]);
    await watch.shows("stdout", /^Applied: 8 created/m);
    await server.call("PUT", "/api/svc/v1/teams", {
      manifest: { type: "team", name: "ml", members: ["eve@example.com"] },
    });
    await watch.shows("stdout", /updated {3}team\/ml/);
    const { data } = await server.call("GET", "/api/svc/v1/teams");
    expect(data[0].members).toEqual(["ada@example.com"]);
  });

  test("B30: applies the good manifests beside a broken one, and names the broken one", async () => {
    const server = await serve();
    const source = await sourceOf(everyKind, server);
    const watch = source.start(["watch", "--sink", "file"]);
    await watch.shows("stdout", /^Applied: 8 created/m);
    await source.write("services/broken.yaml", service("broken", "replica: 1\n"));
    await watch.shows("stderr", /services\/broken\.yaml:9:1: error: .*did you mean `replicas`/);
    await source.write("services/good.yaml", service("good"));
    await watch.shows("stdout", /created {3}service\/dev:web\/good/);
    expect(server.effects().map(({ resource }) => resource)).not.toContain("service/dev:web/broken");
    await source.write("services/broken.yaml", service("broken", "replicas: 1\n"));
    await watch.shows("stdout", /created {3}service\/dev:web\/broken/);
  });

  test("keeps what was live when a manifest breaks", async () => {
    const server = await serve();
    const source = await sourceOf(everyKind, server);
    const watch = source.start(["watch", "--sink", "file"]);
    await watch.shows("stdout", /^Applied: 8 created/m);
    const before = server.effects();
    await source.write("services/api.yaml", "type: service\nname: api\n  image: wrong\n");
    await watch.shows("stderr", /services\/api\.yaml:3:3: error: .*indented too far/);
    expect(server.effects()).toEqual(before);
  });

  test("keeps running while the control plane is away, and goes on when it is back", async () => {
    const server = await serveProcess();
    const source = await sourceOf(everyKind, server);
    const watch = source.start(["watch", "--sink", "file", "--interval", "0.2"]);
    await watch.shows("stdout", /^Applied: 8 created/m);
    server.process.kill("SIGKILL");
    await server.process.ended;
    await source.write("services/api.yaml", service("api", "replicas: 3\n"));
    const restarted = await serve(["--port", new URL(server.url).port], { data: server.data });
    await eventually("the edit arrives", () =>
      restarted.effects().some(({ resource }, index) => resource === "service/dev:web/api" && index >= 8),
    );
    watch.kill("SIGTERM");
    expect(await watch.ended).toMatchObject({ code: 0 });
  });

  test("ends with 130 when it is interrupted", async () => {
    const source = await sourceOf(everyKind, await serve());
    const watch = source.start(["watch", "--sink", "file"]);
    await watch.shows("stdout", /^Applied: 8 created/m);
    watch.kill("SIGINT");
    expect(await watch.ended).toMatchObject({ code: 130 });
  });
});
