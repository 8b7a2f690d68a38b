import { describe, expect, test } from "vitest";
import { brief, loadFiles } from "../source/source.ts";

const image = "image: { type: image, image_uri: 'x/y:1' }\n";
const service = (rest: string) => `type: service\nname: api\nworkspace_fqn: cl1:ws1\n${image}${rest}`;

async function detailsOf(text: string): Promise<readonly string[]> {
  const { diagnostics } = await loadFiles({ "a.yaml": text });
  return diagnostics.map(({ code, detail }) => `${code}: ${detail}`);
}

async function saysOf(text: string, file = "a.yaml"): Promise<readonly string[]> {
  const { diagnostics } = await loadFiles({ [file]: text });
  return diagnostics.map(({ severity, code, line, column, summary }) =>
    [`${line}:${column}`, severity, code, summary].join(" "),
  );
}

describe("a number or boolean that would arrive as another text than is written", () => {
  test.each([
    ["env", service("env: { V: 3.10 }\n")],
    ["labels", service("labels: { V: 3.10 }\n")],
    ["labels of a workspace", "type: workspace\nname: ws1\ncluster_fqn: cl1\nlabels: { V: 3.10 }\n"],
    ["annotations", "type: workspace\nname: ws1\ncluster_fqn: cl1\nannotations: { V: 3.10 }\n"],
    [
      "build arguments",
      "type: job\nname: j\nworkspace_fqn: cl1:ws1\ntrigger: { type: manual }\nimage:\n  type: build\n" +
        "  build_source: { type: git, repo_url: 'https://x.example', ref: a, branch_name: m }\n" +
        "  build_spec: { type: dockerfile, dockerfile_path: D, build_context_path: ., build_args: { V: 3.10 } }\n",
    ],
    ["a field that is only text", service("service_account: 3.10\n")],
    ["an item of a list of texts", "type: cluster\nname: cl1\ncluster_type: aws-eks\nenvironment_names: [3.10]\n"],
    [
      "an application within another",
      `type: application-set\nname: s\nworkspace_fqn: cl1:ws1\ncomponents:\n` +
        "- { type: service, name: a, image: { type: image, image_uri: 'x:1' }, env: { V: 3.10 } }\n",
    ],
  ])("is an error in %s", async (_, text) => {
    const said = await saysOf(text);
    const at = text.slice(0, text.indexOf("3.10")).split("\n");
    const place = `${at.length}:${(at.at(-1) ?? "").length + 1}`;
    expect(said).toContain(`${place} error not-as-written \`3.10\` would arrive as \`3.1\``);
    expect(said.filter((one) => one.includes("wrong-type"))).toEqual([]);
  });

  test.each([
    ["3.10", "3.1"],
    ["1.0", "1"],
    ["7654321e2", "765432100"],
    ["1e3", "1000"],
    ["1E-7", "1e-7"],
    [".5", "0.5"],
    ["5.", "5"],
    ["+5", "5"],
    ["-0", "0"],
    ["0x1F", "31"],
    ["0o17", "15"],
    ["0.1000000000000000055", "0.1"],
    ["!!float 3.10", "3.1", "3.10"],
    ["TRUE", "true"],
    ["False", "false"],
  ])("is whatever %s is, not what it stands for", async (written, read, text = written) => {
    for (const given of [`env: { V: ${written} }\n`, `env:\n  V: ${written}\n`, `env:\n  V: ${written} # as is\n`]) {
      expect(await saysOf(service(given))).toEqual([
        expect.stringContaining(`error not-as-written \`${text}\` would arrive as \`${read}\``),
      ]);
    }
    expect(await saysOf(service(`env: { V: "${text}", W: '${text}', X: ${read} }\n`))).toEqual([]);
  });

  test("is an error in JSON", async () => {
    const text = `{"type": "service", "name": "api", "workspace_fqn": "cl1:ws1",\n${'"image": {"type": "image", "image_uri": "x/y:1"},\n"env": {"V": 1.10, "W": 1.1, "X": 1e2}}'}`;
    expect(await saysOf(text, "a.json")).toEqual([
      "3:14 error not-as-written `1.10` would arrive as `1.1`",
      "3:35 error not-as-written `1e2` would arrive as `100`",
    ]);
  });

  test("is a warning in content that no schema describes", async () => {
    const helm =
      "type: helm\nname: h\nworkspace_fqn: cl1:ws1\nsource: { type: oci-repo, oci_chart_url: 'oci://x/y', version: '1' }\n";
    expect(await saysOf(`${helm}values: { image: { tag: 1.10 }, on: [True] }\n`)).toEqual([
      "5:25 warning not-as-written `1.10` would arrive as `1.1`",
      "5:38 warning not-as-written `True` would arrive as `true`",
    ]);
  });

  test("is nothing where only a number or a boolean is allowed", async () => {
    const resources = "resources: { cpu_request: 0.70, cpu_limit: 1.0, memory_request: 1e3, memory_limit: 0x7d0 }\n";
    expect(await saysOf(service(`${resources}allow_interception: True\nreplicas: 1.0\n`))).toEqual([]);
  });

  test("is found behind every alias to it", async () => {
    const said = await saysOf(service("env: &all { A: &one 3.10, B: *one }\nlabels: *all\n"));
    expect(said.map((one) => one.split(" ")[0])).toEqual(["5:21", "5:30", "6:1", "6:1"]);
  });

  test("is not shown where it may be a secret", async () => {
    const said = await saysOf(service("env: { DB_PASSWORD: 12345e6 }\n"));
    expect(said).toEqual(["5:21 error not-as-written a value that would arrive as another text (not shown)"]);
  });

  test("refuses the manifest, and errors come before warnings when there are many", async () => {
    const values = Array.from({ length: 150 }, (_, n) => `  v${n}: 1.0\n`).join("");
    const chart = "source: { type: oci-repo, oci_chart_url: 'oci://x/y', version: 1.10 }\n";
    const { diagnostics, manifests } = await loadFiles({
      "a.yaml": `type: helm\nname: h\nworkspace_fqn: cl1:ws1\n${chart}values:\n${values}`,
    });
    expect(manifests).toEqual([]);
    expect(brief(diagnostics)).toContain("a.yaml:4:64 error not-as-written");
    expect(diagnostics.length).toBe(100);
  });
});

