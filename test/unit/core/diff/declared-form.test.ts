import { describe, expect, test } from "vitest";
import type { JsonObject } from "../../../../src/contract/json.ts";
import { declaredForms, declares, takeLive } from "../../../../src/core/diff/declared-form.ts";
import { kindOf } from "../../../../src/kinds/index.ts";
import { prompt, service } from "../given.ts";

const kind = (type: string) => kindOf(type) ?? expect.unreachable(type);

const first = (...given: Parameters<typeof declaredForms>) => [...declaredForms(...given)][0];

describe("a manifest made of what is live", () => {
  test("lacks what a default gives, what means nothing, and the version", () => {
    const live = service({
      replicas: 1,
      labels: {},
      service_account: null,
      env: { PORT: 8080, A: "x" },
      ports: [{ port: 80, protocol: "TCP", expose: false }],
    });
    expect(first(kind("service"), live)).toEqual(
      service({ env: { PORT: "8080", A: "x" }, ports: [{ port: 80, expose: false }] }),
    );
    const numbered = first(kind("chat_prompt"), prompt({ version: 3 }));
    expect(numbered).not.toHaveProperty("version");
  });

  test("has more forms, the shortest first", () => {
    const live = service({ replicas: 1, labels: {} });
    expect([...declaredForms(kind("service"), live)]).toEqual([service(), service({ replicas: 1 }), live]);
    const numbered = [...declaredForms(kind("chat_prompt"), prompt({ version: 3, tags: [] }))];
    expect(numbered).toEqual([prompt(), prompt(), prompt({ tags: [] })]);
    expect([...declaredForms(kind("service"), { labels: {} })]).toEqual([]);
  });

  test("keeps an object of defaults, which would mean nothing when it is empty", () => {
    const live = service({ liveness_probe: { period_seconds: 10 } });
    expect(first(kind("service"), live)).toEqual(live);
  });

  test("keeps fields that no schema knows", () => {
    const live = service({ from_elsewhere: { a: null, b: [] } });
    expect(first(kind("service"), live)).toEqual(live);
  });

  test("declares what is live, and nothing else does", () => {
    const live = service({ replicas: 2 });
    expect(declares(kind("service"), service({ replicas: 2, ports: [] }), live)).toBe(true);
    expect(declares(kind("service"), service(), live)).toBe(false);
    expect(declares(kind("service"), service({ replicas: 2, service_account: "x" }), live)).toBe(false);
    // What live lacks is a default that this control plane does not fill in.
    expect(declares(kind("service"), service(), service({ replicas: 1 }))).toBe(true);
    expect(declares(kind("service"), service(), service())).toBe(true);
  });
});

describe("a manifest that takes fields of live", () => {
  const probe = { config: { type: "http", port: 80 }, period_seconds: 10, timeout_seconds: 5 };
  const mounts = [{ type: "string", mount_path: "/a", data: "x" }];

  test.each<[string, JsonObject, JsonObject, readonly (readonly string[])[], JsonObject]>([
    ["none", { replicas: 2 }, { replicas: 5 }, [], { replicas: 2 }],
    [
      "one and no other",
      { replicas: 2, env: { A: 1 }, labels: {}, ports: [{ port: 90 }, { port: 80 }] },
      { replicas: 5, env: { A: "2" }, ports: [{ port: 80 }] },
      [["replicas"]],
      { replicas: 5, env: { A: 1 }, labels: {}, ports: [{ port: 90 }, { port: 80 }] },
    ],
    ["one that live does not have", { replicas: 2, env: { A: "1" } }, {}, [["replicas"]], { env: { A: "1" } }],
    ["a default that the manifest had otherwise", { replicas: 2 }, { replicas: 1 }, [["replicas"]], { replicas: 1 }],
    [
      "one within an object",
      { env: { A: "1", B: "1" } },
      { env: { A: "2", B: "2" } },
      [["env", "A"]],
      { env: { A: "2", B: "1" } },
    ],
    [
      "a whole new object without its defaults",
      {},
      { liveness_probe: probe },
      [["liveness_probe", "timeout_seconds"]],
      { liveness_probe: { config: { type: "http", port: 80 }, timeout_seconds: 5 } },
    ],
    [
      "one within an item of a list",
      { ports: [{ port: 90 }, { port: 80, host: "a" }] },
      { ports: [{ port: 80, host: "b", protocol: "TCP" }] },
      [["ports", "80:TCP", "host"]],
      { ports: [{ port: 90 }, { port: 80, host: "b" }] },
    ],
    [
      "a whole new item without its defaults",
      { ports: [{ port: 80 }] },
      { ports: [{ port: 80 }, { port: 90, protocol: "TCP", host: "a" }] },
      [["ports", "90:TCP", "host"]],
      { ports: [{ port: 80 }, { port: 90, host: "a" }] },
    ],
    [
      "that an item is gone",
      { ports: [{ port: 90 }, { port: 80 }] },
      { ports: [{ port: 80 }] },
      [["ports", "90:TCP", "port"]],
      { ports: [{ port: 80 }] },
    ],
    ["that a list is gone", { mounts, replicas: 2 }, { replicas: 2 }, [["mounts", "/a", "data"]], { replicas: 2 }],
  ])("takes %s", (_, written, live, fields, taken) => {
    expect(takeLive(kind("service"), service(written), service(live), fields)).toEqual(service(taken));
  });

  test("takes a list whose items have no names as a whole, and keeps its version", () => {
    const messages = [
      { role: "system", content: "Be kind." },
      { role: "user", content: "Hi." },
    ];
    const changed = [
      { role: "system", content: "Be rude." },
      { role: "user", content: "Bye." },
    ];
    const taken = (version: JsonObject) =>
      takeLive(kind("chat_prompt"), prompt({ messages, ...version }), prompt({ messages: changed, version: 4 }), [
        ["messages", "0", "content"],
      ]);
    expect(taken({ version: 3 })).toEqual(prompt({ messages: changed, version: 3 }));
    expect(taken({})).toEqual(prompt({ messages: changed }));
  });

  test("has a field of any name where its kind has no versions", () => {
    const taken = takeLive(kind("service"), service({ version: 2 }), service({ version: 3 }), [["version"]]);
    expect(taken).toEqual(service({ version: 3 }));
  });
});
