import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { manifestPaths } from "../../../../src/core/import/manifest-paths.ts";
import { kindsByType } from "../../../../src/kinds/index.ts";
import { isManifestFile, isSkippedName } from "../../../../src/source/ignore-files.ts";

const pathsOf = (...identities: readonly string[]) => [...manifestPaths(identities, kindsByType).values()];

describe("the files of imported resources", () => {
  test("lie in the folders of what contains them", () => {
    expect(
      pathsOf("cluster/c1", "workspace/c1:ws1", "service/c1:ws1/api", "team/ml", "ml-repo/r", "chat_prompt/r/greeter"),
    ).toEqual([
      "c1/cluster.yaml",
      "c1/ws1/workspace.yaml",
      "c1/ws1/api.yaml",
      "teams/ml.yaml",
      "ml-repos/r.yaml",
      "chat_prompts/r/greeter.yaml",
    ]);
  });

  test("lie no deeper than a source is read, and beside those of kinds that have no place", () => {
    expect(pathsOf("team/a/b/c/d/e", "team/a/b/c", "nothing/x/y")).toEqual([
      "teams/a/b/c%2Fd%2Fe.yaml",
      "teams/a/b/c.yaml",
      "nothings/x/y.yaml",
    ]);
  });

  test("do not look like a file of a source with another ending", () => {
    expect(pathsOf("team/a.yaml", "team/a.YML", "team/a.json", "team/a.jsonl", "team/a.yamls", "team/a.x")).toEqual([
      ...["teams/a%2Eyaml.yaml", "teams/a%2EYML.yaml", "teams/a%2Ejson.yaml"],
      ...["teams/a.jsonl.yaml", "teams/a.yamls.yaml", "teams/a.x.yaml"],
    ]);
  });

  test("have encoded names where a name is no file name, is passed over, or would leave the folder", () => {
    expect(
      pathsOf(
        ...[
          "team/..",
          "team/.",
          "team/a\0b",
          "team/.git",
          "team/node_modules",
          "team/holdfast",
          "team/con",
          "team/NUL.x",
        ],
        ...["team/a b", "team/a\\b", "team/é", "team/a:b", "team/", "team/end.", "team/x.yaml", "team/..%2F"],
        "service/../..:etc/x",
      ),
    ).toEqual([
      ...["teams/%2E%2E.yaml", "teams/%2E.yaml", "teams/a%00b.yaml", "teams/%2Egit.yaml", "teams/%6Eode_modules.yaml"],
      ...["teams/%68oldfast.yaml", "teams/%63on.yaml", "teams/%4EUL.x.yaml", "teams/a%20b.yaml", "teams/a%5Cb.yaml"],
      ...["teams/%C3%A9.yaml", "teams/a%3Ab.yaml", "teams/%.yaml", "teams/end%2E.yaml", "teams/x%2Eyaml.yaml"],
      ...["teams/%2E.%252F.yaml", "%2E%2E/%2E.%3Aetc%2Fx.yaml"],
    ]);
  });

  test("are told apart where their names differ only by case, or are the same", () => {
    const paths = pathsOf("team/API", "team/api", "workspace/c1:ws1", "service/c1:ws1/workspace", "team/other");
    expect(paths.slice(0, 4).every((path) => /~[0-9a-f]{8}\.yaml$/.test(path))).toBe(true);
    expect(new Set(paths.map((path) => path.toLowerCase())).size).toBe(5);
    expect(paths[4]).toBe("teams/other.yaml");
  });

  test("are short enough for any file system, and not too deep to be read", () => {
    const [long, deep, short] = pathsOf(
      ...[`team/${"x".repeat(500)}`, `team/${"a/".repeat(100)}b`, `team/${"x".repeat(100)}`],
    );
    expect(short).toBe(`teams/${"x".repeat(100)}.yaml`);
    expect(long).toMatch(/^teams\/x{100}~[0-9a-f]{8}\.yaml$/);
    expect(deep?.split("/").length).toBeLessThanOrEqual(4);
  });

  test("are in the folder, distinct, and read by a source, whatever the names are", () => {
    const name = fc.oneof(
      fc.string({ unit: "binary", maxLength: 8 }),
      fc.constantFrom(
        "..",
        ".",
        "CON",
        "aux.txt",
        "a",
        "A",
        "con",
        "workspace",
        "cluster",
        "ws.yaml",
        "x\ud800",
        "x\ud801",
      ),
    );
    const identity = fc.oneof(
      name.map((one) => `team/${one}`),
      fc.tuple(name, name, name).map(([c, w, s]) => `service/${c}:${w}/${s}`),
      fc.tuple(name, name).map(([c, w]) => `workspace/${c}:${w}`),
    );
    fc.assert(
      fc.property(fc.uniqueArray(identity, { maxLength: 20 }), (identities) => {
        const paths = pathsOf(...identities);
        expect(new Set(paths.map((path) => path.toLowerCase())).size).toBe(identities.length);
        const folders = new Set(paths.map((path) => path.slice(0, path.lastIndexOf("/"))));
        for (const path of paths) {
          const steps = path.split("/");
          expect(path).toMatch(/^[\w.+@=%~-]+(?:\/[\w.+@=%~-]+)*\.yaml$/);
          expect(steps.some((step) => isSkippedName(step) || /^(?:con|prn|aux|nul)(?:\.|$)/i.test(step))).toBe(false);
          expect([isManifestFile(steps.at(-1) ?? ""), folders.has(path)]).toEqual([true, false]);
        }
      }),
      { numRuns: 2000 },
    );
  });
});
