import { resolve } from "node:path";
import { backoff } from "../../clock/backoff.ts";
import { faultCode, isCertificateFault } from "../../contract/fault-code.ts";
import type { PlanToSend } from "../../contract/generated/output.ts";
import { isObject, type Json } from "../../contract/json.ts";
import { BODY_CAP } from "../../contract/limits.ts";
import { HoldfastError } from "../../core/errors.ts";
import { readGivenText, whyUnreadable } from "../../files/read-given-file.ts";
import { isSentInClear } from "../../http/loopback.ts";
import { printable } from "../../render/escape.ts";
import type { Invocation } from "../command.ts";
import type { Terminal } from "../terminal.ts";

/** The address that plans are sent to. Throws where `--publish` names none. */
export function plansAddress(url: string): URL {
  const refused = (why: string, hint: string) =>
    new HoldfastError("invalid", `--publish ${printable(url)} ${why}`, { hint });
  const address = URL.parse("/api/v1/plans", url);
  if (address === null || !/^https?:$/.test(address.protocol) || address.username !== "")
    throw refused("is no address of a dashboard", "name it as https://HOST or https://HOST:PORT");
  if (isSentInClear(address.href))
    throw refused("is not encrypted", "a token is sent over https alone, or to this machine");
  return address;
}

const MAX_TRIES = 3;
const WAITS = { first: 1000, most: 4000 };
const TRY_MS = 30_000;

/** Sends a plan to a dashboard, and returns what is said of it. A plan that is sent again replaces itself, so a try may be repeated. */
export async function sendPlan(
  address: URL,
  plan: PlanToSend,
  { flags, terminal }: Invocation<"plansTokenFile">,
): Promise<string> {
  const body = JSON.stringify(plan);
  const size = Buffer.byteLength(body);
  if (size > BODY_CAP) throw tooLarge(size);
  const headers = { "content-type": "application/json", authorization: `Bearer ${plansToken(flags, terminal)}` };
  const { clock, stopping } = terminal;
  for (let nth = 1; ; nth += 1) {
    const reply = await post(address, { headers, body }, terminal);
    if (reply.is === "answered" && reply.status < 300) return sentText(address, reply.said);
    const mayPass = reply.is === "lost" ? !isCertificateFault(reply.cause) : PASSING.includes(reply.status);
    if (!mayPass || nth === MAX_TRIES) throw failureOf(address, reply);
    await clock.sleep(backoff(nth, WAITS), { signal: stopping });
  }
}

/** Statuses after which another try may go well. */
const PASSING: readonly number[] = [408, 429, 500, 502, 503, 504];

type Reply =
  | { readonly is: "answered"; readonly status: number; readonly said: Json }
  | { readonly is: "lost"; readonly cause: unknown };

async function post(
  address: URL,
  request: { readonly headers: { readonly [name: string]: string }; readonly body: string },
  { clock, stopping }: Terminal,
): Promise<Reply> {
  try {
    const signal = AbortSignal.any([stopping, clock.timeout(TRY_MS)]);
    // A redirect could lead the token to any host.
    const response = await fetch(address, { method: "POST", redirect: "manual", signal, ...request });
    return { is: "answered", status: response.status, said: await jsonIn(response) };
  } catch (cause) {
    stopping.throwIfAborted();
    return { is: "lost", cause };
  }
}

// A reply of a dashboard is short; another server may send a page without an end.
const MAX_REPLY = 65_536;

async function jsonIn({ body }: Response): Promise<Json> {
  let text = "";
  const decoder = new TextDecoder();
  for await (const part of body ?? []) {
    text += decoder.decode(part, { stream: true });
    if (text.length > MAX_REPLY) return null;
  }
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}

function sentText({ origin }: URL, said: Json): string {
  const { path, verified } = isObject(said) ? said : {};
  if (typeof path !== "string" || !/^\/reviews\/[\da-f]{32}$/.test(path)) {
    throw new HoldfastError("error", `${origin} has taken the plan, and its reply is none of a dashboard`, {
      hint: "check the address of --publish: a proxy or another service may have answered",
    });
  }
  return `Plan sent: ${origin}${path}${verified === true ? "" : " (unverified: not signed with a key of its state)"}\n`;
}

function plansToken(flags: Invocation<"plansTokenFile">["flags"], { env, cwd }: Terminal): string {
  const token =
    (flags.plansTokenFile === undefined ? env.HOLDFAST_PLANS_TOKEN : tokenIn(flags.plansTokenFile, cwd)) ?? "";
  if (/^\S+$/.test(token.trim())) return token.trim();
  throw new HoldfastError("unauthorized", "there is no token for --publish", {
    hint: "give one with --plans-token-file or HOLDFAST_PLANS_TOKEN",
  });
}

function tokenIn(file: string, cwd: string): string {
  try {
    return readGivenText(resolve(cwd, file));
  } catch (cause) {
    throw new HoldfastError("unauthorized", `the token file ${printable(file)} ${whyUnreadable(cause)}`, { cause });
  }
}

function tooLarge(bytes: number): HoldfastError {
  const size = bytes / (1024 * 1024);
  return new HoldfastError("error", `the plan has ${size.toFixed(1)} MiB, and a dashboard takes 8 MiB`, {
    hint: "plan fewer targets or resources in one job; the comment is written all the same",
  });
}

function failureOf({ origin }: URL, reply: Reply): HoldfastError {
  if (reply.is === "lost") {
    const { cause } = reply;
    const code = faultCode(cause);
    const why = code === undefined ? "" : ` (${code})`;
    if (isCertificateFault(cause)) {
      const hint = "name the certificate authority that issued it with NODE_EXTRA_CA_CERTS=FILE";
      return new HoldfastError("error", `the certificate of ${origin} is not trusted here${why}`, { hint, cause });
    }
    const hint = "check the address of --publish, and the network";
    return new HoldfastError("error", `${origin} cannot be reached, or does not answer${why}`, { hint, cause });
  }
  const { status, said } = reply;
  const { code, message } = isObject(said) ? said : {};
  const text = typeof message === "string" ? `: ${printable(message.slice(0, 300))}` : "";
  const answered = `${origin} answered ${status}${text}`;
  if (status === 401) {
    return new HoldfastError("unauthorized", answered, {
      hint: "give the token of the file that dashboard.plansTokenFile names on the daemon",
    });
  }
  if (code === "plans-not-taken") return new HoldfastError("unauthorized", answered);
  if (status === 404 || status === 405 || (status >= 300 && status < 400)) {
    return new HoldfastError("error", `${answered}: it takes no plans`, {
      hint: "name the address of a dashboard (watch --listen), of a release that takes plans",
    });
  }
  if (status === 413) {
    return new HoldfastError("error", answered, { hint: "the plan is too large for it, or for a proxy before it" });
  }
  if (status === 421) {
    return new HoldfastError("error", answered, { hint: "add its host name to dashboard.hosts on the daemon" });
  }
  return new HoldfastError("error", answered, { hint: "try again later; its log may say more" });
}
