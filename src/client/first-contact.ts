import { faultCode } from "../contract/fault-code.ts";
import { isDocumented, type OperationName, operation } from "../contract/operations.ts";
import { HoldfastError } from "../core/errors.ts";
import type { Answer } from "./call-outcome.ts";
import type { Dispatchers } from "./dispatcher.ts";
import { isEnvelope } from "./read-envelope.ts";
import type { Refusal } from "./refusal.ts";
import type { Address } from "./server-address.ts";

/** Decides from the first answers whether the address belongs to a control plane. */
export type FirstContact = {
  /** Whether a control plane has answered; answers are not checked any more then. */
  readonly isOver: () => boolean;
  /** The error if the answer to a read shows that the server is not a control plane; null if it may be one. */
  readonly misdirected: (name: OperationName, given: Given) => Promise<HoldfastError | null>;
  /** Whether the answer is one that is judged only for a documented operation: the same server has to answer one of those. */
  readonly isUndecided: (name: OperationName, given: Given) => boolean;
};

/** An answer, and whether it is the last one of its call: one that is tried again may be better then. */
export type Given = { readonly answer: Answer; readonly isFinal: boolean };

const NO_TLS = /^(?:ERR_SSL_(?:WRONG_VERSION_NUMBER|PACKET_LENGTH_TOO_LONG|HTTP_REQUEST)|EPROTO)$/;

/** Creates the check of the first answers from a server. */
export function createFirstContact(
  { protocol, origin }: Address,
  speaksTls: Dispatchers["speaksTls"],
  { answersAsGiven }: { readonly answersAsGiven: boolean },
): FirstContact {
  let isOver = false;
  const other = (scheme: string): string => `${scheme}://${origin.slice(origin.indexOf("//") + 2)}`;
  return {
    isOver: () => isOver,
    isUndecided: (name, given) =>
      !isOver &&
      !answersAsGiven &&
      operation(name).retry === "read" &&
      !isDocumented(operation(name)) &&
      (strangeness(given) !== null || mayLackRoutes(given.answer)),
    misdirected: async (name, given) => {
      const { answer } = given;
      if (isProper(name, answer)) isOver = true;
      if (isOver || operation(name).retry !== "read") return null;
      if (protocol === "https:" && answer.state === "not-sent" && NO_TLS.test(faultCode(answer.cause) ?? "")) {
        return wrong(`${origin} does not speak TLS`, `if plain HTTP is intended, use http: --server ${other("http")}`);
      }
      if (protocol === "http:" && isCutOff(answer) && (await speaksTls())) {
        return wrong(`${origin} speaks TLS`, `use https: --server ${other("https")}`);
      }
      if (answersAsGiven) return null;
      return unlikeControlPlane(name, given, origin) ?? withoutRoute(name, answer, origin);
    },
  };
}

function wrong(message: string, hint: string): HoldfastError {
  return new HoldfastError("error", message, { hint });
}

// A control plane sends errors and successes in the documented form. A missing route proves nothing: a control plane also
// reports it for a path below the wrong base path.
function isProper(name: OperationName, answer: Answer): boolean {
  if (answer.state === "answered") return isEnvelope(name, answer.value);
  return answer.state === "refused" && answer.refusal.code !== null && answer.refusal.reason !== "route-missing";
}

// A server that speaks TLS closes a plain connection, or answers in HTTP that it requires TLS.
function isCutOff(answer: Answer): boolean {
  if (answer.state === "refused") return answer.refusal.status === 400;
  return answer.state === "ambiguous" && (answer.ambiguity === "connection-lost" || answer.ambiguity === "protocol");
}

// An answer that no control plane gives: of another server, or of a gateway or portal in between.
function unlikeControlPlane(name: OperationName, given: Given, origin: string): HoldfastError | null {
  // What a control plane answers where it has no such route is its own affair.
  const what = isDocumented(operation(name)) ? strangeness(given) : null;
  if (what === null) return null;
  const { method, path } = operation(name);
  return wrong(
    `the server at ${origin} does not look like a control plane: it answers ${method} ${path} with ${what}`,
    "check that --server is the control plane's own address, and that no gateway or sign-in page answers in its place",
  );
}

function strangeness({ answer, isFinal }: Given): string | null {
  switch (answer.state) {
    case "answered":
      return `${answer.status} and JSON of another form`;
    case "refused":
      return isStrangeRefusal(answer.refusal) ? `${answer.refusal.status} and no reason` : null;
    case "ambiguous":
      if (answer.ambiguity === "redirect") return "a redirect, which is not followed";
      if (answer.ambiguity === "server-error")
        return isFinal && !hasReason(answer) ? `${answer.status} and no reason` : null;
      if (answer.ambiguity !== "protocol" || answer.status === null) return null;
      return answer.cause instanceof Error ? answer.cause.message.replace(/^answered /, "") : String(answer.status);
    case "not-sent":
      return null;
  }
}

// As the classification of a 5xx tells it.
function hasReason({ status, cause }: Extract<Answer, { readonly state: "ambiguous" }>): boolean {
  return !(cause instanceof Error && cause.message === `answered ${status}`);
}

// The page of a gateway has no message that could be read.
function isStrangeRefusal({ status, code, message, details }: Refusal): boolean {
  return STRANGE_REFUSALS.has(status) && code === null && message === "" && details.length === 0;
}

// A control plane may lack the routes of extensions; another server, or a wrong base path, lacks the documented ones too.
function mayLackRoutes(answer: Answer): boolean {
  return answer.state === "refused" && /^route-/.test(answer.refusal.reason);
}

// Those of a proxy that asks to sign in, of a firewall, or of a server that takes other requests. 401 is about the token.
const STRANGE_REFUSALS: ReadonlySet<number> = new Set([400, 403, 405, 406, 407, 410, 415, 421, 451]);

// Every control plane has the documented routes.
function withoutRoute(name: OperationName, answer: Answer, origin: string): HoldfastError | null {
  const missing = operation(name);
  if (answer.state !== "refused" || answer.refusal.reason !== "route-missing" || !isDocumented(missing)) return null;
  return wrong(
    `the server at ${origin} is not a control plane: it has no ${missing.method} ${missing.path}`,
    "check that --server is the control plane's base address",
  );
}
