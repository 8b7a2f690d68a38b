import { describe, expect, test } from "vitest";
import {
  defineKind,
  groupOf,
  type LiveRow,
  parentOf,
  readRow,
  requireKind,
  tryReadRow,
  writerIn,
} from "../../../src/core/kind.ts";
import { requireRead, splitIdentity, splitVersion } from "../../../src/core/manifest.ts";
import { authorIn } from "../../../src/core/subject.ts";
import { kindOf, kindsByType } from "../../../src/kinds/index.ts";
import { declare, service } from "./given.ts";

test.each([
  ["service/c1:ws1/api", "c1:ws1", "workspace/c1:ws1"],
  ["workspace/c1:ws1", "c1:ws1", "cluster/c1"],
  ["chat_prompt/r/p", "r", "ml-repo/r"],
  ["team/ml", null, null],
  ["nothing/x", null, null],
])("%s is reported under %s, and lies in %s", (identity, group, parent) => {
  expect([groupOf({ identity }, kindsByType), parentOf(identity, kindsByType)]).toEqual([group, parent]);
});

test("a kind needs a type that has a schema", () => {
  expect(requireKind(kindsByType, "sso-team").type).toBe("team");
  expect(() => requireKind(kindsByType, "nothing")).toThrow(new TypeError("no kind nothing"));
  const kind = { type: "nothing", key: () => "", group: () => null, writeRoutes: [] };
  expect(() => defineKind(kind)).toThrow(new TypeError("no shape nothing"));
});

test("an identity is a kind and a key, which may end with a version", () => {
  expect(splitIdentity("service/c1:ws1/api")).toEqual({ kind: "service", key: "c1:ws1/api" });
  expect(splitVersion("r/p@12")).toEqual({ name: "r/p", version: 12 });
  for (const key of ["r/p", "r/p@", "r/p@x", "r/p@1x", "12"])
    expect(splitVersion(key)).toEqual({ name: key, version: null });
});

test("a manifest that was not read has no value", () => {
  const manifest = declare(service());
  expect(requireRead(manifest)).toBe(manifest);
  const { value: _, ...head } = manifest;
  expect(() => requireRead(head)).toThrow("the manifest of service/c1:ws1/api was not read");
});

describe("the last write of a resource", () => {
  const row: LiveRow = { key: "k", id: "1", manifest: {}, stamp: "noon", createdAt: "noon", createdBy: "u1" };

  test.each<[string, Partial<LiveRow>, unknown]>([
    ["is its creation", { author: "user:ada" }, { subject: "user:ada", subjectId: "u1", at: "noon" }],
    ["is by the id of a subject without a name", {}, { subject: "u1", subjectId: "u1", at: "noon" }],
    [
      "is by somebody unknown where it was changed since",
      { stamp: "later" },
      { subject: null, subjectId: null, at: "later" },
    ],
    ["is that of its version", { stamp: "later", version: 3 }, { subject: "u1", subjectId: "u1", at: "noon" }],
  ])("%s", (_, fields, changedBy) => {
    expect(writerIn({ ...row, ...fields })).toEqual({ changedBy });
  });

  test("is not known where nothing says it", () => {
    const { createdBy: _, ...anonymous } = row;
    expect([writerIn(anonymous), writerIn({ ...row, stamp: null })]).toEqual([null, null]);
    const { createdAt: __, ...timeless } = row;
    expect(writerIn({ ...timeless, version: 1, author: "a" })?.changedBy.at).toBeNull();
  });
});

test.each([
  [
    { subjectId: "u1", subjectType: "user", subjectSlug: "ada" },
    { createdBy: "u1", author: "user:ada" },
  ],
  [
    { subjectId: "u1", subjectType: "user", subjectSlug: "", subjectDisplayName: "Ada" },
    { createdBy: "u1", author: "user:Ada" },
  ],
  [
    { subjectId: "u1", subjectType: "user" },
    { createdBy: "u1", author: "user:u1" },
  ],
  [{ subjectId: "u1" }, { createdBy: "u1", author: "u1" }],
  [{ subjectSlug: "ada" }, { author: "ada" }],
  [{}, {}],
  [null, {}],
])("the subject %j is %j", (subject, author) => {
  expect(authorIn(subject)).toEqual(author);
});

describe("a reply with a resource", () => {
  const list = kindOf("service")?.list;
  if (list === undefined) throw new TypeError("no list");
  const manifest = service();
  const deployment = { id: "d1", applicationId: "a1", manifest, version: 3, createdAt: "noon", currentStatus: null };
  const application = { id: "a1", type: "service", workspaceFqn: "c1:ws1", name: "api", deployment };

  test("is read as the row of its kind", () => {
    expect(readRow(list, application)).toEqual({
      ...{ key: "c1:ws1/api", id: "a1", manifest, version: 3, stamp: "d1", createdAt: "noon", status: null },
    });
    expect(readRow(list, { ...application, type: "job" })).toBeNull();
    expect(readRow(list, { ...application, deployment: null })).toBeNull();
  });

  test("of a write names its workspace itself, or in the manifest", () => {
    const [route] = kindOf("service")?.writeRoutes ?? [];
    if (route === undefined) throw new TypeError("no route");
    const { workspace_fqn: _, ...elsewhere } = manifest;
    const made = {
      ...{ ...deployment, manifest: elsewhere, application: { workspaceFqn: "c2:ws2" } },
      ...{ currentStatus: { status: "BUILDING" }, createdBySubject: { subjectId: "u1" } },
    };
    expect(readRow(route, made)).toEqual({
      ...{ key: "c2:ws2/api", id: "a1", manifest: elsewhere, version: 3, stamp: "d1", createdAt: "noon" },
      ...{ createdBy: "u1", author: "u1", status: { status: "BUILDING" } },
    });
    // A dry run of what does not exist yet has no ids.
    expect(readRow(route, { manifest, version: 1, applicationId: "", createdAt: "noon" })).toEqual({
      ...{ key: "c1:ws1/api", id: null, manifest, version: 1, stamp: null, createdAt: "noon", status: null },
    });
    const single = kindOf("service")?.single;
    expect(["a1", "", null].map((id) => single?.idFrom({ applicationId: id } as never))).toEqual(["a1", null, null]);
  });

  test.each<[string, unknown, string]>([
    ["no object", "x", "the reply is not an object"],
    [
      "without the newest deployment",
      { ...application, deployment: undefined },
      "the list does not carry the newest deployments",
    ],
    [
      "without a manifest",
      { ...application, deployment: { ...deployment, manifest: undefined } },
      "the reply carries no manifest",
    ],
  ])("is refused: %s", (_, reply, why) => {
    expect(() => readRow(list, reply)).toThrow(why);
    expect(tryReadRow(list, reply)).toBeNull();
  });

  test("is imported into a folder of its cluster and workspace", () => {
    expect(kindOf("service")?.place?.("c1:ws1/api")).toEqual(["c1", "ws1", "api"]);
  });

  test("is asked for by name, or by its workspace", () => {
    expect(list.narrow?.("c1:ws1/api")).toEqual({ fqn: "c1:ws1:api" });
    expect(list.within?.("c1:ws1/")).toEqual({ workspaceFqn: "c1:ws1" });
    expect(list.within?.("c1:ws1/a")).toBeNull();
    expect(list.query).toEqual({ applicationType: "service" });
    expect(list.anyKind?.({ type: "job", workspaceFqn: "c1:ws1", name: "n" } as never)).toEqual({
      ...{ type: "job", key: "c1:ws1/n" },
    });
  });
});
