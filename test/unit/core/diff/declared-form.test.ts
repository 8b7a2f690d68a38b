import { describe, expect, test } from "vitest";
import { declaredForms, declares } from "../../../../src/core/diff/declared-form.ts";
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
