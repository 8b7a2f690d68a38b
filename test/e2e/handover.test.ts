import { expect, test } from "vitest";
import { eventually } from "../support/eventually.ts";
import { faultProxy } from "../support/fault-proxy.ts";
import { statusOf } from "../support/json-output.ts";
import { foundations, service, team } from "../support/manifests.ts";
import { serve } from "../support/server.ts";
import { sourceOf } from "../support/source.ts";
import { operatorOf, upstreamOf } from "../support/upstream.ts";

test("F34 F61 a daemon that is told to end hands over at once, and one that is killed within its lease; nothing is doubled", async () => {
  const server = await serve();
  const upstream = await upstreamOf({ "ml.yaml": team("ml") });
  const config = {
    sources: [{ name: "platform", url: upstream.folder, ref: "main" }],
    targets: [{ name: "prod", interval: 0.3 }],
  };
  const [one, other] = [await operatorOf(config, server), await operatorOf(config, server)];
  // Far shorter than a request may take: the lease's number keeps out what comes late.
  const watching = ["watch", "--lease-seconds", "4", "--request-timeout", "30"];
  // Unless it is released, its lease ends after the end of this test.
  const first = one.start(["watch", "--lease-seconds", "900", "--request-timeout", "600"]);
  await first.shows("stdout", /1 created/);
  const second = other.start(watching);
  await second.shows("stderr", /standing by/);
  const writtenBy = async (daemon: typeof first, member: string): Promise<void> => {
    await upstream.commit({ "ml.yaml": team("ml", member) });
    await daemon.shows("stdout", /1 updated/);
  };
  first.kill("SIGTERM");
  expect(await first.ended).toMatchObject({ code: 0 });
  await writtenBy(second, "bob@example.com");

  const third = one.start(watching);
  await third.shows("stderr", /standing by/);
  second.kill("SIGKILL");
  await writtenBy(third, "eve@example.com");

  // One that sleeps through its lease writes nothing when it wakes up, and stands by.
  const fourth = other.start(watching);
  await fourth.shows("stderr", /standing by/);
  third.kill("SIGSTOP");
  await writtenBy(fourth, "joan@example.com");
  third.kill("SIGCONT");
  await third.shows("stderr", /standing by[\s\S]*standing by/);
  expect(server.effects().map(({ resource }) => resource)).toEqual(["team/ml", "team/ml", "team/ml", "team/ml"]);
});

