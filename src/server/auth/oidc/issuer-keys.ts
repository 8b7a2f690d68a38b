import { createLocalJWKSet, type JWTVerifyGetKey } from "jose";
import type { Clock } from "../../../clock/clock.ts";
import { errorMessage } from "../../../contract/error-message.ts";
import { isObject, type Json, type JsonObject, text } from "../../../contract/json.ts";
import { requestBounded } from "../../../http/bounded-request.ts";
import { isSentInClear } from "../../../http/loopback.ts";
import type { Log } from "../../../log/log.ts";
import type { OidcOptions } from "./claims.ts";

// Keys are read again after this time, and are not used without that for longer than the next one.
const FRESH_MS = 5 * 60_000;
const USABLE_MS = 60 * 60_000;
// However many tokens name unknown keys, the issuer is asked this rarely.
const PAUSE_MS = 10_000;
const TIMEOUT_MS = 5000;
const MAX_BYTES = 256 * 1024;
const MAX_KEYS = 100;

/** The keys of an issuer at one moment. */
export type KeySet = { readonly find: JWTVerifyGetKey };

/** The keys that an issuer signs with. */
export type IssuerKeys = {
  /** The keys of now, among them the one with this id if the issuer has it; rejects while they cannot be read. */
  readonly current: (kid: string | undefined) => Promise<KeySet>;
};

type Loaded = KeySet & { readonly kids: ReadonlySet<string>; readonly at: number };

/** Reads the keys of an issuer when they are needed first, and again when they are old or a token names another one. */
export function createIssuerKeys(
  options: OidcOptions,
  { clock, log }: { readonly clock: Clock; readonly log: Log },
): IssuerKeys {
  const { issuer } = options;
  let loaded: Loaded | null = null;
  let loading: Promise<Loaded> | null = null;
  let tried = Number.NEGATIVE_INFINITY;
  let fault: Error | null = null;
  const load = async (): Promise<Loaded> => {
    try {
      const { keys } = await readKeys(options, clock);
      const kids = new Set(keys.flatMap((key) => text(key.kid) ?? []));
      loaded = { find: createLocalJWKSet({ keys: keys as never }), kids, at: clock.monotonic() };
      if (fault !== null) log.info({ event: "issuer-available", issuer }, "the keys of the issuer can be read again");
      fault = null;
      return loaded;
    } catch (error) {
      if (fault === null) {
        const reason = errorMessage(error);
        log.warn({ event: "issuer-unavailable", issuer, reason }, "the keys of the issuer cannot be read");
      }
      fault = new Error(`the keys of the issuer cannot be read: ${errorMessage(error)}`, { cause: error });
      throw fault;
    }
  };
  const share = (): Promise<Loaded> => {
    tried = clock.monotonic();
    loading ??= load().finally(() => {
      loading = null;
    });
    return loading;
  };
  return {
    current: async (kid) => {
      const now = clock.monotonic();
      const usable = loaded !== null && now - loaded.at < USABLE_MS ? loaded : null;
      const isKnown = usable !== null && (kid === undefined || usable.kids.has(kid));
      const mayTry = loading !== null || now - tried >= PAUSE_MS;
      if (usable !== null && isKnown) {
        // The reply need not wait for it: these keys are good for a while.
        if (now - usable.at >= FRESH_MS && mayTry) share().catch(() => {});
        return usable;
      }
      if (mayTry) return share();
      if (usable !== null) return usable;
      throw fault ?? new Error("the keys of the issuer were not read yet");
    },
  };
}

async function readKeys(options: OidcOptions, clock: Clock): Promise<{ readonly keys: readonly JsonObject[] }> {
  const { issuer } = options;
  const where = `${issuer.replace(/\/$/, "")}/.well-known/openid-configuration`;
  const configuration = await readJson(where, options, clock);
  const named = isObject(configuration) ? text(configuration.issuer) : undefined;
  if (named !== issuer)
    throw new Error(`${where} is the configuration of ${JSON.stringify(named)}, and not of ${issuer}`);
  const address = isObject(configuration) ? text(configuration.jwks_uri) : undefined;
  if (address === undefined || !URL.canParse(address)) throw new Error(`${where} names no jwks_uri`);
  if (isSentInClear(address) || !/^https?:$/.test(new URL(address).protocol)) {
    throw new Error(`${where} names a jwks_uri without https`);
  }
  const set = await readJson(address, options, clock);
  const keys = isObject(set) && Array.isArray(set.keys) ? set.keys : null;
  if (keys === null || !keys.every(isObject)) throw new Error(`${address} is no set of keys`);
  if (keys.length > MAX_KEYS) throw new Error(`${address} has more than ${MAX_KEYS} keys`);
  return { keys };
}

async function readJson(url: string, { authorities = [], env = {} }: OidcOptions, clock: Clock): Promise<Json> {
  const signal = clock.timeout(TIMEOUT_MS);
  const headers = { accept: "application/json" };
  try {
    const reply = await requestBounded(url, { headers, authorities, env, maxBytes: MAX_BYTES, signal });
    if (reply.status !== 200) throw new Error(`${url} answered ${reply.status}`);
    return JSON.parse(reply.body.toString("utf8"));
  } catch (error) {
    if (signal.aborted) throw new Error(`${url} did not answer within ${TIMEOUT_MS / 1000} s`, { cause: error });
    throw error;
  }
}
