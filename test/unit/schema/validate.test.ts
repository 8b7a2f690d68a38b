import { describe, expect, it } from "vitest";
import type { Json, JsonObject } from "../../../src/contract/json.ts";
import { manifestTypes } from "../../../src/schema/schemas.ts";
import { checkApplication, validateManifest } from "../../../src/schema/validate.ts";
import { least, manifest } from "./valid.ts";

const faults = (type: string, fields: JsonObject) =>
  validateManifest(type, manifest(type, fields)).map(({ pointer, code, severity }) => `${severity} ${code} ${pointer}`);
const messages = (type: string, fields: JsonObject) =>
  validateManifest(type, manifest(type, fields)).map(({ message }) => message);
const helps = (type: string, fields: JsonObject) =>
  validateManifest(type, manifest(type, fields)).map((fault) => fault.help);

describe("a manifest", () => {
  it.each(manifestTypes)("of type %s needs no more than its least fields", (type) => {
    expect(validateManifest(type, manifest(type))).toEqual([]);
  });

  it.each(manifestTypes)("of type %s needs each of them", (type) => {
    for (const name of Object.keys(least[type] ?? {}).filter((key) => key !== "type")) {
      const { [name]: _, ...rest } = manifest(type);
      expect(validateManifest(type, rest)).toMatchObject([{ pointer: `/${name}`, code: "missing-field" }]);
      const nulled = validateManifest(type, { ...rest, [name]: null });
      expect(nulled).toMatchObject([{ pointer: `/${name}`, code: "wrong-type", severity: "error" }]);
    }
  });

  it("of an unknown type, or of none, is a fault of its type", () => {
    for (const type of ["made-up", "config", "__proto__", "constructor", "toString", ""]) {
      expect(validateManifest(type, {})).toMatchObject([{ pointer: "/type", code: "unknown-type" }]);
    }
  });

  it("that is no object is one fault", () => {
    for (const value of [null, 5, "text", [], true]) {
      expect(validateManifest("workspace", value)).toMatchObject([{ pointer: "", code: "wrong-type" }]);
    }
  });

  it("shows all faults at once, errors first", () => {
    expect(faults("service", { replicas: -1, ports: [{ port: 0, protocol: "SCTP" }], nam: "x" })).toEqual([
      "error unknown-field /nam",
      "error out-of-range /ports/0/port",
      "error out-of-range /replicas",
      "warning unknown-value /ports/0/protocol",
    ]);
  });
});

