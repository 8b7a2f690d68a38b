import { describe, expect, test } from "vitest";
import { summariseOtherDocuments } from "../../../src/core/other-documents.ts";
import { claimsType } from "../../../src/manifests/claims-type.ts";
import { loadFiles } from "../source/source.ts";

const team = "type: team\nname: t\nmembers: [ada@example.com]\n";

async function foundIn(text: string, file = "other.yaml") {
  const { diagnostics, manifests } = await loadFiles({ "team.yaml": team, [file]: text });
  expect(manifests).toHaveLength(1);
  const said = diagnostics.filter(({ otherDocuments }) => otherDocuments === undefined);
  return {
    said: said.map(({ severity, code }) => `${severity} ${code}`),
    otherDocuments: summariseOtherDocuments(diagnostics),
  };
}

describe("a document of another tool beside manifests", () => {
  test.each([
    "_type: chat_prompt\ninput_variables: [question]\ntemplate: Tell me\nmessages: []\nml_repo: x\nname: x\n",
    "$type: service\nname: x\nimage: x\n",
    "'@type': job\nname: x\nimage: x\ntrigger: x\n",
    ".type: job\nimage: x\n",
    "_typ: job\nname: x\nimage: x\n",
    "$types: service\nname: x\nimage: x\n",
    "types: [feat, job]\nname: x\nimage: x\ntrigger: x\n",
    "Type: job\n",
    "Type: job\nname: x\n",
    "tape: volume\n",
    "tpye: service\n",
    "tpye: service\nname: x\nscript: make\n",
    "type: [service]\nname: x\n",
    "type: [service, job]\nimage: x\n",
    "kind: service\nname: x\n",
    "kind: Job\napiVersion: batch/v1\nmetadata: { name: x }\nspec: {}\n",
    "kind: service\napiVersion: serving/v1\nname: x\nimage: x\n",
    "members: [ada@example.com]\n",
    "services:\n  web:\n    volumes:\n    - type: volume\n      source: x\n",
  ])("is counted as one without a type, and nothing is said: %j", async (text) => {
    expect(await foundIn(text)).toMatchObject({ said: [], otherDocuments: { documents: 1, types: new Map() } });
  });

  test.each([
    "type: job\nscript: [make]\n",
    "type: service\nimage: nginx\nports: [80]\n",
    "type: team\nmembers: [ada@example.com]\n",
    "type: job\nname: build\nscript: [make]\nstage: test\n",
    "type: service\nname: web\nspec: { image: x }\n",
    "type: volume\nname: data\ndriver: local\n",
    "type: cluster\nname: c\nnodes: 3\n",
  ])("may have a type of ours, and is counted under it, its file named: %j", async (text) => {
    const [, type = ""] = /^type: (\w+)/.exec(text) ?? [];
    const { said, otherDocuments } = await foundIn(text);
    expect([said, otherDocuments.documents, [...otherDocuments.types], otherDocuments.filesOfOurTypes]).toEqual([
      [],
      1,
      [[type, 1]],
      ["other.yaml"],
    ]);
    expect(otherDocuments.diagnostics).toMatchObject([{ severity: "warning", code: "not-ours", line: 1, column: 7 }]);
  });

  test.each([
    "x-volumes:\n  - type: volume\n  bad\n",
    "<<: *defaults\nsteps:\n- type: job\n   run: {\n",
    '{"mounts": [{"type": "volume"}], // a comment\n}',
    '{"text": "type: job", "mount": {"type": "volume"},}',
    "{{ if .Values.on }}\nspec:\n  type: job\n{{ end }}\n",
  ])("may be broken, and name a type of ours inside: %j", async (text) => {
    expect((await foundIn(text)).said).toEqual([]);
    expect((await foundIn(text, "other.json")).said).toEqual([]);
  });
});

test("a type that is similar to one of ours beside a field of another kind is another tool's", async () => {
  const device = "type: device\nname: x\nserial: 3\n";
  expect(await foundIn(device)).toMatchObject({
    said: [],
    otherDocuments: { documents: 1, types: new Map([["device", 1]]) },
  });
  expect((await foundIn("type: servce\nname: x\nreplicas: 3\n")).said).toEqual(["warning unknown-type"]);
});

describe("a document that is meant as ours is an error", () => {
  test.each([
    ["tpye: service\nname: x\nimage: { type: image, image_uri: x }\n", "no-type"],
    ["Type: workspace\nname: x\ncluster_fqn: cl1\n", "no-type"],
    ["types: job\nimage: x\n", "no-type"],
    ["kind: service\nname: x\nimage: x\nreplicsa: 2\n", "no-type"],
    ["kind: workspace\ncluster_fqn: cl1\n", "no-type"],
    ["type: servce\nname: x\nimage: x\n", "no-type"],
    ["name: x\nmembers: [ada@example.com]\n", "no-type"],
    ["type: service\n", "missing-field", false],
    ["type: service\nname: x\n", "missing-field"],
    ["type: service\nworkspace_fqn: cl1:ws1\nimage: { type: image, image_uri: x }\n", "missing-field"],
    ["type: service\nname: ''\nspec: 1\nreplicas: 1\n", "missing-field"],
    ["type: ml-repo\nname: [\n", "syntax"],
    ["  type: team\n  name: [\n", "syntax"],
    ["{{ x }}\ntype: team\nname: [\n", "syntax"],
    ["{% if x %}\ntype: team\nname: x\n{% endif %}\n", "syntax"],
    ['{"type": "team", "name": "x",}', "syntax"],
    ['{"name": "a \\" b", "x": {}, "type": "team", "members": [}', "syntax"],
  ])("%j", async (text, code, isOurs = true) => {
    const { said } = await foundIn(text, text.startsWith("{") ? "other.json" : "other.yaml");
    if (isOurs) expect(said).toContain(`error ${code}`);
    else expect(said).toEqual([]);
  });
});

