import { globSync, readFileSync } from "node:fs";
import { expect, test } from "vitest";

/** The cases, each to be named by the title of a test: bad input, hostile input, and faults. */
const cases = [
  ...numbered("B", 1, 31),
  // Remote sources, and webhooks that tell of them.
  ...numbered("F", 28, 29),
  ...numbered("F", 50, 56),
  ...numbered("F", 57, 58),
  ...numbered("F", 59, 59),
  ...numbered("S", 1, 3),
  ...numbered("S", 20, 24),
  ...numbered("S", 28, 28),
  ...numbered("S", 4, 6),
  ...numbered("S", 10, 15),
  // Hostile checkouts and callers.
  ...numbered("S", 40, 51),
  // Dangerous steps.
  ...numbered("S", 60, 64),
  // What a plan says of what a token may see and write, and what apply does of it.
  ...numbered("S", 65, 66),
  ...numbered("S", 71, 71),
  // Commands that mend: records, rollouts, open writes, leases.
  ...numbered("S", 67, 70),
  // Crashes, and a leader that sleeps.
  ...numbered("F", 32, 34),
  ...numbered("F", 72, 84),
  // What a comment on a pull request, a forged plan and a snapshot may hold.
  ...numbered("S", 75, 79),
  // What an attacker found of a control plane in production.
  ...numbered("S", 80, 86),
  // A daemon in production: its disk, its ledger after a newer release, and what strangers see of it.
  ...numbered("F", 35, 35),
  ...numbered("F", 44, 44),
  ...numbered("S", 17, 17),
  ...numbered("S", 19, 19),
  ...numbered("S", 36, 36),
];

function numbered(letter: string, first: number, last: number): readonly string[] {
  return Array.from({ length: last - first + 1 }, (_, index) => `${letter}${first + index}`);
}

/** The numbers at the beginning of each title in a text: `S25 B29 a client…`, `B1, B26: bytes…`. */
function namedIn(source: string): readonly string[] {
  const titles = source.matchAll(/["'`]((?:[BFS]\d+(?:, | ))*[BFS]\d+):? /g);
  return [...titles].flatMap(([, names = ""]) => names.split(/,? /));
}

test("every case of bad and hostile input is named by a test", () => {
  // The texts of the hostile files are titles too, and the sweeps have theirs beside them.
  const files = globSync("test/{unit,conformance,e2e}/**/*.test.ts").concat(
    "test/support/hostile-texts.ts",
    "test/soak/sweep-tests.ts",
  );
  const named = new Set(files.flatMap((file) => namedIn(readFileSync(file, "utf8"))));
  expect(cases.filter((name) => !named.has(name))).toEqual([]);
});

test("a case is looked for at the beginning of a title alone", () => {
  expect(namedIn('test("S25 B29 a client", …); test("B1, B26: bytes", …); it(`B21 does`)')).toEqual([
    "S25",
    "B29",
    "B1",
    "B26",
    "B21",
  ]);
  expect(namedIn('expect(values).toEqual(["B2", "see B3: there"])')).toEqual([]);
});
