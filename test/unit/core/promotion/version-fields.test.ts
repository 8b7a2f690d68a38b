import { describe, expect, test } from "vitest";
import type { JsonObject } from "../../../../src/contract/json.ts";
import {
  type PromotedField,
  unnumbered,
  versionFields,
  withVersions,
} from "../../../../src/core/promotion/version-fields.ts";
import { kindOf } from "../../../../src/kinds/index.ts";
import { declare, prompt, service } from "../given.ts";

function kindOfManifest({ type }: JsonObject) {
  const kind = kindOf(String(type));
  if (kind === undefined) throw new TypeError(`no kind ${type}`);
  return kind;
}

const image = (image_uri: string, fields: JsonObject = {}) => ({ image: { type: "image", image_uri, ...fields } });
const built = { type: "build", build_source: { type: "git", repo_url: "https://x.io/r", ref: "a1b2" } };

describe("what a promotion copies", () => {
  const fieldsOf = (live: JsonObject, named: readonly PromotedField[] | null = null) =>
    versionFields(kindOfManifest(live), { identity: declare(live).identity, live }, named).map((path) =>
      path.join("/"),
    );

  test.each<[string, JsonObject, readonly string[]]>([
    ["the fields that say a version", service({ replicas: 3, labels: { a: "1" } }), ["image/image_uri"]],
    ["those of what is built", service({ image: built }), ["image/build_source/ref"]],
    ["nothing where no version is said", { type: "workspace", name: "ws1", cluster_fqn: "c1" }, []],
    [
      "the content of a version, without its names and what may change in place",
      prompt({ version: 3, description: "d", metadata: { a: "1" }, version_alias: "v" }),
      ["messages"],
    ],
  ])("is %s", (_, live, fields) => {
    expect(fieldsOf(live)).toEqual(fields);
  });

  test.each<[string, readonly PromotedField[], readonly string[]]>([
    ["whole", [{ path: "/labels" }], ["labels"]],
    ["each by its own name", [{ path: "/labels/*" }], ["labels/a", "labels/b"]],
    ["of keyed lists", [{ path: "/ports/80:TCP/host" }], ["ports/80:TCP/host"]],
    [
      "never the names of the resource",
      [{ path: "/name" }, { path: "/workspace_fqn" }, { path: "/replicas" }],
      ["replicas"],
    ],
    ["but fields below one called name", [{ path: "/labels/name" }], []],
    ["of the resources that match", [{ path: "/replicas", match: "service/c1:ws1/*" }], ["replicas"]],
    ["not of those that do not", [{ path: "/replicas", match: "job/**" }], []],
    ["of all where nothing is to match", [{ path: "/replicas", match: null }], ["replicas"]],
    ["everything", [{ path: "" }], ["image", "replicas", "labels", "ports"]],
    ["none", [], []],
  ])("is the fields that the target names: %s", (_, named, fields) => {
    const live = service({ replicas: 2, labels: { a: "1", b: "2" }, ports: [{ port: 80, host: "x.io" }] });
    expect(fieldsOf(live, named)).toEqual(fields);
  });
});

describe("a manifest that is promoted to", () => {
  const promoted = (manifest: JsonObject, live: JsonObject, ...fields: readonly (readonly string[])[]) =>
    withVersions(kindOfManifest(manifest), manifest, live, fields);
  const uri = ["image", "image_uri"];

  test("gets the fields of the other target, and keeps its own", () => {
    const mine = service({ ...image("r/api:1"), replicas: 1 });
    expect(promoted(mine, service({ ...image("r/api:2"), replicas: 9 }), uri)).toEqual(
      service({ ...image("r/api:2"), replicas: 1 }),
    );
  });

  test.each<[string, JsonObject, JsonObject]>([
    ["it has them already", service(image("r/api:1")), service(image("r/api:1"))],
    ["its image is of another type", service({ image: built }), service(image("r/api:2"))],
    [
      "what it is built from is of another type",
      service({ image: { ...built, build_source: { type: "git", ref: "old" } } }),
      service({ image: { ...built, build_source: { type: "github", ref: "new" } } }),
    ],
    ["it has no such place", service({ image: null }), service(image("r/api:2"))],
    ["the other has no such place", service(image("r/api:1")), service({ image: null })],
  ])("is the same where %s", (_, manifest, live) => {
    expect(promoted(manifest, live, uri, ["image", "build_source", "ref"])).toBe(manifest);
  });

  test("gets a field in an object without a type, or where only one has one", () => {
    const host = ["ports", "80:TCP", "host"];
    const ports = (host: string) => service({ ports: [{ port: 80, host }] });
    expect(promoted(ports("a.io"), ports("b.io"), host)).toEqual(ports("b.io"));
    const untyped = service({ image: { image_uri: "r/api:1" } });
    expect(promoted(untyped, service(image("r/api:2")), uri)).toEqual(service({ image: { image_uri: "r/api:2" } }));
    expect(promoted(service(image("r/api:2")), untyped, uri)).toEqual(service(image("r/api:1")));
  });

  test("gets items of lists where both have the list", () => {
    const members = (...names: readonly string[]) => ({ type: "team", name: "ml", members: names });
    expect(promoted(members("ada@x.io"), members("ada@x.io", "bob@x.io"), ["members", "bob@x.io"])).toEqual(
      members("ada@x.io", "bob@x.io"),
    );
    const { members: _, ...none } = members();
    expect(promoted(none, members("bob@x.io"), ["members", "bob@x.io"])).toBe(none);
  });

  test("keeps the number of its version, and loses what the other version does not have", () => {
    const mine = prompt({ version: 2, description: "mine", tools: [{ type: "function", name: "f" }] });
    const other = prompt({ version: 7, description: "other", messages: [{ role: "system", content: "Be short." }] });
    expect(promoted(mine, other, ["messages"])).toEqual(
      prompt({ version: 2, description: "mine", messages: [{ role: "system", content: "Be short." }] }),
    );
    expect(promoted(service({ replicas: 2 }), service(), uri)).toEqual(service({ replicas: 2 }));
    const sub = (name: string) => ({ sub_agents: [{ name }] });
    expect(promoted(prompt({ version: 2, ...sub("a") }), { ...other, ...sub("b") }, ["messages"])).toEqual(
      prompt({ version: 2, messages: other.messages ?? null, ...sub("a") }),
    );
  });
});

test("a version has the same name in each target", () => {
  expect(unnumbered("chat_prompt/r/greeter@3")).toBe("chat_prompt/r/greeter");
  expect(unnumbered("service/c1:ws1/api")).toBe("service/c1:ws1/api");
});
