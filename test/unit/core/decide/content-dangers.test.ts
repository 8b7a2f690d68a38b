import { describe, expect, test } from "vitest";
import type { JsonObject } from "../../../../src/contract/json.ts";
import { contentDangers } from "../../../../src/core/decide/content-dangers.ts";
import { privilegesBeyond } from "../../../../src/core/decide/privilege-growth.ts";

/** The dangers of a write, each as its field and its text. */
function dangers(before: JsonObject | undefined, after: JsonObject, written: JsonObject = after) {
  return contentDangers({ before, after, written }).map(({ risk, path, text }) => `${risk} ${path}: ${text}`);
}

describe("the dangers of what is written", () => {
  test.each<[string, JsonObject | undefined, JsonObject, readonly string[]]>([
    [
      "who gets which role",
      { type: "workspace" },
      { type: "workspace", collaborators: [{ subject: "team:ml", role_id: "workspace-admin" }] },
      ["privilege-growth /collaborators/0: team:ml gets workspace-admin"],
    ],
    [
      "what an account gets",
      undefined,
      { permissions: ["x", { resource_type: "cluster", resource_fqn: "c1", role_id: "cluster-viewer" }] },
      ["privilege-growth /permissions/1: it gets cluster-viewer on cluster c1"],
    ],
    [
      "who comes to a team",
      { members: ["ada@x.io"] },
      { members: ["ada@x.io", 7, "bob@x.io"], managers: ["eve@x.io"] },
      [
        "privilege-growth /managers/0: eve@x.io becomes a manager",
        "privilege-growth /members/2: bob@x.io becomes a member",
      ],
    ],
    [
      "the groups of an identity provider",
      { group_name: "a" },
      { group_name: "b", sso_name: "okta" },
      [
        "privilege-growth /sso_name: everyone in okta becomes a member",
        "privilege-growth /group_name: everyone in b becomes a member",
      ],
    ],
    ["no more replicas", { replicas: 2 }, { replicas: 0 }, ["scale-to-zero /replicas: 2 → 0"]],
    [
      "no more replicas of those that scale",
      { replicas: { min_replicas: 3 } },
      { replicas: { min_replicas: 0 } },
      ["scale-to-zero /replicas: 3 → 0"],
    ],
    ["no more replicas of the default one", {}, { replicas: 0 }, ["scale-to-zero /replicas: 1 → 0"]],
    [
      "no more replicas where nothing says how many",
      { replicas: {} },
      { replicas: 0 },
      ["scale-to-zero /replicas: 1 → 0"],
    ],
    ["not replicas of an unknown form", { replicas: {} }, { replicas: "0" }, []],
    ["not replicas of what is new", undefined, { replicas: 0 }, []],
    [
      "an exposed port",
      { ports: [{ port: 80, expose: true }] },
      { ports: ["x", { port: 90 }, { port: 81, expose: true, host: "a.io", path: "/v1" }, { port: 80, expose: true }] },
      ["exposure /ports/2: port 81/TCP at a.io/v1"],
    ],
    [
      "a port that is exposed without a host",
      undefined,
      { ports: [{ port: 53, protocol: "UDP", expose: true }] },
      ["exposure /ports/0: port 53/UDP"],
    ],
    [
      "a port that is exposed at another path",
      { ports: [{ port: 80, expose: true, host: "a.io", path: "/v1" }] },
      { ports: [{ port: 80, expose: true, host: "a.io", path: "/" }] },
      ["exposure /ports/0: port 80/TCP at a.io/"],
    ],
    ["not ports of an unknown form", undefined, { ports: { port: 80, expose: true } }, []],
    [
      "a secret that is gone",
      { env: { A: "secret://t:group:a", B: "secret://t:group:b" } },
      { env: { A: "secret://t:group:a" } },
      ["secret-removed /env/B: t:group:b"],
    ],
  ])("are %s", (_, before, after, expected) => {
    expect(dangers(before, after)).toEqual(expected);
  });

  test("are told where the file has them, though it is compared in another order", () => {
    const [first, second] = [
      { port: 80, expose: true },
      { port: 81, expose: true },
    ];
    expect(dangers({}, { ports: [first, second] }, { ports: [{ port: 9 }, second, first] })).toEqual([
      "exposure /ports/2: port 80/TCP",
      "exposure /ports/1: port 81/TCP",
    ]);
    expect(dangers({}, { members: ["a@x.io", "b@x.io"] }, { members: ["b@x.io", "a@x.io"] })).toEqual([
      "privilege-growth /members/1: a@x.io becomes a member",
      "privilege-growth /members/0: b@x.io becomes a member",
    ]);
  });

  test("have a field also where the file has not what is written", () => {
    expect(dangers({}, { members: ["a@x.io"], ports: [{ port: 80, expose: true }] }, {})).toEqual([
      "privilege-growth null: a@x.io becomes a member",
      "exposure /ports: port 80/TCP",
    ]);
    expect(contentDangers({ before: {}, after: undefined, written: { members: ["a@x.io"] } })).toEqual([]);
  });
});

