import { expect, test } from "vitest";
import { Secret } from "../../../../src/contract/secret.ts";
import { encodeS3, signS3 } from "../../../../src/engine/upload/s3-signature.ts";

// The examples of "Signature Calculations for the Authorization Header" in the Amazon S3 API Reference.
const credentials = {
  accessKeyId: "AKIAIOSFODNN7EXAMPLE",
  secretAccessKey: new Secret("wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY"),
  sessionToken: null,
};
const when = { region: "us-east-1", at: Date.UTC(2013, 4, 24) };
const EMPTY = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855";

const request = (more: object) => ({
  method: "GET",
  host: "examplebucket.s3.amazonaws.com",
  path: "/",
  query: {},
  headers: {},
  bodyDigest: EMPTY,
  ...more,
});

test.each([
  {
    name: "reading an object",
    asked: request({ path: "/test.txt", headers: { range: "bytes=0-9" } }),
    signature: "f0e8bdb87c964420e857bd35b5d6ed310bd44f0170aba48dd91039c6036bdb41",
  },
  {
    name: "storing an object",
    asked: request({
      method: "PUT",
      path: "/test%24file.text",
      headers: { date: "Fri, 24 May 2013 00:00:00 GMT", "x-amz-storage-class": "REDUCED_REDUNDANCY" },
      bodyDigest: "44ce7dd67c959e0d3524ffac1771dfbba87d2b6b4b4e99e42034a8b803f8b072",
    }),
    signature: "98ad721746da40c64f1a55b78f14c238d841ea1380cd77a1b5971af0ece108bd",
  },
  {
    name: "a query without a value",
    asked: request({ query: { lifecycle: "" } }),
    signature: "fea454ca298b7da1c68078a5d1bdbfbbe0d65c699e0f91ac7a200a0136783543",
  },
  {
    name: "listing objects",
    asked: request({ query: { "max-keys": "2", prefix: "J" } }),
    signature: "34b48302e7b5fa45bde8084f4b7868a86f0a534bc59db6670ed5711ef69dc6f7",
  },
])("a request is signed as in Amazon's example of $name", ({ asked, signature }) => {
  expect(signS3(asked, credentials, when).authorization).toMatch(new RegExp(`, Signature=${signature}$`));
});

test("temporary credentials send their token, signed", () => {
  const signed = signS3(request({}), { ...credentials, sessionToken: new Secret("token") }, when);
  expect(signed["x-amz-security-token"]).toBe("token");
  expect(signed.authorization).toContain("SignedHeaders=host;x-amz-content-sha256;x-amz-date;x-amz-security-token,");
});

test("characters that encodeURIComponent leaves are encoded too", () => {
  expect(encodeS3("a b/!'()*~ä")).toBe("a%20b%2F%21%27%28%29%2A~%C3%A4");
});
