import { readFileSync, statSync, symlinkSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { describe, expect, test } from "vitest";
import { loadAgeIdentities } from "../../src/sops/age-identities.ts";
import { readSopsValue } from "../../src/sops/read-sops-value.ts";
import { temporaryFolder } from "../support/folder.ts";
import { type Source, sourceOf } from "../support/source.ts";

const keys = resolve(import.meta.dirname, "../unit/sops/files");
const keyFile = join(keys, "identity.txt");
const recipient = /age1\w+/.exec(readFileSync(keyFile, "utf8"))?.[0] ?? "";
const other = /age1\w+/.exec(readFileSync(join(keys, "identity-of-another.txt"), "utf8"))?.[0] ?? "";
const withKey = { HOLDFAST_AGE_KEY_FILE: keyFile };
const rules = `creation_rules:\n  - path_regex: \\.sops\\.(yaml|json)$\n    age: ${recipient}\n`;

/** What gives a command a text on standard input. */
const piped = (text: string): readonly string[] => ["sh", "-c", 'printf %s "$0" | exec "$@"', text];

const SCRIPT = 'script --quiet --flush --return --command "stty cols 200; exec $*" /dev/null';

/** Runs a command on a terminal, and types a text, as `printf` has it, when it asks. */
async function typed(source: Source, text: string, { before = () => {} } = {}) {
  const go = join(await temporaryFolder(), "go");
  const keyboard = `while [ ! -e ${go} ]; do sleep 0.1; done; printf '${text}'`;
  const running = source.start(set, withKey, ["sh", "-c", `(${keyboard}) | ${SCRIPT}`, "sh"]);
  await running.shows("stdout", /not shown/);
  before();
  writeFileSync(go, "");
  return running.ended;
}

const repository = () => sourceOf({ "holdfast.yaml": "", ".sops.yaml": rules });

async function valueIn(source: Source, file: string, key: string): Promise<string> {
  const identities = loadAgeIdentities({ env: {}, cwd: keys, keyFile });
  const bytes = readFileSync(join(source.folder, file));
  return (await readSopsValue({ file, bytes }, key, identities)).open();
}

const set = ["secret", "set", "search", "password"];

describe("secret set", () => {
  test("writes a value into a new file for the recipients of .sops.yaml, and says what names it", async () => {
    const source = await repository();
    const { code, stdout, stderr } = await source.runThrough(piped("hunter2hunter2\n"), set);
    expect([code, stderr]).toEqual([0, ""]);
    expect(stdout.split("\n")).toEqual([
      "secrets.sops.yaml has the value, encrypted for 1 recipient:",
      `  ${recipient}`,
      "",
      "in the manifest of the group search (`file` is relative to the manifest; this one is for a manifest beside it):",
      "secrets:",
      "  - key: password",
      "    value:",
      "      from: sops",
      "      file: secrets.sops.yaml",
      "      key: search.password",
      "",
    ]);
    expect(await valueIn(source, "secrets.sops.yaml", "search.password")).toBe("hunter2hunter2");
    expect(readFileSync(join(source.folder, "secrets.sops.yaml"), "utf8")).not.toContain("hunter2");
  });

  test("adds a value to a file with the identity, and keeps its other values and its mode", async () => {
    const source = await repository();
    await source.runThrough(piped("first"), set);
    const path = join(source.folder, "secrets.sops.yaml");
    const { mode } = statSync(path);
    const without = await source.runThrough(piped("second"), ["secret", "set", "search", "user"]);
    expect(without.code).toBe(3);
    expect(without.stderr).toContain("error: secrets.sops.yaml: no age identity was given to decrypt it");
    expect(without.stderr).toContain("HOLDFAST_AGE_KEY_FILE");
    const identity = /AGE-SECRET-KEY-\w+/.exec(readFileSync(keyFile, "utf8"))?.[0] ?? "";
    for (const env of [withKey, { HOLDFAST_AGE_KEY: identity }]) {
      expect(await source.runThrough(piped("second"), ["secret", "set", "search", "user"], env)).toMatchObject({
        code: 0,
      });
    }
    expect(await valueIn(source, "secrets.sops.yaml", "search.user")).toBe("second");
    expect(await valueIn(source, "secrets.sops.yaml", "search.password")).toBe("first");
    expect(statSync(path).mode).toBe(mode);
  });

  test("takes the identity from the operator's file, and not from the source's", async () => {
    const source = await repository();
    await source.runThrough(piped("first"), set);
    const config = join(await temporaryFolder(), "operator.yaml");
    writeFileSync(config, `sops: { ageKeyFile: ${keyFile} }\n`);
    const again = (args: readonly string[]) => source.runThrough(piped("second"), [...set, ...args]);
    expect(await again(["--config", config])).toMatchObject({ code: 0 });
    await source.write("holdfast.yaml", `sops: { ageKeyFile: ${keyFile} }\n`);
    expect(await again([])).toMatchObject({ code: 3, stderr: expect.stringContaining("no age identity was given") });
    const refused = await source.run(["validate"]);
    expect([refused.code, refused.stderr]).toEqual([
      3,
      expect.stringContaining("sets sops, which only the operator may"),
    ]);
  });

  test("asks on a terminal, and shows nothing of what is typed", async () => {
    const source = await repository();
    const { code, stdout } = await typed(source, "hunter2hunter2\\r");
    expect([code, stdout]).toEqual([0, expect.stringContaining("value of password in search (not shown):")]);
    expect(stdout).not.toContain("hunter2");
    expect(await valueIn(source, "secrets.sops.yaml", "search.password")).toBe("hunter2hunter2");
  });

  test.each([
    ["nothing is typed", "\\r", 3],
    ["the key for that is pressed", "hunter\\003", 130],
    ["the terminal is closed", "", 3],
  ])("ends without a change when %s", async (_, text, code) => {
    const source = await repository();
    expect((await typed(source, text)).code).toBe(code);
    expect(() => statSync(join(source.folder, "secrets.sops.yaml"))).toThrow("ENOENT");
  });

  test("writes nothing where the file was changed while the value was typed", async () => {
    const source = await repository();
    await source.runThrough(piped("first"), set);
    const path = join(source.folder, "secrets.sops.yaml");
    const changed = `${readFileSync(path, "utf8")}# by somebody else\n`;
    const { code, stdout } = await typed(source, "second\\r", { before: () => writeFileSync(path, changed) });
    expect([code, stdout]).toEqual([1, expect.stringContaining("secrets.sops.yaml was changed in the meantime")]);
    expect(readFileSync(path, "utf8")).toBe(changed);
  });

  test("writes into the file that --into names, inside the source alone", async () => {
    const source = await repository();
    const into = (file: string) => source.runThrough(piped("x"), [...set, "--into", file]);
    expect(await into("deep/below/search.sops.json")).toMatchObject({ code: 0 });
    expect(await valueIn(source, "deep/below/search.sops.json", "search.password")).toBe("x");
    const outside = await temporaryFolder();
    symlinkSync(outside, join(source.folder, "link"));
    expect(await into("../a.sops.yaml")).toMatchObject({
      code: 3,
      stderr: expect.stringContaining("is not in the source"),
    });
    expect((await into("link/a.sops.yaml")).code).toBe(3);
    expect(await into("plain.yaml")).toMatchObject({
      code: 3,
      stderr: expect.stringContaining("no rule of .sops.yaml"),
    });
    expect(await into("a.sops.env")).toMatchObject({ code: 3 });
  });

  test("warns where a file has other recipients than its rule", async () => {
    const source = await repository();
    await source.runThrough(piped("first"), set);
    await source.write(".sops.yaml", rules.replace(recipient, `${recipient},${other}`));
    const { code, stderr } = await source.runThrough(piped("second"), set, withKey);
    expect([code, stderr.replaceAll(/\s+/g, " ")]).toEqual([0, expect.stringContaining("run sops updatekeys")]);
  });

  test.each([
    ["no group and key", ["secret", "set", "search"], "secret needs set GROUP KEY"],
    ["another action", ["secret", "get", "search", "password"], "secret needs set GROUP KEY"],
    ["a value on the command line", [...set, "hunter2hunter2"], "the group or the key has another form"],
    ["a key of another form", ["secret", "set", "search", "a/b"], "the group or the key has another form"],
  ])("refuses %s, and does not repeat it", async (_, args, message) => {
    const { code, stderr } = await (await repository()).runHere(args);
    expect([code, stderr]).toEqual([3, expect.stringContaining(message)]);
    expect(stderr).not.toContain("hunter2");
  });

  test.each([
    ["nothing", ":", "is empty"],
    ["what is no text", "printf '\\377'", "is no text in UTF-8"],
    ["too much", "head -c 300000 /dev/zero", "is larger than 64 KiB"],
  ])("refuses %s on standard input", async (_, command, message) => {
    const source = await repository();
    const { code, stderr } = await source.runThrough(["sh", "-c", `${command} | exec "$@"`, "sh"], set);
    expect([code, stderr]).toEqual([3, expect.stringContaining(message)]);
  });

  test("leaves a file with a changed value as it is", async () => {
    const source = await repository();
    await source.runThrough(piped("hunter2hunter2"), set);
    const path = join(source.folder, "secrets.sops.yaml");
    const changed = readFileSync(path, "utf8").replace(/data:..../, "data:AAAA");
    writeFileSync(path, changed);
    const { code, stderr } = await source.runThrough(piped("x"), set, withKey);
    expect([code, stderr]).toEqual([3, expect.stringContaining("`/search/password` was changed, moved or cut off")]);
    expect(readFileSync(path, "utf8")).toBe(changed);
  });
});

describe("a SOPS file of the source", () => {
  test("counts among the documents that are no manifests; a manifest that is one is an error", async () => {
    const source = await repository();
    await source.runThrough(piped("x"), set);
    const validated = await source.run(["validate", "-o", "json"]);
    expect([validated.code, JSON.parse(validated.stdout).summary]).toEqual([
      0,
      expect.objectContaining({ manifests: 0, errors: 0 }),
    ]);
    const shown = await source.run(["validate"]);
    expect(`${shown.stdout}${shown.stderr}`).toContain("Not ours: 2 documents");
    const member = readFileSync(join(source.folder, "secrets.sops.yaml"), "utf8").replace(/^search:\n.*\n/, "");
    await source.write("team.yaml", `type: team\nname: ml\nmembers: [ada@example.com]\n${member}`);
    const encrypted = await source.run(["validate"]);
    expect([encrypted.code, encrypted.stderr + encrypted.stdout]).toEqual([
      3,
      expect.stringContaining("this manifest is encrypted with SOPS"),
    ]);
  });
});