describe("a field that is unknown", () => {
  it("is named itself, with what was probably meant", () => {
    expect(messages("service", { ports: [{ port: 80, hoost: "x.example.com" }] })).toEqual([
      "unknown field `hoost`; did you mean `host`?",
    ]);
    expect(messages("service", { workspaceFqn: "x" })[0]).toContain("did you mean `workspace_fqn`?");
    expect(messages("workspace", { collaborator: [] })[0]).toContain("did you mean `collaborators`?");
    expect(messages("service", { cpu_limit: 1 })).toEqual(["unknown field `cpu_limit`; it belongs in `resources`"]);
    expect(messages("service", { secret_fqn: "x" })[0]).toContain("it belongs in `mounts[]`");
    expect(messages("workspace", { zzz: 1 })).toEqual(["unknown field `zzz`"]);
    expect(helps("workspace", { zzz: 1 })[0]).toContain("The fields here are type, name, cluster_fqn");
  });

  it("is looked for among the fields of its own form", () => {
    const mounts = [{ type: "secret", mount_path: "/x", secret_fqn: "t:g:k", secret_fqm: 1 }];
    expect(faults("service", { mounts })).toEqual(["error unknown-field /mounts/0/secret_fqm"]);
    expect(messages("service", { mounts })[0]).toContain("did you mean `secret_fqn`?");
  });

  it("is never said to belong where it stands", () => {
    const image = (type: string, fields: JsonObject) => ({ image: { type: "build", build_spec: { type, ...fields } } });
    const context = image("dockerfile", { build_context: "./" });
    expect(messages("service", context)).toEqual(["unknown field `build_context`; did you mean `build_context_path`?"]);
    const packages = image("dockerfile", { pip_packages: ["x"] });
    expect(messages("service", packages)[0]).not.toContain("it belongs in `image.build_spec`");
  });

  it("may be carried with a warning", () => {
    const value = manifest("service", { hoost: 1, ports: [{ port: 80, zap: 2 }] });
    const found = validateManifest("service", value, "warn");
    expect(found.map(({ severity, pointer }) => `${severity} ${pointer}`)).toEqual([
      "warning /hoost",
      "warning /ports/0/zap",
    ]);
  });

  it("B12 is harmless when it is called like something every object has", () => {
    const value = JSON.parse('{"__proto__":{"polluted":1},"constructor":1,"toString":2,"hasOwnProperty":3}');
    const found = validateManifest("workspace", { ...manifest("workspace"), ...value, ["__proto__"]: 1 });
    expect(found.every(({ code }) => code === "unknown-field")).toBe(true);
    expect(found.map(({ pointer }) => pointer)).toContain("/constructor");
    const labels = JSON.parse('{"__proto__":"a","constructor":"b"}');
    expect(validateManifest("workspace", manifest("workspace", { labels }))).toEqual([]);
    expect(({} as { polluted?: unknown }).polluted).toBeUndefined();
  });

  it("is shown without characters that disturb a terminal", () => {
    const [message = ""] = messages("workspace", { "a\u001b[2Kb\u202ec\n\u{e0041}": 1 });
    expect(message).toContain("a\\u001b[2Kb\\u202ec\\u000a\\u{e0041}");
    expect(messages("workspace", { ["x".repeat(5000)]: 1 })[0]?.length).toBeLessThan(400);
  });

  it("is refused at the right place when its name needs escaping", () => {
    expect(faults("workspace", { "a/b~c": 1 })).toEqual(["error unknown-field /a~1b~0c"]);
  });
});

