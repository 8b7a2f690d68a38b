import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { Secret } from "../../../src/contract/secret.ts";
import type { AgeIdentities } from "../../../src/sops/age-identities.ts";
import type { CreationRule } from "../../../src/sops/creation-rule.ts";
import { openSopsFile } from "../../../src/sops/read-sops-value.ts";
import { changeSopsFile, createSopsFile } from "../../../src/sops/set-sops-value.ts";
import { another, fixture, fixtureText, owner } from "./fixture.ts";

const [recipient = "", second = ""] = ["identity.txt", "identity-of-another.txt"].map(
  (file) => /age1\w+/.exec(fixtureText(file))?.[0],
);

const creation: CreationRule = {
  file: ".sops.yaml",
  recipients: [recipient, second],
  otherServices: [],
  rule: { unencryptedSuffix: "_unencrypted" },
  macOnlyEncrypted: false,
};

const newValue = (keys: readonly string[], value: string, file = "values.yaml") => ({
  file,
  keys,
  value: new Secret(value),
  now: Date.UTC(2026, 10, 30, 23, 1, 2, 345),
});

async function created(file: string, rule: Partial<CreationRule> = {}): Promise<string> {
  const { text } = await createSopsFile(newValue(["search", "password"], "hunter2hunter2", file), {
    ...creation,
    ...rule,
  });
  return text ?? "";
}

async function read(file: string, text: string, identities: AgeIdentities = owner) {
  const opened = await openSopsFile({ file, bytes: Buffer.from(text) }, identities);
  return (key: string) => opened.value(key).open();
}

async function changed(bytes: Buffer | string, keys: readonly string[], value: string, file?: string): Promise<string> {
  const { text } = await changeSopsFile(Buffer.from(bytes), newValue(keys, value, file), owner);
  if (text === null) throw new Error("nothing was changed");
  return text;
}

describe("a new SOPS file", () => {
  it.each(["a.sops.yaml", "a.sops.json"])(
    "%s has its value for each recipient, and not in clear text",
    async (file) => {
      const text = await created(file);
      for (const identities of [owner, another]) {
        expect((await read(file, text, identities))("search.password")).toBe("hunter2hunter2");
      }
      expect(text).not.toContain("hunter2");
      expect(text).toContain("2026-11-30T23:01:02Z");
    },
  );

  it("has the rule that it was made by", async () => {
    const rule = { encryptedRegex: "^search$" };
    const text = await created("a.yaml", { rule, macOnlyEncrypted: true });
    expect(text).toMatch(/encrypted_regex: .*\^search\$/);
    expect(text).toContain("mac_only_encrypted: true");
    expect((await read("a.yaml", text))("search.password")).toBe("hunter2hunter2");
  });

  it("is not made where its value would stand in clear text", async () => {
    const made = created("a.yaml", { rule: { encryptedRegex: "^data$" } });
    await expect(made).rejects.toMatchObject({ fault: "not-writable", message: expect.stringContaining("clear text") });
  });

  it.each([
    ["no recipient", { recipients: ["age1notone"] }],
    ["a service that only sops can encrypt for", { otherServices: ["kms"] }],
  ])("is not made for %s", async (_, rule) => {
    await expect(created("a.yaml", rule)).rejects.toMatchObject({ fault: "not-writable" });
  });

  it("is YAML or JSON", async () => {
    await expect(created("a.env")).rejects.toMatchObject({ fault: "not-writable" });
  });
});

