import fc from "fast-check";
import type { OpenApiDocument, ParameterObject } from "../../scripts/generate/openapi/document-types.ts";
import type { Json } from "../../src/contract/json.ts";
import { faultyValues } from "./arbitrary-faulty-value.ts";
import { valuesOf } from "./arbitrary-value.ts";
import type { Route } from "./openapi.ts";

/** A request as it goes over the wire. */
export type WireRequest = {
  readonly operationId: string;
  readonly method: string;
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | Uint8Array | null;
};

/** Requests of an operation: right by the document, nearly right, or not at all. */
export function requestsOf(
  document: OpenApiDocument,
  { method, path, operation }: Route,
  ids: readonly string[],
): fc.Arbitrary<WireRequest> {
  const parameters = (operation.parameters ?? []).map((one) =>
    "$ref" in one ? document.components.parameters[one.$ref.split("/").at(-1) ?? ""] : one,
  );
  const at = (place: string) => parameters.filter((one): one is ParameterObject => one?.in === place);
  return fc
    .record({
      path: pathOf(path, ids),
      query: queryOf(document, at("query")),
      headers: headersOf(at("header")),
      type: fc.oneof({ weight: 30, arbitrary: fc.constant("application/json") }, fc.constantFrom(...contentTypes)),
      body: bodyOf(document, operation),
    })
    .map(({ path: target, query, headers, type, body }) => ({
      operationId: operation.operationId,
      method: method.toUpperCase(),
      path: query === "" ? target : `${target}?${query}`,
      headers: { ...headers, ...(body !== null && { "content-type": type }) },
      body,
    }));
}

const contentTypes = [
  "application/json; charset=utf-8",
  "application/json; charset=utf-16",
  "text/plain",
  "application/x-www-form-urlencoded",
  "multipart/form-data; boundary=x",
  "application/json, text/plain",
  "application/merge-patch+json",
  "",
  ";",
];

const oddTexts = fc.oneof(
  fc.constantFrom(
    "%00",
    "%",
    "%zz",
    "%c3%28",
    "..%2f..",
    "%2e%2e",
    "'--",
    "%25",
    "*",
    "_",
    "%F0%9F%90%99",
    "x".repeat(600),
  ),
  fc.string({ unit: "binary", minLength: 1, maxLength: 20 }).map((text) => encodeURIComponent(text.toWellFormed())),
);

function pathOf(path: string, ids: readonly string[]): fc.Arbitrary<string> {
  const count = path.split("{").length - 1;
  const id = fc.oneof(
    { weight: 4, arbitrary: fc.constantFrom(...ids.map(encodeURIComponent)) },
    { weight: 1, arbitrary: oddTexts },
  );
  return fc.tuple(...Array.from({ length: count }, () => id)).map((values) => {
    const left = values.values();
    return path.replaceAll(/\{\w+\}/g, () => left.next().value ?? "");
  });
}

const oddNumbers = [
  "0",
  "-1",
  "1001",
  "1e3",
  "0x1",
  "",
  "+1",
  " 1",
  "1.0",
  "9007199254740992",
  "9".repeat(40),
  "١",
  "NaN",
];

function queryOf({ components }: OpenApiDocument, known: readonly ParameterObject[]): fc.Arbitrary<string> {
  const right = known.map(({ name, schema, example }) =>
    fc.oneof(valuesOf(components.schemas, schema), fc.constant(example ?? null)).map((value) =>
      [value]
        .flat()
        .map((one) => `${name}=${encodeURIComponent(String(one).toWellFormed())}`)
        .join("&"),
    ),
  );
  const names = fc.constantFrom("unknown", "limit", "offset", "__proto__", "a[b]", ...known.map(({ name }) => name));
  const odd = fc
    .tuple(names, fc.oneof(fc.constantFrom(...oddNumbers.map(encodeURIComponent)), oddTexts))
    .map(([name, value]) => `${name}=${value}`);
  const pairs =
    right.length === 0 ? odd : fc.oneof({ weight: 3, arbitrary: fc.oneof(...right) }, { weight: 1, arbitrary: odd });
  return fc.oneof(
    { weight: 3, arbitrary: fc.constant("") },
    { weight: 4, arbitrary: fc.array(pairs, { maxLength: 3 }).map((all) => all.join("&")) },
    { weight: 1, arbitrary: fc.constantFrom("=", "&&", "?", "=&=", "%", "limit", "limit=1&limit=2", "limit[]=1") },
  );
}

function headersOf(known: readonly ParameterObject[]): fc.Arbitrary<Readonly<Record<string, string>>> {
  if (known.length === 0) return fc.constant({});
  const key = fc.oneof(
    fc.uuid(),
    fc.constantFrom("the-same-key-again", "short", "x".repeat(256), "with a space in it!!"),
  );
  const token = fc.oneof(fc.nat(5).map(String), fc.constantFrom("-1", "1e3", "", "9".repeat(30), "0x1"));
  const some = fc.record(
    {
      "idempotency-key": key,
      "x-fencing-token": token,
      "x-fencing-scope": fc.constantFrom("a", "b", "", "x".repeat(300)),
      "x-request-id": fc.constantFrom("mine", "x".repeat(500)),
    },
    { requiredKeys: [] },
  );
  return fc.oneof({ weight: 5, arbitrary: fc.constant({}) }, { weight: 1, arbitrary: some });
}

const broken: readonly (string | Uint8Array)[] = [
  "",
  "{",
  "[",
  "null",
  "1",
  '"x"',
  "[]",
  "{}",
  "\ufeff{}",
  '{"manifest":{},"manifest":{}}',
  '{"__proto__":{"polluted":true}}',
  '{"manifest":{"__proto__":{"polluted":true}}}',
  '{"constructor":{"prototype":{"polluted":true}},"manifest":{"constructor":{"prototype":{"polluted":true}}}}',
  '{"manifest":{"\\u005f_proto__":{"polluted":true}}}',
  `{"manifest":${"[".repeat(50_000)}`,
  `{"manifest":${'{"a":'.repeat(5000)}1${"}".repeat(5000)}}`,
  `{"manifest":{"name":"${"x".repeat(1024 * 1024)}"}}`,
  '{"manifest":{"name":1e999,"type":"cluster"}}',
  "manifest=1",
  Uint8Array.of(0xff, 0xfe, 0x7b, 0x00, 0x7d, 0x00),
  Uint8Array.of(0x7b, 0x22, 0xc3, 0x28, 0x22, 0x3a, 0x31, 0x7d),
];

function bodyOf(
  { components }: OpenApiDocument,
  { requestBody }: Route["operation"],
): fc.Arbitrary<string | Uint8Array | null> {
  const odd = fc.constantFrom(...broken);
  if (requestBody === undefined) {
    return fc.oneof({ weight: 12, arbitrary: fc.constant(null) }, { weight: 1, arbitrary: fc.constant("{}") });
  }
  const { schema, example } = requestBody.content["application/json"];
  const right = fc.oneof(fc.constant(example as Json), valuesOf(components.schemas, schema));
  return fc.oneof(
    { weight: 6, arbitrary: right.map((value) => JSON.stringify(value)) },
    { weight: 10, arbitrary: right.chain(faultyValues).map((value) => JSON.stringify(value)) },
    {
      weight: 4,
      arbitrary: right
        .chain(faultyValues)
        .chain(faultyValues)
        .map((value) => JSON.stringify(value)),
    },
    { weight: 1, arbitrary: odd },
  );
}
