import { createHmac } from "node:crypto";
import fc from "fast-check";
import { expect, test } from "vitest";
import { hmacText } from "../../../src/seal/hmac.ts";
import { generateKey, keyObject } from "../../../src/seal/seal-key.ts";

test("the HMAC of a text is that of Node", () => {
  fc.assert(
    fc.property(fc.string({ unit: "binary", maxLength: 300 }), (text) => {
      const key = generateKey();
      const expected = createHmac("sha256", keyObject(key)).update(text).digest("base64url");
      expect(hmacText(key, text)).toBe(expected);
    }),
  );
});
