import { createHash } from "node:crypto";

/** How names are written in a store. */
export type NameForm = {
  /** The names that are taken as they are. */
  readonly plain: RegExp;
  readonly mostLength: number;
};

// A plain name never looks like one that was rewritten.
const REWRITTEN = /--[0-9a-f]{32}$/;
const SLUG_LENGTH = 40;

/** A name in the form of a store. Different names stay different: what is no plain name ends with a digest of it. */
export function storeName(name: string, { plain, mostLength }: NameForm): string {
  if (plain.test(name) && !REWRITTEN.test(name) && name.length <= mostLength) return name;
  const slug = name
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, "-")
    .slice(0, SLUG_LENGTH)
    .replace(/^-+|-+$/g, "");
  const digest = createHash("sha256").update(name).digest("hex").slice(0, 32);
  return `${slug || "x"}--${digest}`;
}
