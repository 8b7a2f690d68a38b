import { describe, expect, test } from "vitest";
import { systemClock } from "../../../src/clock/system.ts";
import { summariseOtherDocuments } from "../../../src/core/other-documents.ts";
import { locateField, readManifest } from "../../../src/manifests/read-manifests.ts";
import { jsonText } from "../../../src/render/escape.ts";
import { everyKind } from "../../support/manifests.ts";
import { processorMs } from "../../support/processor-time.ts";
import { brief, type Files, folderOf, loadFiles, loadRevision, read, signal } from "../source/source.ts";

const cluster = "type: cluster\nname: cl1\ncluster_type: aws-eks\nbase_domains: ['*.example.com']\n";
const workspace = "type: workspace\nname: ws1\ncluster_fqn: cl1\nenvironment_name: dev\n";
const service = (name: string, rest = "") =>
  `type: service\nname: ${name}\nworkspace_fqn: cl1:ws1\nimage: {type: image, image_uri: "x/y:1"}\n${rest}`;
const repo = "type: ml-repo\nname: rp\n";
const prompt = (rest: string) =>
  `type: chat_prompt\nname: p\nml_repo: rp\nmessages: [{role: user, content: hi}]\n${rest}`;

async function faultsOf(files: Files, rules = {}) {
  const { diagnostics } = await loadFiles(files, rules);
  return brief(diagnostics);
}

async function saysOf(files: Files, rules = {}) {
  const { diagnostics } = await loadFiles(files, rules);
  return diagnostics.map(({ summary, detail }) => `${summary} ${detail}`).join("\n");
}

describe("loading", () => {
  test("gives every manifest after what it refers to, with its wave and its place", async () => {
    const loaded = await loadFiles({
      "all.yaml": `${service("api")}---\n# the workspace\n${workspace}`,
      "c.yaml": cluster,
    });
    expect(loaded.diagnostics).toEqual([]);
    expect(loaded.manifests.map(({ identity, file, line }) => `${identity} ${file}:${line}`)).toEqual([
      "cluster/cl1 c.yaml:1",
      "workspace/cl1:ws1 all.yaml:7",
      "service/cl1:ws1/api all.yaml:1",
    ]);
    expect(Object.fromEntries(loaded.waves)).toEqual({
      "cluster/cl1": 0,
      "workspace/cl1:ws1": 1,
      "service/cl1:ws1/api": 2,
    });
    expect(loaded).toMatchObject({ files: 2, documents: 3 });
    const [, , manifest] = loaded.manifests;
    const position = manifest && (await locateField({ manifest, pointer: "/image/image_uri" }, { signal }));
    expect(position).toEqual({ file: "all.yaml", line: 4, column: 33 });
  });

  test("counts documents that are not ours where they are found, whatever is said of them", async () => {
    const { diagnostics } = await loadFiles({
      "a.yaml": "type: gateway\nname: (7 documents)\n---\ntype: gateway\n---\nkind: Service\n---\n`a`: (9 documents)\n",
      "b.yaml": "type: gateway\n---\ntype: servce\n---\ntype: a `b` (3 documents)\n",
      "c.yaml": "",
      "d.json": "{{ .Values.x }}\n",
    });
    const { documents, types } = summariseOtherDocuments(diagnostics);
    expect([documents, Object.fromEntries(types)]).toEqual([8, { gateway: 3, other: 1 }]);
    const warned = diagnostics.filter(({ otherDocuments }) => otherDocuments === undefined);
    expect(warned.map(({ detail }) => detail)).toEqual(["Did you mean `service`?"]);
  });

  test("reports every fault of every file at once, where it stands", async () => {
    const faults = await faultsOf({
      "a.yaml": service("api", "replicas: two\nports:\n  - port: 80\n    hoost: x\nmode: 0755\n"),
      "b.yaml": "type: team\nname: t\nmembers: []\n---\ntype: team\nname: [\n",
    });
    expect(faults).toEqual([
      "a.yaml:5:11 error wrong-type",
      "a.yaml:8:5 error unknown-field",
      "a.yaml:9:1 error unknown-field",
      "a.yaml:9:7 error octal-looking",
      "b.yaml:3:10 error out-of-range",
      expect.stringMatching(/^b\.yaml:\d:\d+ error syntax$/),
    ]);
  });

  test("B30: one bad manifest leaves the others sound", async () => {
    const files = Object.fromEntries(
      Array.from({ length: 100 }, (_, n) => [`t${n}.yaml`, `type: team\nname: t${n}\nmembers: [a@example.com]\n`]),
    );
    const loaded = await loadFiles({ ...files, "t50.yaml": "type: team\nname: t50\nmembers: 5\n" });
    expect(loaded.manifests).toHaveLength(99);
    expect([...loaded.invalid]).toEqual(["team/t50"]);
    expect(loaded.declared.size).toBe(100);
  });

  test("can be stopped", async () => {
    const { loadManifests } = await import("../../../src/manifests/load-manifests.ts");
    const revision = await read(await folderOf({ "a.yaml": cluster }));
    const options = {
      rules: {},
      limits: (await import("../../../src/source/limits.ts")).defaultLimits,
      now: new Date(),
    };
    await expect(loadManifests(revision, options, { clock: systemClock, signal: AbortSignal.abort() })).rejects.toThrow(
      "aborted",
    );
  });
});

