import fc from "fast-check";
import { afterAll, describe, expect, it } from "vitest";
import { isObject, type Json, type JsonObject } from "../../../src/contract/json.ts";
import { formatFile } from "../../../src/manifests/format-file.ts";
import { manifestYaml, schemaComments } from "../../../src/render/manifest-yaml.ts";
import { fullManifest } from "../../../src/schema/sample-manifest.ts";
import { manifestTypes, schemaFor } from "../../../src/schema/schemas.ts";
import { defaultLimits } from "../../../src/source/limits.ts";
import { ExactProcess, readYaml } from "../../../src/yaml/read-yaml.ts";

const exact = new ExactProcess();
afterAll(() => exact[Symbol.asyncDispose]());
const reading = { exact, signal: new AbortController().signal };

const fileOf = (text: string, path: string) => {
  const bytes = Buffer.from(text);
  const nothing = { digest: null, stamp: null, blob: null };
  return { path, display: path, size: bytes.length, bytes: () => bytes, ...nothing };
};

/** The formatted text, which is the same where nothing was to do, and the codes of what is reported. */
async function format(text: string, path = "a.yaml") {
  const { bytes, diagnostics, manifests } = await formatFile(fileOf(text, path), reading);
  return {
    text: bytes?.toString("utf8") ?? text,
    isSame: bytes === null,
    codes: diagnostics.map(({ code }) => code),
    manifests,
  };
}

const formatted = async (text: string, path?: string) => (await format(text, path)).text;

async function valuesOf(text: string): Promise<readonly Json[]> {
  const { documents } = await readYaml(
    Buffer.from(text),
    { format: "yaml", limits: defaultLimits, worthy: null },
    exact,
  );
  return documents.map(({ value }) => value);
}

describe("formatting a file", () => {
  it("moves each field with the comments above and beside it, in items and forms too", async () => {
    const text = `# yaml-language-server: $schema=x

# the name
name: api # after
type: service

# its image
image:
  # where it is
  image_uri: "registry.example.com/api:1"   # quoted
  type: image
  # at the end of image
ports:
  # the first port
  - expose: true
    # its number
    port: 8080
  - { protocol: TCP, port: 81 }
  -
    # below
    protocol: UDP
    port: 82
workspace_fqn: dev:web
# at the end
`;
    expect(await formatted(text)).toBe(`# yaml-language-server: $schema=x

type: service
# the name
name: api # after
workspace_fqn: dev:web

# its image
image:
  type: image
  # where it is
  image_uri: "registry.example.com/api:1"   # quoted
  # at the end of image
ports:
  # the first port
  - # its number
    port: 8080
    expose: true
  - { port: 81, protocol: TCP }
  -
    port: 82
    # below
    protocol: UDP
# at the end
`);
  });

  it.each([
    ["no line end at the end", "name: ml\ntype: team", "type: team\nname: ml"],
    ["CRLF", "name: ml\r\ntype: team\r\n", "type: team\r\nname: ml\r\n"],
    ["a byte-order mark", "\ufeffname: ml\ntype: team\n", "\ufefftype: team\nname: ml\n"],
    ["a comment at the top", "# ours\nname: ml\ntype: team\n", "# ours\ntype: team\nname: ml\n"],
    ["an indented document", "  name: ml\n  type: team\n", "  type: team\n  name: ml\n"],
    ["a marker and an end", "--- # one\nname: ml\ntype: team\n...\n", "--- # one\ntype: team\nname: ml\n...\n"],
    ["an empty value", "members:\n# none\nname: ml\ntype: team\n", "type: team\n# none\nname: ml\nmembers:\n"],
    ["a flow mapping", "{ name: ml, type: team, members: [] }\n", "{ type: team, name: ml, members: [] }\n"],
    [
      "a block text",
      "description: |+\n  a\n\nname: ranking\ntype: ml-repo\n",
      "type: ml-repo\nname: ranking\ndescription: |+\n  a\n\n",
    ],
    [
      "anchors",
      "tags: &t { b: 1 }\nname: ml\ntype: team\nmembers: [a@example.com]\n",
      "type: team\nname: ml\nmembers: [a@example.com]\ntags: &t { b: 1 }\n",
    ],
    [
      "several documents, of which one is not ours",
      "name: a\ntype: team\n---\nb: 1\nkind: Pod\n---\nname: b\ntype: team\n",
      "type: team\nname: a\n---\nb: 1\nkind: Pod\n---\ntype: team\nname: b\n",
    ],
  ])("keeps everything but the order: %s", async (_, text, expected) => {
    expect(await formatted(text)).toBe(expected);
    expect(await format(expected)).toMatchObject({ isSame: true, codes: [] });
  });

  it("formats JSON, whose lines stay", async () => {
    const text = '{\n  "name": "ml",\n  "type": "team",\n  "members": []\n}\n';
    expect(await formatted(text, "a.json")).toBe('{\n  "type": "team",\n  "name": "ml",\n  "members": []\n}\n');
  });

  it("leaves a document as it is whose meaning another order would change, and says so", async () => {
    const text = "tags: &t { b: 1 }\nname: ml\nmembers: []\nownedBy: *t\ntype: team\n";
    expect(await format(text)).toEqual({ text, isSame: true, codes: ["order-kept"], manifests: 1 });
    // The alias would mean the other anchor of that name.
    const twice = "name: &t ml\nmembers: &t [ada@example.com]\nmanagers: *t\ntype: team\n";
    expect(await format(twice)).toEqual({ text: twice, isSame: true, codes: ["order-kept"], manifests: 1 });
    const mixedEnds = "name: ml\r\ntype: team\nmembers: []\n";
    expect(await format(mixedEnds)).toEqual({ text: mixedEnds, isSame: true, codes: ["order-kept"], manifests: 1 });
    expect(await format("type: team\r\nname: ml\n")).toMatchObject({ isSame: true, codes: [] });
    const flow = "{ name: ml, # the name\n  type: team }\n";
    expect(await format(flow)).toMatchObject({ text: flow, codes: [] });
  });

  it.each([
    ["a syntax error", "name: [ml\ntype: team\n", "syntax"],
    ["a merge key", "name: ml\ntype: team\ntags:\n  <<: { a: 1 }\n", "merge-key"],
    ["a duplicate key", "name: ml\ntype: team\nname: two\n", "duplicate-key"],
    ["a wrong encoding", "\0n\0a\0m\0e\0:\0t\0y\0p\0e\0:\0t\0e\0a\0m", null],
    ["a broken document beside a good one", "name: ml\ntype: team\n---\ntype: team\nname: [\n", "syntax"],
  ])("does not touch a file with %s", async (_, text, code) => {
    expect(await format(text)).toMatchObject({ text, isSame: true, codes: code === null ? [] : [code] });
  });

  it("passes over what is not ours, also where it cannot be read", async () => {
    for (const text of ["", "\n", "# nothing\n", "{{ template }}\n", "b: 1\na: 2\n", "- b\n- a\n", "kind: [\n"])
      expect(await format(text)).toEqual({ text, isSame: true, codes: [], manifests: 0 });
  });
});

