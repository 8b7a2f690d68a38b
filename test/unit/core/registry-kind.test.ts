import { describe, expect, test } from "vitest";
import { chooseWriteOperation } from "../../../src/core/decide/choose-write-operation.ts";
import { readRow } from "../../../src/core/kind.ts";
import { splitIdentity, splitVersion } from "../../../src/core/manifest.ts";
import { manifestReferences } from "../../../src/core/manifest-references.ts";
import { registryKey, versionNumber } from "../../../src/core/registry-kind.ts";
import { kindOf } from "../../../src/kinds/index.ts";

describe("a registry entry", () => {
  test("is named by its manifest, and where that is silent by its fqn", () => {
    expect(registryKey({ ml_repo: "r", name: "m" }, "model:t/other/x:3")).toBe("r/m");
    expect(registryKey({}, "chat_prompt:t/r/greeter:3")).toBe("r/greeter");
    expect(registryKey({ name: "m" }, "model:t/r/x:3")).toBe("r/m");
  });

  test("is read from a reply, and asked for by its name", () => {
    const list = kindOf("model-version")?.list;
    if (list === undefined) throw new TypeError("no list");
    const manifest = { type: "model-version", name: "m", ml_repo: "r" };
    const version = { id: "v3", fqn: "model:t/r/m:3", manifest, created_at: "noon", updated_at: "later" };
    expect(readRow(list, { ...version, created_by_subject: { subjectId: "u1", subjectType: "user" } })).toEqual({
      ...{ key: "r/m", id: "v3", manifest, version: 3, stamp: "later", createdAt: "noon" },
      ...{ createdBy: "u1", author: "user:u1" },
    });
    expect([list.operation, list.narrow?.("r/m")]).toEqual(["listModelVersions", { name: "m" }]);
  });

  test("tells its version in the manifest or in the fqn, and 0 where in neither", () => {
    expect(versionNumber({ version: 4 }, "model:t/r/m:3")).toBe(4);
    expect(versionNumber({}, "model:t/r/m:3")).toBe(3);
    for (const fqn of ["", "m", "m:3", "model:t/m:3", "model:t/r/m", "model:t/r/m:x", "model:t/r/m:3:x", ":t/r/m:3"])
      expect(versionNumber({}, fqn), fqn).toBe(0);
  });
});

describe("an identity", () => {
  test.each([
    ["service/c1:ws1/api", { kind: "service", key: "c1:ws1/api" }],
    ["cluster/c1", { kind: "cluster", key: "c1" }],
  ])("%s is split at its first slash", (identity, parts) => expect(splitIdentity(identity)).toEqual(parts));

  test.each([
    ["r/m@3", { name: "r/m", version: 3 }],
    ["r/m", { name: "r/m", version: null }],
    ["r/m@x", { name: "r/m@x", version: null }],
    ["r/m@1.5", { name: "r/m@1.5", version: null }],
    ["r/m@", { name: "r/m@", version: null }],
    ["r/a@1@2", { name: "r/a@1", version: 2 }],
  ])("with the key %s names its version or none", (key, parts) => expect(splitVersion(key)).toEqual(parts));
});

describe("grants", () => {
  test("refer to teams, accounts and resources of ours, and to nothing else", () => {
    const references = manifestReferences({
      collaborators: [
        { subject: "team:ml", role_id: "r" },
        { subject: "virtualaccount:ci", role_id: "r" },
        { subject: "user:a@x.io", role_id: "r" },
        { subject: "team:everyone", role_id: "r" },
      ],
      permissions: [
        { resource_type: "cluster", resource_fqn: "c1", role_id: "r" },
        { resource_type: "workspace", resource_fqn: "c1:ws1", role_id: "r" },
        { resource_type: "ml-repo", resource_fqn: "ml-repo:tenant/r", role_id: "r" },
        { resource_type: "ml-repo", resource_fqn: "plain", role_id: "r" },
        { resource_type: "tenant", resource_fqn: "t", role_id: "r" },
      ],
      ownedBy: { account: "x", team: "owners" },
    });
    expect(references).toEqual([
      { identity: "team/owners", pointer: "/ownedBy/team" },
      { identity: "team/ml", pointer: "/collaborators/0/subject" },
      { identity: "virtual-account/ci", pointer: "/collaborators/1/subject" },
      { identity: "cluster/c1", pointer: "/permissions/0/resource_fqn" },
      { identity: "workspace/c1:ws1", pointer: "/permissions/1/resource_fqn" },
      { identity: "ml-repo/r", pointer: "/permissions/2/resource_fqn" },
      { identity: "ml-repo/plain", pointer: "/permissions/3/resource_fqn" },
    ]);
  });
});

test("a secret refers to its group, and what does not name one to nothing", () => {
  const env = { A: "secret://t:db:key", B: "secret://t:db", C: "plain" };
  expect(manifestReferences({ type: "service", name: "api", env })).toEqual([
    { identity: "secret-group/db", pointer: "/env/A" },
  ]);
});

describe("the choice of a write", () => {
  const model = kindOf("model-version");

  test("prefers the first that the server has, and none where it has none", () => {
    if (model === undefined) throw new TypeError("no kind");
    const choose = (missing: readonly string[], registers: boolean | null = null) =>
      chooseWriteOperation(
        model,
        { state: "absent", newest: 1 },
        { has: (name) => !missing.includes(name), registers },
        {},
      )?.operation;
    expect(choose([])).toBe("putModelVersion");
    expect(choose(["putModelVersion"])).toBeUndefined();
    expect(choose(["putModelVersion"], true)).toBe("postModelVersion");
    expect(choose(["putModelVersion", "postModelVersion"], true)).toBeUndefined();
  });

  test("tries postModelVersion on an unused name only until it is known what it does", () => {
    if (model === undefined) throw new TypeError("no kind");
    const choose = (registers: boolean | null) =>
      chooseWriteOperation(model, { state: "absent" }, { has: (name) => name !== "putModelVersion", registers }, {})
        ?.operation;
    expect([choose(null), choose(true), choose(false)]).toEqual(["postModelVersion", "postModelVersion", undefined]);
  });
});
