import fc from "fast-check";
import type { Json } from "../../src/contract/json.ts";

type Step = string | number;

/** The value with one fault: another value somewhere, a key too many, or a missing one. */
export function faultyValues(value: Json): fc.Arbitrary<Json> {
  const places = placesIn(value);
  const change = fc.record({ place: fc.constantFrom(...places), odd: fc.option(oddities, { nil: undefined }) });
  return change.map(({ place, odd }) => changed(value, place, odd));
}

/** Values that nobody expects. */
const oddities: fc.Arbitrary<Json> = fc.oneof(
  fc.constantFrom<Json>(null, "", "\u0000", "\ud800", "__proto__", "constructor", true, false, [], {}),
  fc.constantFrom<Json>(-1, 0, 0.5, -0, 1e308, 2 ** 31, 2 ** 53, 2 ** 63, Number.MIN_VALUE),
  fc.constantFrom<Json>("'; DROP TABLE audit; --", "%_%", "a\nb\r\nc", "\u202e\u200b", "\u001b[2J", "../../etc/passwd"),
  fc.constantFrom<Json>("prod-eu", "prod-eu:ranking", "prod-eu:ranking:ranker:1", "secret://a:b:c", "{{x}}"),
  fc.constant<Json>("x".repeat(100_000)),
  fc.constant<Json>(Object.fromEntries(Array.from({ length: 2000 }, (_, at) => [`k${at}`, at]))),
  fc.constant<Json>(Array.from({ length: 2000 }, (_, at) => ({ at }))),
  fc.integer({ min: 2, max: 120 }).map((depth) => nested(depth)),
  fc.jsonValue({ maxDepth: 4 }) as fc.Arbitrary<Json>,
  fc.string({ unit: "binary", maxLength: 40 }),
);

function nested(depth: number): Json {
  return depth === 0 ? {} : depth % 2 === 0 ? { a: nested(depth - 1) } : [nested(depth - 1)];
}

function placesIn(value: Json, above: readonly Step[] = []): readonly (readonly Step[])[] {
  if (typeof value !== "object" || value === null) return [above];
  const entries: readonly (readonly [Step, Json])[] = Array.isArray(value)
    ? value.map((item, at) => [at, item] as const)
    : Object.entries(value);
  const extra: Step = Array.isArray(value) ? value.length : "odd key";
  return [above, [...above, extra], ...entries.flatMap(([step, inner]) => placesIn(inner, [...above, step]))];
}

function changed(value: Json, [step, ...rest]: readonly Step[], odd: Json | undefined): Json {
  if (step === undefined) return odd ?? null;
  const removes = rest.length === 0 && odd === undefined;
  if (Array.isArray(value)) {
    const at = Number(step);
    return removes ? value.toSpliced(at, 1) : value.toSpliced(at, 1, changed(value[at] ?? null, rest, odd));
  }
  const entries = Object.entries(typeof value === "object" && value !== null ? value : {});
  const others = entries.filter(([name]) => name !== step);
  const inner = entries.find(([name]) => name === step)?.[1] ?? null;
  return Object.fromEntries(removes ? others : [...others, [step, changed(inner, rest, odd)]]);
}
