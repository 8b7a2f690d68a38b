import type { Buffer } from "node:buffer";
import { faultCode } from "../contract/fault-code.ts";
import { type OperationName, operation } from "../contract/operations.ts";
import { releaseBuffer } from "../contract/release-buffer.ts";
import type { Secret } from "../contract/secret.ts";
import type { Answer, Tried } from "./call-outcome.ts";
import { type BodyParser, type DecodedBody, decodeBody, mediaType } from "./decode-body.ts";
import type { Exchange, Headers } from "./exchange.ts";
import { proxyStatus } from "./reachability.ts";
import { readRefusal } from "./refusal.ts";
import { retryAfter } from "./retry-after.ts";

/** The context in which an exchange is classified. */
export type ClassifyContext = {
  readonly name: OperationName;
  /** The token that was sent; it is masked wherever the reply quotes it. */
  readonly token: Secret;
  /** Epoch milliseconds, for replies without a `Date` header. */
  readonly date: number;
  /** Awaited with the bytes of a success, or the part that arrived, before they are parsed. */
  readonly onReply?: (bytes: Buffer) => Promise<void>;
  /** Parses the body of a success instead of the default JSON parser. */
  readonly parse?: BodyParser;
};

/** Classifies an exchange: what it means for the call. Never rejects. */
export async function classifyResponse(outcome: Exchange, context: ClassifyContext): Promise<Tried> {
  if (outcome.state === "not-sent") {
    return final(outcome);
  }
  const { status } = outcome;
  const bytes = outcome.state === "answered" ? outcome.body : outcome.partial;
  if (isSuccess(status) && bytes.length > 0) {
    try {
      await context.onReply?.(bytes);
    } catch (cause) {
      return final({ state: "ambiguous", ambiguity: "not-kept", status, cause });
    }
  }
  if (outcome.state === "broken") return final(readBroken(outcome));
  const { headers } = outcome;
  const decoded = await decodeBody(headers, outcome.body, isSuccess(outcome.status) ? context.parse : undefined);
  // `onReply` may still hold the bytes that it received.
  if (context.onReply === undefined) releaseBuffer(outcome.body);
  return isSuccess(outcome.status)
    ? final(readSuccess(outcome.status, headers, decoded))
    : readFailure(outcome.status, headers, { decoded, context });
}

function readBroken({ reason, status, cause }: Extract<Exchange, { readonly state: "broken" }>): Answer {
  if (proxyStatus(cause) !== null) return { state: "not-sent", reason: "unreachable", cause };
  // The HTTP parser's error is replaced: it contains the invalid bytes, which may be anything.
  if (isNoHttp(cause))
    return { state: "ambiguous", ambiguity: "protocol", status, cause: new Error("the reply is not HTTP") };
  return { state: "ambiguous", ambiguity: reason, status, cause };
}

function isNoHttp(cause: unknown): boolean {
  if (!(cause instanceof Error)) return false;
  return cause.name === "HTTPParserError" || faultCode(cause) === "UND_ERR_HEADERS_OVERFLOW";
}

function readSuccess(status: number, headers: Headers, decoded: DecodedBody): Answer {
  if (decoded.state === "json") return { state: "answered", status, value: decoded.value, headers };
  const cause = new Error(`answered ${status}, and the reply ${decoded.fault}`);
  if (decoded.state === "oversize") return { state: "ambiguous", ambiguity: "oversize", status, cause };
  const saysJson = decoded.raw !== "" && /[/+]json\b/.test(String(headers["content-type"]));
  return { state: "ambiguous", ambiguity: saysJson ? "malformed" : "protocol", status, cause };
}

function readFailure(
  status: number,
  headers: Headers,
  { decoded, context }: { readonly decoded: DecodedBody; readonly context: ClassifyContext },
): Tried {
  const raw = decoded.state === "oversize" ? "" : decoded.raw;
  const body = decoded.state === "json" ? decoded.value : undefined;
  const refusal = readRefusal(operation(context.name), status, { body, raw, token: context.token });
  const pause = retryAfter(headers, { date: context.date });
  const reply = { status, type: mediaType(headers["content-type"]), body: raw };
  if (isRefusal(status, pause)) return { answer: { state: "refused", refusal }, retryAfter: pause, reply };
  const cause = new Error(refusal.message === "" ? `answered ${status}` : `answered ${status}: ${refusal.message}`);
  return final({ state: "ambiguous", ambiguity: status < 400 ? "redirect" : "server-error", status, cause });
}

// 501, and 503 or 507 with Retry-After, mean that nothing was changed. After 408 and every other 5xx this is unknown.
function isRefusal(status: number, pause: number | null): boolean {
  if (status >= 500) return status === 501 || ((status === 503 || status === 507) && pause !== null);
  return status >= 400 && status !== 408;
}

function isSuccess(status: number | null): boolean {
  return status !== null && status >= 200 && status < 300;
}

function final(answer: Answer): Tried {
  return { answer, retryAfter: null };
}