describe("files that are not ours", () => {
  test("are skipped with a warning and stop nothing", async () => {
    const loaded = await loadFiles({
      "package.json": JSON.stringify({ name: "x", type: "module", types: "./index.d.ts", dependencies: {} }),
      "schema.json": JSON.stringify({ type: ["object", "null"], properties: { type: { type: "string" } } }),
      "chart/templates/x.yaml": "kind: {{ .Values.kind }}\n{{- if .Values.on }}\na: 1\n",
      "stack.yaml": "Resources:\n  A: !Ref B\n  mode: 0755\n",
      "k8s.yaml": "apiVersion: v1\nkind: Service\nmetadata: {name: x}\nspec: {type: ClusterIP}\n---\nkind: ConfigMap\n",
      "list.yaml": "- a\n- b\n",
      "toml.yaml": '[section]\nkey = "v"\n',
      "empty.yaml": "# nothing\n",
      "null.yaml": "---\n",
      "other.yaml": "type: made-up\nname: x\n",
      "a.yaml": cluster,
    });
    expect(loaded.manifests).toHaveLength(1);
    expect(loaded.diagnostics.every(({ severity }) => severity === "warning")).toBe(true);
    const codes = Object.fromEntries(loaded.diagnostics.map(({ file, code }) => [file, code]));
    expect(codes).toMatchObject({
      "package.json": "unknown-type",
      "schema.json": "not-a-manifest",
      "k8s.yaml": "not-a-manifest",
      "list.yaml": "not-a-manifest",
      "empty.yaml": "empty",
      "null.yaml": "empty",
      "other.yaml": "unknown-type",
      "chart/templates/x.yaml": "not-read",
    });
    expect(loaded.diagnostics.filter(({ file }) => file === "k8s.yaml")).toHaveLength(1);
  });

  test("B1, B20, B26: that are no text or too large count only where they name a type of ours", async () => {
    const faults = await faultsOf({
      "gone.yaml": Buffer.from([0x1f, 0x8b, 8, 0, 0xff]),
      "ours.yaml": Buffer.concat([Buffer.from("type: service\nname: "), Buffer.from([0xff])]),
      "wide.yaml": Buffer.from("\ufefftype: team\n", "utf16le"),
      "huge.json": `{"x": "${"y".repeat(1_100_000)}"}`,
      "huge.yaml": `type: service\ndescription: ${"y".repeat(1_100_000)}\n`,
    });
    expect(faults).toEqual([
      "gone.yaml:null:null warning encoding",
      "huge.json:null:null warning too-large",
      "huge.yaml:null:null error too-large",
      "ours.yaml:null:null error encoding",
      "wide.yaml:null:null error encoding",
    ]);
  });

  const wide = (text: string) => Buffer.from(text, "utf16le");
  const wider = (text: string) => Buffer.concat([...text].map((each) => Buffer.from([each.charCodeAt(0), 0, 0, 0])));
  test.each([
    ["UTF-16 with its mark", wide("\ufefftype: team\nname: a\n")],
    ["UTF-16 without", wide("type: team\nname: a\n")],
    ["UTF-16 without, of an odd length", Buffer.concat([wide("type: team\nname: a\n"), Buffer.from("\n")])],
    ["UTF-16 without, of a comment that is not ASCII", wide("# チーム\ntype: team\nname: a\n")],
    ["UTF-16 big-endian with its mark", wide("\ufefftype: team\nname: a\n").swap16()],
    ["UTF-16 big-endian without", wide("type: team\nname: a\n").swap16()],
    ["UTF-32 with its mark", Buffer.concat([Buffer.from([0xff, 0xfe, 0, 0]), wider("type: team\nname: a\n")])],
    ["UTF-32 without", wider("type: team\nname: a\n")],
    [
      "UTF-32 big-endian with its mark",
      Buffer.concat([Buffer.from([0, 0, 0xfe, 0xff]), wider("type: team\n").swap32()]),
    ],
    ["UTF-32 big-endian without", wider("type: team\nname: a\n").swap32()],
    ["Latin-1", Buffer.from("type: team\nname: \xe9\n", "latin1")],
    [
      "Shift_JIS",
      Buffer.concat([Buffer.from("type: team\nname: "), Buffer.from([0x83, 0x60, 0x81, 0x5b, 0x83, 0x80])]),
    ],
    ["EBCDIC 1047", Buffer.from("a3a897857a40a385819425958194857a408125", "hex")],
    ["EBCDIC 037, as JSON", Buffer.from("c07fa3a897857f7a7fa38581947f6b407f95818194857f7a7f817fd0", "hex")],
  ])("B1: in another encoding than UTF-8 are errors: %s", async (_, bytes) => {
    const [code] = (await faultsOf({ "a.yaml": bytes })).map((each) => each.split(" ").slice(1).join(" "));
    expect(code).toMatch(/^error (?:encoding|control-character)$/);
  });

  test.each([
    ["lfs-pointer", "version https://git-lfs.github.com/spec/v1\noid sha256:0\nsize 1\n"],
    ["lfs-pointer", "version https://hawser.github.com/spec/v1\noid sha256:0\nsize 1\n"],
    ["lfs-pointer", "version http://git-media.io/v/2\noid sha256:0\nsize 1\n"],
    ["pointer", "/annex/objects/SHA256E-s12--0123.yaml\n"],
    ["pointer", `${"../".repeat(20)}.git/annex/objects/aa/bb/SHA256E-s12--0123.yaml/SHA256E-s12--0123.yaml`],
    ["pointer", '# xet version 0\nfilesize = 12\nhash = "0123"\n'],
    ["pointer", `#$# git-fat ${"0".repeat(40)}                   12\n`],
    ["pointer", "bigstore\nsha256\n0123\n"],
    ["encrypted", "\0GITCRYPT\0\x01\x02"],
    ["encrypted", "# STRONGBOX ENCRYPTED RESOURCE ; See https://github.com/uw-labs/strongbox\nAAAA\n"],
    ["encrypted", "U2FsdGVkX1+AAAA\n"],
    ["encrypted", "Salted__\x01\x02"],
    ["encrypted", "age-encryption.org/v1\n-> X25519 AAAA\n"],
    ["encrypted", "-----BEGIN AGE ENCRYPTED FILE-----\nAAAA\n"],
    ["encrypted", "$ANSIBLE_VAULT;1.1;AES256\n3132\n"],
    ["encrypted", "-----BEGIN PGP MESSAGE-----\n\nAAAA\n"],
    ["encrypted", "-----BEGIN CMS-----\nAAAA\n"],
  ])("in an envelope that hides their content are errors, whichever way they are read: %s %j", async (code, text) => {
    const files = { "a.yaml": text, "b.json": text, "c.yml": text, "d.txt": text };
    const told = ["a.yaml", "b.json", "c.yml"].map((file) => `${file}:null:null error ${code}`);
    expect(await faultsOf(files)).toEqual(told);
    // As editors on other systems write it.
    const marked = { "a.yaml": `\ufeff${text}`, "b.yaml": text.replaceAll("\n", "\r\n") };
    if (/^[ -~\n]*$/.test(text))
      expect(await faultsOf(marked)).toEqual(told.slice(0, 2).map((line) => line.replace("b.json", "b.yaml")));
  });

  test("that only mention an envelope are not in one", async () => {
    expect(
      await faultsOf({ "a.yaml": "# version https://git-lfs.github.com/spec/v1, xet version 0\na: U2FsdGVkX1\n" }),
    ).toEqual(["a.yaml:2:1 warning not-a-manifest"]);
  });

  test("that a command of ours wrote are skipped silently, however much they show", async () => {
    const step = { action: "create", patch: [{ op: "add", path: "", value: { type: "service", name: "api" } }] };
    const plan = (steps: number) =>
      jsonText({ format_version: "2.2", revision: null, summary: { create: 1 }, steps: Array(steps).fill(step) });
    const files = { "plan.json": plan(1), "wide.json": plan(3000), "huge.json": plan(9000) };
    expect(Object.values(files).map(({ length }) => length > 1024 * 1024)).toEqual([false, false, true]);
    expect(await faultsOf(files)).toEqual([]);
  });

  test.each([
    ["tpye: service\nname: x\nimage: {}\n", "no-type", "Write `type: service`"],
    ["Type: workspace\ncluster_fqn: x\n", "no-type", "Write `type: workspace`"],
    [
      "kind: service\nname: x\nworkspace_fqn: c:w\nimage: {type: image, image_uri: a}\n",
      "no-type",
      "Write `type: service`",
    ],
    ["kind: Team\nname: x\nmembers: [a@example.com]\n", "no-type", "Write `type: team`"],
    [
      "name: x\nworkspace_fqn: cl1:ws1\nimage: {type: image}\n",
      "no-type",
      "one of async-service, codeserver, job, notebook, rstudio, service",
    ],
    ["name: x\nmembers: [ada@example.com]\n", "no-type", "add `type: team`"],
    ["name: x\nmembers: [ada@example.com]\nvisibility: public\n", "not-a-manifest", "`type` of a manifest is one of"],
    ["type: servce\nname: x\n", "unknown-type", "Did you mean `service`"],
  ])("B18: %j is not quite one of them", async (text, code, hint) => {
    expect((await faultsOf({ "a.yaml": text })).join()).toContain(code);
    expect(await saysOf({ "a.yaml": text })).toContain(hint);
  });
});

