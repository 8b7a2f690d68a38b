import { describe, expect, test } from "vitest";
import { systemClock } from "../../../../src/clock/system.ts";
import type { JsonObject } from "../../../../src/contract/json.ts";
import type { Live } from "../../../../src/core/live.ts";
import type { Policy } from "../../../../src/core/policies/policy.ts";
import { compileExpression } from "../../../../src/engine/policies/expression.ts";
import { judgePlan } from "../../../../src/engine/policies/judge-plan.ts";
import type { LoadedPolicy } from "../../../../src/engine/policies/policy-set.ts";
import { kindOf } from "../../../../src/kinds/index.ts";
import { declare, plan, present, recorded, service } from "../../core/given.ts";

const before = service({
  workspace_fqn: "prod-eu:ranking",
  replicas: 3,
  env: { MODE: "slow" },
  labels: { tier: "one" },
});
const after = service({
  workspace_fqn: "prod-eu:ranking",
  image: { type: "image", image_uri: "registry.example.com/api:latest" },
  replicas: 5,
  env: { MODE: "fast", PASSWORD: "hunter2-very-secret" },
  ports: [{ port: 8000, expose: true, host: "api.example.com" }, { port: 9000 }],
  resources: { cpu_limit: 0.5, memory_limit: 2000, devices: [{ type: "nvidia_gpu", name: "T4", count: 2 }] },
  labels: null,
});

const planHardware = {
  total: { replicas: 2, cpu: 1, memory: 4000, storage: 0, devices: [{ name: "T4", count: 10 }] },
  workspaces: [
    {
      workspace: "prod-eu:ranking",
      difference: { replicas: 2, cpu: 1, memory: 4000, storage: 0, devices: [{ name: "T4", count: 10 }] },
    },
  ],
};

const LIST = `[${Array.from({ length: 100 }, (_, at) => at).join(", ")}]`;
const STEPS = "it takes more than 200000 steps";

function policy(expression: string, fields: Partial<Policy> = {}): LoadedPolicy {
  const over = fields.over ?? "step";
  const compiled = compileExpression(expression, over);
  if (compiled.is === "faulty") throw new TypeError(`${compiled.error.message} at ${compiled.error.offset}`);
  const placeOf = (offset: number) => ({ line: 1, column: offset + 1 });
  const own = {
    name: "one",
    severity: "deny",
    message: "no",
    match: null,
    digest: "sha256:0",
    file: "one.yaml",
    placeOf,
    tests: [],
  } as const;
  return { ...own, over, expression: compiled.expression, ...fields };
}

type Given = { readonly manifest?: JsonObject; readonly live?: Live; readonly recordedAs?: JsonObject };

function judge(policies: readonly LoadedPolicy[], { manifest = after, live, recordedAs = before }: Given = {}) {
  const declared = declare(manifest);
  const row = live ?? present(before, { author: "user:ana@example.com", createdBy: "u1", version: 4 });
  const made = plan([declared], { live: { [declared.identity]: row }, recorded: [recorded(recordedAs)] });
  const kind = kindOf("service");
  if (kind === undefined) throw new TypeError("no kind");
  const manifests = { kind, live: row.state === "present" ? row.row : null, after: manifest };
  const judged = { plan: made.plan, manifestsOf: () => manifests, hardware: planHardware };
  const found = judgePlan({ policies, target: "prod-eu" }, judged, systemClock);
  return [...found.plan, ...[...found.steps.values()].flat()];
}

/** What an expression over the step above answers: whether it finds something, or the message of an error. */
function verdict(expression: string, over: "step" | "plan" = "step"): boolean | string {
  const compiled = compileExpression(expression, over);
  if (compiled.is === "faulty") return `${compiled.error.offset}: ${compiled.error.message}`;
  const [found] = judge([policy(expression, { over })]);
  return found === undefined ? false : found.message === "no" ? true : `${found.column - 1}: ${found.message}`;
}

const broken = (text: string): string => `the policy's expression cannot be evaluated: ${text}`;

