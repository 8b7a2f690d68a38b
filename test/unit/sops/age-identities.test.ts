import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { inspect } from "node:util";
import { describe, expect, it, onTestFinished } from "vitest";
import { loadAgeIdentities, parseIdentities } from "../../../src/sops/age-identities.ts";
import { fixtureText } from "./fixture.ts";

function folder(): string {
  const path = mkdtempSync(join(tmpdir(), "holdfast-"));
  onTestFinished(() => rmSync(path, { recursive: true, force: true }));
  return path;
}

describe("age identities", () => {
  it("come from the variable, else from the file of the variable, else from the operator's file", () => {
    const cwd = folder();
    const [one, two, three] = ["identity.txt", "identity-of-another.txt", "identity-of-nobody.txt"].map(fixtureText);
    writeFileSync(join(cwd, "two"), two ?? "");
    writeFileSync(join(cwd, "three"), three ?? "");
    const from = (env: { readonly [name: string]: string | undefined }, keyFile: string | null) =>
      loadAgeIdentities({ env, cwd, keyFile })?.from;
    expect(from({ HOLDFAST_AGE_KEY: one, HOLDFAST_AGE_KEY_FILE: "two" }, "three")).toBe("HOLDFAST_AGE_KEY");
    expect(from({ HOLDFAST_AGE_KEY: "", HOLDFAST_AGE_KEY_FILE: "two" }, "three")).toBe("HOLDFAST_AGE_KEY_FILE (two)");
    expect(from({}, "three")).toBe("sops.ageKeyFile (three)");
    expect(from({}, null)).toBeUndefined();
  });

  it("may be several, among comments", () => {
    const text = `${fixtureText("identity.txt")}\r\n\n# more\n${fixtureText("identity-of-another.txt")}`;
    expect(parseIdentities(text, "keys").identities).toHaveLength(2);
  });

  it.each([
    ["nothing", "# only a comment\n", "keys has no age identity"],
    [
      "a recipient",
      "age1h3f5z4vhat25ejevxg0kxyxy29dkfd3eha26437043l3qwmzw4msat7lcx",
      "keys has no age identity in line 1: a recipient is the public half",
    ],
    [
      "a key of SSH",
      "-----BEGIN OPENSSH PRIVATE KEY-----\nabc",
      "keys has no age identity in line 1: keys of SSH are not read",
    ],
    ["a plugin", "AGE-PLUGIN-YUBIKEY-1ABC", "keys has no age identity in line 1: plugins of age are not run"],
    ["a passphrase around it", "age-encryption.org/v1\n-> scrypt", "keys is itself encrypted"],
    ["another text", "\nhunter2hunter2", "keys has no age identity in line 2"],
  ])("are not %s", (_, text, message) => {
    const refused = () => parseIdentities(text, "keys");
    expect(refused).toThrow(expect.objectContaining({ fault: "no-identity", message }));
  });

  it("are in no message, whatever was given", () => {
    let said = "";
    try {
      parseIdentities("AGE-SECRET-KEY-1HUNTER2HUNTER2!", "keys");
    } catch (error) {
      said = inspect(error);
    }
    expect(said).toContain("no age identity in line 1");
    expect(said).not.toContain("HUNTER2");
  });

  it("of a file that is not there are refused", () => {
    const load = () => loadAgeIdentities({ env: { HOLDFAST_AGE_KEY_FILE: "absent" }, cwd: folder(), keyFile: null });
    expect(load).toThrow("HOLDFAST_AGE_KEY_FILE (absent) cannot be read (ENOENT)");
  });
});
