import { signal, useSignal, useSignalEffect } from "@preact/signals";
import type { ComponentChildren } from "preact";
import { useEffect, useRef } from "preact/hooks";
import type { ActionName, HoldEntry, SessionReply } from "../contract/generated/output.ts";
import { newActionKey } from "./action-key.ts";
import { connection, isRefused, readReply, sendAction, signOut } from "./daemon.ts";
import { Time, visible } from "./parts.tsx";

/** What the person may do; null until it is known. */
const session = signal<SessionReply | null>(null);

/** Who has signed in, and the way out; nothing where people do not sign in. */
export function Person() {
  useSignalEffect(() => {
    // After an upgrade or another token it may be another one.
    if (connection.value !== "live") return;
    readReply<SessionReply>("/session").then(
      (found) => {
        session.value = found;
      },
      () => undefined,
    );
  });
  if (session.value?.signedIn !== true) return null;
  return (
    <span class="person">
      {visible(session.value.name ?? "")}{" "}
      <button type="button" onClick={() => void signOut()}>
        Sign out
      </button>
    </span>
  );
}

/** The action whose dialog is open. */
type Opened = { readonly name: ActionName; readonly key: string };

/** What actions are about: a target, or one of its resources. */
type Subject = {
  readonly target: string;
  /** The resource; empty for the target itself. */
  readonly identity: string;
  readonly holds: readonly HoldEntry[];
  /** The resources whose last write has an unknown outcome. */
  readonly unknown: readonly string[];
};

/** What a person may do: each action asks first, and says what it does. */
export function Actions({ of: subject }: { readonly of: Subject }) {
  const opened = useSignal<Opened | null>(null);
  const done = useSignal<string | null>(null);
  if (session.value?.mayAct !== true) return null;
  const open = (name: ActionName) => (): void => {
    done.value = null;
    opened.value = { name, key: newActionKey() };
  };
  const { identity, holds, unknown } = subject;
  const isResource = identity !== "";
  const offered: readonly (readonly [ActionName, boolean])[] = [
    ["reconcile", !isResource],
    ["hold", true],
    ["release", holds.length > 0],
    ["adopt", isResource],
    ["redeploy", isResource],
    ["resolve", unknown.length > 0],
  ];
  return (
    <section class="actions" aria-label="Actions">
      {offered.map(
        ([name, isOffered]) =>
          isOffered && (
            <button key={name} type="button" onClick={open(name)}>
              {labels[name]}…
            </button>
          ),
      )}
      <span role="status" class="soft">
        {done.value !== null && visible(done.value)}
      </span>
      {opened.value !== null && (
        <ActionDialog
          key={opened.value.key}
          opened={opened.value}
          subject={subject}
          onEnd={(text) => {
            opened.value = null;
            done.value = text;
          }}
        />
      )}
    </section>
  );
}

const labels: { readonly [name in ActionName]: string } = {
  reconcile: "Reconcile",
  hold: "Hold",
  release: "Release",
  adopt: "Adopt",
  redeploy: "Redeploy",
  resolve: "Resolve",
};

const NAME = "holdfast-name";

type DialogProps = {
  readonly opened: Opened;
  readonly subject: Subject;
  /** Called with what was done; null where nothing was. */
  readonly onEnd: (text: string | null) => void;
};

function ActionDialog({ opened, subject, onEnd }: DialogProps) {
  const { name } = opened;
  const { target } = subject;
  const key = useRef(opened.key);
  const dialog = useRef<HTMLDialogElement>(null);
  const isSending = useSignal(false);
  const refusal = useSignal<string | null>(null);
  useEffect(() => dialog.current?.showModal(), []);
  const send = async (event: SubmitEvent): Promise<void> => {
    event.preventDefault();
    const form = event.currentTarget;
    if (isSending.value || !(form instanceof HTMLFormElement)) return;
    isSending.value = true;
    refusal.value = null;
    const fields = new FormData(form);
    if (session.value?.signedIn !== true) remember(String(fields.get("by")));
    try {
      const { record, isRepeated } = await sendAction(
        { target, name, key: key.current, pageToken: session.value?.pageToken ?? "" },
        bodyOf(name, fields),
      );
      onEnd(`${isRepeated ? "Done before: " : "Done: "}${record.message ?? ""}`);
    } catch (error) {
      refusal.value = error instanceof Error ? error.message : "the daemon does not answer";
      isSending.value = false;
      // What was refused is at its end: it may be asked for again, as another action.
      if (isRefused(error)) key.current = newActionKey();
    }
  };
  return (
    <dialog ref={dialog} aria-labelledby="action" onClose={() => onEnd(null)}>
      <form onSubmit={(event) => void send(event)}>
        <h2 id="action">
          {labels[name]} on {visible(target)}
        </h2>
        <Fields name={name} subject={subject} />
        {session.value?.signedIn === true ? (
          <input type="hidden" name="by" value={session.value.name ?? ""} />
        ) : (
          <label>
            Your name
            <input name="by" required maxLength={100} autoComplete="name" defaultValue={remembered()} />
          </label>
        )}
        <p class="soft">The history of the target has your name, with what you ask for.</p>
        {refusal.value !== null && (
          <p role="alert" class="refused">
            {visible(refusal.value)}
          </p>
        )}
        <div class="actions">
          <button type="submit" disabled={isSending.value}>
            {labels[name]} now
          </button>
          <button type="button" onClick={() => dialog.current?.close()}>
            Cancel
          </button>
        </div>
      </form>
    </dialog>
  );
}

