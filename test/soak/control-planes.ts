import { type FaultProxy, faultProxy } from "../support/fault-proxy.ts";
import { foundations } from "../support/manifests.ts";
import { type ServerProcess, serveProcess } from "../support/server.ts";
import { sourceOf } from "../support/source.ts";

/** A control plane behind a proxy that a sweep breaks things in. */
export type Behind = { readonly server: ServerProcess; readonly proxy: FaultProxy<ServerProcess> };

/** A sort of control plane that the sweeps run on. */
export type ControlPlaneSort = {
  readonly name: "full" | "documented-only" | "header-stripping";
  /** Whether a repeated write is made once, and a one-time token can be asked for again. */
  readonly takesKeys: boolean;
  readonly start: () => Promise<Behind>;
};

// Through some proxies no header passes that they do not know.
const unknownHeaders = ["idempotency-key", "x-fencing-token", "x-fencing-scope", "idempotency-key-accepted"];

async function behind(server: ServerProcess, strips: readonly string[] = []): Promise<Behind> {
  return { server, proxy: await faultProxy(server, { strips }) };
}

/** One with every operation, one with the documented ones alone, and one behind a proxy that strips our headers. */
export const controlPlanes: readonly ControlPlaneSort[] = [
  { name: "full", takesKeys: true, start: async () => behind(await serveProcess()) },
  {
    name: "documented-only",
    takesKeys: true,
    start: async () => {
      const { folder } = await sourceOf(foundations);
      return behind(await serveProcess(["--documented-only", "--seed", folder]));
    },
  },
  { name: "header-stripping", takesKeys: false, start: async () => behind(await serveProcess(), unknownHeaders) },
];

/** The sort of that name. */
export function controlPlane(name: ControlPlaneSort["name"]): ControlPlaneSort {
  const found = controlPlanes.find((one) => one.name === name);
  if (found === undefined) throw new TypeError(`there is no control plane named ${name}`);
  return found;
}
