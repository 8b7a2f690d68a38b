import fc from "fast-check";
import jsonPatch from "fast-json-patch";
import { describe, expect, test } from "vitest";
import { equal, type Json, type JsonObject } from "../../../../src/contract/json.ts";
import type { Shape } from "../../../../src/contract/manifest-shape.ts";
import { jsonPatchTo } from "../../../../src/core/diff/json-patch.ts";
import { MASK } from "../../../../src/model/credential.ts";
import { differences } from "../../../../src/model/differences.ts";
import { normalise } from "../../../../src/model/normal-form.ts";
import { against, present, prompt, service, shapeOf } from "../given.ts";

const serviceShape = shapeOf("service");
const shape: Shape = {
  is: "object",
  fields: {
    free: { is: "free" },
    set: { is: "list", key: [], items: { is: "value" } },
    items: {
      is: "list",
      key: ["name"],
      items: { is: "object", fields: { name: { is: "value" }, n: { is: "value" } } },
    },
    places: { is: "list", items: { is: "value" } },
  },
};

// Names that no masking rule takes for a secret's, so that patches carry the values themselves.
const word = fc.constantFrom("", "a", "b", "~", "a/b", "~1", "constructor", "0", "\u0000", MASK, `${MASK}x`);
const leaf = fc.oneof(fc.integer(), fc.boolean(), word);
const { free } = fc.letrec<{ free: Json }>((tie) => ({
  free: fc.oneof(
    { maxDepth: 3 },
    leaf,
    fc.array(tie("free"), { maxLength: 3 }),
    fc.dictionary(word, tie("free"), { maxKeys: 3 }),
  ),
}));
const document = fc.record(
  {
    free,
    set: fc.array(leaf, { maxLength: 4 }),
    items: fc.uniqueArray(fc.record({ name: word, n: leaf }), { maxLength: 4, selector: ({ name }) => name }),
    places: fc.array(leaf, { maxLength: 4 }),
  },
  { requiredKeys: [] },
);

function applied(before: Json | undefined, patch: readonly Json[]): Json {
  const operations = JSON.parse(JSON.stringify(patch)) as jsonPatch.Operation[];
  return jsonPatch.applyPatch(structuredClone(before ?? {}), operations, true, true, false).newDocument as Json;
}

describe("a patch", () => {
  test("makes of live, as it was answered, what is desired", () => {
    fc.assert(
      fc.property(document, document, (a, b) => {
        const [live, wanted] = [a as JsonObject, normalise(shape, b as Json)];
        const made = applied(live, jsonPatchTo(shape, live, wanted));
        expect(equal(normalise(shape, made), wanted)).toBe(true);
      }),
      { numRuns: 1000 },
    );
  });

  test("leaves the order of a list and what means nothing as live has them", () => {
    const live = service({
      ports: [{ port: 90, host: "b" }, { port: 80 }],
      env: { A: 1 },
      mounts: [],
      labels: null,
    });
    const wanted = normalise(serviceShape, {
      ...live,
      ports: [{ port: 80 }, { port: 90, host: "c" }],
      env: { A: "1", B: "2" },
    });
    expect(jsonPatchTo(serviceShape, live, wanted)).toEqual([
      { op: "replace", path: "/ports/0/host", value: "c" },
      { op: "add", path: "/env/B", value: "2" },
    ]);
  });

  test("is empty exactly where there are no differences", () => {
    fc.assert(
      fc.property(document, document, (a, b) => {
        const [before, after] = [normalise(shape, a as Json), normalise(shape, b as Json)];
        const isSame = differences(shape, before, after).length === 0;
        expect(isSame).toBe(equal(before, after));
        if (isSame) expect(jsonPatchTo(shape, before, after)).toEqual([]);
      }),
      { numRuns: 300 },
    );
  });

  test("of a real manifest rebuilds it", () => {
    const [before, after] = [
      service({ replicas: 1, ports: [{ port: 80 }, { port: 90, host: "x" }], labels: { a: "1" } }),
      service({
        replicas: { min_replicas: 1, max_replicas: 3 },
        ports: [{ port: 90, host: "y" }],
        labels: { "b/c~d": "2" },
      }),
    ].map((manifest) => normalise(serviceShape, manifest));
    expect(applied(before, jsonPatchTo(serviceShape, before, after))).toEqual(after);
  });

  test("leaves out what a rule ignores", () => {
    const ignore = [{ path: "/replicas", reason: "an autoscaler keeps it" }];
    const step = against(
      service({ replicas: 2, service_account: "new" }),
      present(service({ replicas: 9, service_account: "old" })),
      { ignore },
    );
    expect(step.patch).toEqual([{ op: "replace", path: "/service_account", value: "new" }]);
    expect(step.changes.map(({ path }) => path)).toEqual(["/service_account"]);
  });
});