describe("a value", () => {
  it("B4 that should be a string asks for quotes", () => {
    expect(messages("workspace", { environment_name: 1e3 })).toEqual(["`environment_name` must be a string; quote it"]);
    expect(messages("workspace", { environment_name: true })).toEqual([
      "`environment_name` must be a string; quote it",
    ]);
    const environment = { python_version: 3.12 };
    expect(messages("model-version", { environment })).toEqual(["`python_version` must be a string; quote it"]);
  });

  it("that is a Kubernetes list of names and values gets the form to write, without its values", () => {
    const env = [
      { name: "A", value: "hunter2" },
      { name: "B", valueFrom: { secretKeyRef: { name: "x", key: "y" } } },
    ];
    expect(messages("service", { env })).toEqual(["`env` must be an object"]);
    expect(helps("service", { env })).toEqual([
      "Write each name as a key with its value: `env: { A: …, B: secret://tenant:group:key }`.",
    ]);
    const four = ["A", "B", "C", "D"].map((name) => ({ name, value: 1 }));
    expect(helps("job", { env: four })[0]).toContain("`env: { A: …, B: …, C: …, … }`");
  });

  it.each<[Json]>([[["A=b", "C=postgres://u:p@h/?x=y"]], [[{ A: "b" }, { C: 1 }]]])(
    "that is a list of pairs gets the form to write, without its values: %j",
    (env) => {
      expect(helps("service", { env })).toEqual(["Write each name as a key with its value: `env: { A: …, C: … }`."]);
    },
  );

  it("that is no list of pairs gets no form", () => {
    for (const env of [[], ["A"], [1], [{ A: 1, B: 2 }], "A", ["A=b", "C"]])
      expect(helps("service", { env }), JSON.stringify(env)).toEqual([undefined]);
    expect(helps("service", { env: "A=b" })[0]).toContain("`env: { A: … }`");
  });

  it("in place of an object or of a list of them names their fields", () => {
    expect(helps("service", { resources: "small" })[0]).toMatch(/^Its fields are cpu_request, cpu_limit, /);
    expect(messages("service", { ports: 80 })).toEqual(["`ports` must be a list"]);
    expect(helps("service", { ports: 80 })[0]).toMatch(/^The fields of each item are port, /);
    expect(messages("team", { members: { a: "b" } })).toEqual(["`members` must be a list"]);
    expect(helps("service", { image: "x:1" })).toEqual([undefined]);
  });

  it("of a name that a map may not have is about the name", () => {
    const labels = (name: string) => validateManifest("service", manifest("service", { labels: { [name]: "x" } }));
    expect(labels("")).toMatchObject([{ message: "this name is empty", isAboutName: true }]);
    const message = "this name is too long: it has 318 characters";
    expect(labels("a".repeat(318))).toMatchObject([{ message, isAboutName: true }]);
  });

  it("that belongs to a field beside it names that field", () => {
    const ports = (protocol: string) => messages("service", { ports: [{ port: 80, protocol }] });
    expect(ports("HTTP")).toEqual(["`protocol` has an unknown value; did you mean `app_protocol: http`?"]);
    expect(ports("HTTPS")).toEqual(ports("HTTP"));
    expect(ports("gRPC")).toEqual(["`protocol` has an unknown value; did you mean `app_protocol: grpc`?"]);
    expect(ports("tcp")).toEqual(["`protocol` has an unknown value; did you mean `TCP`?"]);
    expect(ports("SCTP")).toEqual(["`protocol` has an unknown value"]);
  });

  it("under `type` where no type is known lists the fields there", () => {
    const image = { type: "image", image_uri: "public.ecr.aws/truefoundrycloud/jupyter:0.4.5" };
    expect(messages("notebook", { image })).toEqual(["unknown field `type`"]);
    expect(helps("notebook", { image })).toEqual(["The fields here are image_uri, build_script, docker_registry."]);
  });

  it("of newer manifests is known", () => {
    expect(
      validateManifest("virtual-account", manifest("virtual-account", { token_type: "jwt", tags: ["a"] })),
    ).toEqual([]);
  });

  it("that should be a number or a boolean asks to take the quotes off", () => {
    expect(messages("service", { replicas: "2" })[0]).toContain("remove the quotes");
    expect(messages("service", { allow_interception: "true" })[0]).toContain(
      "must be true or false; remove the quotes",
    );
    expect(messages("service", { replicas: "two" })).toEqual([
      "`replicas` must be a whole number (containers) or an object",
    ]);
  });

  it("that is a word of older YAML, carries its unit or lacks a space is told what to write", () => {
    expect(messages("service", { allow_interception: "Off" })).toEqual([
      "`allow_interception` must be true or false; write false, since in YAML 1.2 this word is a string",
    ]);
    expect(messages("service", { allow_interception: "yes" })[0]).toContain("; write true, ");
    expect(messages("service", { resources: { memory_limit: "512Mi" } })).toEqual([
      "`memory_limit` must be a number (MB); write 537",
    ]);
    for (const [field, value, number] of [
      ["cpu_request", "500m", "0.5"],
      ["cpu_limit", "2 cores", "2"],
      ["memory_request", "2Gi", "2147"],
      ["memory_request", "2GB", "2000"],
      ["memory_request", "1048576Ki", "1074"],
      ["memory_request", "100k", "1"],
      ["cpu_limit", "0.5c", "0.5"],
      ["cpu_limit", ".5 vCPU", "0.5"],
      ["cpu_limit", "250000u", "0.25"],
      ["memory_limit", "1Pi", "1125899907"],
      ["memory_limit", "1EB", "1000000000000"],
    ]) {
      expect(messages("service", { resources: { [String(field)]: String(value) } })[0]).toMatch(
        new RegExp(`; write ${number}$`),
      );
    }
    expect(messages("service", { auto_shutdown: { wait_time: "15m" } })[0]).toMatch(/; write 900$/);
    for (const cpu_limit of ["2Gi", "500mi", "1/2"]) {
      expect(messages("service", { resources: { cpu_limit } })).toEqual(["`cpu_limit` must be a number (cores)"]);
      expect(helps("service", { resources: { cpu_limit } })).toEqual(["For example: `cpu_limit: 1`, in cores."]);
    }
    expect(messages("team", { members: "-ada@example.com" })).toEqual([
      "`members` must be a list; put a space after each `-`",
    ]);
    expect(messages("team", { members: "ada@example.com" })).toEqual([
      "`members` must be a list; write `[…]` around it",
    ]);
    expect(messages("service", { ports: { port: 80 } })).toEqual([
      "`ports` must be a list; write `- ` before the first field of each item",
    ]);
  });

  it("of the wrong form is told the right one", () => {
    expect(messages("service", { workspace_fqn: "ranking" })).toEqual([
      "`workspace_fqn` must be cluster:workspace, the names of 3 to 35 and of 3 to 32 lower-case letters, digits or '-'",
    ]);
    expect(messages("team", { members: ["ada"] })).toEqual(["`members[0]` must be an e-mail address in ASCII"]);
  });

  it("is never shown", () => {
    const secret = "hunter2-canary";
    const everywhere = [
      manifest("service", {
        name: secret.repeat(3),
        replicas: secret,
        env: { KEY: [secret] },
        ports: [{ port: secret }],
      }),
      manifest("service", { mounts: [{ type: secret, x: secret }], image: { type: "build", build_source: secret } }),
    ];
    for (const value of everywhere) expect(JSON.stringify(validateManifest("service", value))).not.toContain("hunter2");
  });

  it("null in an optional field is the same as absent", () => {
    const nulls = {
      env: null,
      ports: null,
      replicas: null,
      rollout_strategy: null,
      liveness_probe: null,
      mounts: null,
    };
    expect(faults("service", nulls)).toEqual([]);
    expect(faults("service", { ports: [{ port: 80, host: null, auth: null, protocol: null }] })).toEqual([]);
    expect(faults("service", { liveness_probe: { config: null, period_seconds: null } })).toEqual([]);
    expect(faults("chat_prompt", { response_format: null, model_configuration: { parameters: null } })).toEqual([]);
  });

  it("of an environment variable is a text, a number or a boolean", () => {
    expect(faults("service", { env: { A: "x", B: 1, C: true } })).toEqual([]);
    expect(faults("service", { env: { A: null, B: [], C: {} } })).toEqual([
      "error wrong-type /env/A",
      "error wrong-type /env/B",
      "error wrong-type /env/C",
    ]);
  });
});

