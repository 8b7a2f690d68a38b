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

test("entries below the level are not logged", () => {
  expect(logged("json", (log) => log.debug("quiet"))).toBe("");
});

test("S51 no value in a line controls a terminal, forges another line or is very long, in both formats", () => {
  const hostile = "a\nERROR forged\r\u001b[2J\u009b2J\u0085\u2028\u202e\u200b\u{e0001}";
  const say = (log: ReturnType<typeof createLog>) =>
    log.error({ name: hostile, long: "x".repeat(100_000), err: new Error(hostile + "y".repeat(100_000)) }, hostile);
  for (const format of ["json", "pretty"] as const) {
    const text = logged(format, say);
    expect(text).toMatch(/^[\p{L}\p{M}\p{N}\p{P}\p{S} ]+\n$/u);
    expect(text.length).toBeLessThan(20_000);
  }
  const { name, msg, err, long } = JSON.parse(logged("json", say));
  expect({ name, msg }).toEqual({ name: hostile, msg: hostile });
  expect(err.message).toMatch(/^a\nERROR forged.*… \(\d+ characters\)$/su);
  expect(long).toMatch(/^x{4000}… \(100000 characters\)$/);
});