function Fields({ name, subject }: { readonly name: ActionName; readonly subject: Subject }) {
  const { identity: resource, holds, unknown } = subject;
  switch (name) {
    case "reconcile":
      return (
        <p>
          The daemon reads the source again, compares everything with live, and writes what differs, as far as holds,
          freezes, gates and guards let it. With <code>sync: report</code> it only reports.
        </p>
      );
    case "hold":
      return (
        <>
          <p>
            Until the hold ends, the daemon does not write this resource: no new commit reaches it, and drift stays. All
            others go on. A commit that is held is not applied.
          </p>
          <Text name="what" label="Resource, or commit" value={resource} />
          <Text name="reason" label="Why" most={500} />
          <Text name="until" label="Until: 4h, 2d, a time, or commit for the next one that changes it" value="4h" />
        </>
      );
    case "release":
      return (
        <>
          <p>The hold ends, a pass begins at once, and it writes what differs.</p>
          <label>
            Hold
            <select name="what">
              {holds.map(({ what, reason }) => (
                <option key={what} value={what}>
                  {visible(what)}: {visible(reason)}
                </option>
              ))}
            </select>
          </label>
          <ul class="lines">
            {holds.map(({ what, until }) => (
              <li key={what}>
                <code>{visible(what)}</code> until{" "}
                {until === "commit" ? "the next commit that changes it" : <Time at={until} />}
              </li>
            ))}
          </ul>
        </>
      );
    case "adopt":
      return (
        <>
          <p>
            What is live of this resource is recorded as it is. Nothing is written now; the pass that follows makes it
            equal to its manifest, and overwrites what somebody else may have set.
          </p>
          <Text name="identities" label="Resource" value={resource} />
        </>
      );
    case "redeploy":
      return (
        <>
          <p>The same content is deployed again, as a new version, if its rollout has failed.</p>
          <Text name="identities" label="Resource" value={resource} />
          <label class="check">
            <input type="checkbox" name="force" /> Also if it has not failed
          </label>
        </>
      );
    case "resolve":
      return (
        <>
          <p>
            Nobody knows whether a write of this resource took effect. Look at what is live first: what you say here
            closes it, and the next pass goes on from there.
          </p>
          <Text name="identities" label="Resource" value={unknown[0] ?? ""} />
          <label>
            What became of it
            <select name="as">
              <option value="refused">It took no effect</option>
              <option value="applied">It took effect</option>
            </select>
          </label>
        </>
      );
  }
}

function Text(props: {
  readonly name: string;
  readonly label: ComponentChildren;
  readonly value?: string;
  readonly most?: number;
}) {
  const { name, label, value = "", most = 512 } = props;
  return (
    <label>
      {label}
      <input name={name} required maxLength={most} defaultValue={value} spellcheck={false} />
    </label>
  );
}

function bodyOf(name: ActionName, fields: FormData): object {
  const text = (field: string): string => String(fields.get(field) ?? "").trim();
  const by = text("by");
  switch (name) {
    case "reconcile":
      return { by };
    case "hold":
      return { by, what: text("what"), reason: text("reason"), until: text("until") };
    case "release":
      return { by, what: text("what") };
    case "adopt":
      return { by, identities: [text("identities")] };
    case "redeploy":
      return { by, identities: [text("identities")], force: fields.has("force") };
    case "resolve":
      return { by, identities: [text("identities")], as: text("as") };
  }
}

function remembered(): string {
  return localStorage.getItem(NAME) ?? session.value?.name ?? "";
}

function remember(name: string): void {
  localStorage.setItem(NAME, name);
}
