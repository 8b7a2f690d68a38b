import { expect, onTestFinished, test } from "vitest";
import type { OpenApiDocument } from "../../scripts/generate/openapi/document-types.ts";
import type {
  FleetReply,
  ResourceGraphReply,
  ResourcesReply,
  TargetReply,
} from "../../src/contract/generated/output.ts";
import { eventually } from "../support/eventually.ts";
import { changed, fleetOf, isAt, statusPolls, targets } from "../support/fleet.ts";
import { statusOf } from "../support/json-output.ts";
import { foundations, service, team } from "../support/manifests.ts";
import { createReplyCheck } from "../support/openapi.ts";
import { ownPostgres } from "../support/own-postgres.ts";
import { serve } from "../support/server.ts";
import { operatorOf, upstreamOf } from "../support/upstream.ts";

const operations = {
  getSession: "/session",
  listTargets: "/targets",
  getTarget: "/targets/dev",
  listResources: "/targets/dev/resources",
  getGraph: "/targets/dev/graph",
  getResource: "/targets/dev/resource?identity=service/dev:web/api",
  explainValue: "/targets/dev/why?identity=service/dev:web/api",
  listPasses: "/targets/dev/passes",
  listEvents: "/targets/dev/events",
  listDrifts: "/targets/dev/drifts",
  listCommits: "/targets/dev/commits?id=0123456789012345678901234567890123456789",
  listDriftDays: "/targets/dev/drift-days",
  listPlans: "/plans",
} as const;

test("the interface says what status, history and the passes say, as its document describes it", async () => {
  const server = await serve();
  const upstream = await upstreamOf({
    ...Object.fromEntries(Object.entries(foundations).map(([file, text]) => [`dev/${file}`, text])),
    "dev/api.yaml": service("api"),
    "dev/broken.yaml": "type: team\nname: broken\nmembers: 7\n",
    "off/team.yaml": team("off"),
  });
  const operator = await operatorOf(
    {
      sources: [{ name: "platform", url: upstream.folder, ref: "main" }],
      targets: [
        { name: "dev", paths: ["dev"], interval: 3600 },
        { name: "off", paths: ["off"], sync: "off" },
      ],
    },
    server,
  );
  const watch = operator.start(["watch", "--listen", "127.0.0.1:0", "-o", "text"]);
  const [, url = ""] = await watch.shows("stderr", /^health and metrics on (http:\/\/127\.0\.0\.1:\d+)$/m);
  // biome-ignore lint/suspicious/noExplicitAny: a test reads what it expects, and fails when it is not there
  const get = async (path: string): Promise<any> => (await fetch(`${url}/api/v1${path}`)).json();
  const first = await eventually("the first pass", async () => {
    const { status }: TargetReply = await get("/targets/dev");
    return status.lastPass;
  });
  await operator.runHere([
    "hold",
    "service/dev:web/api",
    "--reason",
    "an incident",
    "--until",
    "4h",
    "--target",
    "dev",
  ]);
  await operator.runHere(["reconcile", "--target", "dev"]);
  const { targets: all, stages } = statusOf(await operator.runHere(["status", "-o", "json"]));
  const dev = await get("/targets/dev");
  expect(dev).toMatchObject({
    status: all[0],
    holds: [{ what: "service/dev:web/api", reason: "an incident", until: expect.stringMatching(/Z$/) }],
    pass: null,
    hasLease: true,
  });
  expect(dev.status.invalid).toMatchObject([{ file: expect.stringMatching(/broken\.yaml$/), line: 3 }]);
  expect((await get("/targets/off")).status).toEqual(all[1]);
  expect(await get("/targets")).toMatchObject({
    sync: { Synced: 0, OutOfSync: 1, Unknown: 1 },
    targets: [
      { target: "dev", sync: "OutOfSync", invalid: 1, held: 1, oldestUnapplied: all[0]?.oldestUnapplied },
      { target: "off", reason: "NeverRun" },
    ],
    oldestUnapplied: { target: "dev", ...all[0]?.oldestUnapplied },
    stages,
  });
  const { resources, ...counts } = await get("/targets/dev/resources?limit=2");
  expect(counts).toMatchObject({ total: 5, matching: 5, needsAttention: 1, states: { invalid: 1, unchanged: 4 } });
  expect(resources).toMatchObject([
    { identity: "team/broken", state: "invalid", kind: "team" },
    { state: "unchanged" },
  ]);
  expect(resources[0].since).toBe(first.endedAt);
  const graph = await get("/targets/dev/graph");
  expect(graph).toMatchObject({
    references: { manifests: "last-pass", why: null },
    ...{ total: 5, matching: 5, needsAttention: 1, leftOut: 0 },
    nodes: [{ identity: "team/broken", state: "invalid", isDeclared: true }, {}, {}, {}, {}],
  });
  const told = JSON.parse((await operator.runHere(["graph", "-o", "json", "--target", "dev"])).stdout);
  expect(graph.edges).toEqual(expect.arrayContaining(told.edges));
  expect([told.edges.length > 1, graph.edges.length]).toEqual([true, told.edges.length]);
  const { passes } = await get("/targets/dev/passes");
  expect(passes).toEqual([first]);
  const { events, next } = await get("/targets/dev/events?limit=3");
  expect(events).toHaveLength(3);
  const rest = await get(`/targets/dev/events?limit=3&after=${next}`);
  expect([rest.events.length, rest.next]).toEqual([2, null]);

  const document = (await get("/openapi.json")) as OpenApiDocument;
  const check = createReplyCheck(document, Object.keys(document.components.schemas));
  for (const [name, path] of Object.entries(operations))
    expect([name, check(name, 200, await get(path))]).toEqual([name, []]);
  expect(check("getTarget", 404, await get("/targets/other"))).toEqual([]);
  const actions = ["reconcile", "hold", "release", "adopt", "redeploy", "resolve"];
  const others = ["/api/v1/stream", "/api/v1/plans/{plan}", ...actions];
  expect(Object.keys(document.paths)).toHaveLength(Object.keys(operations).length + others.length);

  // Without a daemon that has seen them, the resources come from the state.
  watch.kill("SIGTERM");
  await watch.ended;
  const away = { HOLDFAST_SERVER: "http://127.0.0.1:9", HOLDFAST_CONNECT_TIMEOUT: "0.2" };
  const again = operator.start(["watch", "--listen", "127.0.0.1:0", "-o", "text"], away);
  const [, later = ""] = await again.shows("stderr", /^health and metrics on (http:\/\/127\.0\.0\.1:\d+)$/m);
  // biome-ignore lint/suspicious/noExplicitAny: as above
  const stored: any = await (await fetch(`${later}/api/v1/targets/dev/resources`)).json();
  expect(stored).toMatchObject({ total: 5, needsAttention: 1, states: { invalid: 1, recorded: 4 } });
  expect(stored.resources[0]).toMatchObject({ identity: "team/broken", since: resources[0].since });
});

