import type { Clock } from "../clock/clock.ts";
import type { Random } from "../clock/random.ts";
import { REPLY_CAP } from "../contract/limits.ts";
import type { OperationName } from "../contract/operations.ts";
import type { RawReply } from "./call-outcome.ts";
import { type CallContent, composeRequest, type WriteRevision } from "./compose-request.ts";
import type { Credential } from "./credential.ts";
import { decodeBody, mediaType } from "./decode-body.ts";
import type { Dispatchers } from "./dispatcher.ts";
import { exchange } from "./exchange.ts";
import { isRouteMissing, type SendProbe } from "./missing-route.ts";

/** Whether the server lacks the route of an operation whose answer says so. Resolves to false where this is unknown. */
export type RouteCheck = (
  name: OperationName,
  answered: { readonly content: CallContent; readonly reply: RawReply },
  stop: { readonly signals: readonly AbortSignal[] },
) => Promise<boolean>;

/** How single requests reach one server. */
export type RequestLine = {
  readonly origin: string;
  readonly base: string;
  readonly userAgent: string;
  /** The person who asked for the writes that are sent now; null where nobody did. */
  readonly actor: () => string | null;
  readonly revision: () => WriteRevision | null;
  readonly requestTimeout: number;
  readonly dispatchers: Dispatchers;
  readonly credential: Credential;
  readonly clock: Clock;
  readonly random: Random;
};

// Calls of one operation that are answered within this time share one check.
const SHARED_MS = 5000;

/** Creates the check for one server; its requests are sent once and never retried. */
export function createRouteCheck(line: RequestLine): RouteCheck {
  const verdicts = new Map<OperationName, { readonly at: number; readonly isMissing: Promise<boolean> }>();
  return (name, answered, { signals }) => {
    const known = verdicts.get(name);
    if (known !== undefined && line.clock.monotonic() - known.at < SHARED_MS) return known.isMissing;
    const isMissing = isRouteMissing(name, answered, { probe: probeOver(line, signals), random: line.random });
    verdicts.set(name, { at: line.clock.monotonic(), isMissing });
    return isMissing;
  };
}

function probeOver(
  { clock, dispatchers, credential, requestTimeout: timeout, ...line }: RequestLine,
  signals: readonly AbortSignal[],
): SendProbe {
  return async (row, content) => {
    const request = composeRequest(row, content, { ...line, token: credential.current() });
    const outcome = await exchange(dispatchers.shared, request, {
      clock,
      timeout,
      cap: REPLY_CAP,
      reset: false,
      signals,
    });
    if (outcome.state !== "answered") return null;
    const { status, headers, body } = outcome;
    const decoded = await decodeBody(headers, body);
    if (decoded.state === "oversize") return null;
    const reply = { status, type: mediaType(headers["content-type"]), body: decoded.raw };
    return { reply, value: decoded.state === "json" ? decoded.value : undefined };
  };
}