describe("a manifest with a fault of form", () => {
  const faulty = `${service("api")}replica: 2\nresources: {cpu_request: 2, cpu_limit: 1}\n`.replace(
    "cl1:ws1",
    "cl1:ws2",
  );

  test("has its dangling references and inconsistent limits told at once", async () => {
    expect(await faultsOf({ "a.yaml": `${cluster}---\n${workspace}`, "b.yaml": faulty })).toEqual([
      "b.yaml:3:16 error undeclared-reference",
      "b.yaml:5:1 error unknown-field",
      "b.yaml:6:26 error inconsistent",
    ]);
  });

  test("has what is said about a key at the key", async () => {
    const spec = '{ type: dockerfile, "python_dependencies": { type: pip } }';
    const text = service("api", 'labels: { ok: x, "": y }\n');
    const built = service("built").replace(/image:.*/, `image: { type: build, build_spec: ${spec} }`);
    expect(await faultsOf({ "a.yaml": `${cluster}---\n${workspace}`, "b.yaml": text, "c.yaml": built })).toEqual([
      "b.yaml:5:18 error invalid-form",
      `c.yaml:4:${"image: { type: build, build_spec: { type: dockerfile, ".length + 1} warning inconsistent`,
    ]);
  });

  test("is not asked for what a faulty field may mean", async () => {
    const place = "type: workspace\nname: [ws1]\ncluster_fqn: {cl1: cl2}\n";
    expect(await faultsOf({ "a.yaml": cluster, "b.yaml": place })).toEqual([
      "b.yaml:2:7 error wrong-type",
      "b.yaml:3:14 error wrong-type",
    ]);
  });

  test("is checked whatever field it lacks, of every kind", async () => {
    for (const [path, text] of Object.entries(everyKind)) {
      const blocks = text.split(/^(?=\S)/m);
      for (const block of blocks.filter((each) => !each.startsWith("type:"))) {
        const rest = blocks.filter((each) => each !== block).join("");
        await expect(loadFiles({ ...everyKind, [path]: `${rest}unheard_of: 1\n` })).resolves.toBeDefined();
      }
    }
  });
});

