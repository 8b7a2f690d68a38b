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