describe("a secret", () => {
  const CANARY = "CANARY-5c1f";
  const OTHER = "OTHER-9a2b";
  const both = (make: (value: string) => JsonObject): [JsonObject, JsonObject] => [make(CANARY), make(OTHER)];

  test.each<[string, [JsonObject, JsonObject]]>([
    ["under a secret-looking key of env", both((value) => service({ env: { DB_PASSWORD: value } }))],
    [
      "in build arguments",
      both((build_args_token) =>
        service({
          image: {
            type: "build",
            build_source: { type: "remote", remote_uri: "u" },
            build_spec: { type: "dockerfile", build_args: { NPM_TOKEN: build_args_token } },
          },
        }),
      ),
    ],
    [
      "in the auth of a port",
      both((value) => service({ ports: [{ port: 80, auth: { user: "u", anything: value } }] })),
    ],
    ["as the data of a mount", both((data) => service({ mounts: [{ type: "string", mount_path: "/x", data }] }))],
    [
      "in a list inside a patch",
      both((value) =>
        service({ kustomize: { patch: { containers: [{ name: "x", env: [{ name: "API_KEY", value }] }] } } }),
      ),
    ],
    [
      "as a named value inside a patch",
      both((value) => service({ kustomize: { patch: { env: { name: "DB_PASSWORD", value } } } })),
    ],
    [
      "in an addition",
      both((value) => service({ kustomize: { additions: [{ kind: "Secret", stringData: { password: value } }] } })),
    ],
    [
      "in override parameters",
      both((value) =>
        prompt({
          routing_config: {
            type: "weight-based-routing",
            load_balance_targets: [{ target: "t", override_params: { x: [value] } }],
          },
        }),
      ),
    ],
    [
      "in extra parameters",
      both((value) =>
        prompt({ model_configuration: { provider: "p", model: "m", extra_parameters: { deep: { er: value } } } }),
      ),
    ],
    ["under a secret-looking key of metadata", both((value) => prompt({ metadata: { "api-key": value } }))],
    ["as a label", both((value) => service({ labels: { token: value } }))],
    ["in a URL", both((value) => service({ env: { DATABASE: `postgres://user:${value}@host/db` } }))],
    [
      "in a credential's form",
      [
        service({ env: { X: `ghp_${CANARY.replace("-", "").repeat(5)}` } }),
        service({ env: { X: `ghp_${OTHER.replace("-", "").repeat(5)}` } }),
      ],
    ],
  ])("S12: %s is nowhere in the plan's JSON", (_, [desired, live]) => {
    const without = desired.type === "service" ? service() : prompt();
    for (const [mine, theirs] of [
      [desired, live],
      [desired, without],
      [without, desired],
    ] as const) {
      const { decision: _decision, ...step } = against(mine, present(theirs));
      expect(step.changes.length).toBeGreaterThan(0);
      expect(JSON.stringify(step)).not.toMatch(/CANARY|OTHER/);
      expect(JSON.stringify(step.changes)).toContain(MASK);
    }
  });

  test("S14: is a difference even where the manifest says the mask itself", () => {
    const step = against(service({ env: { DB_PASSWORD: MASK } }), present(service({ env: { DB_PASSWORD: CANARY } })));
    expect(step).toMatchObject({
      action: "update",
      changes: [{ path: "/env/DB_PASSWORD", before: MASK, after: MASK }],
    });
    expect(step.patch).toEqual([{ op: "replace", path: "/env/DB_PASSWORD", value: MASK }]);
  });

  test("S14: is a difference whatever form the mask takes while patches are made", () => {
    const spoof = `${MASK}\u0000${JSON.stringify(CANARY)}`;
    const step = against(
      service({ env: { DB_PASSWORD: CANARY, PLAIN: spoof } }),
      present(service({ env: { DB_PASSWORD: spoof } })),
    );
    expect(step.changes.map(({ path }) => path)).toEqual(["/env/DB_PASSWORD", "/env/PLAIN"]);
    expect(step.patch).toHaveLength(2);
  });

  test("in a key is in no part of a step, and two such keys differ", () => {
    const named = (n: number) => ({ [`postgres://app:CANARY${n}@db/app`]: "x" });
    const given = (n: number) => service({ env: named(n), kustomize: { patch: { list: [named(n)] } } });
    for (const step of [
      against(given(1), present(given(2))),
      against(given(1), present(service())),
      against(given(1), { state: "absent" }),
    ]) {
      const { decision: _decision, ...shown } = step;
      expect(JSON.stringify(shown)).not.toContain("CANARY");
      expect(step.changes.length).toBeGreaterThan(0);
    }
    const { changes, patch } = against(given(1), present(given(2)));
    expect(changes.map(({ label, path, before, after }) => [label, path, before, after])).toEqual([
      ['env["(sensitive)"]', "/env/(sensitive)", null, "x"],
      ['env["(sensitive)"]', "/env/(sensitive)", "x", null],
      ["kustomize.patch.list", "/kustomize/patch/list", [{ "(sensitive)": "x" }], [{ "(sensitive, changed)": "x" }]],
    ]);
    expect(patch).toContainEqual({ op: "remove", path: "/env/(sensitive)" });
  });

  test("is not what a reference to a secret is", () => {
    const reference = "secret://tenant:group:key";
    const step = against(
      service({ env: { DB_PASSWORD: reference } }),
      present(service({ env: { DB_PASSWORD: CANARY } })),
    );
    expect(step.changes).toMatchObject([{ before: MASK, after: reference }]);
  });
});