describe("identities", () => {
  test("that are declared twice are refused in both places, and neither is taken", async () => {
    const loaded = await loadFiles({
      "a.yaml": cluster,
      "b.yaml": `${workspace}---\n${cluster}`,
      "A.yaml": "type: cluster\nname: cl2\ncluster_type: x\n",
    });
    expect(brief(loaded.diagnostics.filter(({ severity }) => severity === "error"))).toEqual([
      "a.yaml:2:7 error duplicate-identity",
      "b.yaml:7:7 error duplicate-identity",
    ]);
    expect(loaded.diagnostics.find(({ code }) => code === "duplicate-identity")?.detail).toContain("b.yaml:6");
    expect(loaded.manifests.map(({ identity }) => identity)).not.toContain("cluster/cl1");
  });

  test("of a team and an SSO team are the same", async () => {
    const faults = await faultsOf({
      "a.yaml": "type: team\nname: t\nmembers: [a@example.com]\n---\ntype: sso-team\nname: t\n",
    });
    expect(faults).toEqual(["a.yaml:2:7 error duplicate-identity", "a.yaml:6:7 error duplicate-identity"]);
  });

  test("carry the version number, and a version follows the one before it", async () => {
    const loaded = await loadFiles({
      "a.yaml": [repo, prompt("version: 2\n"), prompt("version: 1\n"), prompt("version: 4\n")].join("---\n"),
    });
    expect(loaded.diagnostics).toEqual([]);
    expect(loaded.manifests.map(({ identity }) => identity)).toEqual([
      "ml-repo/rp",
      "chat_prompt/rp/p@1",
      "chat_prompt/rp/p@4",
      "chat_prompt/rp/p@2",
    ]);
    expect(loaded.manifests[3]?.references).toContainEqual({ identity: "chat_prompt/rp/p@1", pointer: "/version" });
  });

  test("with and without a number do not go together", async () => {
    const loaded = await loadFiles({ "a.yaml": [repo, prompt(""), prompt("version: 2\n")].join("---\n") });
    expect(brief(loaded.diagnostics)).toEqual(["a.yaml:5:7 error mixed-versions", "a.yaml:10:7 error mixed-versions"]);
    expect(loaded.manifests).toHaveLength(1);
  });
});

