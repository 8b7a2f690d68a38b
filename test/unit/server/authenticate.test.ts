import { Socket } from "node:net";
import { expect, test } from "vitest";
import { createTokenReader } from "../../../src/server/auth/identify-caller.ts";

const bearerToken = (rawHeaders: string[]) => createTokenReader()({ rawHeaders, socket: new Socket() }).token;

test.each([
  ["Bearer abc", "abc"],
  ["bearer abc", "abc"],
  ["BEARER   abc", "abc"],
  ["Bearer a.b-c_d~e+f/g==", "a.b-c_d~e+f/g=="],
])("%s is a token", (value, token) => {
  expect(bearerToken(["Host", "x", "authorization", value]).open()).toBe(token);
});

test.each([
  ["nothing", ["Host", "x"]],
  ["an empty header", ["Authorization", ""]],
  ["another scheme", ["Authorization", "Basic abc"]],
  ["no token", ["Authorization", "Bearer "]],
  ["a token alone", ["Authorization", "abc"]],
  ["two tokens", ["Authorization", "Bearer a b"]],
  ["two joined headers", ["Authorization", "Bearer a, Bearer b"]],
  ["two headers", ["Authorization", "Bearer abc", "authorization", "Bearer abc"]],
  ["a second empty header", ["Authorization", "Bearer abc", "AUTHORIZATION", ""]],
  ["a header value that looks like its name", ["X", "authorization", "Y", "Bearer abc"]],
])("%s is 401 with a challenge", (_, headers) => {
  expect(() => bearerToken(headers)).toThrow(
    expect.objectContaining({ status: 401, headers: { "www-authenticate": expect.stringContaining("Bearer") } }),
  );
});

test("each request on a connection is who its own header says", () => {
  const presented = createTokenReader();
  const socket = new Socket();
  const ask = (token: string) => presented({ rawHeaders: ["Authorization", `Bearer ${token}`], socket });
  const seen = ["abc", "abc", "abd", "abc"].map(ask);
  expect(seen.map(({ token }) => token.open())).toEqual(["abc", "abc", "abd", "abc"]);
  expect(new Set(seen.map(({ hash }) => hash)).size).toBe(2);
  expect(() => presented({ rawHeaders: ["Host", "x"], socket })).toThrow();
});