describe("a right that somebody has", () => {
  const account = (type: string, fqn: string, role: string) => ({
    type: "virtual-account",
    permissions: [{ resource_type: type, resource_fqn: fqn, role_id: role }],
  });

  test.each<[string, JsonObject, JsonObject, boolean]>([
    [
      "to read a cluster gives none in it",
      account("cluster", "c1", "cluster-viewer"),
      account("workspace", "c1:a", "workspace-viewer"),
      true,
    ],
    [
      "to read all of a cluster gives those to read in it",
      account("cluster", "c1", "cluster-member"),
      account("workspace", "c1:a", "workspace-viewer"),
      false,
    ],
    [
      "to read all of a cluster gives none to write in it",
      account("cluster", "c1", "cluster-member"),
      account("workspace", "c1:a", "workspace-editor"),
      true,
    ],
    [
      "on a cluster is not that to what is in it",
      account("cluster", "c1", "cluster-viewer"),
      account("cluster", "c1", "cluster-member"),
      true,
    ],
    [
      "on a cluster contains a weaker one",
      account("cluster", "c1", "cluster-member"),
      account("cluster", "c1", "cluster-viewer"),
      false,
    ],
    [
      "on another cluster is another one",
      account("cluster", "c2", "cluster-admin"),
      account("cluster", "c1", "cluster-viewer"),
      true,
    ],
    [
      "on a workspace is none on one of another type",
      account("ml-repo", "c1:a", "ml-repo-admin"),
      account("workspace", "c1:a", "workspace-viewer"),
      true,
    ],
    [
      "on a cluster is none on a secret group, even where the tenant has the cluster's name",
      account("cluster", "t", "cluster-admin"),
      account("secret-group", "t:db", "secret-group-user"),
      true,
    ],
    [
      "on a tenant contains those below it",
      account("tenant", "t", "tenant-admin"),
      account("cluster", "c1", "cluster-admin"),
      false,
    ],
    [
      "to read a tenant contains no right to change below it",
      account("tenant", "t", "tenant-viewer"),
      account("cluster", "c1", "cluster-admin"),
      true,
    ],
    [
      "on a tenant is none on another tenant",
      account("tenant", "t", "tenant-admin"),
      account("tenant", "u", "tenant-viewer"),
      true,
    ],
    [
      "with a role of one's own contains itself",
      account("workspace", "c1:a", "deployer"),
      account("workspace", "c1:a", "deployer"),
      false,
    ],
    [
      "with a role of one's own contains no other",
      account("workspace", "c1:a", "deployer"),
      account("workspace", "c1:a", "workspace-viewer"),
      true,
    ],
    [
      "with a role of one's own contains no other, whatever its name",
      account("workspace", "c1:a", "manager"),
      account("workspace", "c1:a", "deployer"),
      true,
    ],
    [
      "as an administrator contains no role of one's own",
      account("workspace", "c1:a", "workspace-admin"),
      account("workspace", "c1:a", "deployer"),
      true,
    ],
    ["as a manager contains that of a member", { managers: ["a@x.io"] }, { members: ["a@x.io"] }, false],
    [
      "as a member contains that of a member alone",
      { members: ["a@x.io"] },
      { managers: ["a@x.io"], members: ["a@x.io"] },
      true,
    ],
    ["as a manager is nobody else's", { managers: ["a@x.io"] }, { members: ["b@x.io"] }, true],
  ])("%s", (_, before, after, grows) => {
    expect(privilegesBeyond(before, after).length > 0).toBe(grows);
  });
});