test("`$schema` tells an editor how to check a manifest, and is no part of it", async () => {
  const manifest = {
    $schema: "https://example.com/cluster.json",
    type: "cluster",
    name: "cl1",
    cluster_type: "aws-eks",
  };
  const loaded = await loadFiles({ "cluster.json": JSON.stringify(manifest) });
  expect(brief(loaded.diagnostics)).toEqual([]);
  const { $schema: _, ...value } = manifest;
  expect(loaded.manifests).toMatchObject([{ identity: "cluster/cl1", value }]);
  expect(loaded.manifests[0]).not.toHaveProperty(["value", "$schema"]);
});

describe("references", () => {
  test("to volumes and model versions that an application uses are checked and ordered", async () => {
    const volume =
      "type: volume\nname: data\nworkspace_fqn: cl1:ws1\nconfig: { type: static, persistent_volume_name: p }\n";
    const model = (rest = "") =>
      `type: model-version\nname: m${rest}\nml_repo: rp\nsource: { type: external, uri: "s3://m" }\n`;
    const uses = (fqn: string, version: string) =>
      `mounts: [{ type: volume, mount_path: /data, volume_fqn: "${fqn}" }]\nartifacts_download:\n  artifacts: ` +
      `[{ type: truefoundry-artifact, artifact_version_fqn: "${version}", download_path_env_variable: M }]\n`;
    const { manifests, diagnostics } = await loadFiles({
      "a.yaml": service("a", uses("cl1:ws1:data", "model:t/rp/m:1")),
      "b.yaml": [volume, model(), model("2\nversion: 2"), repo].join("---\n"),
      "c.yaml": service("c", uses("cl1:ws1:dat", "model:t/rp/m2:2")),
    });
    expect(diagnostics.map(({ summary, file, line }) => `${file}:${line} ${summary}`)).toEqual([
      "c.yaml:5 the volume `cl1:ws1/dat` is not declared here",
    ]);
    expect(manifests.map(({ identity }) => identity).at(-1)).toBe("service/cl1:ws1/a");
    expect(manifests.at(-1)?.references.map(({ identity }) => identity)).toEqual([
      "workspace/cl1:ws1",
      "volume/cl1:ws1/data",
      "model-version/rp/m",
    ]);
  });

  test("B23: to what the source should declare and does not are refused, with the likely name", async () => {
    const loaded = await loadFiles({
      "a.yaml": [cluster, workspace.replace("ws1", "ws2"), service("api")].join("---\n"),
    });
    expect(brief(loaded.diagnostics)).toEqual(["a.yaml:13:16 error undeclared-reference"]);
    expect(loaded.diagnostics[0]).toMatchObject({
      summary: "the workspace `cl1:ws1` is not declared here",
      detail:
        "Did you mean `cl1:ws2`? Else declare it here, or list `workspace/cl1:ws1` under `external` in holdfast.yaml.",
    });
    expect([...loaded.invalid]).toEqual(["service/cl1:ws1/api"]);
  });

  test("to one undeclared resource are one diagnostic with its places, and refuse every manifest that has one", async () => {
    const loaded = await loadFiles({
      "a.yaml": [cluster, workspace.replace("ws1", "ws2"), service("api"), service("web")].join("---\n"),
      "b.yaml": service("worker"),
    });
    expect(loaded.diagnostics).toMatchObject([
      {
        code: "undeclared-reference",
        file: "a.yaml",
        line: 13,
        related: [
          { file: "a.yaml", line: expect.any(Number), column: 16 },
          { file: "b.yaml", line: expect.any(Number), column: 16 },
        ],
      },
    ]);
    const names = ["api", "web", "worker"].map((name) => `service/cl1:ws1/${name}`);
    expect([...loaded.invalid].toSorted()).toEqual(names);
    expect(loaded.refused.map(({ identity, code }) => [identity, code])).toEqual(
      names.map((identity) => [identity, "undeclared-reference"]),
    );
  });

  test("to a kind of which nothing is declared are taken as external", async () => {
    expect(await faultsOf({ "a.yaml": service("api") })).toEqual([]);
  });

  test("that `external` names need no declaration", async () => {
    const files = { "a.yaml": [cluster, workspace, service("api").replace("cl1:ws1", "cl9:shared")].join("---\n") };
    expect(await faultsOf(files)).toHaveLength(1);
    expect(await faultsOf(files, { external: ["workspace/cl9:*"] })).toEqual([]);
  });

  test("to something declared but broken are no faults of their own, so that the dependant is blocked instead", async () => {
    const loaded = await loadFiles({
      "a.yaml": [
        cluster,
        workspace.replace("cl1", "cl1\nbroken: ["),
        service("api"),
        workspace.replace("ws1", "ws3"),
      ].join("---\n"),
    });
    expect(loaded.diagnostics.map(({ code }) => code)).toEqual(
      ["syntax"].concat(loaded.diagnostics.slice(1).map(() => "syntax")),
    );
    expect([...loaded.invalid]).toEqual(["workspace/cl1:ws1"]);
    expect(loaded.manifests.map(({ identity }) => identity)).toContain("service/cl1:ws1/api");
  });

  test("to something declared in broken JSON are none either", async () => {
    const broken = { type: "workspace", name: "ws1", cluster_fqn: "cl1", collaborators: [{ name: "ws2" }] };
    const loaded = await loadFiles({
      "cluster.yaml": cluster,
      "ws.json": JSON.stringify(broken, null, 2).replace(/\}$/, ",}"),
      "api.yaml": service("api"),
    });
    expect(brief(loaded.diagnostics)).toEqual([expect.stringMatching(/^ws\.json:\d+:\d+ error syntax$/)]);
    expect([...loaded.invalid]).toEqual(["workspace/cl1:ws1"]);
  });

  test("B23: in a circle are refused with the path", async () => {
    const loaded = await loadFiles({
      "a.yaml": `${cluster}---\n${workspace}collaborators: [{subject: "virtualaccount:ci", role_id: workspace-editor}]\n`,
      "b.yaml":
        "type: virtual-account\nname: ci\npermissions:\n  - {resource_type: workspace, resource_fqn: cl1:ws1, role_id: workspace-editor}\n",
      "c.yaml": service("api"),
    });
    expect(brief(loaded.diagnostics)).toEqual(["b.yaml:4:46 error cycle"]);
    expect(loaded.diagnostics[0]?.summary).toBe(
      "a cycle of references: virtual-account/ci → workspace/cl1:ws1 → virtual-account/ci",
    );
    expect([...loaded.invalid].toSorted()).toEqual(["virtual-account/ci", "workspace/cl1:ws1"]);
    expect(loaded.manifests.map(({ identity }) => identity)).toEqual(["cluster/cl1", "service/cl1:ws1/api"]);
  });
});

