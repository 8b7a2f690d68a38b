import { globSync, readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { cases } from "../soak/cases.ts";
import { defects } from "../soak/defects.ts";

/** The numbers at the beginning of each title in a text: `S25 B29 a client…`, `B1, B26: bytes…`. */
function namedIn(source: string): readonly string[] {
  const titles = source.matchAll(/["'`]((?:[BFS]\d+(?:, | ))*[BFS]\d+):? /g);
  return [...titles].flatMap(([, names = ""]) => names.split(/,? /));
}

test("titles of tests name every case of the page on reliability, and no other", () => {
  // The texts of the hostile files are titles too, and the sweeps have theirs beside them.
  const files = globSync("test/**/*.test.ts", { exclude: ["**/node_modules/**"] }).concat(
    "test/support/hostile-texts.ts",
    "test/soak/sweep-tests.ts",
  );
  const named = new Set(files.flatMap((file) => namedIn(readFileSync(file, "utf8"))));
  expect([...named].toSorted()).toEqual([...Object.keys(cases), ...Object.keys(defects)].toSorted());
});