describe("limits", () => {
  it.each<[string, string, readonly unknown[], readonly unknown[]]>([
    ["workspace", "name", ["abc", "a".repeat(32), "a-1"], ["ab", "a".repeat(33), "Abc", "1ab", "a_b", "-ab", "a b"]],
    ["cluster", "name", ["abc", "a".repeat(35)], ["ab", "a".repeat(36), "a.b"]],
    ["service", "name", ["a", "A-1", "a".repeat(63)], ["", "a".repeat(64), "a_b", "-a", "a/b", ".."]],
    ["team", "name", ["a", "A.b_c-1", "a".repeat(64)], ["", "a".repeat(65), "..", ".", "-a", "a/b", "a b", "ü"]],
    ["virtual-account", "name", ["a", "a".repeat(64)], ["", "a".repeat(65), "..", "a\n", "a?", "a#", "a%"]],
    ["ml-repo", "name", ["ab", "a".repeat(100)], ["a", "a".repeat(101), "..", "a/b", "a:b"]],
    ["chat_prompt", "name", ["a", "_a-B1", "a".repeat(256)], ["", "a".repeat(257), "a.b", "a/b", "-a"]],
    ["model-version", "name", ["a", "a".repeat(256)], ["", "a".repeat(257), "a b", "😀"]],
    ["model-version", "version", [1, 2147483647], [0, -1, 1.5, 2147483648]],
    ["service", "replicas", [0, 10000, { min_replicas: 0, max_replicas: 5 }], [-1, 1.5, 1e9, 10001, [], { min: 1 }]],
    [
      "virtual-account",
      "expiration_date",
      ["2027-01-01"],
      ["2027-1-1", "01.01.2027", "2027-01-01T00:00:00Z", 20270101],
    ],
    ["virtual-account", "permissions", [], [[]]],
    ["team", "members", [["a@b.example"]], [[], ["a b@c.example"], ["a@b@c.example"]]],
    ["chat_prompt", "messages", [[{ role: "tool" }]], [[], [{ content: "x" }]]],
  ])("B19 B22 of %s.%s hold at each boundary", (type, field, good, bad) => {
    for (const value of good) expect(faults(type, { [field]: value as never }), JSON.stringify(value)).toEqual([]);
    for (const value of bad) {
      const found = faults(type, { [field]: value as never });
      expect(found.length, JSON.stringify(value)).toBeGreaterThan(0);
      expect(found.every((fault) => fault.startsWith("error ") && fault.includes(`/${field}`))).toBe(true);
    }
  });

  it.each<[string, (value: number) => JsonObject, number, number]>([
    ["ports", (port) => ({ ports: [{ port }] }), 1, 65535],
    ["cpu", (cpu) => ({ resources: { cpu_request: cpu } }), 0, 1024],
    ["percentages", (max) => ({ rollout_strategy: { type: "rolling_update", max_surge_percentage: max } }), 0, 100],
    ["canary weights", (w) => ({ rollout_strategy: { type: "canary", steps: [{ weight_percentage: w }] } }), 0, 100],
  ])("of %s hold at each boundary", (_, fields, low, high) => {
    for (const value of [low, high]) expect(faults("service", fields(value))).toEqual([]);
    for (const value of [low - 1, high + 1])
      expect(faults("service", fields(value))[0]).toContain("error out-of-range");
  });

  it("B25 of rotation are 30 days and 1 day", () => {
    const rotate = (interval: number, grace: number) =>
      faults("virtual-account", { auto_rotate: { auto_rotate_interval: interval, grace_period: grace } });
    expect(rotate(30, 1)).toEqual([]);
    expect(rotate(29, 0)).toEqual([
      "error out-of-range /auto_rotate/auto_rotate_interval",
      "error out-of-range /auto_rotate/grace_period",
    ]);
    const [fault] = validateManifest(
      "virtual-account",
      manifest("virtual-account", { auto_rotate: { grace_period: 0 } }),
    );
    expect(fault?.message).toBe("`grace_period` must be at least 1 (days)");
  });

  it("of probabilities hold", () => {
    const top = (top_p: number) => faults("chat_prompt", { model_configuration: { parameters: { top_p } } });
    expect([top(0), top(1)]).toEqual([[], []]);
    expect(top(-0.1)).toEqual(["error out-of-range /model_configuration/parameters/top_p"]);
    expect(top(1.1)).toEqual(["error out-of-range /model_configuration/parameters/top_p"]);
  });

  it("of subjects and e-mails are forms", () => {
    const subject = (name: string) =>
      faults("workspace", { collaborators: [{ subject: name, role_id: "workspace-viewer" }] });
    expect(["user:ada@example.com", "team:everyone", "virtualaccount:ci"].flatMap(subject)).toEqual([]);
    for (const name of ["ada@example.com", "user:ada", "team:", "group:x", "team:a/b"])
      expect(subject(name)).toHaveLength(1);
  });

  it("of volumes are forms", () => {
    const volume = (volume_fqn: string) =>
      faults("service", { mounts: [{ type: "volume", mount_path: "/data", volume_fqn }] });
    expect(["c1:ws1:data", "tfy-volume://c1:ws1:data"].flatMap(volume)).toEqual([]);
    for (const name of ["data", "ws1:data", "c1:ws1/data", "tfy-volume://data", "c1:ws1:data:1"])
      expect(volume(name)).toEqual(["error invalid-form /mounts/0/volume_fqn"]);
  });

  it("count every fault of a place once", () => {
    expect(faults("workspace", { name: "A".repeat(50) })).toEqual(["error invalid-form /name"]);
  });
});

