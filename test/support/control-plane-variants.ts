import { foundations } from "./manifests.ts";
import { type ServeOptions, type Server, type ServerProcess, serve, serveProcess } from "./server.ts";
import { sourceOf } from "./source.ts";

/** A variant of the control plane; Holdfast must work on each. */
export type ControlPlaneVariant = {
  readonly name: "full" | "documented-only";
  readonly serve: (options?: ServeOptions) => Promise<Server>;
  /** The same as a process of its own. */
  readonly serveProcess: (options?: ServeOptions) => Promise<ServerProcess>;
};

/** One that has every operation, and one with the documented ones alone, where workspace and ml repo are there already. */
export const controlPlaneVariants: readonly ControlPlaneVariant[] = [
  {
    name: "full",
    serve: (options) => serve([], options),
    serveProcess: (options) => serveProcess([], options),
  },
  {
    name: "documented-only",
    serve: async (options) => serve(await documentedFlags(), options),
    serveProcess: async (options) => serveProcess(await documentedFlags(), options),
  },
];

async function documentedFlags(): Promise<readonly string[]> {
  const { folder } = await sourceOf(foundations);
  return ["--documented-only", "--seed", folder];
}