describe("a policy over steps", () => {
  test.each<[expression: string, expected: boolean | string]>([
    ['step.action == "update"', true],
    ['step.action == "create"', false],
    ['step.kind == "service"', true],
    ['step.identity == "service/prod-eu:ranking/api"', true],
    ['step.name == "api"', true],
    ['step.workspace == "prod-eu:ranking"', true],
    ['step.workspace.startsWith("dev-")', false],
    ['step.causedBy == "change"', true],
    ['"manifest" in step.causes', true],
    ['step.file.endsWith(".yaml")', true],
    ["after.replicas > before.replicas", true],
    ["after.replicas - before.replicas == 2", true],
    ["after.replicas == 5", true],
    ["after.replicas > 4.5", true],
    ["after.replicas in [4, 5]", true],
    ["before.replicas == after.replicas", false],
    ['after.image.image_uri.endsWith(":latest")', true],
    ['after.image.image_uri.matches("^registry[.]example[.]com/")', true],
    ['after.image.image_uri.contains("@sha256:")', false],
    ['after.image.image_uri.split(":")[1] == "latest"', true],
    ["after.resources.cpu_limit < 1", true],
    ["after.resources.cpu_limit * 2.0 == 1.0", true],
    ["after.resources.memory_limit >= 2000", true],
    ["after.resources.devices.exists(d, d.count > 1)", true],
    ['after.resources.devices.all(d, d.type == "nvidia_gpu")', true],
    ["after.resources.devices.map(d, d.count)[0] == 2", true],
    ["after.ports.filter(p, has(p.expose) && p.expose).size() == 1", true],
    ["after.ports.exists_one(p, p.port == 9000)", true],
    ["size(after.ports) == 2", true],
    ["has(after.auto_shutdown)", false],
    ["has(after.image)", true],
    // What is null is the same as absent.
    ["has(after.labels)", false],
    ["has(before.labels)", true],
    ['before.labels.tier == "one"', true],
    ['after.?labels.?tier.orValue("none") == "none"', true],
    ['after.env.MODE == "fast"', true],
    ['"MODE" in after.env', true],
    ['after.env.exists(name, name.startsWith("PASS"))', true],
    // Secrets are masked before a policy sees them.
    ['after.env.PASSWORD.contains("hunter2")', false],
    ['changes.exists(c, c.path == "/replicas" && c.cause == "manifest")', true],
    ['changes.exists(c, c.path == "/replicas" && c.before == 3 && c.after == 5)', true],
    ['changes.all(c, c.cause == "drift")', false],
    ['"exposure" in risks', true],
    ['"privilege-growth" in risks', false],
    ["risks.size() == 0", false],
    ['author == "user:ana@example.com"', true],
    ["author == null", false],
    ['target == "prod-eu"', true],
    ["plan.summary.update == 1", true],
    ["plan.summary.create + plan.summary.block == 0", true],
    ["plan.hardware.replicas == 2", true],
    ["plan.hardware.devices.T4 == 10", true],
    ['plan.hardware.workspaces["prod-eu:ranking"].memory == 4000', true],
    ["has(plan.steps)", false],
    ["true || after.nothing", true],
    ["false && after.nothing == 1", false],
    ["after.replicas > 3 ? true : false", true],
    ["cel.bind(n, after.replicas, n > 3 && n < 6)", true],
    ["type(after.replicas) == int", true],
    // No answer is no permission.
    ["after.nothing == 1", `6: ${broken("No such key: nothing")}`],
    ["after.ports[7].port == 1", `0: ${broken("No such key: index out of bounds, index 7 >= size 2")}`],
    ['int("x") == 1', `0: ${broken("int() type error: cannot convert to int")}`],
    ["after.replicas / 0 == 1", `0: ${broken("division by zero")}`],
    ["after.replicas", `0: ${broken("it is an int, and must be true or false")}`],
    [
      'after.image.image_uri.matches("(")',
      `0: ${broken("the pattern is wrong: error parsing regexp: missing closing ): `(`")}`,
    ],
    // Found before anything is judged.
    ["after.replicas >", "16: Unexpected token: EOF"],
    ["replicas > 3", "0: Unknown variable: replicas"],
    ["after.replicas.nothing()", "0: found no matching overload for 'dyn.nothing()'"],
    ['"text"', "0: it is a string, and must be true or false"],
    ["has(after)", "4: has() invalid argument"],
  ])("%s is %s", (expression, expected) => {
    expect(verdict(expression)).toBe(expected);
  });
});

describe("a policy over the plan", () => {
  test.each<[expression: string, expected: boolean | string]>([
    ["plan.summary.update == 1", true],
    ["plan.steps.size() == 1", true],
    ['plan.steps.exists(s, s.workspace.startsWith("prod-"))', true],
    ['plan.steps.exists(s, "exposure" in s.risks)', true],
    ["plan.hardware.devices.exists(name, plan.hardware.devices[name] > 8)", true],
    ['target.startsWith("dev")', false],
    ['step.kind == "service"', "0: Unknown variable: step"],
    ["after.replicas == 1", "0: Unknown variable: after"],
  ])("%s is %s", (expression, expected) => {
    expect(verdict(expression, "plan")).toBe(expected);
  });
});

describe("the policies of a plan", () => {
  test("judge what they match alone", () => {
    expect(judge([policy("true", { match: "service/dev-*/**" })])).toEqual([]);
    expect(judge([policy("true", { match: "service/prod-*/**" })])).toHaveLength(1);
  });

  test("of the same name are one, the strictest", () => {
    const found = judge([
      policy("true", { severity: "warn" }),
      policy("true", { severity: "confirm", file: "two.yaml" }),
      policy("true", { severity: "warn", file: "three.yaml" }),
    ]);
    expect(found).toEqual([{ name: "one", severity: "confirm", message: "no", file: "two.yaml", line: 1, column: 1 }]);
  });

  test("of the same name and as strict are told by the last one, which is the operator's", () => {
    const found = judge([
      policy("true", { severity: "confirm" }),
      policy("true", { severity: "confirm", file: "two.yaml" }),
    ]);
    expect(found).toMatchObject([{ file: "two.yaml" }]);
  });

  test("deny what they cannot judge, whatever their severity", () => {
    const [found] = judge([policy("after.nothing == 1", { severity: "warn" })]);
    expect(found).toMatchObject({ severity: "deny", column: 7 });
  });

  test("see who has written what is live, and why it differs", () => {
    const drifted = { recordedAs: after, manifest: after };
    const expression = 'changes.all(c, c.cause == "drift") && author == "user:ana@example.com" && "reverts" in risks';
    expect(judge([policy(expression)], drifted)).toHaveLength(1);
  });

  test("see no live manifest of what is created", () => {
    expect(judge([policy("before == null")], { live: { state: "absent" } })).toHaveLength(1);
    expect(judge([policy("before != null")], { live: { state: "absent" } })).toEqual([]);
  });

  test("judge nothing where nothing is written", () => {
    expect(judge([policy("true"), policy("true", { over: "plan" })], { manifest: before })).toEqual([]);
  });

  test.each<[what: string, expression: string, message: string]>([
    ["nested comprehensions", `${LIST}.all(a, ${LIST}.all(b, ${LIST}.all(c, a + b + c >= 0)))`, STEPS],
    // An operator that goes on after an error does not go on after this one.
    ["the same beside an operator", `${LIST}.all(a, ${LIST}.all(b, ${LIST}.all(c, a + b + c >= 0))) || true`, STEPS],
    [
      "lists that double",
      `[${LIST}]${".map(a, a + a)".repeat(12)}.size() == 0`,
      "it has a list of more than 20000 items",
    ],
    [
      "texts that double",
      `["aaaaaaaaaa"]${".map(a, a + a)".repeat(40)}.size() == 0`,
      "it has a text of more than 1048576 characters",
    ],
    ["comparisons of large values", `${LIST}.all(a, ${LIST}.all(b, ${LIST}.map(c, ${LIST}) != []))`, STEPS],
    ["a pattern of any length", `"a".matches("${"(a?){50}".repeat(80)}")`, "a pattern of more than 500 characters"],
  ])("end within their budget, and then deny: %s", (_, expression, message) => {
    const started = performance.now();
    expect(judge([policy(expression)])).toMatchObject([
      { severity: "deny", message: `the policy's expression cannot be evaluated: ${message}` },
    ]);
    expect(performance.now() - started).toBeLessThan(10_000);
  });

  test("match a pattern in a time that grows with the text alone", () => {
    const text = `${"a".repeat(5000)}!`;
    const live = { manifest: { ...after, labels: { text } } };
    expect(judge([policy('after.labels.text.matches("^(a+)+$")')], live)).toEqual([]);
    expect(judge([policy('after.labels.text.matches("^(a+)+!$")')], live)).toHaveLength(1);
  });
});