describe("an open enumeration", () => {
  it.each<[string, JsonObject, string]>([
    ["cluster", { cluster_type: "nomad" }, "/cluster_type"],
    ["service", { mounts: [{ type: "nfs", server: "x", deep: { a: 1 } }] }, "/mounts/0/type"],
    ["service", { image: { type: "wasm", module: 5 } }, "/image/type"],
    ["service", { image: { type: "build", build_source: { type: "svn", revision: 5 } } }, "/image/build_source/type"],
    ["service", { rollout_strategy: { type: "shadow", max_surge_percentage: "x" } }, "/rollout_strategy/type"],
    ["service", { liveness_probe: { config: { type: "grpc", port: "x" } } }, "/liveness_probe/config/type"],
    ["service", { ports: [{ port: 80, app_protocol: "mqtt" }] }, "/ports/0/app_protocol"],
    ["service", { ports: [{ port: 80, auth: { type: "mtls", ca: { thing: [] } } }] }, "/ports/0/auth/type"],
    ["service", { resources: { node: { type: "zone_selector", a: [1, { b: null }] } } }, "/resources/node/type"],
    ["service", { resources: { devices: [{ type: "fpga", y: 1 }] } }, "/resources/devices/0/type"],
    ["service", { artifacts_download: { artifacts: [{ type: "s3", a: 1 }] } }, "/artifacts_download/artifacts/0/type"],
    ["model-version", { source: { type: "dvc", uri: 5 } }, "/source/type"],
    ["chat_prompt", { messages: [{ role: "narrator" }] }, "/messages/0/role"],
    ["chat_prompt", { tools: [{ type: "web_search", depth: 2 }] }, "/tools/0/type"],
    ["chat_prompt", { response_format: { type: "grammar", gbnf: "…" } }, "/response_format/type"],
    ["virtual-account", { notification_target: { type: "pager", key: "x" } }, "/notification_target/type"],
  ])("of %s lets %j pass with one warning", (type, fields, pointer) => {
    expect(faults(type, fields)).toEqual([`warning unknown-value ${pointer}`]);
  });

  it("takes a custom role for what it is, and warns only of what is likely a misspelt role", () => {
    const role = (role_id: string) => ({ collaborators: [{ subject: "team:everyone", role_id }] });
    expect(faults("workspace", role("data-scientist"))).toEqual([]);
    expect(messages("workspace", role("workspace-amdin"))[0]).toContain("did you mean `workspace-admin`?");
  });

  it("says what was probably meant, or what is known", () => {
    expect(messages("service", { ports: [{ port: 80, protocol: "tcp" }] })[0]).toContain("did you mean `TCP`?");
    expect(messages("cluster", { cluster_type: "nomad" })).toEqual(["`cluster_type` has an unknown value"]);
    expect(helps("cluster", { cluster_type: "nomad" })[0]).toContain("The known values are aws-eks, gcp-gke-standard");
  });

  it("knows every buildpack by the end of its name", () => {
    const image = (type: string) => ({ image: { type: "build", build_spec: { type, python_version: "3.12" } } });
    expect(faults("service", image("python-buildpack"))).toEqual([]);
    expect(faults("service", image("bazel"))).toEqual(["warning unknown-value /image/build_spec/type"]);
  });

  it("needs its type all the same", () => {
    expect(faults("service", { image: {} })).toEqual(["error missing-field /image/type"]);
    expect(faults("service", { mounts: [{ mount_path: "/x" }] })).toEqual(["error missing-field /mounts/0/type"]);
  });
});

