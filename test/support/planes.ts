import { foundations } from "./manifests.ts";
import { type ServeOptions, type Server, serve } from "./server.ts";
import { sourceOf } from "./source.ts";

/** A sort of control plane that Holdfast has to do its whole job on. */
export type Plane = {
  readonly name: "full" | "documented-only";
  readonly serve: (options?: ServeOptions) => Promise<Server>;
};

/** One that has every operation, and one with the documented ones alone, where workspace and ml repo are there already. */
export const planes: readonly Plane[] = [
  { name: "full", serve: (options) => serve([], options) },
  {
    name: "documented-only",
    serve: async (options) => {
      const { folder } = await sourceOf(foundations);
      return serve(["--documented-only", "--seed", folder], options);
    },
  },
];
