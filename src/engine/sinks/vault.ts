import { isObject, type JsonObject, text } from "../../contract/json.ts";
import { Secret } from "../../contract/secret.ts";
import { HoldfastError } from "../../core/errors.ts";
import { readStoreFile, type StoreReply, type StoreRequest, settingsFile, storeClient } from "../store-client.ts";
import { type NameForm, storeName } from "../store-name.ts";
import type { SinkPlace, SinkType } from "../token-sink.ts";
import { type StoreKey, sinkOf, type TokenStore } from "../token-store.ts";

/** Stores tokens in the KV secrets engine of HashiCorp Vault or OpenBao, version 2. */
export const sink: SinkType = {
  name: "vault",
  open: (place) => sinkOf(kvStore(place), place),
};

const TITLE = "Vault";
const SERVICE_ACCOUNT = "/var/run/secrets/kubernetes.io/serviceaccount/token";
const SEGMENT: NameForm = { plain: /^[A-Za-z0-9](?:[A-Za-z0-9._@-]*[A-Za-z0-9])?$/, mostLength: 128 };

function kvStore(place: SinkPlace): TokenStore {
  const { server, settings } = place;
  const { mount, path: top } = { mount: settings.mount ?? "secret", path: settings.path ?? "holdfast" };
  const send = authorizedClient(place);
  const pathOf = ({ kind, name, copy }: StoreKey): string => {
    const segments = [...top.split("/"), server, kind, name].map((one) => storeName(one, SEGMENT));
    return `${segments.join("/")}${copy === 1 ? "" : `.${copy}`}`;
  };
  const urlOf = (what: "data" | "metadata", key: StoreKey): string =>
    `/v1/${[...mount.split("/"), what, ...pathOf(key).split("/")].map(encodeURIComponent).join("/")}`;
  return {
    title: TITLE,
    create: async (key, value) => {
      // With `cas: 0` it is written only where there is no version at all.
      const body = { data: { token: value.open() }, options: { cas: 0 } };
      const reply = await send({ method: "PUT", path: urlOf("data", key), body });
      if (reply.status === 200 && isObject(reply.body.data) && typeof reply.body.data.version === "number") return true;
      if (reply.status === 400 && hasOtherVersion(reply.body)) return false;
      // Version 1 of the engine answers without a version, and would overwrite.
      if (reply.status === 200 || reply.status === 204)
        throw new Error(`${mount} is no KV secrets engine of version 2`);
      throw refused(reply, "create", mount);
    },
    read: async (key) => {
      const reply = await send({ method: "GET", path: urlOf("data", key) });
      if (reply.status === 404) return null;
      if (reply.status !== 200) throw refused(reply, "read", mount);
      const { data } = reply.body;
      const token = isObject(data) && isObject(data.data) ? text(data.data.token) : undefined;
      return token === undefined ? null : new Secret(token);
    },
    remove: async (key) => {
      const reply = await send({ method: "DELETE", path: urlOf("metadata", key) });
      if (![200, 204, 404].includes(reply.status)) throw refused(reply, "delete", mount);
    },
    locate: (key) => `${mount}/${pathOf(key)} of Vault`,
  };
}

type Send = (request: Omit<StoreRequest, "headers">) => Promise<StoreReply>;

function authorizedClient({ settings, cwd, env, clock }: SinkPlace): Send {
  const { url, role, authMount } = settings;
  const address = url ?? env.VAULT_ADDR;
  if (!address) throw unusable("nothing says where Vault is", "give the sink vault its url");
  const tokenFile = settingsFile(settings.tokenFile, cwd);
  if (!role && tokenFile === null && !env.VAULT_TOKEN) {
    throw unusable(
      "nothing says as whom to sign in to Vault",
      "give the sink vault tokenFile or role, or set VAULT_TOKEN",
    );
  }
  const caFile = settingsFile(settings.caFile, cwd);
  const request = storeClient({ title: TITLE, url: address, caFile, env, clock });
  const namespace = settings.namespace ? { "x-vault-namespace": settings.namespace } : {};
  let login: { readonly token: Secret; readonly until: number } | null = null;
  const signIn = async (name: string): Promise<Secret> => {
    if (login !== null && clock.monotonic() < login.until) return login.token;
    const body = { role: name, jwt: readStoreFile(tokenFile ?? SERVICE_ACCOUNT, TITLE) };
    const path = `/v1/auth/${(authMount ?? "kubernetes").split("/").map(encodeURIComponent).join("/")}/login`;
    const reply = await request({ method: "POST", path, headers: namespace, body });
    const { auth } = reply.body;
    const token = isObject(auth) ? text(auth.client_token) : undefined;
    if (reply.status !== 200 || token === undefined) {
      throw new Error(`${TITLE} refused the sign-in with the role ${name} (${reply.status})`);
    }
    const seconds = isObject(auth) && typeof auth.lease_duration === "number" ? auth.lease_duration : 0;
    // Half of its time, so that it does not end during a request.
    login = { token: new Secret(token), until: clock.monotonic() + seconds * 500 };
    return login.token;
  };
  const token = async (): Promise<string> => {
    if (role) return (await signIn(role)).open();
    return tokenFile === null ? (env.VAULT_TOKEN ?? "") : readStoreFile(tokenFile, TITLE);
  };
  return async (asked) =>
    request({ ...asked, headers: { ...namespace, "x-vault-token": await token(), "x-vault-request": "true" } });
}

function unusable(message: string, hint: string): HoldfastError {
  return new HoldfastError("invalid", `sinks: ${message}`, { hint });
}

function hasOtherVersion({ errors }: JsonObject): boolean {
  return Array.isArray(errors) && errors.some((one) => /check-and-set parameter did not match/.test(String(one)));
}

// The reply may quote what was sent, so nothing of it is quoted.
function refused({ status }: StoreReply, verb: string, mount: string): Error {
  return new Error(`${TITLE} refused to ${verb} a secret in ${mount} (${status}): ${why(status, verb)}`);
}

function why(status: number, verb: string): string {
  switch (status) {
    case 307:
    case 308:
      return "it redirects to another address, which is not followed: name the active node";
    case 400:
      return "it does not accept the request";
    case 403:
      return `its token is not valid, or no policy of it allows to ${verb} there`;
    case 404:
      return "no KV secrets engine of version 2 is mounted there";
    case 412:
      return "it is behind the other nodes of its cluster";
    case 413:
    case 507:
      return "there is no room for it";
    case 429:
      return "a rate limit quota is used up, or it is a standby";
    case 472:
    case 473:
      return "it is a standby";
    case 501:
      return "it is not initialized";
    case 503:
      return "it is sealed, or in maintenance";
    default:
      return status >= 500 ? "it failed" : "the reply is not what its API documents";
  }
}
