import type { OpenWrite, ResolveReport } from "../core/report/report.ts";
import { count } from "./count-text.ts";
import { printable } from "./escape.ts";

const evidenceText: { readonly [evidence in OpenWrite["evidence"]]: string } = {
  applied: "live shows that it took effect",
  refused: "live shows that it did not take effect",
  unclear: "live does not show whether it took effect",
};

/** The journal's and live's state of open writes, and how they were closed. */
export function resolveText({ writes, resolvedAs }: ResolveReport): string {
  if (writes.length === 0) return "No write is open: the outcome of each is known.\n";
  const end =
    resolvedAs === null
      ? "Close one with holdfast resolve ID --as applied, or --as refused."
      : `${count(writes.length, "write")} closed as ${resolvedAs}.`;
  return `${writes.map(writeText).join("\n")}\n${end}\n`;
}

function writeText(write: OpenWrite): string {
  const { identity, operation, sentAt, arrivesUntil, versionBefore, creates, evidence, token, lost } = write;
  const before = creates ? "it was absent" : versionBefore === null ? "it existed" : `it had version ${versionBefore}`;
  return [
    printable(identity),
    `  journal   ${operation}, sent ${sentAt ?? "at an unknown time"}; before, ${before}`,
    `            it cannot arrive after ${arrivesUntil}${write.hasReply ? "; its reply is kept" : ""}`,
    `  live      ${liveText(write)}`,
    `  evidence  ${evidenceText[evidence]}`,
    ...(token === null ? [] : [`  token     ${printable(token)}`]),
    ...(lost === null ? [] : [`  lost      ${printable(lost)}`]),
    "",
  ].join("\n");
}

function liveText({ live: { state, version, changedBy, hasContent } }: OpenWrite): string {
  if (state !== "present") return state === "absent" ? "absent" : "cannot be read here";
  const which = version === null ? "present" : `version ${version}`;
  const who =
    changedBy === null
      ? ""
      : ` by ${printable(changedBy.subject ?? "an unknown subject")}, ${changedBy.at ?? "at an unknown time"}`;
  return `${which}${who}; it ${hasContent ? "has" : "does not have"} the sent content`;
}
