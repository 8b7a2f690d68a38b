import { isObject, parseJsonOrNull } from "../../../src/contract/json.ts";
import { type SeenRequest, type StoreAnswer, startSecretServer } from "./secret-server.ts";
import type { StoreFault } from "./store-fault.ts";

type VaultOptions = {
  /** @default secret */
  readonly mount?: string;
  /** Whether the engine is that of version 1, which has no versions. */
  readonly isVersion1?: boolean;
  /** What goes wrong with a write of a path. */
  readonly onWrite?: (key: string) => StoreFault | null;
  /** Called with each request before it is answered. */
  readonly onRequest?: () => "go on" | "stay silent" | "store and stay silent";
};

const TOKEN = "hvs.test-token";

/**
 * Starts a double of the KV secrets engine of Vault, version 2, and of its Kubernetes auth method, written from their
 * documentation: https://developer.hashicorp.com/vault/api-docs/secret/kv/kv-v2
 */
export async function startVault({
  mount = "secret",
  isVersion1 = false,
  onWrite = () => null,
  onRequest = () => "go on",
}: VaultOptions = {}) {
  const values = new Map<string, string>();
  const state: { fault: StoreFault | null; onWrite: typeof onWrite } = { fault: null, onWrite };
  const answer = (request: SeenRequest): StoreAnswer => {
    const { method, path, headers, body } = request;
    const given = parseJsonOrNull(body);
    if (path === "/v1/auth/kubernetes/login" && method === "POST") {
      const isKnown = isObject(given) && given.role === "holdfast" && given.jwt === "account-token";
      if (!isKnown) return { status: 403, body: { errors: ["permission denied"] } };
      return { status: 200, body: { auth: { client_token: TOKEN, lease_duration: 3600, renewable: true } } };
    }
    if (headers["x-vault-token"] !== TOKEN) return { status: 403, body: { errors: ["permission denied"] } };
    const [, what, key = ""] = new RegExp(`^/v1/${mount}/(data|metadata)/(.+)$`).exec(path) ?? [];
    if (what === undefined) return { status: 404, body: { errors: ["no handler for route"] } };
    if (method === "DELETE" && what === "metadata") {
      values.delete(key);
      return { status: 204 };
    }
    if (method === "GET" && what === "data") {
      const token = values.get(key);
      if (token === undefined) return { status: 404, body: { errors: [] } };
      return { status: 200, body: { data: { data: { token }, metadata: { version: 1, destroyed: false } } } };
    }
    if (method !== "PUT" || what !== "data" || !isObject(given)) return { status: 405, body: { errors: [] } };
    const { data, options } = given;
    if (!isObject(data) || typeof data.token !== "string")
      return { status: 400, body: { errors: ["no data provided"] } };
    const fault = state.fault ?? state.onWrite(key);
    if (fault === "full") return { status: 507, body: { errors: [`no space for ${data.token}`] } };
    if (fault === "refused") return { status: 403, body: { errors: ["permission denied"] } };
    if (fault === "quoting") return { status: 400, body: { errors: [`bad value ${data.token}`], token: data.token } };
    if (isVersion1) {
      values.set(key, data.token);
      return { status: 204 };
    }
    if (isObject(options) && options.cas === 0 && values.has(key)) {
      return { status: 400, body: { errors: ["check-and-set parameter did not match the current version"] } };
    }
    if (fault !== "lying") values.set(key, data.token);
    if (fault === "reply-lost") return "cut";
    return { status: 200, body: { data: { version: 1, created_time: "2026-01-01T00:00:00Z", destroyed: false } } };
  };
  const answerOrNot = (request: SeenRequest): StoreAnswer => {
    const turn = onRequest();
    if (turn === "stay silent") return "silent";
    const reply = answer(request);
    return turn === "go on" ? reply : "silent";
  };
  const server = await startSecretServer(answerOrNot);
  return {
    ...server,
    token: TOKEN,
    values,
    fault: (fault: StoreFault | null): void => {
      state.fault = fault;
    },
    /** Does nothing wrong from now on. */
    recover: (): void => {
      state.onWrite = () => null;
    },
  };
}
