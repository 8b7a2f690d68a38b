import { linkSync, readdirSync, readFileSync, statSync, symlinkSync, writeFileSync } from "node:fs";
import { mkdir, rm, symlink } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { temporaryFolder } from "../support/folder.ts";
import { commitAll } from "../support/git.ts";
import { everyKind } from "../support/manifests.ts";
import { serve } from "../support/server.ts";
import { sourceOf } from "../support/source.ts";
import { placeSpecial, type SpecialFile, specialFiles } from "../support/special-file.ts";

describe("S45 the file of --out", () => {
  test.each(Object.entries(specialFiles))("S45 is not written where there is a %s", async (sort, name) => {
    const server = await serve();
    const source = await sourceOf(everyKind, server);
    const out = join(source.folder, "plan.out");
    placeSpecial(sort as SpecialFile, out, "precious");
    const before = readdirSync(source.folder).toSorted();
    const ended = await source.runHere(["plan", "--out", "plan.out"]);
    expect(ended).toMatchObject({ code: 3, stdout: "" });
    expect(ended.stderr).toMatch(/^error: .*plan\.out is [^\n]*, not a regular file\n {2}→ name a file to write/m);
    expect(ended.stderr).toContain(`${out} is ${name}`);
    expect(readdirSync(source.folder).toSorted()).toEqual(before);
    if (sort === "symlink") expect(readFileSync(out, "utf8")).toBe("precious");
  });

  test.each(["/dev/stdout", "/dev/null", "/dev/fd/1"])("S45 is not %s", async (out) => {
    const source = await sourceOf(everyKind, await serve());
    const ended = await source.runHere(["plan", "--out", out]);
    expect(ended).toMatchObject({ code: 3, stdout: "" });
    expect(ended.stderr).toMatch(/is (?:a symbolic link|a device|a pipe), not a regular file\n {2}→ .*-o json/);
  });

  test("S45 replaces a plan for its owner alone, whoever could read the one before, and leaves its other names alone", async () => {
    const source = await sourceOf(everyKind, await serve());
    const out = join(source.folder, "plan.json");
    writeFileSync(out, "before", { mode: 0o644 });
    linkSync(out, join(source.folder, "other"));
    expect(await source.runHere(["plan", "--out", "plan.json"])).toMatchObject({ code: 0 });
    expect(statSync(out).mode & 0o777).toBe(0o600);
    expect(JSON.parse(readFileSync(out, "utf8"))).toMatchObject({ format_version: "2.2" });
    expect(readFileSync(join(source.folder, "other"), "utf8")).toBe("before");
    expect(readdirSync(source.folder).filter((name) => name.startsWith("plan.json"))).toEqual(["plan.json"]);
    expect(await source.runHere(["apply", "--plan", "plan.json"])).toMatchObject({ code: 0 });
  });

  test("S45 is reached through no link that the repository brings, and through the operator's own", async () => {
    const server = await serve();
    const elsewhere = await temporaryFolder();
    const source = await sourceOf(everyKind, server);
    await symlink(elsewhere, join(source.folder, "out"));
    await commitAll(source.folder, "a place for plans");
    const ended = await source.runHere(["plan", "--out", "out/plan.json"]);
    expect(ended).toMatchObject({ code: 3, stdout: "" });
    expect(ended.stderr).toMatch(/^error: .*\/out is a symbolic link in the source\n {2}→ /m);
    expect(readdirSync(elsewhere)).toEqual([]);
    await mkdir(join(elsewhere, "plans"));
    await symlink("plans", join(elsewhere, "way"));
    expect(await source.runHere(["plan", "--out", join(elsewhere, "way/plan.json")])).toMatchObject({ code: 0 });
    expect(readdirSync(join(elsewhere, "plans"))).toEqual(["plan.json"]);
  });
});

test("S45 a backup is made through no link, one that leads nowhere included", async () => {
  const server = await serve();
  const source = await sourceOf({});
  for (const sort of ["symlink", "dangling symlink", "pipe"] as const) {
    const copy = join(source.folder, `${sort.replace(" ", "-")}.db`);
    placeSpecial(sort, copy, "precious");
    const before = readdirSync(source.folder).toSorted();
    const ended = await source.run(["backup", copy, "--data", server.data]);
    expect(ended).toMatchObject({ code: 3, stdout: "" });
    expect(ended.stderr).toContain(`${copy} is ${specialFiles[sort]}`);
    expect(readdirSync(source.folder).toSorted()).toEqual(before);
    if (sort === "symlink") expect(readFileSync(copy, "utf8")).toBe("precious");
  }
});

test("S45 what the control plane writes into its folder goes through no link", async () => {
  const source = await sourceOf({});
  const data = join(source.folder, "data");
  await mkdir(data, { mode: 0o700 });
  const token = join(source.folder, "elsewhere");
  writeFileSync(token, "precious");
  for (const file of ["admin-token", "endpoint"]) {
    symlinkSync(token, join(data, file));
    const ended = await source.run(["serve", "--port", "0", "--data", "data"]);
    expect(ended).toMatchObject({ code: 3 });
    expect(ended.stderr).toContain(`${join(data, file)} is a symbolic link`);
    expect(readFileSync(token, "utf8")).toBe("precious");
    await rm(join(data, file));
  }
});
