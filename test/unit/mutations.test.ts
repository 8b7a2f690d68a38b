import { readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { describe, expect, test } from "vitest";
import { filesOf } from "../mutations/apply-mutation.ts";
import { mutations } from "../mutations/mutations.ts";

const root = resolve(import.meta.dirname, "../..");

// Whether the tests notice is what `npm run mutations` finds out.
describe.each(mutations)("a build without $name", (mutation) => {
  test("can be made: the safeguard is in the code once", () => {
    expect(filesOf(mutation, root)).toHaveLength(1);
  });

  test("is noticed by a test that exists", () => {
    const { file, title } = mutation.killedBy;
    const source = readFileSync(join(root, file), "utf8");
    expect(['"', "`"].some((quote) => source.includes(quote + title))).toBe(true);
  });
});
