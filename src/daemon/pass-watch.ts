import { errorMessage } from "../contract/error-message.ts";
import { type FailureCode, HoldfastError } from "../core/errors.ts";
import { redactFailureMessage } from "../core/redact/redact-message.ts";
import { type PassReason, passConclusion } from "../core/report/pass-result.ts";
import { SourceError } from "../source/source-error.ts";
import type { EndedPass, PassSeen, PassTimes } from "./ended-pass.ts";
import type { PassObserver } from "./pass-observer.ts";

type Seen = { -readonly [fact in keyof PassSeen]: PassSeen[fact] };

/** Collects what one pass reports, until it ends. */
export type PassWatch = {
  readonly observer: PassObserver;
  /** Judges the pass, and starts over for the next one. */
  readonly end: (times: PassTimes) => EndedPass;
  /** Forgets what a pass reported that is not recorded here. */
  readonly drop: () => void;
};

/** Creates a collector of what passes report. */
export function createPassWatch(): PassWatch {
  let seen = nothingSeen();
  return {
    end: (times) => {
      const ended = { seen, conclusion: passConclusion(seen), times };
      seen = nothingSeen();
      return ended;
    },
    drop: () => {
      seen = nothingSeen();
    },
    observer: {
      emit: (event) => {
        if (event.what === "begun") seen.pass = event.pass ?? null;
        if (event.what === "applied") seen.applied = event;
        if (event.what === "planned") seen.planned = event;
        if (event.what === "kept") seen.kept = { reason: event.reason, message: redactFailureMessage(event.message) };
        if (event.what === "standing-by") seen.standby = event.message;
        if (event.what === "taking-over") seen.standby = null;
        if (event.what === "superseded") seen.standby = TOOK_OVER;
        if (event.what !== "read") return;
        seen.read = event;
        seen.isRefused = event.isRefused;
      },
      failure: (error) => {
        seen.failure = failureReason(error);
      },
    },
  };
}

const TOOK_OVER = "this process took over; the next pass reads everything again";

function nothingSeen(): Seen {
  return {
    pass: null,
    read: null,
    applied: null,
    planned: null,
    kept: null,
    standby: null,
    isRefused: false,
    failure: null,
  };
}

function failureReason(error: unknown): PassReason {
  const message = redactFailureMessage(errorMessage(error));
  if (error instanceof SourceError) return { reason: error.reason, message };
  return { reason: error instanceof HoldfastError ? failureReasons[error.code] : "Failed", message };
}

const failureReasons: { readonly [code in FailureCode]: string } = {
  error: "Failed",
  invalid: "Invalid",
  unauthorized: "Unauthorized",
  refused: "Refused",
  stale: "Stale",
  partial: "Failed",
  locked: "Locked",
  timeout: "TimedOut",
  interrupted: "Interrupted",
  terminated: "Terminated",
};
