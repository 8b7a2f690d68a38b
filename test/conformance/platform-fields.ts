import { readFileSync } from "node:fs";
import { join } from "node:path";

/** Form of a field as the field list of the platform gives it. */
export type PlatformForm = "str" | "num" | "bool" | "list" | "object";

/** One line a type: its fields, or what it is one of; `⊃` has all fields of, `*` is required there. */
const lines = readFileSync(join(import.meta.dirname, "platform-fields.txt"), "utf8")
  .split("\n")
  .filter(Boolean);

/** What the field list says of a type: its fields with their forms, or what it is one of. */
export type PlatformType =
  | {
      readonly is: "fields";
      readonly base: string | null;
      readonly fields: readonly (readonly [name: string, form: string, isRequired: boolean])[];
    }
  | { readonly is: "one of"; readonly names: readonly string[] };

/** Every type of the field list by its name. */
export const platformTypes: ReadonlyMap<string, PlatformType> = new Map(lines.map(readLine));

function readLine(line: string): readonly [string, PlatformType] {
  const union = /^(\w+) = (.+)$/.exec(line);
  if (union !== null) {
    const [, name = "", choices = ""] = union;
    return [name, { is: "one of", names: choices.split("|").flatMap((choice) => choice.trim() || []) }];
  }
  const [head = "", rest = ""] = line.split(/: (.*)/s);
  const [name = "", base = null] = head.split(" ⊃ ");
  const fields = rest.split(" · ").map((field) => {
    const [, key = "", star = "", form = ""] = /^(\w+)(\*?) (.+)$/.exec(field) ?? [];
    return [key, form, star === "*"] as const;
  });
  return [name, { is: "fields", base, fields }];
}

/** Every field of a type of manifest by its path, with the forms that it has in the variants of the platform. */
export function platformFields(type: string): ReadonlyMap<string, ReadonlySet<PlatformForm>> {
  const found = new Map<string, Set<PlatformForm>>();
  const name = platformTypeOf(type);
  if (name !== undefined) addFields(name, "", found);
  return found;
}

/** The name that the field list has for a type of manifest. */
export function platformTypeOf(type: string): string | undefined {
  return platformTypes.entries().find(([, known]) => isManifest(known, type))?.[0];
}

function isManifest(known: PlatformType, type: string): boolean {
  if (known.is !== "fields") return false;
  const isOfType = known.fields.some(([name, form]) => name === "type" && form === `"${type}"`);
  return isOfType && (known.base !== null || known.fields.some(([name]) => name === "name"));
}

type Found = Map<string, Set<PlatformForm>>;

function addFields(type: string, path: string, found: Found): void {
  const known = platformTypes.get(type);
  if (known?.is !== "fields") return;
  if (known.base !== null) addFields(known.base, path, found);
  for (const [name, form] of known.fields) addField(form, path === "" ? name : `${path}.${name}`, found);
}

function addField(form: string, path: string, found: Found): void {
  const note = (is: PlatformForm) => found.set(path, (found.get(path) ?? new Set()).add(is));
  if (form === "str" || form === "num" || form === "bool") return void note(form);
  if (/^"|^string$/.test(form)) return void note("str");
  if (form === "number") return void note("num");
  if (form === "map" || form.startsWith("Record<")) return void note("object");
  if (form.endsWith("[]")) {
    note("list");
    const item = form.slice(0, -2);
    if (platformTypes.has(item)) addItem(item, `${path}[]`, found);
    return;
  }
  const known = platformTypes.get(form);
  if (known?.is === "one of") for (const name of known.names) addField(name, path, found);
  else if (known === undefined) note("str");
  else {
    note("object");
    addFields(form, path, found);
  }
}

function addItem(type: string, path: string, found: Found): void {
  const known = platformTypes.get(type);
  if (known?.is === "one of") for (const name of known.names) addItem(name, path, found);
  else addFields(type, path, found);
}
