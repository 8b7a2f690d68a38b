import { describe, expect, it } from "vitest";
import { validateConfig } from "../../../src/schema/validate.ts";

const faults = (value: unknown) =>
  validateConfig(value).map(({ code, pointer, message }) => `${code} ${pointer} ${message}`);

describe("the configuration", () => {
  it("may be empty, and say every key", () => {
    expect(faults({})).toEqual([]);
    expect(
      faults({
        paths: ["manifests"],
        ignore: [{ path: "/replicas", match: "service/**", reason: "scaled", owner: "ml", expires: "2027-01-01" }],
        external: ["team/*"],
        unknownFields: "warn",
        guards: { shrinkFrom: 5, shrinkShare: 0.5 },
        allowLiteralSecrets: ["fixtures/**"],
        concurrency: 8,
        timeout: 60,
        requestTimeout: 0.5,
        server: "https://platform.example.com",
        tokenFile: "/run/secrets/token",
        state: ".holdfast",
        sinks: ["file"],
        modelVersionWrite: "post",
      }),
    ).toEqual([]);
  });

  it("B27 refuses unknown keys and wrong units, with the right ones", () => {
    expect(faults({ concurency: 1 })).toEqual([
      "unknown-field /concurency unknown field `concurency`; did you mean `concurrency`?",
    ]);
    expect(faults({ timeout: "5s" })).toEqual(["wrong-type /timeout `timeout` must be a number (seconds); write 5"]);
    expect(faults({ timeout: 0 })[0]).toContain("must be more than 0 (seconds)");
    expect(faults({ unknownFields: "maybe" })[0]).toContain("must be `refuse` or `warn`");
    expect(faults({ server: "platform.example.com" })[0]).toContain("starts with https:// or http://");
  });

  it("refuses a rule without a reason, and one that ends on no day", () => {
    expect(faults({ ignore: [{ path: "/replicas", match: "**" }] })[0]).toContain("missing-field /ignore/0/reason");
    expect(faults({ ignore: [{ path: "/x", match: "**", reason: "r", expires: "2027-02-30" }] })[0]).toContain(
      "impossible-date /ignore/0/expires",
    );
  });

  it.each<[string, unknown, string]>([
    ["paths", "manifests", "`paths` must be a list; write `[…]` around it"],
    ["paths", { a: "b" }, "`paths` must be a list"],
    ["external", true, "`external` must be a list; write `[…]` around it"],
    ["defaults", "ranking", "`defaults` must be an object: workspace_fqn"],
    ["guards", true, "`guards` must be an object: shrinkFrom, shrinkShare"],
    ["sources", "https://git.example.com/a.git", "`sources` must be a list: name, "],
    ["targets", "prod", "`targets` must be a list: name, "],
    ["ignore", "/replicas", "`ignore` must be a list: path, "],
  ])("with a wrong type under %s says what to write there: %j", (key, value, said) => {
    const [fault, ...others] = validateConfig({ [key]: value });
    const fields = fault?.help?.replace(/^.* are /, ": ") ?? "";
    expect(`${fault?.message}${fields}`.slice(0, said.length)).toBe(said);
    expect(others).toEqual([]);
  });

  it("is an object", () => {
    for (const value of [null, [], "x"]) expect(faults(value)).toHaveLength(1);
  });
});
