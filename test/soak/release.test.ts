import { execFileSync } from "node:child_process";
import { readdirSync, readFileSync, rmSync } from "node:fs";
import { dirname, join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { copyCheckout } from "../support/copy-checkout.ts";

/** Of an ELF header: the architecture that a program is for. */
const machines = { x64: 62, arm64: 183 };

test("a release has the package, the executables, their licences and parts, and sums of all of them", () => {
  const checkout = copyCheckout();
  onTestFinished(() => rmSync(checkout, { recursive: true }));
  const env = { ...process.env, PATH: `${dirname(process.execPath)}:${process.env.PATH}` };
  execFileSync("npm", ["run", "package"], { cwd: checkout, env, stdio: "pipe" });
  const folder = join(checkout, "dist-package");
  const { name, version } = JSON.parse(readFileSync(join(checkout, "package.json"), "utf8"));
  const files = ["LICENSES.txt", `holdfast-${version}.cdx.json`, `holdfast-${version}.tgz`];
  const programs = ["holdfast-linux-arm64", "holdfast-linux-x64"];
  expect(readdirSync(folder).toSorted()).toEqual(["LICENSES.txt", "SHA256SUMS", ...files.slice(1), ...programs]);
  execFileSync("sha256sum", ["--check", "--strict", "SHA256SUMS"], { cwd: folder, stdio: "pipe" });
  expect(readFileSync(join(folder, "SHA256SUMS"), "utf8").split("\n")).toHaveLength(files.length + programs.length + 1);

  const packed = execFileSync("tar", ["-tzf", join(folder, `holdfast-${version}.tgz`)], { encoding: "utf8" });
  const places = packed
    .trimEnd()
    .split("\n")
    .map((file) => file.split("/").slice(1, -1)[0] ?? file);
  expect([...new Set(places)].toSorted()).toEqual([
    ...["bin", "dist"],
    ...["package/LICENSE", "package/README.md", "package/package.json"],
  ]);

  for (const [architecture, machine] of Object.entries(machines)) {
    const program = readFileSync(join(folder, `holdfast-linux-${architecture}`));
    expect([architecture, program.readUInt16LE(18)]).toEqual([architecture, machine]);
    expect(program.includes("dist/generated/schemas/team.json")).toBe(true);
  }

  const bill = JSON.parse(readFileSync(join(folder, `holdfast-${version}.cdx.json`), "utf8"));
  expect(bill).toMatchObject({ bomFormat: "CycloneDX", metadata: { component: { name, version } } });
  const licences = readFileSync(join(folder, "LICENSES.txt"), "utf8");
  const refs: readonly string[] = bill.components.map((component: { "bom-ref": string }) => component["bom-ref"]);
  expect(refs).toEqual(expect.arrayContaining([expect.stringMatching(/^fastify@/), expect.stringMatching(/^node@/)]));
  expect(refs.filter((ref) => ref.startsWith("vitest@"))).toEqual([]);
  for (const ref of refs) expect(licences).toContain(`${ref}\n\n`);
});