describe("a form that is known", () => {
  it("has its own fields and no others", () => {
    expect(faults("service", { image: { type: "image", image_uri: "x", build_spec: { type: "dockerfile" } } })).toEqual(
      ["error unknown-field /image/build_spec"],
    );
    expect(faults("service", { image: { type: "image" } })).toEqual(["error missing-field /image/image_uri"]);
    expect(faults("model-version", { source: { type: "external" } })).toEqual(["error missing-field /source/uri"]);
  });

  it("may be a text or a list of parts", () => {
    const content = (value: never) => faults("chat_prompt", { messages: [{ role: "user", content: value }] });
    expect(content("text" as never)).toEqual([]);
    expect(
      content([
        { type: "text", text: "x" },
        { type: "image_url", image_url: { url: "x" } },
      ] as never),
    ).toEqual([]);
    expect(content([{ text: "x" }] as never)).toEqual(["error missing-field /messages/0/content/0/type"]);
    expect(content(5 as never)).toEqual(["error wrong-type /messages/0/content"]);
  });

  it("of a single sign-on team carries further fields untouched", () => {
    expect(faults("sso-team", { sso_name: "idp", anything: { at: ["all"] } })).toEqual([]);
    expect(faults("team", { anything: 1 })).toEqual(["error unknown-field /anything"]);
  });
});

