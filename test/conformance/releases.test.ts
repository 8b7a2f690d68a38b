import { execFileSync } from "node:child_process";
import { existsSync, globSync, readFileSync } from "node:fs";
import { basename } from "node:path";
import { expect, test } from "vitest";
import { parse } from "yaml";
import { exitCodes } from "../../src/core/errors.ts";

const read = (file: string): string => readFileSync(file, "utf8");
const { name, version }: { readonly name: string; readonly version: string } = JSON.parse(read("package.json"));
const page = read("docs/releases.md");

test("the changelog has a section for each release, newest first, that begins with what an operator must do", () => {
  const [, ...sections] = read("CHANGELOG.md").split(/^## /m);
  const titles = sections.map((section) => section.split("\n")[0] ?? "");
  for (const title of titles) expect(title).toMatch(/^\d+\.\d+\.\d+ \((?:unreleased|\d{4}-\d\d-\d\d)\)$/);
  expect(titles[0]).toMatch(new RegExp(`^${version} `));
  for (const section of sections) expect(/^### (.*)$/m.exec(section)?.[1]).toBe("What an operator must do");
  expect(titles.slice(1).filter((title) => title.includes("unreleased"))).toEqual([]);
});

test("whatever names the version names the same one", () => {
  expect(JSON.parse(read("package-lock.json"))).toMatchObject({ version, packages: { "": { version } } });
  expect(parse(read("deploy/helm/holdfast/Chart.yaml"))).toMatchObject({ version, appVersion: version });
  const pages = ["docs/deploy.md", "docs/install.md", "docs/kubernetes.md", "docs/pull-requests.md"].map(read).join();
  const naming = /\?ref=v(\S+)|newTag: (\d\S*\.\d+) |holdfast[:-](\d+\.\d+\.\d+)|^version=(\S+)$/gm;
  const named = Array.from(pages.matchAll(naming), (found) => found.slice(1).find((one) => one !== undefined));
  expect(named.length).toBeGreaterThan(10);
  expect(new Set(named)).toEqual(new Set([version]));
});

// It may change before it is registered.
test("the package's name has a scope, and is in package.json alone", () => {
  expect(name).toMatch(/^@[a-z-]+\/[a-z-]+$/);
  const files = execFileSync("git", ["ls-files"], { encoding: "utf8" }).trimEnd().split("\n");
  const naming = files.filter((file) => existsSync(file) && !file.endsWith("-lock.json") && read(file).includes(name));
  expect(naming).toEqual(["package.json"]);
});

test("the promise of compatibility names every format and every exit code", () => {
  const [, formats = ""] = /^\| JSON documents .*?: (.*?) \|/m.exec(page) ?? [];
  const documents = globSync("schemas/output/*.json").map((file) => basename(file, ".json"));
  const named = Array.from(formats.matchAll(/`([\w-]+)`/g), ([, name]) => name);
  // The parts of several documents, and of the replies of a daemon.
  const parts = ["common", "dashboard", "reviews"];
  expect(named.toSorted()).toEqual(documents.filter((name) => !parts.includes(name)).toSorted());
  const [, codes = ""] = /^\| exit codes (.*?) \|/m.exec(page) ?? [];
  const all = [0, 2, ...Object.values(exitCodes)].toSorted((one, other) => one - other);
  expect(codes.split(", ").map(Number)).toEqual(all);
});
