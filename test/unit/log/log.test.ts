import { expect, test } from "vitest";
import { Secret } from "../../../src/contract/secret.ts";
import { createLog, type LogFormat } from "../../../src/log/log.ts";

function logged(format: LogFormat, say: (log: ReturnType<typeof createLog>) => void): string {
  let text = "";
  say(createLog({ format, stream: { write: (line: string) => (text += line) } }));
  return text;
}

test("S11: a secret prints as a mask at any depth, in both formats", () => {
  const token = new Secret("CANARY-1");
  const say = (log: ReturnType<typeof createLog>) => log.info({ a: { b: { c: { token } } }, token }, `got ${token}`);
  for (const format of ["json", "pretty"] as const) {
    const text = logged(format, say);
    expect(text).not.toContain("CANARY-1");
    expect(text).toContain("[secret]");
  }
});

test("machines get one JSON object a line", () => {
  const text = logged("json", (log) => log.warn({ name: "a\nb" }, "first\nsecond"));
  expect(text.trim().split("\n")).toHaveLength(1);
  expect(JSON.parse(text)).toMatchObject({ level: "warn", msg: "first\nsecond", name: "a\nb" });
});

test("S15: people get a line that no value can forge", () => {
  const text = logged("pretty", (log) =>
    log.error({ name: "x\n12:00 INFO all is well", err: new Error("no\u001b[2J") }, "failed"),
  );
  expect(text.trim().split("\n")).toHaveLength(1);
  expect(text).toMatch(/^\d\d:\d\d:\d\d\.\d{3} ERROR failed name="x\\n12:00/);
  expect(text).not.toContain("\u001b");
});

test("what is below the level is not said", () => {
  expect(logged("json", (log) => log.debug("quiet"))).toBe("");
});
