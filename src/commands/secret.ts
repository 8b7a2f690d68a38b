import { dirname, join, relative, sep } from "node:path";
import { HoldfastError } from "../core/errors.ts";
import { lstatOrNull } from "../files/lstat-or-null.ts";
import { readGivenFile, whyUnreadable } from "../files/read-given-file.ts";
import { isAtOrBelow } from "../files/real-path.ts";
import { makeFolders } from "../files/write-file.ts";
import { count } from "../render/count-text.ts";
import { printable } from "../render/escape.ts";
import { loadAgeIdentities } from "../sops/age-identities.ts";
import { findCreationRule } from "../sops/creation-rule.ts";
import { changeSopsFile, createSopsFile, type SopsFileWithValue } from "../sops/set-sops-value.ts";
import { contentTop, findRoot } from "../source/source-root.ts";
import { yamlText } from "../yaml/write-yaml.ts";
import type { InvocationOf } from "./command.ts";
import { readOperatorFile } from "./configuration/read-operator-file.ts";
import type { secret } from "./declarations/secret.ts";
import { readSecretInput } from "./input/read-secret-input.ts";
import { outputPath } from "./output/output-path.ts";
import { writeSharedFile } from "./output/write-outputs.ts";
import { requireValidConfig } from "./targets/create-target.ts";
import { say, writeResult } from "./terminal.ts";

/** Writes a value, encrypted, into a SOPS file of the source. */
export async function run(invocation: InvocationOf<typeof secret>): Promise<number> {
  const { args, flags, terminal } = invocation;
  const named = secretNamed(args);
  const place = placeOfFile(invocation);
  const creation = await findCreationRule(place.path, { top: place.top, file: place.file });
  const identities = loadAgeIdentities({ env: terminal.env, cwd: terminal.cwd, keyFile: await keyFileOf(invocation) });
  const before = contentOf(place);
  const value = await readSecretInput(`value of ${named.key} in ${named.group}`, terminal);
  const given = { file: place.file, keys: [named.group, named.key], value, now: terminal.clock.now() };
  const made =
    before === null ? await createSopsFile(given, creation) : await changeSopsFile(before, given, identities);
  if (made.text !== null) store(made.text, place, { before, hasInto: flags.into !== undefined });
  if (!hasSame(made.recipients, creation.recipients)) {
    say(
      terminal,
      `warning: ${place.file} is not encrypted for exactly the recipients of ${creation.file}: run sops updatekeys`,
    );
  }
  await writeResult(terminal, resultText({ ...named, file: place.file }, made));
  return 0;
}

type Named = { readonly group: string; readonly key: string };

/** The forms of the manifest. */
const GROUP = /^[A-Za-z0-9][A-Za-z0-9_.-]{0,63}$/;
const KEY = /^[A-Za-z0-9_.-]{1,128}$/;

function secretNamed([action, group = "", key = "", ...more]: readonly string[]): Named {
  if (action === "set" && GROUP.test(group) && KEY.test(key) && more.length === 0) return { group, key };
  const isNamed = action === "set" && group !== "" && key !== "";
  throw new HoldfastError("invalid", isNamed ? "the group or the key has another form" : "secret needs set GROUP KEY", {
    hint: isNamed
      ? "both are letters, digits, '-', '_' or '.'; the value comes from standard input, never from the command line"
      : "holdfast secret --help has examples",
  });
}

/** The file of the source, by its real path and as messages and manifests name it. */
type Place = { readonly path: string; readonly top: string; readonly root: string; readonly file: string };

const DEFAULT_FILE = "secrets.sops.yaml";

function placeOfFile({ flags, terminal: { cwd } }: InvocationOf<typeof secret>): Place {
  const root = findRoot({ cwd, source: flags.source });
  const top = contentTop(root);
  const path = outputPath(flags.into ?? join(root, DEFAULT_FILE), { cwd, content: top });
  if (!isAtOrBelow(root, path)) {
    throw new HoldfastError("invalid", `${printable(flags.into ?? "")} is not in the source ${printable(root)}`, {
      hint: "manifests can name files of their source alone: name one there with --into",
    });
  }
  return { path, top, root, file: relative(root, path).split(sep).join("/") };
}

async function keyFileOf(invocation: InvocationOf<typeof secret>): Promise<string | null> {
  const { config } = await readOperatorFile(invocation);
  requireValidConfig(config?.diagnostics ?? []);
  return config?.operator.sops?.ageKeyFile ?? null;
}

function contentOf({ path, file }: Place): Buffer | null {
  if (lstatOrNull(path) === null) return null;
  try {
    return readGivenFile(path);
  } catch (error) {
    throw new HoldfastError("invalid", `${printable(file)} ${whyUnreadable(error)}`, { cause: error });
  }
}

// Somebody else may have changed it while the value was typed.
function store(text: string, place: Place, { before, hasInto }: { before: Buffer | null; hasInto: boolean }): void {
  const now = contentOf(place);
  if (before === null ? now !== null : now === null || !now.equals(before)) {
    throw new HoldfastError("error", `${printable(place.file)} was changed in the meantime`, { hint: "run it again" });
  }
  if (hasInto) makeFolders(dirname(place.path));
  writeSharedFile(place.path, text, { what: "SOPS file", hint: "name a file that can be written with --into" });
}

function hasSame(one: readonly string[], other: readonly string[]): boolean {
  return new Set(one).symmetricDifference(new Set(other)).size === 0;
}

function resultText(
  { group, key, file }: Named & { readonly file: string },
  { text, recipients }: SopsFileWithValue,
): string {
  const done =
    text === null ? "has this value already" : `has the value, encrypted for ${count(recipients.length, "recipient")}:`;
  const shown = text === null ? [] : recipients.map((recipient) => `  ${printable(recipient)}`);
  const path = `${group}${key}`.includes(".") ? `/${group}/${key}` : `${group}.${key}`;
  const entry = yamlText({ secrets: [{ key, value: { from: "sops", file, key: path } }] });
  const where = `in the manifest of the group ${group} (\`file\` is relative to the manifest; this one is for ${file.includes("/") ? "the top of the source" : "a manifest beside it"}):`;
  return [`${printable(file)} ${done}`, ...shown, "", where, entry].join("\n");
}
