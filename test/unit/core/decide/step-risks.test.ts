import { describe, expect, test } from "vitest";
import type { JsonObject } from "../../../../src/contract/json.ts";
import type { LiveRow } from "../../../../src/core/kind.ts";
import type { Live } from "../../../../src/core/live.ts";
import { type Around, against, declare, present, prompt, recorded, service } from "../given.ts";

const absent: Live = { state: "absent" };
const unread: Live = { state: "unknown", reason: "no-read" };
const team = (fields: JsonObject = {}) => ({ type: "team", name: "ml", members: ["a@x.io"], ...fields });
const workspace = (collaborators: readonly JsonObject[]) => ({
  type: "workspace",
  name: "ws1",
  cluster_fqn: "c1",
  collaborators,
});
const account = (...permissions: readonly JsonObject[]) => ({ type: "virtual-account", name: "ci", permissions });
const on = (resource_type: string, resource_fqn: string, role_id: string) => ({ resource_type, resource_fqn, role_id });
const a = (role_id: string) => ({ subject: "user:a@x.io", role_id });

/** The risks of an update of what is recorded as live has it. */
function update(before: JsonObject, after: JsonObject, row: Partial<LiveRow> = {}, around: Around = {}) {
  return against(after, present(before, row), { recorded: [recorded(before)], ...around }).risks;
}

describe("privilege-growth", () => {
  test.each<readonly [string, JsonObject, JsonObject, boolean]>([
    ["a member added", team(), team({ members: ["a@x.io", "b@x.io"] }), true],
    ["a member removed", team({ members: ["a@x.io", "b@x.io"] }), team(), false],
    ["a member made a manager", team(), team({ managers: ["a@x.io"] }), true],
    [
      "a manager made a member",
      team({ members: ["b@x.io"], managers: ["a@x.io"] }),
      team({ members: ["a@x.io", "b@x.io"] }),
      false,
    ],
    ["a collaborator added", workspace([]), workspace([a("workspace-viewer")]), true],
    ["a stronger role", workspace([a("workspace-viewer")]), workspace([a("workspace-editor")]), true],
    ["a weaker role", workspace([a("workspace-admin")]), workspace([a("workspace-viewer")]), false],
    ["an equal role", workspace([a("workspace-editor")]), workspace([a("workspace-member")]), false],
    ["another custom role", workspace([a("deployer")]), workspace([a("auditor")]), true],
    [
      "a role for somebody else",
      workspace([a("workspace-viewer")]),
      workspace([{ subject: "team:ml", role_id: "workspace-viewer" }]),
      true,
    ],
    [
      "a wider scope",
      account(on("workspace", "c1:ws1", "workspace-admin")),
      account(on("cluster", "c1", "cluster-admin")),
      true,
    ],
    [
      "a narrower scope",
      account(on("cluster", "c1", "cluster-admin")),
      account(on("workspace", "c1:ws1", "workspace-admin")),
      false,
    ],
    [
      "a workspace of another cluster",
      account(on("cluster", "c1", "cluster-admin")),
      account(on("workspace", "c12:ws1", "workspace-admin")),
      true,
    ],
    [
      "below the tenant",
      account(on("tenant", "t", "tenant-admin")),
      account(on("ml-repo", "r", "ml-repo-admin")),
      false,
    ],
    [
      "another permission",
      account(on("ml-repo", "r", "ml-repo-admin")),
      account(on("ml-repo", "r", "ml-repo-admin"), on("ml-repo", "s", "ml-repo-viewer")),
      true,
    ],
  ])("is told of %s: %#", (_, before, after, grows) => {
    expect(update(before, after).includes("privilege-growth")).toBe(grows);
  });

  test("is told of another group of an SSO team", () => {
    const sso = (group_name: string) => ({ type: "sso-team", name: "ml", group_name });
    expect(update(sso("ml"), sso("everyone"))).toContain("privilege-growth");
    expect(update(sso("ml"), { ...sso("ml"), description: "The team" })).not.toContain("privilege-growth");
  });

  test("is told of what is created, and of what may be, but not on the embedded control plane", () => {
    expect(against(team(), absent).risks).toEqual(["privilege-growth"]);
    expect(against(team(), unread).risks).toContain("privilege-growth");
    expect(against(team(), absent, { server: "embedded" }).risks).toEqual([]);
    expect(update(team(), team({ members: ["b@x.io"] }), {}, { server: "embedded" })).toEqual(["privilege-growth"]);
    expect(against(service(), absent).risks).toEqual([]);
  });

  test("is told of what cannot be read by what was written last", () => {
    const changed = team({ members: ["a@x.io", "b@x.io"] });
    expect(against(changed, unread, { recorded: [recorded(team())] }).risks).toEqual(["privilege-growth"]);
    expect(against(team(), unread, { recorded: [recorded(changed)] }).risks).toEqual([]);
  });
});

