import { isObject, type Json, type JsonObject } from "../contract/json.ts";
import type { Change } from "../core/plan/plan.ts";
import { printable } from "./escape.ts";
import type { Paint, Style } from "./paint.ts";
import { brokenWords, wrapWords } from "./wrap.ts";

/** A role or a membership that is given or taken away. */
export type GrantChange = {
  readonly sign: "+" | "-";
  /** `cluster-viewer on cluster prod-eu`, `workspace-admin for team:ml`, `member ada@example.com`. */
  readonly text: string;
  readonly cause: Change["cause"];
};

const roleLists = ["permissions", "collaborators"] as const;
const memberLists = ["managers", "members"] as const;
type GrantList = (typeof roleLists)[number] | (typeof memberLists)[number];

/** The text of one item of each list of grants. */
const grantTexts: { readonly [list in GrantList]: (item: JsonObject) => string } = {
  permissions: ({ role_id, resource_type, resource_fqn }) => `${role_id} on ${resource_type} ${resource_fqn}`,
  collaborators: ({ role_id, subject }) => `${role_id} for ${subject}`,
  managers: ({ value }) => `manager ${value}`,
  members: ({ value }) => `member ${value}`,
};

// `permissions[cluster:prod-eu:cluster-viewer].role_id`: the key that names an item may contain brackets.
const LABEL = /^(?<list>permissions|collaborators|managers|members)\[(?<item>.*)\](?:\.(?<field>\w+))?$/s;

type GrantPart = { readonly change: Change; readonly list: GrantList; readonly item: string; readonly field: string };

const signStyles: { readonly [sign in GrantChange["sign"]]: Style } = { "+": "green", "-": "red" };

/** The grants that changes add or remove, one for each item, and the other changes. */
export function splitGrants(changes: readonly Change[]): {
  readonly grants: readonly GrantChange[];
  readonly others: readonly Change[];
} {
  const parts = changes.flatMap((change) => partOf(change) ?? []);
  if (parts.length === 0) return { grants: [], others: changes };
  const items = Map.groupBy(parts, ({ list, item, change }) => JSON.stringify([list, item, change.before === null]));
  const taken = new Set(parts.map(({ change }) => change));
  return {
    grants: [...items.values()].flatMap(grantOf).toSorted((a, b) => Number(a.sign === "+") - Number(b.sign === "+")),
    others: changes.filter((change) => !taken.has(change)),
  };
}

// A field of an item that both sides have is a change like any other.
function partOf(change: Change): GrantPart | null {
  const { list: name, item = "", field = "value" } = LABEL.exec(change.label)?.groups ?? {};
  const list = [...roleLists, ...memberLists].find((one) => one === name);
  const isOfOneSide = (change.before === null) !== (change.after === null);
  return list === undefined || !isOfOneSide ? null : { change, list, item, field };
}

function grantOf(parts: readonly GrantPart[]): readonly GrantChange[] {
  const [first] = parts;
  if (first === undefined) return [];
  const isNew = first.change.before === null;
  const value = Object.fromEntries(parts.map(({ field, change }) => [field, isNew ? change.after : change.before]));
  return [{ sign: isNew ? "+" : "-", text: printable(grantTexts[first.list](value)), cause: first.change.cause }];
}

/** What a whole manifest grants, one text for each role and each list of members, and the manifest without that. */
export function grantsIn(content: Json): { readonly grants: readonly string[]; readonly rest: Json } {
  if (!isObject(content)) return { grants: [], rest: content };
  const roles = roleLists.map(
    (list) => [list, objectsIn(content[list]).map((item) => grantTexts[list](item))] as const,
  );
  const members = memberLists.map((list) => [list, textsIn(content[list]).join(", ")] as const);
  const named = members.flatMap(([list, names]) => (names === "" ? [] : [[list, [`${list} ${names}`]] as const]));
  const found = [...roles, ...named];
  const listed = new Set<string>(found.flatMap(([list, grants]) => (grants.length === 0 ? [] : [list])));
  return {
    grants: found.flatMap(([, grants]) => grants.map(printable)),
    rest: Object.fromEntries(Object.entries(content).filter(([name]) => !listed.has(name))),
  };
}

function objectsIn(value: Json | undefined): readonly JsonObject[] {
  return Array.isArray(value) && value.every(isObject) ? value : [];
}

function textsIn(value: Json | undefined): readonly string[] {
  return Array.isArray(value) && value.every((item) => typeof item === "string") ? value : [];
}

/** A role or membership with its sign, on lines of a width: never cut, since a reader must see who may do what. */
export function grantLines(
  sign: GrantChange["sign"],
  text: string,
  { indent, paint, width }: { readonly indent: string; readonly paint: Paint; readonly width: number },
): readonly string[] {
  const words = [paint(signStyles[sign], sign), ...brokenWords(text, width - indent.length - 2)];
  return wrapWords(words, { indent, nextIndent: `${indent}  `, width });
}
