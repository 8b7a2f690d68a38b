import { execFileSync } from "node:child_process";
import { globSync, mkdirSync, readFileSync, symlinkSync, truncateSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { readGivenFile, whyUnreadable } from "../../../src/files/read-given-file.ts";
import { temporaryFolder } from "../../support/folder.ts";

function refusal(path: string): string {
  try {
    readGivenFile(path);
    return "read";
  } catch (error) {
    return whyUnreadable(error);
  }
}

test("S86 a file that the operator names is read, also through links and where its size is not known", async () => {
  const folder = await temporaryFolder();
  writeFileSync(join(folder, "token"), "secret\n");
  symlinkSync("token", join(folder, "link"));
  for (const name of ["token", "link"]) expect(readGivenFile(join(folder, name)).toString()).toBe("secret\n");
  expect(readGivenFile("/proc/self/status").toString()).toContain("Pid:");
});

test("S86 a pipe, a device, a socket, a folder and a file that is too large are refused at once", async () => {
  const folder = await temporaryFolder();
  const at = (name: string) => join(folder, name);
  // Nobody ever writes to it.
  execFileSync("mkfifo", [at("pipe")]);
  symlinkSync("pipe", at("link"));
  mkdirSync(at("folder"));
  writeFileSync(at("large"), "");
  truncateSync(at("large"), 5 * 1024 * 1024);
  const server = createServer().listen(at("socket"));
  onTestFinished(() => void server.close());
  const refusals = ["pipe", "link", "socket", "folder", "large", "absent"].map((name) => refusal(at(name)));
  expect(refusals).toEqual([
    "is a pipe, not a regular file",
    "is a pipe, not a regular file",
    "is a socket, not a regular file",
    "cannot be read (EISDIR): it is a folder",
    "is larger than 4 MiB",
    "cannot be read (ENOENT)",
  ]);
  for (const device of ["/dev/zero", "/dev/null"]) expect(refusal(device)).toBe("is a device, not a regular file");
});

test("a small limit is told in KiB", async () => {
  const path = join(await temporaryFolder(), "file");
  writeFileSync(path, "x".repeat(70_000));
  expect(() => readGivenFile(path, 64 * 1024 + 1)).toThrow("is larger than 64 KiB");
});

// These read files of the package, of the kernel, or of a folder that is ours.
const others = [
  "src/commands/targets/target-state.ts",
  "src/server/endpoint-file.ts",
  "src/server/resources/staged-artifact/send-file.ts",
  "src/source/remote/bare-repository.ts",
  "src/state/sqlite/import-state.ts",
  "src/state/sqlite/export-index.ts",
  "src/yaml/exact/exact-process.ts",
];

test("S86 no file is read in a way that waits for what has no end, but those that cannot be named", () => {
  const reading = globSync("src/**/*.ts").filter((file) =>
    /\b(?:readFileSync|readFile|createReadStream)\(/.test(
      readFileSync(file, "utf8").replaceAll(/function readFile\(/g, ""),
    ),
  );
  expect(reading.filter((file) => file !== "src/cache/source-facts.ts").toSorted()).toEqual(others.toSorted());
});
