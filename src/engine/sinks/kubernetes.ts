import { isObject, type JsonObject, text } from "../../contract/json.ts";
import { Secret } from "../../contract/secret.ts";
import { HoldfastError } from "../../core/errors.ts";
import { readStoreFile, type StoreReply, settingsFile, storeClient } from "../store-client.ts";
import { type NameForm, storeName } from "../store-name.ts";
import type { SinkPlace, SinkType } from "../token-sink.ts";
import { type StoreKey, sinkOf, type TokenStore } from "../token-store.ts";

/** Stores tokens as Secrets of Kubernetes, over its API, as the service account of the pod. */
export const sink: SinkType = {
  name: "kubernetes",
  open: (place) => sinkOf(secretStore(place), place),
};

const ACCOUNT = "/var/run/secrets/kubernetes.io/serviceaccount";
const TITLE = "Kubernetes";

/** Names of the API are labels of DNS, with dots between them. */
const LABEL: NameForm = { plain: /^[a-z0-9](?:[a-z0-9-]*[a-z0-9])?$/, mostLength: 63 };
const HOST: NameForm = {
  plain: /^[a-z0-9](?:[a-z0-9-]*[a-z0-9])?(?:\.[a-z0-9](?:[a-z0-9-]*[a-z0-9])?)*$/,
  mostLength: 100,
};

function secretStore({ server, settings, cwd, env, clock }: SinkPlace): TokenStore {
  const tokenFile = settingsFile(settings.tokenFile, cwd) ?? `${ACCOUNT}/token`;
  const url = settings.url ?? addressOf(env);
  const caFile = settingsFile(settings.caFile, cwd) ?? (settings.url ? null : `${ACCOUNT}/ca.crt`);
  const request = storeClient({ title: TITLE, url, caFile, env, clock });
  const namespace = (): string => settings.namespace ?? readStoreFile(`${ACCOUNT}/namespace`, TITLE);
  // Read for each request: the kubelet replaces it before it expires.
  const headers = () => ({ authorization: `Bearer ${readStoreFile(tokenFile, TITLE)}` });
  const path = (): string => `/api/v1/namespaces/${encodeURIComponent(namespace())}/secrets`;
  const host = storeName(server.toLowerCase().replaceAll("_", "-"), HOST);
  const nameOf = ({ kind, name, copy }: StoreKey): string =>
    `${host}.${storeName(kind, LABEL)}.${storeName(name, LABEL)}${copy === 1 ? "" : `.${copy}`}`;
  return {
    title: TITLE,
    create: async (key, value) => {
      const body = secretOf(nameOf(key), { key, value, server });
      const reply = await request({ method: "POST", path: path(), headers: headers(), body });
      if (reply.status === 201) return true;
      if (reply.status === 409) return false;
      throw refused(reply, "create", namespace());
    },
    read: async (key) => {
      const reply = await request({ method: "GET", path: `${path()}/${nameOf(key)}`, headers: headers() });
      if (reply.status === 404) return null;
      if (reply.status !== 200) throw refused(reply, "get", namespace());
      const { data } = reply.body;
      const encoded = isObject(data) ? text(data.token) : undefined;
      return encoded === undefined ? null : new Secret(Buffer.from(encoded, "base64").toString("utf8"));
    },
    remove: async (key) => {
      const reply = await request({ method: "DELETE", path: `${path()}/${nameOf(key)}`, headers: headers() });
      if (![200, 202, 404].includes(reply.status)) throw refused(reply, "delete", namespace());
    },
    locate: (key) => `the Secret ${namespace()}/${nameOf(key)}`,
  };
}

function addressOf({ KUBERNETES_SERVICE_HOST: host, KUBERNETES_SERVICE_PORT: port = "443" }: SinkPlace["env"]): string {
  if (host) return `https://${host.includes(":") ? `[${host}]` : host}:${port}`;
  throw new HoldfastError("invalid", "sinks: nothing says where the API of Kubernetes is", {
    hint: "the sink kubernetes works in a pod; elsewhere, give it url, tokenFile, caFile and namespace",
  });
}

function secretOf(
  name: string,
  { key, value, server }: { readonly key: StoreKey; readonly value: Secret; readonly server: string },
): JsonObject {
  return {
    apiVersion: "v1",
    kind: "Secret",
    type: "Opaque",
    metadata: {
      name,
      labels: { "app.kubernetes.io/managed-by": "holdfast" },
      annotations: { "holdfast.dev/server": server, "holdfast.dev/identity": `${key.kind}/${key.name}` },
    },
    data: { token: Buffer.from(value.open(), "utf8").toString("base64") },
  };
}

// The reply may quote what was sent, so nothing of it is quoted.
function refused({ status, body }: StoreReply, verb: string, namespace: string): Error {
  return new Error(
    `${TITLE} refused to ${verb} a Secret in the namespace ${namespace} (${status}): ${why(status, body, verb)}`,
  );
}

function why(status: number, body: JsonObject, verb: string): string {
  switch (status) {
    case 401:
      return "the token of the service account is not valid";
    case 403:
      return /exceeded quota/.test(text(body.message) ?? "")
        ? "a quota of the namespace is used up"
        : `the service account may not ${verb} Secrets there`;
    case 404:
      return "there is no such namespace";
    case 413:
    case 507:
      return "there is no room for it";
    case 422:
      return "a rule of the cluster does not accept it";
    case 429:
      return "it has too many requests";
    default:
      return status >= 500 ? "the API server failed" : "the reply is not what the API documents";
  }
}