describe("a number that cannot be read as it is written", () => {
  test.each([
    ["012", 'octal-looking: Write `"012"`; `0o12` for an octal number, `12` for a decimal number.'],
    ["-012", 'octal-looking: Write `"-012"`; `-12` for a decimal number.'],
    ["089", 'octal-looking: Write `"089"`; `89` for a decimal number.'],
    ["01.50", 'octal-looking: Write `"01.50"`; `1.5` for a decimal number.'],
    ["12345678901234567890", 'unsafe-integer: Write `"12345678901234567890"`.'],
    [".inf", 'not-finite: Write `".inf"`.'],
    ["1e999", 'not-finite: Write `"1e999"`.'],
  ])("is told with the form to write: %s", async (written, told) => {
    for (const given of [`env: { V: ${written} }\n`, `env:\n  V: ${written}\n`, `env: { V: &v ${written} }\n`])
      expect(await detailsOf(service(given))).toEqual([told]);
    expect(await detailsOf(service(`env: { V: "${written}" }\n`))).toEqual([]);
  });

  test("is told in content that no schema describes, and in fields that are only text", async () => {
    const told = 'octal-looking: Write `"0755"`; `0o755` for an octal number, `755` for a decimal number.';
    const chart = "source: { type: oci-repo, oci_chart_url: 'oci://x/y', version: 0755 }\n";
    const helm = `type: helm\nname: h\nworkspace_fqn: cl1:ws1\n${chart}values: { mode: 0755 }\n`;
    expect(await detailsOf(helm)).toEqual([told, told]);
  });

  test("is not shown under the name of a secret", async () => {
    for (const written of ["0123454321", "12345678901234543210"]) {
      for (const rest of [`env: { DB_PASSWORD: ${written} }\n`, `env:\n  DB_PASSWORD: &a ${written}\n`]) {
        const { diagnostics } = await loadFiles({ "a.yaml": service(rest) });
        expect(diagnostics.map(({ detail }) => detail)).toEqual(["Write it in quotes."]);
        expect(JSON.stringify(diagnostics)).not.toContain("12345");
      }
    }
  });

  test("is told generally where only a number is allowed", async () => {
    expect(await detailsOf(service("replicas: 012\n"))).toEqual([expect.stringContaining("write 0o755 for an octal")]);
  });
});
