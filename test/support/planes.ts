import { foundations } from "./manifests.ts";
import { type ServeOptions, type Server, type ServerProcess, serve, serveProcess } from "./server.ts";
import { sourceOf } from "./source.ts";

/** A sort of control plane that Holdfast has to do its whole job on. */
export type Plane = {
  readonly name: "full" | "documented-only";
  readonly serve: (options?: ServeOptions) => Promise<Server>;
  /** The same as a process of its own. */
  readonly serveProcess: (options?: ServeOptions) => Promise<ServerProcess>;
};

/** One that has every operation, and one with the documented ones alone, where workspace and ml repo are there already. */
export const planes: readonly Plane[] = [
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
