import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { equal, type Json, type JsonObject } from "../../../src/contract/json.ts";
import type { Shape } from "../../../src/contract/manifest-shape.ts";
import { expectedLive } from "../../../src/core/diff/expected-live.ts";
import { differences } from "../../../src/model/differences.ts";
import { children, normalise, valueAt } from "../../../src/model/normal-form.ts";
import { prompt, reversed, service, shapeOf } from "./given.ts";

const serviceShape = shapeOf("service");
const same = (a: JsonObject, b: JsonObject, type = "service") =>
  equal(normalise(shapeOf(type), a), normalise(shapeOf(type), b));

const json = fc.jsonValue({ maxDepth: 4 }) as fc.Arbitrary<Json>;

describe("what is never a difference", () => {
  const team = { type: "team", name: "ml", members: ["a@x.io", "b@x.io"] };
  test.each<[string, JsonObject, JsonObject]>([
    ["the order of keys", service({ replicas: 2 }), reversed(service({ replicas: 2 })) as JsonObject],
    ["null instead of absent", service({ env: null, ports: null }), service()],
    ["an empty list or object instead of absent", service({ ports: [], labels: {}, resources: {} }), service()],
    ["a list with nothing but nulls", service({ ports: [null, { host: null }] }), service()],
    ["an object with nothing but nulls", service({ resources: { cpu_limit: null } }), service()],
    [
      "a number or boolean where values are text",
      service({ env: { A: 1, B: true } }),
      service({ env: { A: "1", B: "true" } }),
    ],
    [
      "the order of ports",
      service({
        ports: [
          { port: 1, protocol: "TCP" },
          { port: 2, protocol: "TCP" },
        ],
      }),
      service({
        ports: [
          { port: 2, protocol: "TCP" },
          { port: 1, protocol: "TCP" },
        ],
      }),
    ],
    ["the order of members", team, { ...team, members: ["b@x.io", "a@x.io"] }],
    ["a member named twice", team, { ...team, members: ["a@x.io", "b@x.io", "a@x.io"] }],
    [
      "the order of collaborators",
      {
        ...team,
        collaborators: [
          { subject: "team:a", role_id: "r" },
          { subject: "team:a", role_id: "q" },
        ],
      },
      {
        ...team,
        collaborators: [
          { subject: "team:a", role_id: "q" },
          { role_id: "r", subject: "team:a" },
        ],
      },
    ],
  ])("%s", (_, a, b) => {
    const type = a.collaborators === undefined ? String(a.type) : "cluster";
    expect(same(a, b, type)).toBe(true);
  });
});

describe("what is a difference", () => {
  test.each<[string, JsonObject, JsonObject]>([
    [
      "the order of messages",
      prompt({
        messages: [
          { role: "user", content: "a" },
          { role: "user", content: "b" },
        ],
      }),
      prompt({
        messages: [
          { role: "user", content: "b" },
          { role: "user", content: "a" },
        ],
      }),
    ],
    [
      "lists inside lists that hold the same together",
      service({ resources: { devices: [[1, 2], [3]] } }),
      service({ resources: { devices: [1, 2, 3] } }),
    ],
    ["a number instead of a text", service({ service_account: "1" }), service({ service_account: 1 })],
    ["zero instead of absent", service({ replicas: 0 }), service()],
    ["false instead of absent", service({ allow_interception: false }), service()],
    ["an empty text instead of absent", service({ service_account: "" }), service()],
    // A strategic merge patch deletes what it sets to null.
    [
      "null inside what belongs to the user",
      service({ kustomize: { patch: { a: null } } }),
      service({ kustomize: { patch: { b: null } } }),
    ],
    [
      "an empty object inside what belongs to the user",
      service({ kustomize: { patch: { a: {} } } }),
      service({ kustomize: { patch: { a: [] } } }),
    ],
    [
      "keys named like members of every object",
      service({ labels: { constructor: "x" } }),
      service({ labels: { toString: "x" } }),
    ],
  ])("%s", (_, a, b) => {
    expect(same(a, b, String(a.type))).toBe(false);
  });
});