/** A value with the fields of every object in another order. */
function shuffled(value: Json, places: Iterator<number>): Json {
  if (Array.isArray(value)) return value.map((item) => shuffled(item, places));
  if (!isObject(value)) return value;
  const fields = Object.entries(value).map(([name, field = null]) => [places.next().value, name, field] as const);
  return Object.fromEntries(
    fields.toSorted(([a], [b]) => a - b).map(([, name, field]) => [name, shuffled(field, places)]),
  );
}

const documents = fc
  .record({
    type: fc.constantFrom(...manifestTypes),
    form: fc.nat(20),
    places: fc.infiniteStream(fc.nat()),
    hasComments: fc.boolean(),
    isJson: fc.boolean(),
  })
  .map(({ type, form, places, hasComments, isJson }) => {
    const manifest = shuffled(fullManifest(type, form), places) as JsonObject;
    if (isJson) return `${JSON.stringify(manifest, null, 2)}\n`;
    const text = manifestYaml(manifest, hasComments ? schemaComments(schemaFor(type) ?? {}, manifest) : undefined);
    return text
      .split("\n")
      .slice(0, -1)
      .map((line) => withNoise(line, places))
      .join("");
  });

/** A line, at times with a comment above it at some depth, an empty line, a comment beside it, or its dash in a line of its own. */
function withNoise(line: string, places: Iterator<number>): string {
  const roll = (sides: number): number => places.next().value % sides;
  const above = roll(4) === 0 ? `${" ".repeat(roll(8))}# above ${roll(100)}\n` : "";
  const space = roll(8) === 0 ? `${" ".repeat(roll(3))}\n` : "";
  const beside = roll(8) === 0 && !line.trimStart().startsWith("#") ? `  # beside ${roll(100)}` : "";
  const broken = roll(8) === 0 ? line.replace(/^( *)- (?=\w)/, "$1-\n$1  ") : line;
  return `${above}${space}${broken}${beside}\n`;
}

describe("formatting any manifests", () => {
  it("keeps what they say and every comment, and has nothing to do a second time", async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(documents, { minLength: 1, maxLength: 3 }),
        fc.constantFrom("\n", "\r\n"),
        async (all, end) => {
          const text = all.join("---\n").replaceAll("\n", end);
          const once = await format(text);
          expect(once).toMatchObject({ codes: [], manifests: all.length });
          expect(await valuesOf(once.text)).toEqual(await valuesOf(text));
          const visible = (one: string) => [...one.replaceAll(/\s/g, "")].toSorted().join("");
          expect(visible(once.text)).toBe(visible(text));
          expect(await format(once.text)).toMatchObject({ isSame: true });
        },
      ),
      { numRuns: 60 },
    );
  });
});
