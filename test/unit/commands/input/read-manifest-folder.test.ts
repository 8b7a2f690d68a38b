import { describe, expect, test } from "vitest";
import { systemClock } from "../../../../src/clock/system.ts";
import { readManifestFolder } from "../../../../src/commands/input/read-manifest-folder.ts";
import { jsonText } from "../../../../src/render/escape.ts";
import { type Files, folderOf, loadFiles, signal } from "../../source/source.ts";

const team = "type: team\nname: t\nmembers: [a@example.com]\n";
const long = "y".repeat(1_100_000);
const step = { action: "create", patch: [{ op: "add", path: "", value: { type: "service", name: "api" } }] };
const plan = (steps: number) =>
  jsonText({ format_version: "2.2", revision: null, summary: { create: 1 }, steps: Array(steps).fill(step) });

/** The types of the manifests in a folder, or the message of the refusal. */
async function read(files: Files): Promise<readonly unknown[] | string> {
  const reading = readManifestFolder(await folderOf(files), { refused: "not read", clock: systemClock, signal });
  return reading.then(
    (documents) => documents.map(({ manifest }) => manifest.type),
    (error) => error.message,
  );
}

describe("a folder of manifests", () => {
  test.each<[what: string, path: string, content: string | Uint8Array, refusal: string | null]>([
    ["too large, with a type of ours", "x.yaml", `type: team\nx: ${long}\n`, "x.yaml: larger than 1048576 bytes"],
    ["too large, without one", "x.json", `{"x": "${long}"}`, null],
    ["a plan too large to be read", "x.json", plan(9000), null],
    ["a plan with too much in it", "x.json", plan(3000), null],
    ["a plan", "x.json", plan(1), null],
    ["not text, with a type of ours", "x.yaml", Buffer.from("\ufefftype: team\n", "utf16le"), "x.yaml:1:1: "],
    ["not text, without one", "x.yaml", Buffer.from([0x1f, 0x8b, 8, 0, 0xff]), null],
    ["invalid YAML, with a type of ours", "x.yaml", "type: team\nname: [\n", "x.yaml:2:7: not valid YAML"],
    ["invalid YAML, without one", "x.yaml", "{{ .Values.x }}\n", null],
    [
      "with a misspelt `type`",
      "x.yaml",
      "tpye: team\nname: t\nmembers: [a@example.com]\n",
      "x.yaml: no `type`, but `tpye`",
    ],
  ])("refuses a file as a source does: %s", async (_, path, content, refusal) => {
    const files = { "team.yaml": team, [path]: content };
    const { diagnostics } = await loadFiles(files);
    expect(diagnostics.some(({ severity }) => severity === "error")).toBe(refusal !== null);
    const found = await read(files);
    if (refusal === null) expect(found).toContain("team");
    else expect(found).toContain(`not read: ${refusal}`);
  });

  test("may contain secret groups; one that cannot be read is refused", async () => {
    const group = "type: secret-group\nname: g\n";
    expect(await read({ "x.yaml": group })).toEqual(["secret-group"]);
    expect(await read({ "x.yaml": `${group}x: ${long}\n` })).toContain("x.yaml: larger than 1048576 bytes");
    expect(await read({ "x.yaml": `${group}x: [\n` })).toContain("x.yaml:3:4: not valid YAML");
  });
});
