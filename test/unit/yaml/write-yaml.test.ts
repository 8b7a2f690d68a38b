import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { parse as parseAnyYaml } from "yaml";
import type { JsonObject } from "../../../src/contract/json.ts";
import { defaultYamlLimits } from "../../../src/yaml/limits.ts";
import { parseFile } from "../../../src/yaml/parse-file.ts";
import { yamlText } from "../../../src/yaml/write-yaml.ts";
import { parsed } from "./parsed.ts";
import { runs, timeout } from "./texts.ts";

const words = fc.constantFrom(
  ...["no", "~", "null", "True", "0755", "3.10", "1e3", "12:30", "2020-01-01", "- a", "a: b", "a #b", "#", "&x", "*x"],
  ...[
    "",
    " ",
    "a ",
    "|",
    ">-",
    "a\nb",
    "a\nb\n",
    "\n",
    "a\n\n",
    " a\nb",
    "a\n b\n",
    "a \nb",
    "\ta",
    "a\tb\n",
    "%x",
    "@x",
  ],
  ...[
    "---",
    "a\n---\nb",
    "...",
    "é",
    "\u00a0",
    "\u202e",
    "\u0085",
    "\ufeff",
    "\u2028",
    "\u0007",
    "?",
    "? a",
    "{}",
    "[a",
    "=",
    "<<",
  ],
);
const text = fc.oneof(
  words,
  fc.string({ unit: "binary", maxLength: 12 }),
  fc.array(words, { maxLength: 3 }).map((all) => all.join("")),
);
const number = fc.oneof(fc.integer(), fc.constantFrom(0, 0.5, -1.25, 1.5e-7));
const { value } = fc.letrec<{ value: unknown; object: JsonObject }>((tie) => ({
  object: fc.dictionary(text, tie("value"), { maxKeys: 4, noNullPrototype: true }) as fc.Arbitrary<JsonObject>,
  value: fc.oneof(
    { maxDepth: 4, withCrossShrink: true },
    text,
    number,
    fc.constantFrom(null, true, false),
    fc.array(tie("value"), { maxLength: 4 }),
    tie("object"),
  ),
}));

describe("an object as YAML", () => {
  test(
    "is read by our readers as it was",
    () => {
      fc.assert(
        fc.property(fc.dictionary(fc.stringMatching(/^[a-z]{1,5}$/), value, { noNullPrototype: true }), (fields) => {
          const object = fields as JsonObject;
          const written = yamlText(object);
          const [document] = parsed(written).documents;
          const errors = document?.faults.filter(({ severity }) => severity === "error").map(({ code }) => code) ?? [];
          // What no manifest may have, however it is written.
          if (errors.some((code) => /^(?:key|encoding|invisible-character|control-character|merge-key)$/.test(code)))
            return;
          expect([document?.value, errors]).toEqual([object, []]);
        }),
        runs(1),
      );
    },
    timeout,
  );

  test(
    "is read by readers of YAML 1.1 as it was",
    () => {
      fc.assert(
        fc.property(
          fc.dictionary(
            fc.stringMatching(/^[a-x]{2,5}$/),
            text.filter((one) => one.isWellFormed()),
            { noNullPrototype: true },
          ),
          (fields) => {
            const object = fields as JsonObject;
            expect(parseAnyYaml(yamlText(object), { version: "1.1" })).toEqual(object);
          },
        ),
        runs(0.5),
      );
    },
    timeout,
  );

  test("is plain: block texts, names, paths and addresses are not quoted, and the fast reader suffices", () => {
    const object = {
      type: "service",
      workspace_fqn: "prod-eu:ranking",
      image: { image_uri: "registry.example.com/ml/api@sha256:0123", command: ["python", "-m", "app"] },
      env: { A_TOKEN: "secret://tenant:group:key", GREETING: "Hello, you (all)", PORT: "8080", SCRIPT: "a\n\nb: c\n" },
      ports: [{ port: 80, expose: true }, {}],
      labels: {},
      nested: [["a"], []],
    };
    const written = yamlText(object);
    expect(written).toBe(`type: service
workspace_fqn: prod-eu:ranking
image:
  image_uri: registry.example.com/ml/api@sha256:0123
  command:
    - python
    - "-m"
    - app
env:
  A_TOKEN: secret://tenant:group:key
  GREETING: Hello, you (all)
  PORT: "8080"
  SCRIPT: |
    a

    b: c
ports:
  - port: 80
    expose: true
  - {}
labels: {}
nested:
  -
    - a
  - []
`);
    const bytes = Buffer.from(written);
    const read = parseFile(bytes, { format: "yaml", limits: defaultYamlLimits, worthy: null }, null);
    expect(read?.documents[0]?.value).toEqual(object);
  });
});