test("every machine of a fleet says the same, and tells of passes that another one ran", async ({ skip }) => {
  const postgres = await ownPostgres(skip);
  const { upstream, machine } = await fleetOf(postgres, await serve());
  const flags = ["--listen", "127.0.0.1:0", "--interval", "3600"];
  const machines = await Promise.all([machine(flags), machine(flags)]);
  const [first] = machines;
  const begun = (await upstream.git("rev-parse", "HEAD")).trim();
  await expect.poll(async () => isAt(begun)(await first.status()), statusPolls).toBe(true);
  const ended = new AbortController();
  onTestFinished(() => ended.abort());
  const followed = await Promise.all(
    machines.map(async ({ watch }) => {
      const [, url = ""] = /metrics on (\S+)/.exec(watch.stderr()) ?? [];
      const reply = await fetch(`${url}/api/v1/stream`, { signal: ended.signal });
      const told = { url, text: "" };
      const follow = async (): Promise<void> => {
        for await (const part of reply.body ?? []) told.text += Buffer.from(part).toString();
      };
      void follow().catch(() => undefined);
      return told;
    }),
  );
  const commit = await upstream.commit(changed("grace@example.com"));
  expect(await first.operator.runHere(["reconcile"], first.env)).toMatchObject({ code: 0 });
  const isTold = (text: string, target: string): boolean =>
    text.split("\n").some((line) => {
      const { event, status } = line.startsWith("data: ") ? JSON.parse(line.slice("data: ".length)) : {};
      return event === "status" && status.target === target && status.appliedRevision === commit;
    });
  for (const target of targets)
    await expect.poll(() => followed.map(({ text }) => isTold(text, target))).toEqual([true, true]);
  const said = followed.map(async ({ url }) => {
    const fleet = (await (await fetch(`${url}/api/v1/targets`)).json()) as FleetReply;
    const { resources } = (await (await fetch(`${url}/api/v1/targets/a/resources`)).json()) as ResourcesReply;
    const shared = fleet.targets.map(({ hasLease: _, pass: __, ...status }) => status);
    return {
      sync: fleet.sync,
      shared,
      resources: resources.map(({ identity, needsAttention }) => [identity, needsAttention]),
    };
  });
  const [one, other] = await Promise.all(said);
  expect(one).toMatchObject({ sync: { Synced: targets.length }, resources: [["team/a", false]] });
  expect(other).toEqual(one);
  expect(new Set(one?.shared.map(({ lastPass }) => lastPass?.machine)).size).toBeGreaterThan(0);
  // What refers to what is remembered by the one that ran the last pass, and read by the other.
  const graphs = await Promise.all(
    followed.map(async ({ url }) => {
      const { references, nodes } = (await (await fetch(`${url}/api/v1/targets/a/graph`)).json()) as ResourceGraphReply;
      return { ...references, nodes: nodes.map(({ identity, isDeclared }) => [identity, isDeclared]) };
    }),
  );
  expect(graphs.toSorted((a, b) => (a.manifests === "now" ? 1 : 0) - (b.manifests === "now" ? 1 : 0))).toEqual(
    ["last-pass", "now"].map((manifests) => ({ manifests, commit, why: null, nodes: [["team/a", true]] })),
  );
});
