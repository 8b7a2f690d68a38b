import { execFileSync } from "node:child_process";
import { expect, test } from "vitest";

test("npm run house counts files, functions and types of the sources, and the files on the way of a pass", () => {
  const rows = execFileSync(process.execPath, ["scripts/house.ts"], { encoding: "utf8" }).trim().split("\n");
  const figures = Object.fromEntries(
    rows.map((row) => {
      const [, figure, what = ""] = /^ *(\d+) {2}([^:]*)/.exec(row) ?? [];
      return [what, Number(figure)];
    }),
  );
  expect(figures).toMatchObject({
    files: expect.any(Number),
    functions: expect.any(Number),
    "Pick<": expect.any(Number),
  });
  expect(figures["files on the way of a push until its PUT"]).toBeGreaterThan(50);
  expect(Object.values(figures).filter((figure) => !(figure > 0))).toEqual([]);
});