describe("scale-to-zero", () => {
  test.each<readonly [JsonObject, JsonObject, boolean]>([
    [{ replicas: 2 }, { replicas: 0 }, true],
    [{}, { replicas: 0 }, true],
    [{ replicas: 2 }, { replicas: { min_replicas: 0, max_replicas: 4 } }, true],
    [{ replicas: { min_replicas: 0, max_replicas: 4 } }, { replicas: 0 }, false],
    [{ replicas: 0 }, { replicas: 1 }, false],
    [{ replicas: 5 }, { replicas: 1 }, false],
  ])("from %j to %j: %s", (before, after, scales) => {
    expect(update(service(before), service(after))).toEqual(scales ? ["scale-to-zero"] : []);
  });

  test("is not told of what is created without replicas", () => {
    expect(against(service({ replicas: 0 }), absent).risks).toEqual([]);
  });
});

describe("exposure", () => {
  const port = (fields: JsonObject = {}) => service({ ports: [{ port: 8080, ...fields }] });
  const open = { expose: true, host: "api.example.com" };

  test.each<readonly [string, JsonObject, JsonObject, boolean]>([
    ["exposed", port(), port(open), true],
    ["closed", port(open), port(), false],
    ["another host", port(open), port({ ...open, host: "www.example.com" }), true],
    [
      "without its access control",
      port({ ...open, auth: { type: "basic_auth", username: "u", password: "p" } }),
      port(open),
      true,
    ],
    ["rewritten inside", port(open), port({ ...open, rewrite_path_to: "/v2" }), false],
    ["another replica", port(open), { ...port(open), replicas: 3 }, false],
  ])("of a port that is %s", (_, before, after, exposed) => {
    expect(update(before, after).includes("exposure")).toBe(exposed);
  });

  test("is told of what is created exposed", () => {
    expect(against(port(open), absent).risks).toEqual(["exposure"]);
    expect(against(port(open), absent, { server: "embedded" }).risks).toEqual(["exposure"]);
  });
});

describe("secret-removed", () => {
  const secret = "secret://t:group:key";
  const mount = { type: "secret", mount_path: "/etc/key", secret_fqn: "t:group:key" };

  test.each<readonly [string, JsonObject, JsonObject, boolean]>([
    ["out of the environment", { env: { KEY: secret } }, { env: { OTHER: "1" } }, true],
    ["for a literal", { env: { KEY: secret } }, { env: { KEY: "plain" } }, true],
    ["from the mounts", { mounts: [mount] }, {}, true],
    ["from what lies further in", { components: [{ mounts: [mount] }] }, { components: [{ mounts: [] }] }, true],
    ["from a text that is looked up by nobody", { image: { build_args: { KEY: secret } } }, {}, true],
    ["not, but mounted instead", { env: { KEY: secret } }, { mounts: [mount] }, false],
    ["not, but added", {}, { env: { KEY: secret } }, false],
  ])("taken %s", (_, before, after, removed) => {
    expect(update(service(before), service(after)).includes("secret-removed")).toBe(removed);
  });
});

describe("adopts", () => {
  const foreign = (createdBy?: string): Live =>
    present(service({ replicas: 2 }), { version: 3, ...(createdBy ? { createdBy } : {}) });

  test("is told of what somebody else made, where nothing is recorded and the write would change it", () => {
    expect(against(service(), foreign("other"), { writers: new Set(["me"]) }).risks).toEqual(["adopts"]);
    expect(against(service(), foreign("me"), { writers: new Set(["me"]) }).risks).toEqual([]);
    expect(against(service(), foreign("user:Ada@X.io"), { writers: new Set(["user:ada@x.io"]) }).risks).toEqual([]);
    expect(against(service({ replicas: 2 }), foreign("other"), { writers: new Set(["me"]) }).risks).toEqual([]);
    expect(
      against(service(), foreign("other"), { writers: new Set(["me"]), recorded: [recorded(service())] }).risks,
    ).not.toContain("adopts");
  });

  test("is told of what cannot be read, where a dry run shows that somebody else made it", () => {
    const row = { key: "ml", id: "t1", manifest: team(), stamp: null };
    const around = (createdBy: string): Around => ({
      writers: new Set(["me"]),
      dryRuns: new Map([["team/ml", { state: "answered", row: { ...row, createdBy } } as const]]),
    });
    expect(against(team(), unread, around("other")).risks).toContain("adopts");
    // Without a dry run nobody knows whether it exists.
    const writers = new Set(["me"]);
    expect(against(team(), unread, { writers }).risks).toContain("adopts");
    expect(against(team(), unread, { writers, recorded: [recorded(team({ members: [] }))] }).risks).not.toContain(
      "adopts",
    );
    expect(against(team(), unread, around("me")).risks).not.toContain("adopts");
  });

  test("is told where nobody knows who made it, or who we are", () => {
    expect(against(service(), foreign(), { writers: new Set(["me"]) }).risks).toEqual(["adopts"]);
    expect(against(service(), foreign("other")).risks).toEqual(["adopts"]);
    expect(against(service(), foreign()).risks).toEqual(["adopts"]);
  });
});

