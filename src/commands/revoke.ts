import { printable } from "../render/escape.ts";
import { revokeInDatabase } from "../server/offline-admin.ts";
import type { RevokedSubject } from "../server/resources/personal-access-token/revoke-subject-tokens.ts";
import type { InvocationOf } from "./command.ts";
import { dataOptions } from "./configuration/data-options.ts";
import type { revoke } from "./declarations/revoke.ts";
import { offlineFailure } from "./errors/store-failure.ts";
import { writeResult } from "./terminal.ts";

/** Revokes the tokens of the given subjects, whether the control plane runs or not. */
export async function run(invocation: InvocationOf<typeof revoke>): Promise<number> {
  const { args, terminal } = invocation;
  const options = await dataOptions(invocation);
  const revoked = await revokeInDatabase(options, args).catch((error: unknown) => {
    throw offlineFailure("nothing was revoked", error);
  });
  await writeResult(terminal, revoked.map(revokedText).join(""));
  return 0;
}

function revokedText(revoked: RevokedSubject): string {
  const lines = [
    `the tokens of ${printable(revoked.subject)} are void`,
    ...remains(revoked).map((text) => `  ${text}`),
  ];
  return lines.map((line) => `${line}\n`).join("");
}

/** What stays after the revocation, and what ends it. */
function remains({ subject, isDisabled, newTokenAt }: RevokedSubject): readonly string[] {
  if (subject === "user:admin") return ["the admin token stays valid: holdfast admin-token rotate replaces it"];
  if (isDisabled) return ["it is disabled and gets no new ones"];
  return [
    newTokenAt === null
      ? "it and its roles stay, and new tokens may be issued to it"
      : `it and its roles stay; its new token is in the secret ${printable(newTokenAt)}`,
    `holdfast disable ${printable(subject)} ends that for good`,
  ];
}