test("a text claims a type only where a manifest has its own, in linear time", () => {
  expect(claimsType(`${"a: 1\n".repeat(200_000)}type: job\n`)).toBe(true);
  expect(claimsType(`{${'"a": [{}], '.repeat(100_000)}"type": "job"`)).toBe(true);
  expect(claimsType(`[${'{"type": "job"}, '.repeat(50_000)}`)).toBe(false);
});

describe("a manifest of ours", () => {
  test("that is encrypted with SOPS is told so once, even without its name or fields", async () => {
    const sealed = "ENC[AES256_GCM,data:x,iv:y,tag:z,type:str]";
    const whole = `type: team\nname: b\nmembers: [${JSON.stringify(sealed)}]\nsops:\n  mac: "${sealed}"\n  version: 3.9.0\n`;
    expect((await foundIn(whole)).said).toEqual(["error encrypted"]);
    for (const text of [`type: team\nname: b\nsops:\n  mac: "${sealed}"\n`, "type: team\nsops: { age: [] }\n"])
      expect((await foundIn(text)).said, text).toEqual(["error encrypted"]);
  });

  test.each([
    ["SOPS", '["ENC[AES256_GCM,data:x,iv:y,tag:z,type:str]"]', 3, 11],
    ["hiera-eyaml", '["ENC[PKCS7,MIIB]"]', 3, 11],
    ["hiera-eyaml", "\n  - >\n    ENC[GPG,MIIB\n    BB]", 4, 5],
  ])("that has a value encrypted with %s is told so: %s", async (by, members, line, column) => {
    const { diagnostics } = await loadFiles({ "a.yaml": `type: team\nname: b\nmembers: ${members}\n` });
    const summary = `a value encrypted with ${by}; Holdfast does not decrypt yet`;
    expect(diagnostics).toMatchObject([{ code: "encrypted", summary, line, column }]);
  });

  test.each(["\ufeff---\n", "...\n\ufeff", "... # end\n\ufeff---\n", "...\n\ufeff# next\n"])(
    "may follow a byte-order mark, also in a later document: %j",
    async (between) => {
      const { manifests, diagnostics } = await loadFiles({
        "a.yaml": `\ufeff${team}${between}${team.replace("name: t", "name: u")}`,
      });
      expect([manifests.length, diagnostics]).toEqual([2, []]);
    },
  );

  test.each(["a.json", "a.yaml"])("with a merge conflict around the whole of %s is told so", async (file) => {
    const text = '<<<<<<< HEAD\n{"type":"team","name":"a"}\n=======\n{"type":"team","name":"b"}\n>>>>>>> x\n';
    const { diagnostics } = await loadFiles({ [file]: text });
    expect(diagnostics).toMatchObject([{ code: "syntax", line: 1, column: 1, severity: "error" }]);
    expect(diagnostics[0]?.summary).toContain("a merge conflict that is not resolved");
  });

  test.each(["a.json", "a.yaml"])(
    "with a merge conflict that closes braces before the type of %s is told so",
    async (file) => {
      const text =
        '{\n"labels": {\n<<<<<<< HEAD\n"a": "1"},\n=======\n"a": "2"},\n>>>>>>> x\n"type": "team", "name": "a"}';
      const { diagnostics } = await loadFiles({ [file]: text });
      expect(diagnostics).toMatchObject([{ code: "syntax", line: 3, column: 1, severity: "error" }]);
      expect(diagnostics[0]?.summary).toContain("a merge conflict that is not resolved");
    },
  );

  test("with a merge conflict in JSON is told so", async () => {
    const text =
      '{\n"type": "team",\n<<<<<<< HEAD\n"name": "a",\n=======\n"name": "b",\n>>>>>>> x\n"members": ["a@example.com"]}';
    const { diagnostics } = await loadFiles({ "a.json": text });
    expect(diagnostics).toMatchObject([{ code: "syntax", line: 3, column: 1, severity: "error" }]);
    expect(diagnostics[0]?.summary).toContain("a merge conflict that is not resolved");
  });
});

describe("components that look like manifests", () => {
  const components = "name: suite\ncomponents:\n  - type: service\n    name: a\n  - type: job\n    name: b\n";

  test("without a type above them are one warning with the form to write", async () => {
    const { diagnostics } = await loadFiles({ "suite.yaml": components });
    expect(diagnostics).toMatchObject([{ severity: "warning", code: "no-type", file: "suite.yaml", line: 1 }]);
    expect(diagnostics[0]?.detail).toMatch(/^Write `type: application-set` above/);
  });

  test.each([
    "name: x\ncomponents:\n  - type: button\n",
    "openapi: 3.1.0\ncomponents:\n  schemas: { type: service }\n",
    "name: x\ncomponents: [service, job]\n",
  ])("of another tool are not: %j", async (text) => {
    expect((await foundIn(text)).said).toEqual([]);
  });
});
