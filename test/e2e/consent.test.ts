import { describe, expect, test } from "vitest";
import { emptyList, type FaultProxy, faultProxy } from "../support/fault-proxy.ts";
import { foreignService } from "../support/foreign-service.ts";
import { type Files, foundations, service, team } from "../support/manifests.ts";
import { makeSecretGroup } from "../support/secret-group.ts";
import { type Server, serve } from "../support/server.ts";
import { guarded, type Source, sourceOf } from "../support/source.ts";
import { wholeStateIn } from "../support/whole-state.ts";

/** A guard, and how a source comes to be refused by it. */
type Guard = {
  readonly name: string;
  /** The flags that allow it; none where only a person or the configuration does. */
  readonly flags: readonly string[];
  readonly files?: Files;
  /** Whether the guard refuses the first apply to a control plane. */
  readonly isFirst?: boolean;
  readonly breach: (given: Given) => Promise<void>;
};

type Given = { readonly source: Source; readonly server: Server; readonly proxy: FaultProxy<Server> };

const teams = Object.fromEntries(Array.from({ length: 12 }, (_, nth) => [`teams/t${nth}.yaml`, team(`t${nth}`)]));

const cluster = "type: cluster\nname: dev\ncluster_type: generic\nbase_domains: [example.com]\n";

const strict = {
  "holdfast.yaml": "guards: { scale-to-zero: refuse, exposure: refuse, secret-removed: refuse, reverts: refuse }\n",
};

const api = (more: string) => ({ "services/api.yaml": service("api", more) });

// A change besides what the guard refuses: without one there would be nothing to ask for, and nothing to go stale.
const change = (source: Source) => source.write("services/new.yaml", service("new"));

const guards: readonly Guard[] = [
  {
    name: "somebody else's resource",
    flags: ["--allow-adopt"],
    breach: async ({ source, server }) => {
      await foreignService(server);
      await source.write("services/api.yaml", service("api"));
    },
  },
  {
    name: "somebody else's resource, at the first apply",
    flags: ["--allow-adopt", "--allow-privilege"],
    isFirst: true,
    breach: async ({ source, server }) => {
      await server.call("PUT", "/api/svc/v1/clusters", {
        manifest: { type: "cluster", name: "dev", cluster_type: "generic" },
      });
      await server.call("PUT", "/api/svc/v1/workspaces", {
        manifest: { type: "workspace", name: "web", cluster_fqn: "dev" },
      });
      await foreignService(server);
      await source.write("services/api.yaml", service("api"));
    },
  },
  {
    name: "more rights",
    flags: ["--allow-privilege"],
    breach: ({ source }) => source.write("teams/t0.yaml", team("t0", "eve@example.com")),
  },
  {
    name: "no replica",
    flags: [],
    files: { ...strict, ...api("replicas: 2\n") },
    breach: ({ source }) => source.write("services/api.yaml", service("api", "replicas: 0\n")),
  },
  {
    name: "exposure",
    flags: [],
    files: { ...strict, ...api("") },
    breach: ({ source }) =>
      source.write("services/api.yaml", service("api", "  - { port: 9090, expose: true, host: a.example.com }\n")),
  },
  {
    name: "a secret that is removed",
    flags: [],
    files: { ...strict, ...api('env: { KEY: "secret://holdfast:platform:orders-api-key" }\n') },
    breach: ({ source }) => source.write("services/api.yaml", service("api")),
  },
  {
    name: "a change in live that is undone",
    flags: [],
    files: { ...strict, ...api("replicas: 2\n") },
    breach: async ({ server }) => {
      const manifest = {
        ...{ type: "service", name: "api", workspace_fqn: "dev:web", ports: [{ port: 8080 }], replicas: 7 },
        image: { type: "image", image_uri: "registry.example.com/api:1.0.0" },
      };
      await server.call("PUT", "/api/svc/v1/apps", { manifest });
    },
  },
  {
    name: "a source that lost much",
    flags: ["--allow-shrink"],
    breach: async ({ source }) => {
      for (let nth = 0; nth < 9; nth += 1) await source.remove(`teams/t${nth}.yaml`);
    },
  },
  {
    name: "a source that lost its configuration",
    flags: ["--allow-shrink"],
    files: {
      "holdfast.yaml": "ignore: [{ path: /replicas, match: 'service/**', reason: autoscaled }]\n",
      ...api("replicas: 2\n"),
    },
    breach: ({ source }) => source.remove("holdfast.yaml"),
  },
  {
    name: "a control plane that lost much",
    flags: ["--allow-shrink", "--allow-privilege"],
    breach: async ({ proxy }) => void proxy.inject("listTeams", emptyList),
  },
];

describe("a run without consent leaves no trace", () => {
  test.each(guards)("declined, refused and stale: $name", async ({ flags, files = {}, isFirst, breach }) => {
    const server = await serve();
    await makeSecretGroup(server);
    const proxy = await faultProxy(server);
    const all = { ...foundations, "platform/cluster.yaml": cluster, ...teams, ...files };
    const source = await sourceOf(all, proxy.server);
    if (!isFirst) expect(await source.runHere(["apply", "--yes"])).toMatchObject({ code: 0 });
    await breach({ source, server, proxy });
    await change(source);
    const now = () => ({ state: wholeStateIn(source.folder), effects: server.effects() });
    const before = now();
    const unchanged = () => expect(now()).toEqual(before);
    const refused = () => source.runHere(["apply", "--yes"], guarded);
    expect(await refused()).toMatchObject({ code: 5 });
    unchanged();
    const declined = await source.runHere(["apply", ...flags], guarded, { answer: "n\n" });
    expect(declined.stderr).toContain("nothing was written");
    expect(declined.code).toBe(0);
    unchanged();
    if (flags.length > 0) {
      const signed = await source.runHere(["plan", "--out", "plan.json", ...flags], guarded);
      expect(signed.code).toBe(0);
      unchanged();
      await source.write("services/new.yaml", service("new", "replicas: 3\n"));
      const stale = await source.runHere(["apply", "--plan", "plan.json"], guarded);
      expect(stale).toMatchObject({ code: 6, stdout: "" });
      unchanged();
    }
    expect(await refused()).toMatchObject({ code: 5 });
    unchanged();
    const agreed = await source.runHere(["apply", ...flags], guarded, { answer: "y\n" });
    expect(agreed.code).toBe(0);
    expect(server.effects().length).toBeGreaterThan(before.effects.length);
    expect(now().state).not.toEqual(before.state);
  });
});

test("a plan that goes stale while its run takes the lease leaves no trace either", async () => {
  const server = await serve();
  const proxy = await faultProxy(server);
  const source = await sourceOf({ ...foundations, ...api("replicas: 2\n") }, proxy.server);
  expect(await source.runHere(["apply", "--yes"])).toMatchObject({ code: 0 });
  // Another writer has the lease in between, and has written when ours is granted.
  const other = await sourceOf({ ...foundations, ...api("replicas: 3\n") }, server);
  proxy.inject("putLease", async ({ forward, reply }) => {
    proxy.heal();
    expect(await other.runHere(["apply", "--yes"])).toMatchObject({ code: 0 });
    const { status, body } = await forward();
    reply.writeHead(status, { "content-type": "application/json" }).end(body);
  });
  await change(source);
  const before = wholeStateIn(source.folder);
  const stale = await source.runHere(["apply"], {}, { answer: "y\n" });
  expect(stale).toMatchObject({ code: 6, stdout: "" });
  expect(stale.stderr).toContain("another writer has changed live since you were asked");
  expect(wholeStateIn(source.folder)).toEqual(before);
});
