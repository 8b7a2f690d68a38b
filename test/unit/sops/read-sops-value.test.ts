import { inspect } from "node:util";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { Secret } from "../../../src/contract/secret.ts";
import { type AgeIdentities, parseIdentities } from "../../../src/sops/age-identities.ts";
import { openSopsFile, readSopsValue } from "../../../src/sops/read-sops-value.ts";
import { SopsError } from "../../../src/sops/sops-error.ts";
import { another, confidential, fixture, fixtureText, nobody, owner } from "./fixture.ts";

async function valueIn(file: string, key: string, identities = owner): Promise<string> {
  return (await readSopsValue({ file, bytes: fixture(file) }, key, identities)).open();
}

describe("a SOPS file with an age recipient", () => {
  it.each([
    ["password", "correct horse battery staple"],
    ["port", "5432"],
    ["ratio", "0.25"],
    ["large", "1000000000000000000000"],
    ["enabled", "true"],
    ["off", "false"],
    ["text", "line one\nline two\n"],
    ["unicode", "pässwörd ✓"],
    ['"quoted" key', "q"],
    ["10", "ten"],
    ["2", "two"],
    ["a/b~c", "pointer"],
    ["/a~1b~0c", "pointer"],
    ["db.password", "nested secret"],
    ["/db/password", "nested secret"],
    ["db.hosts.1", "beta"],
    ["/db/hosts/1", "beta"],
    ["/db/hosts/2/name", "gamma"],
  ])("gives the value of %s", async (key, value) => {
    expect(await valueIn("values.yaml", key)).toBe(value);
  });

  it("is read by each of its recipients, one of several identities too", async () => {
    const { identities } = another;
    const both: AgeIdentities = { from: "both", identities: [...nobody.identities, ...identities] };
    expect(await valueIn("values.yaml", "password", another)).toBe("correct horse battery staple");
    expect(await valueIn("values.yaml", "password", both)).toBe("correct horse battery staple");
  });

  it.each([
    ["values.json", "/db/password", "nested secret"],
    ["values.json", "10", "ten"],
    ["values.env", "PASSWORD", "correct horse battery staple"],
    ["values.env", "TWO_LINES", "a\nb"],
    ["values.env", "QUOTED", '"q"'],
    ["encrypted-regex.yaml", "/stringData/password", "nested secret"],
    ["only-encrypted.yaml", "/stringData/password", "nested secret"],
    ["unencrypted-regex.yaml", "/stringData/password", "nested secret"],
  ])("may be %s", async (file, key, value) => {
    expect(await valueIn(file, key)).toBe(value);
  });

  it("may encrypt by a suffix", async () => {
    expect(await valueIn("encrypted-suffix.yaml", "password_secret", another)).toBe("nested secret");
    expect(await valueIn("encrypted-suffix.yaml", "/more_secret/a", another)).toBe("below");
  });

  it("may have the line ends of another system", async () => {
    const bytes = Buffer.from(fixtureText("values.yaml").replaceAll("\n", "\r\n"));
    const value = await readSopsValue({ file: "values.yaml", bytes }, "text", owner);
    expect(value.open()).toBe("line one\nline two\n");
  });

  it("gives a value that no output shows", async () => {
    const value = await readSopsValue({ file: "values.yaml", bytes: fixture("values.yaml") }, "password", owner);
    expect(`${value} ${JSON.stringify(value)} ${inspect(value)}`).not.toContain("correct");
  });
});

/** What is said of a file; nothing confidential is in it. */
async function refusalOf(read: () => Promise<unknown>): Promise<SopsError> {
  const error = await read().then(
    () => null,
    (cause: unknown) => cause,
  );
  if (!(error instanceof SopsError)) throw new Error("it was not refused", { cause: error });
  const said = `${inspect(error, { depth: null })} ${error.hint}`;
  expect(confidential.filter((text) => said.includes(text))).toEqual([]);
  return error;
}

function refusalOfText(text: string, key = "password", file = "values.yaml"): Promise<SopsError> {
  return refusalOf(() => readSopsValue({ file, bytes: Buffer.from(text) }, key, owner));
}

describe("a key of a SOPS file is refused that", () => {
  it.each([
    ["no-such-key", "no-value", "is not there"],
    ["/db/hosts/7", "no-value", "is not there"],
    ["db.user", "no-value", "is not there"],
    ["db", "no-value", "is a mapping or a list"],
    ["nothing", "no-value", "is not there"],
    ["empty", "no-value", "is empty"],
    ["sops", "no-value", "is not there"],
    ["/sops/mac", "no-value", "is not there"],
    ["/db/host_unencrypted", "not-encrypted", "stands in clear text"],
    ["/plain_unencrypted/port", "not-encrypted", "stands in clear text"],
    ["__proto__", "no-value", "is not there"],
  ])("is %s", async (key, fault, message) => {
    const refusal = await refusalOfText(fixtureText("values.yaml"), key);
    expect(refusal).toMatchObject({ fault, message: expect.stringContaining(message) });
  });
});