describe("meaning", () => {
  test("B22: is checked with the cluster that the workspace is in", async () => {
    const exposed = (host: string) =>
      service(
        "api",
        `ports:\n  - {port: 80, expose: true, host: ${host}}\nresources: {cpu_request: 2, cpu_limit: 1}\n`,
      );
    const loaded = await loadFiles({ "a.yaml": [cluster, workspace, exposed("api.elsewhere.org")].join("---\n") });
    const errors = loaded.diagnostics.filter(({ severity }) => severity === "error");
    expect(errors).toHaveLength(2);
    expect(errors.every(({ line }) => line !== null && line >= 14)).toBe(true);
    const fine = await loadFiles({
      "a.yaml": [cluster, workspace, exposed("api.example.com").replace("cpu_limit: 1", "cpu_limit: 2")].join("---\n"),
    });
    expect(fine.diagnostics.filter(({ severity }) => severity === "error")).toEqual([]);
  });

  test("B25: impossible dates are errors, past ones warnings", async () => {
    const account = (date: string) =>
      `type: virtual-account\nname: ci\nexpiration_date: "${date}"\npermissions:\n  - {resource_type: tenant, resource_fqn: t, role_id: tenant-member}\n`;
    expect(await faultsOf({ "a.yaml": account("2026-02-30") })).toEqual([expect.stringContaining("error")]);
    expect(await faultsOf({ "a.yaml": account("2026-11-20") })).toEqual([expect.stringContaining("warning")]);
    expect(await faultsOf({ "a.yaml": account("2026-11-21") })).toEqual([]);
  });
});