describe("free fields", () => {
  it.each<[string, JsonObject]>([
    ["service", { kustomize: { patch: { a: { b: 1 } }, additions: [{ kind: "X" }, {}] } }],
    ["service", { replicas: { min_replicas: 1, max_replicas: 2, metrics: [{ type: "rps", value: 5 }] } }],
    ["model-version", { metadata: { a: { b: [1, 2, { c: null }] } } }],
    ["chat_prompt", { variables: { a: 1 }, metadata: { b: [] }, tool_call_to_mcp_mapping: { c: {} } }],
    ["chat_prompt", { model_configuration: { extra_parameters: { a: { b: 1 } } } }],
    ["chat_prompt", { tools: [{ type: "function", function: { name: "f", parameters: { $ref: "#/x" } } }] }],
  ])("of %s hold anything", (type, fields) => {
    expect(faults(type, fields)).toEqual([]);
  });

  it("of a cluster's monitoring are any that end in _url", () => {
    expect(faults("cluster", { monitoring: { grafana_url: "https://g.example.com", other_url: null } })).toEqual([]);
    expect(faults("cluster", { monitoring: { grafana: "x" } })).toEqual(["error unknown-field /monitoring/grafana"]);
    expect(faults("cluster", { monitoring: { grafana_url: 5 } })).toEqual(["error wrong-type /monitoring/grafana_url"]);
  });
});

describe("an application of another type", () => {
  it("is checked for its name, type and workspace, and for what it shares with services", () => {
    const other = { type: "made-up", name: "train", workspace_fqn: "prod-eu:ranking", trigger: { type: "manual" } };
    expect(checkApplication(other).faults).toEqual([]);
    expect(checkApplication({ ...other, image: null }).faults).toEqual([]);
    const { faults: found } = checkApplication({
      type: "made-up",
      name: "a b",
      ports: [{ port: 0, zap: 1 }],
      env: { A: null },
    });
    expect(found.map(({ pointer }) => pointer).toSorted()).toEqual(
      ["/env/A", "/name", "/ports/0/port", "/ports/0/zap", "/workspace_fqn"].toSorted(),
    );
    expect(checkApplication({ ...other, type: 5 }).faults).toMatchObject([{ pointer: "/type" }]);
    expect(checkApplication([]).faults).toHaveLength(1);
  });
});