describe("the danger of adopting", () => {
  const value = (text: string) => ({ type: "secret-group", name: "db", secrets: [{ key: "a", value: text }] });
  const answered = (manifest: JsonObject, id: string | null): Around => {
    const row = id === null ? null : { key: "", id, manifest, stamp: null, createdBy: "other" };
    return { dryRuns: new Map([[declare(manifest).identity, { state: "answered", row }]]) };
  };
  const adopting = (manifest: JsonObject, live: Live, around: Around = {}) =>
    against(manifest, live, around).decision.dangers.flatMap(({ risk, path, text }) =>
      risk === "adopts" ? [[path, text]] : [],
    );

  test.each<[string, JsonObject, JsonObject, string, string]>([
    ["what is in live alone", {}, { ports: [{ port: 80 }, { port: 81 }] }, "/ports/1/port", "ports[81:TCP].port"],
    ["first what both have", { replicas: 2 }, { env: { A: "1" }, replicas: 5 }, "/replicas", "env.A, replicas"],
    ["not what is new", { env: { A: "1" }, replicas: 2 }, { replicas: 5 }, "/replicas", "replicas"],
  ])("names the fields that are lost: %s", (_, declared, found, path, text) => {
    const ports = [{ port: 80 }];
    expect(adopting(service({ ports, ...declared }), present(service({ ports, ...found })))).toEqual([[path, text]]);
  });

  test("says why live cannot be read", () => {
    const may = "may exist already and be somebody else's: live cannot be read";
    const why = "since no documented operation reads teams";
    expect(adopting(service(), unread)).toEqual([[null, may]]);
    expect(adopting(team(), unread)).toEqual([[null, `${may}, ${why}`]]);
    expect(adopting(team(), unread, answered(team(), null))).toEqual([[null, `${may}, ${why}`]]);
    expect(adopting(team(), unread, answered(team(), "t1"))).toEqual([[null, `live cannot be read, ${why}`]]);
  });

  test("is none where nothing that exists is written", () => {
    expect(adopting(service(), absent, answered(service(), "s1"))).toEqual([]);
    expect(adopting(value("a"), unread)).toHaveLength(1);
    const capabilities = { has: (name: string) => name !== "putSecretGroup", registers: null };
    expect(adopting(value("a"), unread, { capabilities })).toEqual([]);
  });

  test("is the only one where a value is written that may be live already", () => {
    const applied = new Map([["secret-group/db", value("new")]]);
    const step = against(value("new"), present(value("old")), { applied });
    expect(step).toMatchObject({ action: "ensure", changes: [{ cause: "drift" }], risks: ["adopts"] });
  });
});

test("reverts is told of an update that undoes what was changed in live", () => {
  const around = { recorded: [recorded(service({ replicas: 2 }))] };
  expect(against(service({ replicas: 2 }), present(service({ replicas: 5 })), around).risks).toEqual(["reverts"]);
  expect(against(service({ replicas: 3 }), present(service({ replicas: 5 })), around).risks).toEqual(["reverts"]);
  expect(against(service({ replicas: 3 }), present(service({ replicas: 2 })), around).risks).toEqual([]);
});

test("version-immutable is told of a version whose content is changed", () => {
  const first = prompt({ version: 1 });
  const step = against(
    prompt({ version: 1, messages: [{ role: "user", content: "Hi." }] }),
    present(first, { version: 1 }),
  );
  expect(step).toMatchObject({ action: "block", reason: "immutable", risks: ["version-immutable"] });
  expect(step.decision.dangers).toEqual([{ risk: "version-immutable", path: "/version", text: "" }]);
});
