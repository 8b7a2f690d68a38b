import type { Outcome } from "./report.ts";

type Place = { readonly file: string | null; readonly line?: number | null | undefined };

/** Where an invalid manifest is wrong: `search/gateway.yaml:7`. */
export function placeText({ file, line = null }: Place): string {
  return line === null ? (file ?? "") : `${file}:${line}`;
}

/** What stays in force of a resource whose manifest is invalid. */
export function lastAppliedText(lastGood: NonNullable<Outcome["lastGood"]> | null): string {
  if (lastGood === null) return "no write of it is recorded here";
  const what = lastGood.version === null ? "what was written last" : `version ${lastGood.version}`;
  return `in force is ${what}, as of ${lastGood.at}`;
}
