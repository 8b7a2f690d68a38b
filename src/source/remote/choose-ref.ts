import { SourceError } from "../source-error.ts";

/** What a remote has under the name that a source follows. */
export type RemoteRef = {
  /** Full name, or the commit's own id; null for the remote's default branch. */
  readonly name: string;
  /** The id that it shows now: a commit, or the object that a tag names. */
  readonly id: string;
};

const ID = /^(?:[0-9a-f]{40}|[0-9a-f]{64})$/;

/** Whether a ref is a commit's id, which no remote has to list. */
export function isCommitId(ref: string): boolean {
  return ID.test(ref);
}

/** The arguments that make `git ls-remote` answer what a ref can mean. */
export function patternsFor(ref: string | null): readonly string[] {
  if (ref === null) return ["HEAD"];
  if (ref.startsWith("refs/")) return [ref, `${ref}^{}`];
  return [`refs/heads/${ref}`, `refs/tags/${ref}`, `refs/tags/${ref}^{}`];
}

/** The one ref that is meant, by what `git ls-remote` has printed. */
export function chooseRef(source: string, ref: string | null, listing: string): RemoteRef {
  const wanted = patternsFor(ref);
  const found = new Map(
    listing
      .split("\n")
      .map((line) => line.split("\t"))
      // A pattern matches the end of a name too.
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
  // An annotated tag is an object of its own; what counts is the commit that it names.
  return { name, id: found.get(`${name}^{}`) ?? found.get(name) ?? "" };
}

function missing(source: string, ref: string | null): SourceError {
  if (ref === null) {
    return new SourceError("EmptyRepository", `source ${source}: the repository has no commit`, {
      hint: "push the first commit, or name the branch with `ref`",
    });
  }
  return new SourceError("RefNotFound", `source ${source}: the remote has no branch or tag ${ref}`, {
    hint: "if it was renamed, correct `ref`; the last good revision is kept",
  });
}
