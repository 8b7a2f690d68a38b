import { expect, test } from "vitest";
import { compileExpression } from "../../../../src/engine/policies/expression.ts";
import { expressionSubject } from "../../../../src/engine/policies/expression-subject.ts";
import { randomFrom } from "../../../support/random.ts";

const CASES = Number(process.env.FUZZ_CASES ?? 4000);

const subject = expressionSubject({
  step: { action: "update", kind: "service", causes: ["drift"], risks: ["exposure"] },
  before: null,
  after: {
    replicas: 3,
    cpu: 0.5,
    image: { image_uri: "a:latest" },
    ports: [{ port: 1 }, { port: 2, expose: true }],
    env: {},
  },
  changes: [{ path: "/replicas", cause: "drift", before: 1, after: 3 }],
  risks: ["exposure"],
  author: null,
  target: "prod",
  plan: { summary: { create: 1 }, hardware: { devices: { T4: 2 } } },
});

const atoms = [
  ...[
    "true",
    "false",
    "null",
    "1",
    "-7",
    "0.5",
    "9223372036854775807",
    '"a"',
    '"latest"',
    "[]",
    "[1, 2]",
    "{}",
    '{"a": 1}',
  ],
  ...[
    "after",
    "before",
    "changes",
    "risks",
    "author",
    "target",
    "step.kind",
    "after.replicas",
    "after.ports",
    "after.nothing",
  ],
  ...[
    "after.image.image_uri",
    "plan.hardware.devices",
    "x",
    "nope",
    "b'\\\\x00'",
    'duration("1s")',
    "9e999",
    "__proto__",
  ],
];
const binary = ["==", "!=", "<", ">=", "+", "-", "*", "/", "%", "&&", "||", "in"];
const forms: readonly ((one: string, other: string) => string)[] = [
  (one) => `!(${one})`,
  (one) => `-(${one})`,
  (one) => `has(${one})`,
  (one) => `size(${one})`,
  (one) => `(${one}).exists(x, x == 1)`,
  (one, other) => `(${one}).all(x, ${other})`,
  (one, other) => `(${one}).map(x, ${other})`,
  (one, other) => `(${one}).filter(x, ${other})`,
  (one, other) => `(${one}) ? (${other}) : (${one})`,
  (one, other) => `(${one})[${other}]`,
  (one, other) => `(${one}).matches(${other})`,
  (one, other) => `(${one}).startsWith(${other})`,
  (one, other) => `(${one}).?field.orValue(${other})`,
  (one, other) => `cel.bind(x, ${one}, ${other})`,
  (one) => `int(${one})`,
  (one) => `string(${one})`,
  (one) => `type(${one}) == int`,
];

test("any expression is a verdict or an error with its place, and never anything else", { timeout: 120_000 }, () => {
  const random = randomFrom(45);
  const pick = <Item>(items: readonly Item[]): Item => {
    const item = items[Math.floor(random() * items.length)];
    if (item === undefined) throw new TypeError("nothing to pick");
    return item;
  };
  const make = (depth: number): string => {
    if (depth === 0) return pick(atoms);
    const one = make(depth - 1);
    const other = make(Math.floor(random() * depth));
    return random() < 0.5 ? `(${one} ${pick(binary)} ${other})` : pick(forms)(one, other);
  };
  // Half of them are cut, doubled or given a stray character.
  const spoil = (text: string): string => {
    const at = Math.floor(random() * (text.length + 1));
    const stray = pick(["", "(", ")", '"', "\\", "\u0000", "\u{1F600}", "..", "'''", "//", "\n", text, " && "]);
    return random() < 0.5 ? text : `${text.slice(0, at)}${stray}${text.slice(at + Math.floor(random() * 3))}`;
  };
  const seen = { answers: 0, errors: 0, faults: 0 };
  for (let at = 0; at < CASES; at += 1) {
    const text = spoil(make(1 + Math.floor(random() * 5))).slice(0, 4096);
    const compiled = compileExpression(text, "step");
    const answer = compiled.is === "faulty" ? compiled : compiled.expression.evaluate(subject);
    if (answer.is === "answer") {
      seen.answers += 1;
      expect(typeof answer.finds).toBe("boolean");
      continue;
    }
    seen[compiled.is === "faulty" ? "faults" : "errors"] += 1;
    const { message, offset } = answer.error;
    expect(message, text).toMatch(/\S/);
    expect(message, text).not.toMatch(/matches_linear|is not a function|Cannot read/);
    expect(offset >= 0 && offset <= text.length, `${text}: ${offset}`).toBe(true);
  }
  // Each sort is there, or the generator has become useless.
  expect(Math.min(...Object.values(seen))).toBeGreaterThan(CASES / 200);
});