describe("a value that is set in a SOPS file", () => {
  const without = (text: string, pattern: RegExp): string => text.replace(pattern, "");

  it("changes the line of the value, the MAC and its time, and nothing else", async () => {
    const before = fixtureText("values.yaml");
    const after = await changed(before, ["db", "password"], "another");
    const lines = (text: string) => text.split("\n");
    const different = lines(after).filter((line, at) => line !== lines(before)[at]);
    expect(lines(after)).toHaveLength(lines(before).length);
    expect(different.map((line) => line.trim().split(":")[0])).toEqual(["password", "lastmodified", "mac"]);
    const value = await read("values.yaml", after);
    expect([value("db.password"), value("password"), value("10"), value("db.hosts.1")]).toEqual([
      "another",
      "correct horse battery staple",
      "ten",
      "beta",
    ]);
  });

  it("gets a group of its own before the member of SOPS", async () => {
    const before = fixtureText("values.yaml");
    const after = await changed(before, ["new", "key"], "first");
    expect(after.indexOf("\nnew:\n")).toBeLessThan(after.indexOf("\nsops:\n"));
    const again = await changed(after, ["new", "other"], "second");
    const value = await read("values.yaml", again);
    expect([value("new.key"), value("new.other"), value("text")]).toEqual(["first", "second", "line one\nline two\n"]);
    expect(without(again, /^new:\n(?: .*\n)*/m).split("\n")).toHaveLength(before.split("\n").length);
  });

  it.each(["encrypted-regex.yaml", "only-encrypted.yaml", "unencrypted-regex.yaml"])(
    "keeps the rule of %s",
    async (file) => {
      const value = await read(file, await changed(fixture(file), ["stringData", "user"], "app"));
      expect([value("stringData.user"), value("stringData.password")]).toEqual(["app", "nested secret"]);
      const clear = changed(fixture(file), ["metadata", "name"], "other");
      await expect(clear).rejects.toMatchObject({
        fault: "not-writable",
        message: expect.stringContaining("clear text"),
      });
    },
  );

  it("may be in JSON", async () => {
    const text = await changed(fixture("values.json"), ["db", "password"], "another", "values.json");
    const value = await read("values.json", await changed(text, ["new", "key"], "x", "values.json"));
    expect([value("db.password"), value("new.key"), value("2")]).toEqual(["another", "x", "two"]);
  });

  it("may have any text", async () => {
    const text = "two\nlines: \"quoted\" 'and' #not a comment\t\u0000 ünïcode\n";
    expect((await read("values.yaml", await changed(fixture("values.yaml"), ["text"], text)))("text")).toBe(text);
  });

  it("takes the place of null and of an empty text", async () => {
    const text = await changed(await changed(fixture("values.yaml"), ["nothing"], "x"), ["empty"], "y");
    const value = await read("values.yaml", text);
    expect([value("nothing"), value("empty")]).toEqual(["x", "y"]);
  });

  it("leaves the ends of lines", async () => {
    const text = await changed(fixtureText("values.yaml").replaceAll("\n", "\r\n"), ["db", "password"], "another");
    expect(text.replaceAll("\r\n", "")).not.toContain("\n");
    expect((await read("values.yaml", text))("db.password")).toBe("another");
  });

  it("changes nothing where it is there already", async () => {
    const same = newValue(["db", "password"], "nested secret");
    expect(await changeSopsFile(fixture("values.yaml"), same, owner)).toEqual({
      text: null,
      recipients: [recipient, second],
    });
  });

  it.each([
    ["a mapping", ["db"]],
    ["a list", ["db", "hosts"]],
    ["a group that is a value", ["password", "new"]],
  ])("does not replace %s", async (_, keys) => {
    await expect(changed(fixture("values.yaml"), keys, "x")).rejects.toMatchObject({ fault: "not-writable" });
  });

  it("needs an identity, since a file has one key", async () => {
    const without = changeSopsFile(fixture("values.yaml"), newValue(["a", "b"], "x"), null);
    await expect(without).rejects.toMatchObject({ fault: "no-identity" });
  });

  it("gives no MAC to a file whose values were changed by hand", async () => {
    const text = fixtureText("values.yaml").replace("port: 8080", "port: 8081");
    await expect(changed(text, ["a", "b"], "x")).rejects.toMatchObject({ fault: "mac" });
  });

  it("is read whatever groups and keys are set one after the other", async () => {
    const name = fc
      .stringMatching(/^[A-Za-z0-9][A-Za-z0-9_.-]{0,6}$/)
      .filter((one) => !/^sops$|_unencrypted$/.test(one));
    const steps = fc.array(fc.tuple(name, name, fc.string({ minLength: 1, maxLength: 20, unit: "grapheme" })), {
      minLength: 1,
      maxLength: 4,
    });
    await fc.assert(
      fc.asyncProperty(steps, fc.constantFrom("a.yaml", "a.json"), async (sets, file) => {
        let text = await created(file);
        const expected = new Map([["/search/password", "hunter2hunter2"]]);
        for (const [group, key, value] of sets) {
          if (expected.get(`/${group}/${key}`) === value) continue;
          text = await changed(text, [group, key], value, file);
          expected.set(`/${group}/${key}`, value);
        }
        const opened = await read(file, text);
        expect([...expected.keys()].map((key) => [key, opened(key)])).toEqual([...expected]);
      }),
      { numRuns: 25 },
    );
  });
});
