import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { announcedEndpoint, announceEndpoint } from "../../../src/server/endpoint-file.ts";
import { temporaryFolder } from "../../support/folder.ts";

const url = "http://127.0.0.1:7071";

describe("S40 an endpoint", () => {
  test("S40 counts while it is announced, and leaves nothing behind", async () => {
    const folder = await temporaryFolder();
    expect(announcedEndpoint(folder)).toBeNull();
    {
      await using _announced = await announceEndpoint(folder, url);
      expect(announcedEndpoint(folder)).toBe(url);
      expect(readFileSync(join(folder, "endpoint"), "utf8")).toBe(`${url}\n`);
    }
    expect(announcedEndpoint(folder)).toBeNull();
    expect(readdirSync(folder)).toEqual([]);
  });

  test("S40 that a killed server has left is not confirmed by another running server", async () => {
    const folder = await temporaryFolder();
    await using _announced = await announceEndpoint(folder, url);
    writeFileSync(join(folder, "endpoint"), "http://127.0.0.1:7072\n");
    expect(announcedEndpoint(folder)).toBeNull();
    writeFileSync(join(folder, "endpoint"), `${url}\n`);
    expect(announcedEndpoint(folder)).toBe(url);
  });

  test.each(["http://0.0.0.0:7071", "http://[::]:7071"])("S40 is announced on loopback for %s", async (everywhere) => {
    const folder = await temporaryFolder();
    await using _announced = await announceEndpoint(folder, everywhere);
    expect(announcedEndpoint(folder)).toMatch(/^http:\/\/(?:127\.0\.0\.1|\[::1\]):7071$/);
  });

  test.each([
    "http://localhost:7071",
    "http://10.0.0.1:7071",
    "http://127.0.0.1.example.com:7071",
    "http://user@127.0.0.1:7071",
    "http://127.0.0.1:7071/path",
    "http://127.0.0.1:7071\nhttp://127.0.0.1:7072",
    "file:///etc/passwd",
  ])("S40 does not count when it is not an address on loopback: %j", async (other) => {
    const folder = await temporaryFolder();
    await using _announced = await announceEndpoint(folder, other);
    expect(announcedEndpoint(folder)).toBeNull();
  });
});
