import { generateKeyPairSync } from "node:crypto";
import { describe, expect, test } from "vitest";
import { excerpt } from "../../../../src/client/refusal.ts";
import { maskQuotations } from "../../../../src/core/redact/mask-quotations.ts";

const pem = generateKeyPairSync("rsa", { modulusLength: 2048 })
  .privateKey.export({ type: "pkcs8", format: "pem" })
  .toString();
const lines = pem.trimEnd().split("\n");

/** No eight characters of the secret's lines are in the text. */
function expectNothingOf(secret: string, text: string): void {
  const parts = secret.split("\n").flatMap((line) => Array.from(line, (_, at) => line.slice(at, at + 8)));
  const shown = parts.filter((part) => part.length === 8 && text.includes(part));
  expect(shown).toEqual([]);
}

describe("S85 a secret of several lines in a server's message", () => {
  test.each([
    ["as it is", (secret: string) => secret],
    ["in JSON", (secret: string) => JSON.stringify(secret)],
    ["in JSON in JSON", (secret: string) => JSON.stringify(JSON.stringify(secret))],
    ["with the line ends of Windows", (secret: string) => secret.replaceAll("\n", "\r\n")],
    ["on one line", (secret: string) => secret.replace("\nAb\n", "\n").replaceAll("\n", " ")],
    ["indented", (secret: string) => secret.replaceAll("\n", "\n      ")],
  ])("is masked whole when it is quoted %s", (_, quote) => {
    const short = `${lines.slice(0, 6).join("\n")}\nAb\n${lines.at(-2)}\n${lines.at(-1)}`;
    for (const seen of [(said: string) => said, (said: string) => excerpt(said)]) {
      const masked = maskQuotations(seen(`env.KEY must not be ${quote(short)}, use a reference`), [short]);
      expectNothingOf(short, masked);
      expect(masked.match(/\(sensitive\)/g)).toHaveLength(1);
      expect(masked).toMatch(/^env\.KEY must not be "?\\*"?\(sensitive\)\\*"?\\*"?, use a reference$/);
    }
  });

  test("is masked when the message is cut within it, or quotes a part of it", () => {
    for (const room of [20, 40, 71, 80, 300]) {
      const cut = maskQuotations(`refused: ${pem.replaceAll("\n", "\\u000a").slice(0, room)} …`, [pem]);
      expectNothingOf(pem, cut);
      expect(cut).toMatch(/^refused: \(sensitive\)(\\u000a|\\u00|\\)? …$/);
    }
    expectNothingOf(pem, maskQuotations(excerpt(`refused: ${pem.repeat(3)}`), [pem]));
    const part = maskQuotations(`illegal text near ${lines[3]?.slice(10, 40)}`, [pem]);
    expect(part).toBe("illegal text near (sensitive)");
  });

  test("leaves the rest of the message as it is", () => {
    expect(maskQuotations("must be a text …", ["text\nmore text"])).toBe("must be a (sensitive) …");
    expect(maskQuotations("must be a number", [pem])).toBe("must be a number");
    expect(maskQuotations("hunter2 and hunter2", ["hunter2"])).toBe("(sensitive) and (sensitive)");
    expect(maskQuotations("abc", ["abc"])).toBe("abc");
    expect(maskQuotations("abcd", ["abcd"])).toBe("(sensitive)");
  });

  test("masks the longest secret first, and each of several", () => {
    expect(maskQuotations("longer-secret, secret", ["secret", "longer-secret"])).toBe("(sensitive), (sensitive)");
    expect(maskQuotations('say "a\\"quoted\\"", twice', ['a"quoted"'])).toBe('say "(sensitive)", twice');
  });

  test("masks sixteen characters in common, and no fewer", () => {
    const secret = "0123456789abcdefghij";
    expect(maskQuotations("x 3456789abcdefghi x", [secret])).toBe("x (sensitive) x");
    expect(maskQuotations("x 3456789abcdefgh x", [secret])).toBe("x 3456789abcdefgh x");
  });

  test("masks where a message is cut within a secret, from its fourth character on", () => {
    expect(maskQuotations("refused: hunt…", ["hunter2"])).toBe("refused: (sensitive)…");
    expect(maskQuotations("refused: hun…", ["hunter2"])).toBe("refused: hun…");
    expect(maskQuotations("refused: hunt...", ["hunter2"])).toBe("refused: (sensitive)...");
    expect(maskQuotations("refused: hunt", ["hunter2"])).toBe("refused: hunt");
  });
});
