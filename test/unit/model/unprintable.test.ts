import { expect, test } from "vitest";
import { escapeName, escapeUnprintable, isPrintable, replaceUnprintable } from "../../../src/model/unprintable.ts";

test("B3: what controls a terminal or hides in a text is shown by its code", () => {
  const text = "a\u001b\u200b\u202e\u2028\ud800b\u{e0001}";
  expect(escapeUnprintable(text)).toBe("a\\u001b\\u200b\\u202e\\u2028\\ud800b\\u{e0001}");
  expect(replaceUnprintable(text)).toBe("a?????b?");
  expect([isPrintable(text), isPrintable("é 猫 👩 \u00a0")]).toEqual([false, true]);
});

test("B3: an unusual space stays as it is in a text, and is shown in a name", () => {
  expect(escapeUnprintable("10\u00a0000 km")).toBe("10\u00a0000 km");
  expect(escapeName("work\u00a0space \u3000x")).toBe("work\\u00a0space \\u3000x");
});

test("B3: what no font draws is shown by its code, and what varies a character is not", () => {
  const drawn = "❤️ 1️⃣ #️⃣ 葛\u{e0100} straße Ωmega";
  expect([escapeUnprintable(drawn), isPrintable(drawn)]).toEqual([drawn, true]);
  const codes = [
    0x34f, 0x115f, 0x17b4, 0x180b, 0x2065, 0x2800, 0x3164, 0xfe0f, 0xffa0, 0xfff0, 0x1d159, 0xe0100, 0xe0fff,
  ];
  for (const code of codes) expect(escapeUnprintable(`a${String.fromCodePoint(code)}`)).toMatch(/^a\\u/);
});

test("B3: a letter of another script or width is shown in a word of ASCII, and not in a word of its own", () => {
  expect(escapeName("n\u0430me r\u03bfle \uff41rgs имя straße na\u00efve")).toBe(
    "n\\u0430me r\\u03bfle \\uff41rgs имя straße na\u00efve",
  );
});
