import type { PassProgress } from "../contract/generated/output.ts";
import { Age, Commit, visible } from "./parts.tsx";

const phases: { readonly [phase in PassProgress["phase"]]: string } = {
  reading: "reads",
  waiting: "waits",
  planned: "has planned",
  writing: "writes",
};

/** A pass in progress: what it does, and how far it is. */
export function PassBar({ pass, isWhole = false }: { readonly pass: PassProgress; readonly isWhole?: boolean }) {
  const { phase, detail, writes, written, failed } = pass;
  const done = writes === null ? "" : `: ${written} of ${writes}${failed === 0 ? "" : `, ${failed} failed`}`;
  const text = `A pass ${phases[phase]}${done}`;
  return (
    <div class="pass">
      <span class="pass-text">
        {text}
        {detail !== null && <span class="soft"> {visible(detail)}</span>}
        {isWhole && (
          <span class="soft">
            {" "}
            asked for by {pass.cause}, over {pass.scope === "all" ? "everything" : "what has changed"}, at{" "}
            <Commit id={pass.commit} none="a commit that is not read yet" />, began <Age at={pass.startedAt} />
          </span>
        )}
      </span>
      {writes === null ? (
        <progress aria-label={text} />
      ) : (
        <progress aria-label={text} value={written} max={Math.max(1, writes)} />
      )}
    </div>
  );
}
