import { describe, expect, it } from "vitest";
import type { Json } from "../../../src/contract/json.ts";
import { exceededLimit, MAX_DEPTH, MAX_VALUES, validateManifest } from "../../../src/schema/validate.ts";
import { processorMs } from "../../support/processor-time.ts";
import { manifest } from "./valid.ts";

function nested(depth: number): Json {
  let value: Json = "core";
  for (let level = 0; level < depth; level += 1) value = { a: value };
  return value;
}

describe("the size of a manifest", () => {
  it("is bounded in values and in depth, exactly", () => {
    expect(exceededLimit(Array.from({ length: MAX_VALUES }, () => 1))).toBeNull();
    expect(exceededLimit(Array.from({ length: MAX_VALUES + 1 }, () => 1))).toContain("more than 20,000 values");
    expect(exceededLimit(nested(MAX_DEPTH))).toBeNull();
    expect(exceededLimit(nested(MAX_DEPTH + 1))).toContain("nested more than 100 deep");
  });

  it("is refused in one fault when it is too large, in no time", () => {
    const metadata = { deep: nested(50_000) };
    expect(validateManifest("model-version", manifest("model-version", { metadata }))).toMatchObject([
      { code: "too-large" },
    ]);
    const circle: { [name: string]: unknown } = { type: "workspace" };
    circle.self = circle;
    expect(validateManifest("workspace", circle)).toMatchObject([{ code: "too-large" }]);
  });

  it("F26 keeps three megabytes of bad input from exploding", () => {
    const wide = Object.fromEntries(Array.from({ length: 200_000 }, (_, at) => [`field_${at}`, at]));
    const ports = Array.from({ length: 200_000 }, () => ({ prt: 1 }));
    const started = processorMs();
    expect(validateManifest("service", manifest("service", wide))).toMatchObject([{ code: "too-large" }]);
    expect(validateManifest("service", manifest("service", { ports }))).toMatchObject([{ code: "too-large" }]);
    expect(processorMs() - started).toBeLessThan(2000);
  });

  it("lists a hundred faults of a wide manifest and no more", () => {
    const wide = Object.fromEntries(Array.from({ length: 15_000 }, (_, at) => [`field_${at}`, at]));
    const started = processorMs();
    const found = validateManifest("service", manifest("service", wide));
    expect(found).toHaveLength(100);
    expect(processorMs() - started).toBeLessThan(2000);
  });

  it("B21 does not let a hostile text slow a pattern down", () => {
    const hostile = `${"a".repeat(2_000_000)}!`;
    const started = processorMs();
    const fields = {
      name: hostile,
      workspace_fqn: hostile,
      ports: [{ port: 80, host: hostile }],
      mounts: [{ type: "secret", mount_path: "/x", secret_fqn: hostile }],
    };
    expect(validateManifest("service", manifest("service", fields))).toHaveLength(4);
    expect(validateManifest("team", manifest("team", { members: [hostile, `${hostile}@`] }))).toHaveLength(2);
    expect(processorMs() - started).toBeLessThan(2000);
  });
});