// biome-ignore-start lint/suspicious/noTemplateCurlyInString: manifests hold such variables.
describe("secrets", () => {
  // In two parts, so that no scanner takes the tests themselves for a leak.
  const tokens = [
    `ghp_${"a1B2".repeat(10)}`,
    `AKIA${"ABCD1234".repeat(2)}`,
    `eyJ${"hbGciOi".repeat(3)}.eyJ${"zdWIiOi".repeat(3)}.${"c2ln".repeat(5)}`,
    `-----BEGIN ${"RSA PRIVATE"} KEY-----`,
  ];

  test.each(tokens)("B24: a credential is refused wherever it stands, and never shown (%#)", async (token) => {
    const files = {
      "a.yaml": service("api", `env:\n  HARMLESS: ${JSON.stringify(token)}\n`),
      "b.yaml": prompt("").replace("hi", JSON.stringify(`use ${token}`)),
    };
    const loaded = await loadFiles(files);
    expect(brief(loaded.diagnostics)).toEqual([
      "a.yaml:6:13 error literal-credential",
      "b.yaml:4:34 error literal-credential",
    ]);
    expect(JSON.stringify(loaded.diagnostics)).not.toContain(token.slice(0, 20));
    expect(loaded.manifests).toEqual([]);
    expect((await loadFiles(files, { allowLiteralSecrets: ["*.yaml"] })).manifests).toHaveLength(2);
  });

  test.each(tokens.slice(0, 3))(
    "B24: a credential as the name of a free field is refused there, and never shown (%#)",
    async (token) => {
      const files = {
        "a.yaml": service("api", `env:\n  A: b\n  ${token}: x\n`),
        "b.yaml": service("b", `labels:\n  "postgres://ada:${token}@db/app": x\n`),
      };
      const loaded = await loadFiles(files);
      expect(brief(loaded.diagnostics)).toContain("a.yaml:7:3 error literal-credential");
      expect(brief(loaded.diagnostics).filter((line) => line.startsWith("b.yaml:6:3 error literal-"))).toHaveLength(1);
      expect(JSON.stringify(loaded.diagnostics)).not.toContain(token.slice(0, 20));
      expect(brief((await loadFiles(files, { allowLiteralSecrets: ["*.yaml"] })).diagnostics)).not.toContain(
        "a.yaml:7:3 error literal-credential",
      );
    },
  );

  test("B24: a connection string with a password as the name of a free field is a warning there", async () => {
    const files = { "a.yaml": service("api", 'env:\n  "postgres://ada:hunter2x@db/app": x\n') };
    const loaded = await loadFiles(files);
    expect(brief(loaded.diagnostics)).toEqual(["a.yaml:6:3 warning literal-secret"]);
    expect(JSON.stringify(loaded.diagnostics)).not.toContain("hunter2x");
  });

  test("B31, S11: a credential in the place of a type is counted as another type, and never shown", async () => {
    const token = `ghp_${"a1B2".repeat(9)}`;
    const loaded = await loadFiles({ "a.yaml": `type: ${token}volume\nname: data\n`, "b.yaml": `type: ${token}\n` });
    expect(JSON.stringify(loaded.diagnostics)).not.toContain(token.slice(0, 12));
    expect(loaded.diagnostics.map(({ otherDocuments }) => otherDocuments)).toEqual([
      { type: "other", documents: 1 },
      { type: "other", documents: 1 },
    ]);
  });

  test("a reference to a secret without its three parts is an error at its place, however it is written", async () => {
    const files = { "a.yaml": service("api", 'env:\n  A: secret://t:g:k\n  B: secret://t:g\n  C: "secret:\\/\\/k"\n') };
    expect(await faultsOf(files)).toEqual(["a.yaml:7:6 error invalid-form", "a.yaml:8:6 error invalid-form"]);
  });

  test("B24: a literal under a secret-looking key is a warning", async () => {
    const env =
      "env:\n  DB_PASSWORD: hunter2\n  API_TOKEN: secret://t:g:k\n  MAX_TOKENS: 5\n  OTHER_SECRET: ${FROM_CI}\n  EMPTY_SECRET: ''\n";
    const loaded = await loadFiles({ "a.yaml": service("api", env) });
    expect(brief(loaded.diagnostics)).toEqual(["a.yaml:6:16 warning literal-secret"]);
    expect(JSON.stringify(loaded.diagnostics)).not.toContain("hunter2");
    expect(loaded.manifests).toHaveLength(1);
  });

  test("B24: a literal under a secret-looking key that the schema lacks is a warning, also with literals allowed", async () => {
    const files = { "a.yaml": service("api", "password: hunter2\nannex:\n  - token: hunter2\n    note: none\n") };
    const rules = { unknownFields: "warn", allowLiteralSecrets: ["*.yaml"] } as const;
    const { diagnostics } = await loadFiles(files, rules);
    expect(brief(diagnostics).filter((line) => line.endsWith("literal-secret"))).toEqual([
      "a.yaml:5:11 warning literal-secret",
      "a.yaml:7:12 warning literal-secret",
    ]);
    expect(JSON.stringify(diagnostics)).not.toContain("hunter2");
  });

  test("B24: a literal in a field that the schema has for a password is a warning, also with literals allowed", async () => {
    const auth = (password: string) =>
      `ports:\n  - port: 80\n    auth: { type: basic_auth, username: ops, password: "${password}" }\n`;
    const files = { "a.yaml": service("a", auth("hunter2")), "b.yaml": service("b", auth("secret://t:g:k")) };
    for (const allowLiteralSecrets of [[], ["*.yaml"]]) {
      const { diagnostics, manifests } = await loadFiles(files, { allowLiteralSecrets });
      expect(brief(diagnostics)).toEqual([expect.stringMatching(/^a\.yaml:7:\d+ warning literal-secret$/)]);
      expect([JSON.stringify(diagnostics).includes("hunter2"), manifests.length]).toEqual([false, 2]);
    }
  });

  test("B31: stand beside faults of every sort without being shown", async () => {
    for (const bad of [
      "\tx: 1",
      "x: [",
      "x: 'y",
      "0755",
      "? [a]",
      "replicas: hunter2",
      "image: hunter2",
      "ports: hunter2",
      "hunter2hunter2: 1\n  bad: 2",
    ]) {
      const { diagnostics } = await loadFiles({
        "a.yaml": service("api", `env:\n  PASSWORD: hunter2canary\n${bad}\n`),
      });
      expect(JSON.stringify(diagnostics)).not.toContain("hunter2canary");
    }
  });

  test("S5: fields that name files are data; nothing is opened", async () => {
    const image =
      "image: {type: build, build_source: {type: remote, remote_uri: 'https://x/y'}, build_spec: {type: dockerfile, dockerfile_path: ../../../etc/passwd, build_context_path: /}}\n";
    const text = `type: service\nname: api\nworkspace_fqn: cl1:ws1\n${image}`;
    expect((await loadFiles({ "a.yaml": text })).manifests).toHaveLength(1);
  });
});
// biome-ignore-end lint/suspicious/noTemplateCurlyInString: manifests hold such variables.

