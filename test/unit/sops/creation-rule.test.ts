import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import { findCreationRule } from "../../../src/sops/creation-rule.ts";

/** The rule for a file of a repository with these files. */
function ruleFor(path: string, files: { readonly [file: string]: string }) {
  const top = mkdtempSync(join(tmpdir(), "holdfast-"));
  onTestFinished(() => rmSync(top, { recursive: true, force: true }));
  for (const [file, text] of Object.entries(files)) {
    mkdirSync(dirname(join(top, file)), { recursive: true });
    writeFileSync(join(top, file), text);
  }
  return findCreationRule(join(top, path), { top, file: path });
}

const rules = (...items: readonly string[]) => `creation_rules:\n${items.map((item) => `  - ${item}\n`).join("")}`;

describe("the creation rule of a file", () => {
  it("is the first that matches its path below the rules", async () => {
    const text = rules(
      "{ path_regex: '^prod/', age: age1prod }",
      "{ path_regex: 'sops', age: age1sops }",
      "{ age: age1all }",
    );
    const found = async (path: string) => (await ruleFor(path, { ".sops.yaml": text })).recipients;
    expect(await found("prod/a.sops.yaml")).toEqual(["age1prod"]);
    expect(await found("dev/prod/a.sops.yaml")).toEqual(["age1sops"]);
    expect(await found("a.yaml")).toEqual(["age1all"]);
  });

  it("is in the nearest file, up to the top of the repository", async () => {
    const files = {
      ".sops.yaml": rules("{ age: age1top }"),
      "team/.sops.yaml": rules("{ path_regex: '^x/', age: age1team }"),
    };
    expect(await ruleFor("team/x/a.yaml", files)).toMatchObject({ recipients: ["age1team"], file: "team/.sops.yaml" });
    expect(await ruleFor("other/a.yaml", files)).toMatchObject({ recipients: ["age1top"], file: ".sops.yaml" });
    await expect(ruleFor("team/a.yaml", files)).rejects.toMatchObject({
      message: expect.stringContaining("no rule of team/.sops.yaml"),
    });
  });

  it("is not looked for above the top of the repository", async () => {
    const above = mkdtempSync(join(tmpdir(), "holdfast-"));
    onTestFinished(() => rmSync(above, { recursive: true, force: true }));
    writeFileSync(join(above, ".sops.yaml"), rules("{ age: age1above }"));
    const top = join(above, "repository");
    mkdirSync(top);
    const found = findCreationRule(join(top, "a.yaml"), { top, file: "a.yaml" });
    await expect(found).rejects.toMatchObject({ message: "a.yaml: no .sops.yaml says for whom it is encrypted" });
  });

  it.each([
    ["a list", "{ age: [age1a, age1b] }"],
    ["a text with commas", "{ age: 'age1a, age1b,' }"],
    ["a group of keys", "{ key_groups: [{ age: [age1a, age1b, age1a] }] }"],
  ])("may name its recipients by %s", async (_, rule) => {
    expect((await ruleFor("a.yaml", { ".sops.yaml": rules(rule) })).recipients).toEqual(["age1a", "age1b"]);
  });

  it("may name them by an alias, as many do", async () => {
    const text = `keys:\n  - &me age1a\n${rules("age: *me")}`;
    expect((await ruleFor("a.yaml", { ".sops.yaml": text })).recipients).toEqual(["age1a"]);
  });

  it("tells what is encrypted, and which other services it names", async () => {
    const rule = "{ age: age1a, kms: 'arn:x', encrypted_regex: '^data$', mac_only_encrypted: true }";
    expect(await ruleFor("a.yaml", { ".sops.yaml": rules(rule) })).toMatchObject({
      rule: { encryptedRegex: "^data$" },
      otherServices: ["kms"],
      macOnlyEncrypted: true,
    });
  });

  it.each([
    ["no rules", {}, "no .sops.yaml"],
    ["no list", { ".sops.yaml": "creation_rules: {}\n" }, "no list `creation_rules`"],
    ["no YAML", { ".sops.yaml": "a: [\n" }, ".sops.yaml: "],
    ["no recipient", { ".sops.yaml": rules("{ pgp: F }") }, "names no age recipient"],
    ["groups that split the key", { ".sops.yaml": rules("{ key_groups: [{ age: [a] }, { age: [b] }] }") }, "split"],
    ["no regular expression", { ".sops.yaml": rules("{ path_regex: '(', age: a }") }, "`path_regex` is no regular"],
    [
      "two rules of what is encrypted",
      { ".sops.yaml": rules("{ age: a, encrypted_regex: x, encrypted_suffix: y }") },
      "it sets",
    ],
    ["a rule about comments", { ".sops.yaml": rules("{ age: a, encrypted_comment_regex: x }") }, "is not read"],
  ])("cannot be found with %s", async (_, files, message) => {
    await expect(ruleFor("a.yaml", files)).rejects.toMatchObject({ message: expect.stringContaining(message) });
  });
});
