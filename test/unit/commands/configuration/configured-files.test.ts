import { execFileSync } from "node:child_process";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { type ConfiguredFile, requireUsable } from "../../../../src/commands/configuration/configured-files.ts";
import { canBeReadAgain, fingerprintOf } from "../../../../src/commands/configuration/read-operator-file.ts";
import { temporaryFolder } from "../../../support/folder.ts";
import { mountVolume } from "../../../support/mounted-volume.ts";

const certificate = "-----BEGIN CERTIFICATE-----\nMIIB\n-----END CERTIFICATE-----\n";

function configured(path: string, holds: ConfiguredFile["holds"], wasEmpty = false): ConfiguredFile {
  return { path, holds, wasEmpty, state: fingerprintOf(path, null) };
}

test("files that have lost what they held are refused, and those that never held anything are not", async () => {
  const { path, swap } = await mountVolume({ token: "CANARY", "ca.pem": certificate, empty: "" });
  const files = [
    configured(path("token"), "secret"),
    configured(path("ca.pem"), "certificates"),
    configured(path("empty"), "secret", true),
  ];
  expect(() => requireUsable(files)).not.toThrow();
  await swap({ token: "\n", "ca.pem": certificate });
  expect(() => requireUsable(files)).toThrow(/token is missing or empty$/);
  await swap({ token: "CANARY", "ca.pem": "CANARY" });
  expect(() => requireUsable(files)).toThrow(/ca\.pem holds no PEM certificate$/);
});

test("a file is read again only where its link leads elsewhere or it was written, and a pipe never", async () => {
  const volume = await mountVolume({ token: "one" });
  const before = fingerprintOf(volume.path("token"), null);
  expect(fingerprintOf(volume.path("token"), before)).toBe(before);
  await volume.swap({ token: "one" });
  expect(fingerprintOf(volume.path("token"), before).digest).toBe(before.digest);
  await volume.swap({ token: "two" });
  expect(fingerprintOf(volume.path("token"), before).digest).not.toBe(before.digest);
  await volume.swap({});
  expect(fingerprintOf(volume.path("token"), before).digest).not.toBe(before.digest);
  const pipe = join(await temporaryFolder(), "pipe");
  execFileSync("mkfifo", [pipe]);
  expect(canBeReadAgain(pipe)).toBe(false);
  await writeFile(`${pipe}-file`, "");
  expect(canBeReadAgain(`${pipe}-file`)).toBe(true);
});
