import { existsSync, globSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { expect, test } from "vitest";

const pages = globSync(["*.md", "docs/**/*.md", "examples/*.md"]);

// What stands in code is no link, such as the path `ports[](tcp)`.
function textOf(page: string): string {
  return readFileSync(page, "utf8").replaceAll(/```[\s\S]*?```/g, "");
}

/** The anchors that a git host gives the headings of a page. */
function anchorsOf(page: string): ReadonlySet<string> {
  const headings = Array.from(textOf(page).matchAll(/^#+ (.+)$/gm), ([, heading = ""]) => heading);
  return new Set(
    headings.map((text) =>
      text
        .toLowerCase()
        .replaceAll(/[^\w\- ]/g, "")
        .replaceAll(" ", "-"),
    ),
  );
}

function isBroken(page: string, link: string): boolean {
  const [file = "", anchor] = link.split("#");
  const target = file === "" ? page : join(dirname(page), file);
  return !existsSync(target) || (anchor !== undefined && !anchorsOf(target).has(anchor));
}

test.each(pages)("every link in %s leads to a file and a heading that exist", (page) => {
  const prose = textOf(page).replaceAll(/`[^`\n]*`/g, "code");
  const links = Array.from(prose.matchAll(/\]\(([^)\s]+)\)/g), ([, link = ""]) => link);
  const local = links.filter((link) => !/^https?:/.test(link));
  expect(local.filter((link) => isBroken(page, link))).toEqual([]);
});

test("one file of each folder of the sources begins with what the folder is for, and with its chapter", () => {
  const files = globSync("src/*/**/*.ts", { exclude: ["**/generated/**"] });
  const folders = Map.groupBy(files, (file) => dirname(file));
  const wrong = [...folders].flatMap(([folder, all]) => {
    const heads = all.flatMap((file) => readFileSync(file, "utf8").split("\n", 1));
    const [head = "", ...others] = heads.filter((line) => line.startsWith(`// ${folder}: `));
    const [, chapter] = /\. See (\S+)\.$/.exec(head) ?? [];
    return others.length === 0 && chapter !== undefined && !isBroken("README.md", chapter) ? [] : [folder];
  });
  expect(folders.size).toBeGreaterThan(50);
  expect(wrong).toEqual([]);
});
