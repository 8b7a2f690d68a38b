import type { LiveRow } from "./kind.ts";

/** Why live could not be read although it may be there. */
export type UnknownReason =
  /** The control plane has no way to read this kind. */
  | "no-read"
  /** The caller may not dry-run the write that would tell. */
  | "needs-write"
  /** The control plane refused the dry run that would tell; the write would be refused too. */
  | "refused"
  /** The read failed; the plan is not complete. */
  | "unreadable";

/** What is live of one identity: there, not there, or honestly unknown. */
export type Live =
  | { readonly state: "present"; readonly row: LiveRow }
  /** There, byte for byte as it was when it was found equal to the manifest, and so not read again. */
  | { readonly state: "unread" }
  /** `newest`: the highest version that exists under the name, where the kind has versions. */
  | { readonly state: "absent"; readonly newest?: number }
  | {
      readonly state: "unknown";
      readonly reason: UnknownReason;
      readonly detail?: string;
      /** The manifest and its receipt are what they were when they said the same, and so not opened again. */
      readonly isAsWritten?: true;
      /** A dry run showed that it exists, but not its content. */
      readonly isThere?: true;
    };

/** There, and not read again. */
export const UNREAD: Live = { state: "unread" };

/** Whether nothing is to be told by the receipt of a resource that was not told before. */
export function isSettled(live: Live | undefined): boolean {
  return live?.state === "unread" || (live?.state === "unknown" && live.isAsWritten === true);
}

/** Whether a resource is known to be there. */
export function isThere(live: Live | undefined): boolean {
  return live?.state === "present" || live?.state === "unread";
}