const line = (text: string, start: string): string => {
  const found = text.split("\n").find((one) => one.trim().startsWith(start));
  if (found === undefined) throw new Error(`no line begins with ${start}`);
  return found;
};

/** Changed texts of `values.yaml`, by what was done to them. */
const changes: readonly (readonly [string, fault: string, change: (text: string) => string])[] = [
  ["a changed value", "damaged", (text) => text.replace(/data:..../, "data:AAAA")],
  ["a shorter tag", "damaged", (text) => text.replace(/(password: .*tag:)[^,]+/, "$1AAAA")],
  [
    "values that changed places",
    "damaged",
    (text) => {
      const [a, b] = [line(text, "password: ENC").slice(10), line(text, "unicode: ENC").slice(9)];
      return text.replace(a, "@").replace(b, a).replace("@", b);
    },
  ],
  ["a value in clear text", "damaged", (text) => text.replace(/^password: .*$/m, "password: changed")],
  ["a number in place of a value", "damaged", (text) => text.replace(/^password: .*$/m, "password: 1")],
  ["a value that is gone", "mac", (text) => text.replace(/^unicode: .*\n/m, "")],
  ["a value that is null", "mac", (text) => text.replace(/^unicode: .*$/m, "unicode: null")],
  ["a value that is empty", "mac", (text) => text.replace(/^unicode: .*$/m, 'unicode: ""')],
  ["a value that was added in clear text", "mac", (text) => `new_unencrypted: x\n${text}`],
  ["a changed value in clear text", "mac", (text) => text.replace("port: 8080", "port: 8081")],
  [
    "items of a list that changed places",
    "mac",
    (text) => {
      const [a = "", b = ""] = text.split("\n").filter((one) => one.trim().startsWith("- ENC"));
      return text.replace(a, "@").replace(b, a).replace("@", b);
    },
  ],
  ["keys in another order", "mac", (text) => `${line(text, "unicode:")}\n${text.replace(/^unicode: .*\n/m, "")}`],
  ["a changed MAC", "mac", (text) => text.replace(/(mac: ENC\[AES256_GCM,data:)..../, "$1AAAA")],
  [
    "the MAC of another file",
    "mac",
    (text) => text.replace(/mac: .*/, line(fixtureText("only-encrypted.yaml"), "mac:").trim()),
  ],
  ["a changed time", "mac", (text) => text.replace("22:00:00Z", "22:00:01Z")],
  ["no MAC", "mac", (text) => text.replace(/^ {4}mac: .*\n/m, "")],
  ["a switch of what its MAC covers", "mac", (text) => `${text}    mac_only_encrypted: true\n`],
  ["another suffix", "damaged", (text) => text.replace("suffix: _unencrypted", "suffix: _clear")],
  ["two rules", "malformed", (text) => `${text}    encrypted_regex: ^x$\n`],
  [
    "a rule that is no regular expression",
    "malformed",
    (text) => text.replace("unencrypted_suffix: _unencrypted", "encrypted_regex: ("),
  ],
  ["a rule about comments", "unsupported", (text) => `${text}    unencrypted_comment_regex: clear\n`],
  [
    "a changed data key",
    "damaged",
    (text) => text.replace(/(BEGIN AGE ENCRYPTED FILE-----\n.*\n\s+).{8}/, "$1AAAAAAAA"),
  ],
  ["no recipients", "unsupported", (text) => text.replace(/ {4}age:\n(?: {8,}.*\n)+/, "    age: []\n")],
  [
    "recipients of PGP alone",
    "unsupported",
    (text) => text.replace(/ {4}age:\n(?: {8,}.*\n)+/, "    pgp:\n        - fp: F\n          enc: x\n"),
  ],
  [
    "groups of keys",
    "unsupported",
    (text) => text.replace("    age:", "    key_groups:\n        - age: []\n        - age: []\n    age:"),
  ],
  ["a list in place of its member", "not-sops", (text) => text.replace(/^sops:[\s\S]*/m, "sops: []\n")],
  ["no member `sops`", "not-sops", (text) => text.replace(/^sops:[\s\S]*/m, "")],
  ["an end in the middle of its member", "mac", (text) => text.slice(0, text.indexOf("    lastmodified"))],
  ["an end in the middle of a value", "not-sops", (text) => text.slice(0, 100)],
  ["nothing", "malformed", () => ""],
  ["a key twice", "malformed", (text) => `password: x\n${text}`],
  ["an alias", "malformed", (text) => `first_unencrypted: &a x\nsecond_unencrypted: *a\n${text}`],
  ["an alias of a mapping", "malformed", (text) => `first_unencrypted: &a { x: 1 }\nsecond_unencrypted: *a\n${text}`],
  ["two documents", "malformed", (text) => `${text}---\n${text}`],
  ["a key that is no text", "malformed", (text) => `1: x\n${text}`],
  ["an unfinished quote", "malformed", (text) => `a: "x\n${text}`],
  ["more bytes than are read", "too-large", (text) => `#${"x".repeat(1024 * 1024)}\n${text}`],
  [
    "more recipients than are tried",
    "too-large",
    (text) => text.replace("    age:\n", `    age:\n${"        - { recipient: r, enc: e }\n".repeat(101)}`),
  ],
];

describe("a SOPS file is refused with", () => {
  it.each(changes)("%s", async (_, fault, change) => {
    const text = fixtureText("values.yaml");
    const changed = change(text);
    expect(changed).not.toBe(text);
    expect(await refusalOfText(changed)).toMatchObject({ fault });
  });

  it("a truncated text of any length", async () => {
    const text = fixtureText("values.yaml");
    for (let length = 0; length < text.length - 200; length += 211) {
      await refusalOfText(text.slice(0, length));
    }
  });

  it("a line that is neither a variable nor a comment in a dotenv file", async () => {
    const refusal = await refusalOfText(`word\n${fixtureText("values.env")}`, "PASSWORD", "values.env");
    expect(refusal).toMatchObject({ fault: "malformed", message: "values.env:1: neither a variable nor a comment" });
  });

  it("changed values in JSON and dotenv, too", async () => {
    const json = fixtureText("values.json")
      .replace('"alpha', '"')
      .replace(/("two|"2": ")ENC/, "$1XENC");
    expect(await refusalOfText(json, "10", "values.json")).toMatchObject({ fault: "damaged" });
    const env = fixtureText("values.env").replace("db.example.com", "db.example.org");
    expect(await refusalOfText(env, "PASSWORD", "values.env")).toMatchObject({ fault: "mac" });
  });

  it("a regular expression that others take for ever over", async () => {
    const slow = fixtureText("encrypted-regex.yaml").replace("^(data|stringData)$", "^(a+)+$");
    const bytes = Buffer.from(`${"a".repeat(60)}!: x\n${slow}`);
    const refusal = await refusalOf(() => openSopsFile({ file: "slow.yaml", bytes }, owner));
    expect(refusal.fault).toBe("mac");
  });
});

describe("a SOPS file that was changed anywhere", () => {
  it.each(["encrypted-regex.yaml", "values.json", "values.env"])(
    "is refused, or gives the same value (%s)",
    async (file) => {
      const text = fixtureText(file);
      const key = { "values.json": "db.password", "values.env": "PASSWORD" }[file] ?? "stringData.password";
      const value = await valueIn(file, key);
      const at = fc.nat(text.length);
      const edits = fc.tuple(
        at,
        fc.nat(40),
        fc.oneof(
          fc.constant(""),
          fc.string({ maxLength: 12 }),
          at.map((from) => text.slice(from, from + 30)),
        ),
      );
      await fc.assert(
        fc.asyncProperty(edits, async ([start, length, put]) => {
          const bytes = Buffer.from(text.slice(0, start) + put + text.slice(start + length));
          const found = await readSopsValue({ file, bytes }, key, owner).catch((error: unknown) => error);
          expect(found instanceof SopsError ? value : String(found instanceof Secret && found.open())).toBe(value);
        }),
        { numRuns: 60 },
      );
    },
  );
});

describe("an identity", () => {
  const read = (identities: AgeIdentities | null) =>
    refusalOf(() => openSopsFile({ file: "values.yaml", bytes: fixture("values.yaml") }, identities));

  it("that no recipient has is refused, with the recipients of the file and its own", async () => {
    const refusal = await read(nobody);
    expect(refusal.fault).toBe("wrong-identity");
    expect(refusal.message).toMatch(
      /^values\.yaml: it is encrypted for age1h3f\w+, age1fvm\w+, not for the identity of identity-of-nobody\.txt$/,
    );
    expect(refusal.hint).toContain("add age1");
  });

  it("is needed", async () => {
    expect(await read(null)).toMatchObject({
      fault: "no-identity",
      hint: expect.stringContaining("HOLDFAST_AGE_KEY_FILE"),
    });
  });

  it("with a letter that is wrong is refused and not shown", async () => {
    const [identity] = owner.identities;
    const wrong = (identity?.open() ?? "").replace(/.$/, "Q");
    const refusal = await read(parseIdentities(wrong, "HOLDFAST_AGE_KEY"));
    expect(refusal.message).toBe("HOLDFAST_AGE_KEY has an age identity that is cut off or mistyped");
    expect(inspect(refusal)).not.toContain(wrong.slice(20, 40));
  });
});