describe("normal form", () => {
  test("is its own normal form, whatever the value", () => {
    fc.assert(
      fc.property(json, (value) => {
        for (const shape of [serviceShape, shapeOf("chat_prompt"), { is: "free" } satisfies Shape]) {
          const once = normalise(shape, value);
          expect(normalise(shape, once)).toEqual(once);
        }
      }),
    );
  });

  test("does not depend on the order of keys", () => {
    fc.assert(
      fc.property(json, (value) => {
        const wrapped = { kustomize: { patch: { value } }, env: { A: JSON.stringify(value) } };
        expect(equal(normalise(serviceShape, wrapped), normalise(serviceShape, reversed(wrapped)))).toBe(true);
      }),
    );
  });

  test("keeps items of a keyed list with one key in one order, whichever came first", () => {
    const twins = [
      { port: 80, host: "a" },
      { port: 80, host: "b" },
    ];
    expect(same(service({ ports: twins }), service({ ports: twins.toReversed() }))).toBe(true);
  });

  test("keeps fields named __proto__ as fields", () => {
    const value = JSON.parse('{"labels": {"__proto__": "x"}}') as JsonObject;
    const normal = normalise(serviceShape, value) as { labels: object };
    expect(Object.keys(normal.labels)).toEqual(["__proto__"]);
    expect(({} as { x?: string }).x).toBeUndefined();
  });
});

describe("what a manifest becomes on the control plane", () => {
  const normal = (value: JsonObject) => normalise(serviceShape, value);

  test("is what the schema's defaults make of it where nothing is recorded", () => {
    const settled = expectedLive(serviceShape, normal(service({ ports: [{ port: 80 }] })), null) as JsonObject;
    expect(settled).toMatchObject({ replicas: 1, allow_interception: false, ports: [{ port: 80, protocol: "TCP" }] });
  });

  test("is the server's returned where it is what was written last", () => {
    const written = normal(service());
    const returned = { ...service(), image: { type: "image", image_uri: "rewritten" } };
    expect(expectedLive(serviceShape, written, { written, returned })).toEqual(returned);
  });

  test("keeps what the server added or rewrote in the fields that did not change", () => {
    const settled = expectedLive(serviceShape, normal(service({ replicas: 3 })), {
      written: normal(service({ replicas: 2 })),
      returned: normal(service({ replicas: 2, service_account: "added", allow_interception: false })),
    });
    expect(settled).toEqual(normal(service({ replicas: 3, service_account: "added", allow_interception: false })));
  });

  test("falls back to the default of a field that is no longer declared", () => {
    const settled = expectedLive(serviceShape, normal(service()), {
      written: normal(service({ replicas: 3, service_account: "x" })),
      returned: normal(service({ replicas: 3, service_account: "x" })),
    });
    expect(settled).toEqual(normal(service({ replicas: 1 })));
  });

  test("takes nothing from the prototype of objects", () => {
    const settled = expectedLive(serviceShape, normal(service({ labels: { a: "1" } })), {
      written: normal(service({ labels: { a: "1", toString: "x" } })),
      returned: normal(service({ labels: { a: "1", toString: "x" } })),
    });
    expect(settled).toEqual(normal(service({ labels: { a: "1" } })));
  });
});

describe("the way into a value", () => {
  test("names items of keyed lists by their key, of others by their place", () => {
    const value = normalise(serviceShape, service({ ports: [{ port: 80, protocol: "TCP", host: "h" }] }));
    expect(valueAt(serviceShape, value, ["ports", "80:TCP", "host"])).toBe("h");
    expect(valueAt(serviceShape, value, ["ports", "0", "host"])).toBeUndefined();
    const chat = normalise(shapeOf("chat_prompt"), prompt());
    expect(valueAt(shapeOf("chat_prompt"), chat, ["messages", "0", "role"])).toBe("system");
  });

  test("finds every difference again on both sides", () => {
    fc.assert(
      fc.property(json, json, (a, b) => {
        const [left, right] = [
          normalise(serviceShape, { env: a, kustomize: { patch: a } }),
          normalise(serviceShape, { env: b, kustomize: { patch: b } }),
        ];
        for (const { tokens, before, after } of differences(serviceShape, left, right)) {
          expect(valueAt(serviceShape, left, tokens)).toEqual(before);
          expect(valueAt(serviceShape, right, tokens)).toEqual(after);
        }
      }),
    );
  });

  test("tells twins of a keyed list apart", () => {
    const shape: Shape = { is: "list", key: ["name"], items: { is: "free" } };
    expect([...(children(shape, [{ name: "a" }, { name: "a", b: 1 }])?.keys() ?? [])]).toEqual(["a", "a#1"]);
  });
});
