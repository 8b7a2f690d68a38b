import { expect, test } from "vitest";
import { proxyFor } from "../../../src/client/proxy-from-environment.ts";
import { parseAddress } from "../../../src/client/server-address.ts";

test("an address is taken apart", () => {
  expect(parseAddress("https://Plane.Example/base//")).toEqual({
    origin: "https://plane.example",
    protocol: "https:",
    host: "plane.example",
    port: 443,
    base: "/base",
  });
  expect(parseAddress("http://[::1]:7071")).toMatchObject({ host: "::1", port: 7071, base: "" });
});

test.each([
  "",
  "plane.example",
  "ftp://plane.example",
  "file:///etc/passwd",
  "https://user:canary@plane.example",
  "https://canary@plane.example",
  "https://plane.example/?token=canary",
  "https://plane.example/#canary",
])("an address that is none is refused without being quoted: %j", (server) => {
  expect(() => parseAddress(server)).toThrow(expect.objectContaining({ code: "invalid" }));
  expect(() => parseAddress(server)).not.toThrow(/canary/);
});

const plane = parseAddress("https://a.plane.example:8443");
const proxy = "http://proxy.example:3128";

test("F22 the proxy of the environment goes by scheme, the lower-case name first", () => {
  expect(proxyFor(plane, {})).toBeNull();
  expect(proxyFor(plane, { HTTPS_PROXY: proxy })).toBe(proxy);
  expect(proxyFor(plane, { https_proxy: proxy, HTTPS_PROXY: "http://other.example" })).toBe(proxy);
  expect(proxyFor(plane, { HTTP_PROXY: proxy })).toBeNull();
  expect(proxyFor(parseAddress("http://plane.example"), { HTTP_PROXY: "proxy.example:3128" })).toBe(proxy);
});

test.each(["http://localhost:1", "http://127.0.0.1:1", "http://127.1.2.3", "http://[::1]:1", "http://a.localhost"])(
  "F22 this machine is never reached through a proxy: %s",
  (server) => {
    expect(proxyFor(parseAddress(server), { HTTP_PROXY: proxy })).toBeNull();
  },
);

test.each([
  ["*", true],
  ["plane.example", true],
  [".plane.example", true],
  ["*.plane.example", true],
  ["other.example, plane.example", true],
  ["other.example plane.example", true],
  ["PLANE.EXAMPLE", true],
  ["plane.example:8443", true],
  ["plane.example:443", false],
  ["ane.example", false],
  ["b.a.plane.example", false],
  ["10.0.0.0/8", false],
  ["", false],
])("F22 NO_PROXY=%j", (list, excepted) => {
  expect(proxyFor(plane, { HTTPS_PROXY: proxy, NO_PROXY: list }) === null).toBe(excepted);
});

test.each([
  ["10.0.0.0/8", true],
  ["10.1.2.3", true],
  ["10.1.2.3/32", true],
  ["11.0.0.0/8", false],
  ["10.0.0.0/99", false],
  ["10.0.0.0/", false],
  ["fd00::/8", false],
])("F22 NO_PROXY=%j for an IPv4 address", (list, excepted) => {
  expect(proxyFor(parseAddress("https://10.1.2.3"), { HTTPS_PROXY: proxy, NO_PROXY: list }) === null).toBe(excepted);
});

test("F22 an IPv6 network is matched by its bits", () => {
  const address = parseAddress("https://[fd00::1]:8443");
  expect(proxyFor(address, { HTTPS_PROXY: proxy, NO_PROXY: "fd00::/8" })).toBeNull();
  expect(proxyFor(address, { HTTPS_PROXY: proxy, NO_PROXY: "[fd00::1]:8443" })).toBeNull();
});

test("F22 a proxy that no HTTP client can use is refused without being quoted", () => {
  const refused = () => proxyFor(plane, { HTTPS_PROXY: "socks5://user:canary@proxy.example" });
  expect(refused).toThrow(expect.objectContaining({ code: "invalid" }));
  expect(refused).not.toThrow(/canary/);
});
