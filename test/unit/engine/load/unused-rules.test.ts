import { expect, test } from "vitest";
import { kindCorrection, unusedRules } from "../../../../src/engine/load/unused-rules.ts";
import type { SourceConfig } from "../../../../src/source/read-source-config.ts";

const declared = new Set(["service/dev:web/api", "workspace/dev:web"]);
const manifests = [
  { kind: "service", references: [{ identity: "workspace/dev:web", pointer: "/workspace_fqn" }] },
  { kind: "workspace", references: [{ identity: "cluster/dev", pointer: "/cluster_fqn" }] },
];
const source = { declared, manifests, files: () => ["web/api.yaml", "web/workspace.yaml"] };
const nothing = { paths: [], only: [], kinds: [], exclude: [] };
const places = new Map([["/ignore/0", { file: "holdfast.yaml", line: 3, column: 5 }]]);
const config = (repository: SourceConfig["repository"]) => ({ repository, places });
const rule = (match: string) => ({ path: "/replicas", match, reason: "somebody else scales it" });

test("rules, globs and kinds that match something are not spoken of", () => {
  const rules = { ignore: [rule("service/**")], external: ["cluster/*"], allowLiteralSecrets: ["web/*.yaml"] };
  expect(unusedRules(source, config(rules), { ...nothing, kinds: ["service"], exclude: ["workspace/*"] })).toEqual([]);
  expect(unusedRules(source, config({}), nothing)).toEqual([]);
});

test("those that match nothing are each a warning", () => {
  const rules = { ignore: [rule("service/prod:*/*")], external: ["clusters/*"], allowLiteralSecrets: ["test/**"] };
  const found = unusedRules(source, config(rules), { ...nothing, kinds: ["team"], exclude: ["service/dev"] });
  expect(found.map(({ severity, code, summary, line }) => [severity, code, summary, line])).toEqual(
    [
      "ignore: match: service/prod:*/*",
      "external: clusters/*",
      "allowLiteralSecrets: test/**",
      "--exclude service/dev",
      "--kind team",
    ].map((what, at) => [
      "warning",
      "matches-nothing",
      `\`${what}\` matches nothing in the source`,
      at === 0 ? 3 : null,
    ]),
  );
});

test("a gate is a warning where it matches nothing of a kind that it names and that is declared", () => {
  const prompts = new Set([...declared, "chat_prompt/registry/greeting@3"]);
  const at = { file: "targets.yaml", line: 7 };
  const warnings = (...matches: readonly (string | null)[]) => {
    const gates = matches.map(
      (match) => ({ is: "url", url: "https://a", secretFile: "key", match, place: at }) as const,
    );
    return unusedRules({ ...source, declared: prompts }, config({}), nothing, gates);
  };
  const { length } = warnings(null, "**", "chat_prompt/**", "chat_prompt/registry/greeting", "*/registry/greeting@3");
  expect([length, warnings("model-version/**")]).toEqual([0, []]);
  const found = warnings("chat_prompt/registy/*", "*/*", "chat_prompt/registry/greeting@4");
  expect(found.map(({ summary, file, line }) => `${file}:${line} ${summary}`)).toEqual([
    "targets.yaml:7 `gate: match: chat_prompt/registy/*` matches nothing in the source",
    "targets.yaml:7 `gate: match: */*` matches nothing in the source",
    "targets.yaml:7 `gate: match: chat_prompt/registry/greeting@4` matches nothing in the source",
  ]);
  expect(found[0]?.detail).toBe("Did you mean chat_prompt/registry/*? Correct it, or remove it.");
});

test("each names the nearest that matches something", () => {
  const rules = { ignore: [rule("service/dve:*/*")], external: ["clusters/*"], allowLiteralSecrets: ["wep/*.yaml"] };
  const found = unusedRules(source, config(rules), {
    ...nothing,
    exclude: ["service/dev:web/apo", "servce/*/api", "service/dve:*/a*", "servic/**", "team/**"],
  });
  expect(found.map(({ detail }) => detail)).toEqual([
    "Did you mean service/dev:*/*? Correct it, or remove it.",
    "Did you mean cluster/*? Correct it, or remove it.",
    "Did you mean web/*.yaml? Correct it, or remove it.",
    "Did you mean service/dev:web/api? Correct it, or remove it.",
    "Did you mean service/*/api? Correct it, or remove it.",
    "Did you mean service/dev:*/a*? Correct it, or remove it.",
    "Did you mean service/**? Correct it, or remove it.",
    "Correct it, or remove it.",
  ]);
});

test.each([
  ["servce/**", "did you mean service/**?"],
  ["servce/prod-*:web/api", "did you mean service/prod-*:web/api?"],
  ["service", "did you mean service/**?"],
  ["sso-team/*", "did you mean team/*?"],
  ["serx**", "it begins with a kind: "],
  ["*", "it begins with a kind: "],
  ["/service/**", "it begins with a kind: "],
  ["", "it begins with a kind: "],
])("a glob over identities that no kind can match is corrected: %s", (glob, correction) => {
  expect(kindCorrection(glob)).toContain(correction);
});

test.each(["service/**", "*/prod-eu:*/**", "s?rvice/x", "**", "**/api", "**api", "ser**api", "service/", "*-job/**"])(
  "a glob that some kind can match needs no correction: %s",
  (glob) => {
    expect(kindCorrection(glob)).toBeNull();
  },
);
