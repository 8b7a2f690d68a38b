import { expect, test } from "vitest";
import { isLoopback, isSentInClear } from "../../../src/http/loopback.ts";

test.each(["localhost", "LOCALHOST", "api.localhost", "127.0.0.1", "127.9.8.7", "::1", "[::1]", "::ffff:127.0.0.1"])(
  "S51 %s is this machine",
  (host) => {
    expect(isLoopback(host)).toBe(true);
  },
);

test.each([
  "0.0.0.0",
  "::",
  "10.0.0.1",
  "128.0.0.1",
  "example.com",
  "localhost.example.com",
  "127.example.com",
  "",
  "1",
])("S51 %s may be another machine", (host) => {
  expect(isLoopback(host)).toBe(false);
});

test("S51 a token travels in clear only over http:// to another machine", () => {
  // A URL's host is read as browsers read it.
  for (const url of [
    "http://127.1:7071",
    "http://0x7f.1",
    "http://[::1]:80/base",
    "https://example.com",
    "nonsense",
    "",
  ])
    expect([url, isSentInClear(url)]).toEqual([url, false]);
  for (const url of [
    "http://example.com",
    "HTTP://10.0.0.1:7071/base",
    "http://[::ffff:10.0.0.1]",
    "http://2130706434.example",
  ])
    expect([url, isSentInClear(url)]).toEqual([url, true]);
});
