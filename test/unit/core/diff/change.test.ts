import fc from "fast-check";
import jsonPatch from "fast-json-patch";
import { expect, test } from "vitest";
import type { Json, JsonObject } from "../../../../src/contract/json.ts";
import type { Shape } from "../../../../src/contract/manifest-shape.ts";
import { changeOf } from "../../../../src/core/diff/change.ts";
import { differences } from "../../../../src/model/differences.ts";
import { normalise } from "../../../../src/model/normal-form.ts";
import { against, present, service } from "../given.ts";

const shape: Shape = {
  is: "object",
  fields: {
    free: { is: "free" },
    set: { is: "list", key: [], items: { is: "value" } },
    items: {
      is: "list",
      key: ["name"],
      items: { is: "object", fields: { name: { is: "value" }, n: { is: "value" }, tags: { is: "free" } } },
    },
    places: { is: "list", items: { is: "object", fields: { n: { is: "value" } } } },
  },
};

const word = fc.constantFrom("a", "b", "~", "a/b", "a.b", "0");
const item = fc.record({ name: word, n: fc.option(fc.integer()) });
const document = fc.record(
  {
    free: fc.dictionary(word, fc.oneof(fc.integer(), word), { maxKeys: 3 }),
    set: fc.array(word, { maxLength: 4 }),
    items: fc.array(fc.option(item), { maxLength: 4 }),
    places: fc.array(fc.option(fc.record({ n: fc.integer() })), { maxLength: 4 }),
  },
  { requiredKeys: [] },
);

test("a path points at the value in the manifest as written, or in live where it is removed", () => {
  fc.assert(
    fc.property(document, document, (a, b) => {
      const [manifest, live] = [a as JsonObject, b as JsonObject];
      for (const difference of differences(shape, normalise(shape, live), normalise(shape, manifest))) {
        const { path, before, after } = changeOf(difference, "manifest", { shape, manifest, live });
        const [holder, value] = after === null ? [live, before] : [manifest, after];
        expect(jsonPatch.getValueByPointer(holder, path)).toEqual(value);
      }
    }),
    { numRuns: 1000 },
  );
});

test("a label names the items of keyed lists by their key", () => {
  const step = against(
    service({ replicas: 1, ports: [{ port: 90, host: "b.example.com" }, { port: 80 }], env: { "a.b": "1" } }),
    present(service({ replicas: 1, ports: [{ port: 80 }, { port: 90, host: "a.example.com" }, { port: 70 }] })),
  );
  expect(step.changes.map(({ label, path }) => [label, path])).toEqual([
    ['env["a.b"]', "/env/a.b"],
    ["ports[70:TCP].port", "/ports/2/port"],
    ["ports[90:TCP].host", "/ports/0/host"],
  ]);
});

test("a create carries the whole manifest, its secrets masked", () => {
  const manifest: JsonObject = service({ replicas: 1, env: { DB_PASSWORD: "canary" } });
  const step = against(manifest, { state: "absent" });
  expect(step.changes).toMatchObject([
    {
      path: "",
      label: "",
      before: null,
      after: { replicas: 1, env: { DB_PASSWORD: "(sensitive)" } },
      cause: "manifest",
    },
  ]);
  expect(JSON.stringify(step)).not.toContain("canary");
});

test("a changed line of a long text is told as a unified diff", () => {
  const lines = (changed: string): Json =>
    Array.from({ length: 400 }, (_, at) => (at === 199 ? changed : `line ${at}`)).join("\n");
  const sides = { shape, manifest: undefined, live: undefined };
  const difference = { tokens: ["free"], before: lines("Be kind."), after: lines("Be rude."), sensitive: false };
  expect(changeOf(difference, "manifest", sides).diff).toBe(
    "@@ -197,7 +197,7 @@\n line 196\n line 197\n line 198\n-Be kind.\n+Be rude.\n line 200\n line 201\n line 202\n",
  );
  expect(changeOf({ ...difference, sensitive: true }, "manifest", sides)).toMatchObject({
    before: "(sensitive)",
    diff: null,
  });
});
