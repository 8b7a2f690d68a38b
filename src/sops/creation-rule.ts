import { readdirSync } from "node:fs";
import { dirname, join, relative, sep } from "node:path";
import { isObject, type Json, type JsonObject, own, text } from "../contract/json.ts";
import { readGivenFile, whyUnreadable } from "../files/read-given-file.ts";
import { escapeUnprintable } from "../model/unprintable.ts";
import { defaultYamlLimits } from "../yaml/limits.ts";
import { ExactProcess, readYaml } from "../yaml/read-yaml.ts";
import { compileRegex, type EncryptionRule } from "./encryption-rule.ts";
import { SopsError } from "./sops-error.ts";
import { ruleIn } from "./sops-metadata.ts";

/** What `.sops.yaml` says of a new file. */
export type CreationRule = {
  /** The file of the rule, for messages. */
  readonly file: string;
  readonly recipients: readonly string[];
  /** Key services that it names besides, for which only the program `sops` can encrypt. */
  readonly otherServices: readonly string[];
  readonly rule: EncryptionRule;
  readonly macOnlyEncrypted: boolean;
};

/** The name of the file with the rules of SOPS. */
const RULES_NAME = ".sops.yaml";

const EXAMPLE = `write ${RULES_NAME} at the top of the repository: creation_rules: [{ path_regex: '\\.sops\\.yaml$', age: 'age1…' }]`;

/**
 * The rule for a file: the first that matches in the nearest `.sops.yaml`, from the file's folder up to the top of the
 * repository. `path` and `top` are absolute, `file` names the file in messages.
 */
export async function findCreationRule(
  path: string,
  { top, file }: { readonly top: string; readonly file: string },
): Promise<CreationRule> {
  const folder = nearest(dirname(path), top);
  if (folder === null) {
    throw new SopsError("not-writable", `${file}: no ${RULES_NAME} says for whom it is encrypted`, EXAMPLE);
  }
  const shown = escapeUnprintable(join(relative(top, folder), RULES_NAME).split(sep).join("/"));
  const rules = await readRules(join(folder, RULES_NAME), shown);
  const name = relative(folder, path).split(sep).join("/");
  for (const rule of rules) {
    const pattern = text(own(rule, "path_regex"));
    if (pattern && !(await compileRegex(pattern, "path_regex", shown)).matcher(name).find()) continue;
    return ruleOf(rule, shown);
  }
  throw new SopsError("not-writable", `${file}: no rule of ${shown} matches it`, EXAMPLE);
}

function nearest(folder: string, top: string): string | null {
  if (hasRules(folder)) return folder;
  return folder === top || dirname(folder) === folder ? null : nearest(dirname(folder), top);
}

function hasRules(folder: string): boolean {
  try {
    return readdirSync(folder).includes(RULES_NAME);
  } catch {
    // It may have to be made first.
    return false;
  }
}

async function readRules(path: string, shown: string): Promise<readonly JsonObject[]> {
  await using exact = new ExactProcess();
  const { documents, faults } = await readYaml(
    bytesOf(path, shown),
    { format: "yaml", limits: defaultYamlLimits, worthy: null },
    exact,
  );
  const [fault] = [...faults, ...documents.flatMap((document) => document.faults)].filter(
    ({ severity }) => severity === "error",
  );
  if (fault !== undefined) throw wrong(shown, fault.summary);
  const value = documents[0]?.value ?? null;
  const rules = isObject(value) ? own(value, "creation_rules") : undefined;
  if (!Array.isArray(rules) || !rules.every(isObject)) throw wrong(shown, "it has no list `creation_rules`");
  return rules;
}

function bytesOf(path: string, shown: string): Uint8Array {
  try {
    return readGivenFile(path, defaultYamlLimits.fileBytes);
  } catch (error) {
    throw wrong(shown, `it ${whyUnreadable(error)}`);
  }
}

function ruleOf(rule: JsonObject, file: string): CreationRule {
  const groups = own(rule, "key_groups") ?? [];
  if (Array.isArray(groups) && groups.length > 1)
    throw wrong(file, "`key_groups` split the data key, which only sops can do");
  const [group] = Array.isArray(groups) ? groups : [];
  const holder = isObject(group) ? group : rule;
  const recipients = textsIn(own(holder, "age"));
  if (recipients.length === 0) throw wrong(file, "the rule that matches names no age recipient", EXAMPLE);
  return {
    file,
    recipients: [...new Set(recipients)],
    otherServices: SERVICES.filter(
      (service) => textsIn(own(holder, service)).length > 0 || isList(own(holder, service)),
    ),
    rule: ruleIn(rule, file, "not-writable"),
    macOnlyEncrypted: own(rule, "mac_only_encrypted") === true,
  };
}

const SERVICES = ["pgp", "kms", "gcp_kms", "hckms", "azure_keyvault", "hc_vault_transit_uri", "hc_vault", "plugins"];

function isList(value: Json | undefined): boolean {
  return Array.isArray(value) && value.length > 0;
}

function textsIn(value: Json | undefined): readonly string[] {
  const texts = typeof value === "string" ? value.split(",") : Array.isArray(value) ? value : [];
  return texts
    .flatMap((one) => (typeof one === "string" && one.trim() !== "" ? one.split(",") : []))
    .map((one) => one.trim())
    .filter(Boolean);
}

function wrong(file: string, what: string, hint = "correct it; sops reads the same rules"): SopsError {
  return new SopsError("not-writable", `${file}: ${what}`, hint);
}
