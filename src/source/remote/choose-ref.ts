import { SourceError } from "../source-error.ts";

/** The ref of a remote that a source follows. */
export type RemoteRef = {
  /** Full name, or the commit's own id; null for the remote's default branch. */
  readonly name: string;
  /** The id that it has now: a commit, or the object that a tag names. */
  readonly id: string;
};

const ID = /^(?:[0-9a-f]{40}|[0-9a-f]{64})$/;

/** Whether a ref is a commit id, which a remote does not list. */
export function isCommitId(ref: string): boolean {
  return ID.test(ref);
}

/** The patterns for `git ls-remote` that list every meaning of a ref. */
export function patternsFor(ref: string | null): readonly string[] {
  if (ref === null) return ["HEAD"];
  if (ref.startsWith("refs/")) return [ref, `${ref}^{}`];
  return [`refs/heads/${ref}`, `refs/tags/${ref}`, `refs/tags/${ref}^{}`];
}

/** Chooses the ref that is meant from the output of `git ls-remote`. */
export function chooseRef(source: string, ref: string | null, listing: string): RemoteRef {
  const wanted = patternsFor(ref);
  const found = new Map(
    listing
      .split("\n")
      .map((line) => line.split("\t"))
      // A pattern also matches the end of longer names.
      .flatMap(([id = "", name = ""]) => (ID.test(id) && wanted.includes(name) ? [[name, id] as const] : [])),
  );
  const names = [...found.keys()].filter((name) => !name.endsWith("^{}"));
  const [name, other] = names;
  if (name === undefined) throw missing(source, ref);
  if (other !== undefined) {
    throw new SourceError("RefAmbiguous", `source ${source}: both a branch and a tag are called ${ref}`, {
      hint: "write refs/heads/… or refs/tags/… in full",
    });
  }
  // An annotated tag is an object of its own; `^{}` is the commit that it names.
  return { name, id: found.get(`${name}^{}`) ?? found.get(name) ?? "" };
}

/** The error for a remote whose HEAD names a branch that does not exist, although it has others. */
export function noDefaultBranch(source: string): SourceError {
  return new SourceError("RefNotFound", `source ${source}: the remote's default branch does not exist`, {
    hint: "name a branch with `ref`, or correct the default branch of the remote; the last applied revision is kept",
  });
}

function missing(source: string, ref: string | null): SourceError {
  if (ref === null) {
    return new SourceError("EmptyRepository", `source ${source}: the repository has no commit`, {
      hint: "push the first commit, or name the branch with `ref`",
    });
  }
  return new SourceError("RefNotFound", `source ${source}: the remote has no branch or tag ${ref}`, {
    hint: "if it was renamed, correct `ref`; the last applied revision is kept",
  });
}
