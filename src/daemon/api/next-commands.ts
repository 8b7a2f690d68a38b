import type { HoldEntry, NextCommand, ResourceEntry } from "../../contract/generated/output.ts";
import { hasBadRollout } from "../../core/report/report.ts";
import { shellWord } from "../../render/shell-word.ts";

/** What decides which commands are useful for a resource. */
type CommandChoice = {
  /** The target as commands name it; null where the configuration names none. */
  readonly named: string | null;
  /** Its entry in the list of resources; null where it is in none. */
  readonly resource: Pick<ResourceEntry, "kind" | "state" | "rollout"> | null;
  readonly hold: HoldEntry | null;
};

/** The commands that somebody may run next for a resource, the most useful first. */
export function nextCommands(identity: string, { named, resource, hold }: CommandChoice): readonly NextCommand[] {
  const target = named === null ? [] : ["--target", named];
  const command = (does: string, ...words: readonly string[]): NextCommand => ({
    does,
    command: ["holdfast", ...words, ...target].map(shellWord).join(" "),
  });
  const validate = command("checks the manifests", "validate");
  // An invalid manifest that names no resource is listed by its place.
  if (resource?.kind === "") return [validate];
  const isBadRollout = resource !== null && hasBadRollout(resource);
  return [
    ...(resource?.state === "invalid" ? [validate] : []),
    ...(resource?.state === "unknown"
      ? [command("shows the write whose outcome is unknown", "resolve", identity)]
      : []),
    ...(resource?.state === "orphan" ? [command("lists what git no longer declares", "orphans")] : []),
    ...(isBadRollout ? [command("deploys the same content again", "redeploy", identity)] : []),
    command("shows what an apply would change", "plan", "--only", identity),
    command("says where its values come from", "why", identity),
    command("shows what became of it", "history", identity),
    hold === null
      ? command("keeps the daemon from writing it", "hold", identity, "--reason", "why", "--until", "4h")
      : command("ends the hold", "release", identity),
  ];
}