describe("hostile sources", () => {
  test("B12: names that mean something to JavaScript stay data from end to end", async () => {
    const labels = "labels:\n  __proto__: a\n  constructor: b\n  toString: c\n";
    const loaded = await loadFiles({
      "a.yaml": service("api", labels),
      "b.yaml": "type: __proto__\nname: x\n",
      "c.yaml": "type: constructor\nname: x\n",
      "d.yaml": "type: toString\n",
    });
    const [api] = loaded.manifests;
    expect(Object.keys(((api && (await readManifest(api, { signal })).value)?.labels ?? {}) as object)).toEqual([
      "__proto__",
      "constructor",
      "toString",
    ]);
    expect(loaded.diagnostics.map(({ code }) => code)).toEqual(["unknown-type", "unknown-type", "unknown-type"]);
    expect(Reflect.get({}, "a")).toBeUndefined();
  });

  test("B19, B3: names are held to their character set, and shown escaped", async () => {
    for (const name of [
      "",
      "a/b",
      "..",
      "%2e",
      "a b",
      "a\\nb",
      "-a",
      "é",
      "x".repeat(70_000),
      "\\u001b[2K",
      "a\\u202eb",
    ]) {
      const { diagnostics, manifests } = await loadFiles({ "a.yaml": service(`"${name}"`) });
      expect(manifests).toEqual([]);
      // biome-ignore lint/suspicious/noControlCharactersInRegex: they must not be there.
      expect(JSON.stringify(diagnostics)).not.toMatch(/[\u001b\u202e]|\\u001b\[/);
      expect(JSON.stringify(diagnostics).length).toBeLessThan(4000);
    }
  });

  test("many faults are held in bounded memory and counted", async () => {
    const files = Object.fromEntries(
      Array.from({ length: 150 }, (_, n) => [
        `f${n}.yaml`,
        `type: team\nname: t${n}\nmembers: [a@example.com]\n${Array.from({ length: 90 }, (_, key) => `x${key}: 1\n`).join("")}`,
      ]),
    );
    const { diagnostics } = await loadFiles(files);
    expect(diagnostics).toHaveLength(10_001);
    expect(diagnostics.at(-1)).toMatchObject({ code: "more", summary: "3500 more errors, not listed" });
  });

  test("10 MB of one scalar, a thousand aliases and a wide list are each dealt with in time", async () => {
    const started = processorMs();
    await loadFiles({
      "a.yaml": `type: service\nname: ${"x".repeat(1_000_000)}\n`,
      "b.yaml": `type: service\nl: [${"1,".repeat(400_000)}1]\n`,
      "c.yaml": `type: service\na: &a [x]\n${Array.from({ length: 1900 }, (_, n) => `k${n}: *a\n`).join("")}`,
      "d.yaml": `type: service\n${"a: b: c\n".repeat(50_000)}`,
    });
    expect(processorMs() - started).toBeLessThan(8000);
  });

  test("the same folder always gives the same result", async () => {
    const revision = await read(
      await folderOf({
        "a.yaml": [cluster, workspace, service("b"), service("a"), "type: team\n"].join("---\n"),
        "b.json": "{}",
      }),
    );
    const [one, two] = [
      await loadRevision(revision),
      await loadRevision({ ...revision, files: revision.files.toReversed() }),
    ];
    expect(one.diagnostics).toEqual(two.diagnostics);
    expect(one.manifests.map(({ identity }) => identity)).toEqual(two.manifests.map(({ identity }) => identity));
  });
});
