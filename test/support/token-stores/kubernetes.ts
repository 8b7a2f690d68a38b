import { isObject, parseJsonOrNull, text } from "../../../src/contract/json.ts";
import { type SeenRequest, type StoreAnswer, startSecretServer } from "./secret-server.ts";
import type { StoreFault } from "./store-fault.ts";

/** The token that the double accepts. */
const TOKEN = "account-token";

const NAME = /^[a-z0-9](?:[a-z0-9-]*[a-z0-9])?(?:\.[a-z0-9](?:[a-z0-9-]*[a-z0-9])?)*$/;

/**
 * Starts a double of the Secrets of the API of Kubernetes, written from its documentation:
 * https://kubernetes.io/docs/reference/kubernetes-api/config-and-storage-resources/secret-v1/
 */
export async function startKubernetes({ namespace = "tokens" } = {}) {
  const values = new Map<string, string>();
  const manifests: unknown[] = [];
  const state: { fault: StoreFault | null } = { fault: null };
  const failure = (code: number, reason: string, message: string): StoreAnswer => ({
    status: code,
    body: { kind: "Status", apiVersion: "v1", status: "Failure", message, reason, code },
  });
  const answer = ({ method, path, headers, body }: SeenRequest): StoreAnswer => {
    if (headers.authorization !== `Bearer ${TOKEN}`) return failure(401, "Unauthorized", "Unauthorized");
    const [, found, name = ""] = /^\/api\/v1\/namespaces\/([^/]+)\/secrets(?:\/([^/]+))?$/.exec(path) ?? [];
    if (found === undefined) return failure(404, "NotFound", "the server could not find the requested resource");
    if (found !== namespace) return failure(404, "NotFound", `namespaces "${found}" not found`);
    if (method === "DELETE") {
      return values.delete(name)
        ? { status: 200, body: { kind: "Status", status: "Success" } }
        : failure(404, "NotFound", name);
    }
    if (method === "GET") {
      const token = values.get(name);
      if (token === undefined) return failure(404, "NotFound", `secrets "${name}" not found`);
      return { status: 200, body: { kind: "Secret", apiVersion: "v1", metadata: { name }, data: { token } } };
    }
    const given = parseJsonOrNull(body);
    const metadata = isObject(given) && isObject(given.metadata) ? given.metadata : {};
    const data = isObject(given) && isObject(given.data) ? given.data : {};
    const [created, token] = [text(metadata.name) ?? "", text(data.token) ?? ""];
    if (state.fault === "full")
      return failure(403, "Forbidden", `secrets "${created}" is forbidden: exceeded quota: ${token}`);
    if (state.fault === "refused")
      return failure(403, "Forbidden", `secrets is forbidden: User cannot create resource`);
    if (state.fault === "quoting") return failure(422, "Invalid", `Invalid value: ${token}`);
    if (created.length > 253 || !NAME.test(created)) return failure(422, "Invalid", `Invalid value: "${created}"`);
    if (values.has(created)) return failure(409, "AlreadyExists", `secrets "${created}" already exists`);
    manifests.push(given);
    if (state.fault !== "lying") values.set(created, token);
    return state.fault === "reply-lost" ? "cut" : { status: 201, body: given };
  };
  const server = await startSecretServer(answer);
  return {
    ...server,
    token: TOKEN,
    values,
    manifests,
    fault: (fault: StoreFault | null): void => {
      state.fault = fault;
    },
  };
}