test("F43 F61 without leases a standby takes the state's lock of a killed daemon, waits for what that one may have sent, and doubles nothing", async () => {
  const { folder: seed } = await sourceOf(foundations);
  const server = await serve(["--documented-only", "--seed", seed]);
  const seeded = server.effects().length;
  const proxy = await faultProxy(server);
  const upstream = await upstreamOf({ ...foundations, "api.yaml": service("api") });
  const operator = await operatorOf(
    {
      sources: [{ name: "platform", url: upstream.folder, ref: "main" }],
      targets: [{ name: "prod", interval: 0.3 }],
    },
    proxy.server,
  );
  const watching = ["watch", "--request-timeout", "5", "--no-wait", "--listen", "127.0.0.1:0"];
  const first = operator.start(watching);
  await first.shows("stdout", /1 created/);
  // Whoever waited for what it may have sent would wait longer than this test takes.
  const second = operator.start([...watching, "--request-timeout", "600"]);
  await second.shows("stderr", /standing by: another holdfast process is using the state folder .*: process \d+ on /);
  const [, url = ""] = await second.shows("stderr", /on (http:\S+)\n/);
  const standby = JSON.parse(await (await fetch(`${url}/status`)).text());
  const message = expect.stringMatching(/^another holdfast process is using the state folder /);
  expect(standby.targets).toMatchObject([{ condition: "Reconciling", reason: "StandingBy", message }]);
  const readiness = await fetch(`${url}/readyz`);
  expect([readiness.status, await readiness.json()]).toEqual([200, { status: "standing by" }]);
  // The repository in the state folder is the leader's too.
  expect(second.stderr()).not.toMatch(/main is at/);

  // The leader is killed while its write is on the way, and the write arrives after the standby has taken over.
  const { promise: taken, resolve: arrive } = Promise.withResolvers<void>();
  const onTheWay = proxy.inject("putApp", async ({ forward }) => void (await taken.then(forward)), {
    times: 1,
    dryRun: false,
  });
  await upstream.commit({ "api.yaml": service("api", "replicas: 3\n") });
  await onTheWay.hit;
  first.kill("SIGKILL");
  await second.shows("stderr", /taking over/);
  arrive();
  const { daemon, targets } = await eventually("the status of the new leader", async () => {
    const status = statusOf(await operator.run(["status", "-o", "json"]));
    return status.daemon !== null && status;
  });
  expect(daemon).toEqual(standby.daemon);
  expect(targets).not.toMatchObject([{ reason: "StandingBy" }]);
  await second.shows("stdout", /4 unchanged/);
  await upstream.commit({ "api.yaml": service("api", "replicas: 4\n") });
  await second.shows("stdout", /1 updated/);

  // One that is told to end hands over at once.
  const third = operator.start(watching);
  await third.shows("stderr", /standing by/);
  second.kill("SIGTERM");
  expect(await second.ended).toMatchObject({ code: 0 });
  await upstream.commit({ "api.yaml": service("api", "replicas: 5\n") });
  await third.shows("stdout", /1 updated/);
  expect(
    server
      .effects()
      .slice(seeded)
      .map(({ resource }) => resource),
  ).toEqual(Array(4).fill("service/dev:web/api"));
});

test("F62 what a killed daemon had sent for each of its targets is kept out by a new lease, so that the next one with its state need not wait for it", async () => {
  const server = await serve();
  const proxy = await faultProxy(server);
  const teams = (member: string) => ({
    "one/ml.yaml": team("ml", member),
    "two/web.yaml": team("web", member),
  });
  const upstream = await upstreamOf(teams("ada@example.com"));
  const operator = await operatorOf(
    {
      sources: [{ name: "platform", url: upstream.folder, ref: "main" }],
      targets: [
        { name: "one", paths: ["one"], interval: 0.3 },
        { name: "two", paths: ["two"], interval: 0.3 },
      ],
    },
    proxy.server,
  );
  // Whoever waited for what it has sent would wait longer than this test takes.
  const first = operator.start(["watch", "--request-timeout", "600"]);
  await first.shows("stdout", /1 created[\s\S]*1 created/);
  const { promise: taken, resolve: arrive } = Promise.withResolvers<void>();
  const late: Promise<number>[] = [];
  const { promise: bothAreOnTheWay, resolve: hit } = Promise.withResolvers<void>();
  proxy.inject(
    "putTeam",
    async ({ forward }) => {
      const answered = taken.then(forward).then(({ status }) => status);
      late.push(answered);
      if (late.length === 2) hit();
      await answered;
    },
    { times: 2, dryRun: false },
  );
  await upstream.commit(teams("bob@example.com"));
  await bothAreOnTheWay;
  first.kill("SIGKILL");
  await first.ended;
  // Another one is wanted by now: were the first to arrive later, it would undo this one.
  await upstream.commit(teams("eve@example.com"));
  const second = operator.start(["watch"]);
  await second.shows("stdout", /1 updated[\s\S]*1 updated/);
  arrive();
  expect(await Promise.all(late)).toEqual([412, 412]);
  const written = server.effects().map(({ resource }) => resource);
  expect(written.toSorted()).toEqual(["team/ml", "team/ml", "team/web", "team/web"]);
  expect(JSON.stringify(await server.call("GET", "/api/svc/v1/teams"))).not.toContain("bob@example.com");
});
