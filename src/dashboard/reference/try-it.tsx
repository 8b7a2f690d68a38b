import { signal, useSignal, useSignalEffect } from "@preact/signals";
import { isObject, type Json, parseJsonOrNull } from "../../contract/json.ts";
import { newActionKey } from "../action-key.ts";
import { valueText } from "../parts.tsx";
import { readCall, requestOf, type TriedCall, type TriedParameter } from "./call.ts";
import { CopyButton } from "./pane-tools.tsx";

/** The caller's token. It is in the memory of this page alone, and ends with it. */
const token = signal("");
addEventListener("pagehide", () => {
  token.value = "";
});

/** What a call led to: a reply of the server, or why it was not sent or not answered. */
type Outcome =
  | { readonly status: number; readonly words: string; readonly requestId: string; readonly body: string }
  | { readonly problem: string };

const KEY = "Idempotency-Key";
const MOST_SHOWN = 200_000;

/** A button that opens a form, which sends the call of an operation. */
export function TryIt({ operationId, title }: { readonly operationId: string; readonly title: string }) {
  const isOpen = useSignal(false);
  const call = useSignal<TriedCall | null>(null);
  const problem = useSignal("");
  const open = async (): Promise<void> => {
    isOpen.value = !isOpen.value;
    problem.value = "";
    try {
      call.value ??= await readCall(operationId);
    } catch (error) {
      problem.value = `openapi.json cannot be read: ${String(error)} → try again`;
      isOpen.value = false;
    }
  };
  return (
    <>
      <button
        type="button"
        aria-expanded={isOpen.value}
        aria-label={`${isOpen.value ? "Close" : "Try it"}: ${title}`}
        onClick={() => void open()}
      >
        {isOpen.value ? "Close" : "Try it"}
      </button>
      {problem.value !== "" && <p class="problem">{problem}</p>}
      {isOpen.value && call.value !== null && <TryForm call={call.value} title={title} />}
    </>
  );
}

function TryForm({ call, title }: { readonly call: TriedCall; readonly title: string }) {
  const values = useSignal(firstValues(call.parameters));
  const body = useSignal(call.body === undefined ? null : JSON.stringify(call.body, null, 2));
  const outcome = useSignal<Outcome | null>(null);
  const isSending = useSignal(false);
  useSignalEffect(() => {
    // What a token has brought goes with it.
    if (token.value === "") outcome.value = null;
  });
  const set = (name: string, value: string): void => {
    values.value = { ...values.value, [name]: value };
  };
  const send = async (): Promise<void> => {
    isSending.value = true;
    outcome.value = null;
    const sentWith = token.value;
    const result = await outcomeOf(call, values.value, body.value);
    isSending.value = false;
    if (sentWith !== "" && token.value === "") return;
    outcome.value = result;
    // A call whose outcome is not known is repeated with its key; any other one is a new call.
    if ("status" in result && result.status < 500 && KEY in values.value) set(KEY, newActionKey());
  };
  return (
    <form
      class="try-form"
      aria-label={`Try it: ${title}`}
      autocomplete="off"
      onSubmit={(event) => {
        event.preventDefault();
        if (!isSending.value) void send();
      }}
    >
      <TokenField />
      {call.parameters.map((parameter) => (
        <ParameterField key={parameter.name} {...{ parameter, set }} value={values.value[parameter.name] ?? ""} />
      ))}
      {body.value !== null && (
        <label>
          <span>Body, JSON</span>
          <textarea
            rows={Math.min(16, body.value.split("\n").length + 1)}
            spellcheck={false}
            value={body.value}
            onInput={({ currentTarget }) => {
              body.value = currentTarget.value;
            }}
          />
        </label>
      )}
      <button type="submit" aria-disabled={isSending.value}>
        {isSending.value ? "Sending…" : sendLabel(call, body.value)}
      </button>
      <div role="status">{outcome.value !== null && <Shown outcome={outcome.value} title={title} />}</div>
    </form>
  );
}

function TokenField() {
  return (
    <div class="token">
      <label>
        <span>Token: kept in the memory of this page, sent to this server alone</span>
        <input
          type="text"
          class="hidden-text"
          autocomplete="off"
          autocapitalize="off"
          spellcheck={false}
          value={token}
          onInput={({ currentTarget }) => {
            token.value = currentTarget.value.trim();
          }}
        />
      </label>
      <button
        type="button"
        onClick={() => {
          token.value = "";
        }}
      >
        Forget the token
      </button>
      {!isSecureContext && <p class="problem">This page came without TLS: a token would travel in clear text.</p>}
    </div>
  );
}

function ParameterField(props: {
  readonly parameter: TriedParameter;
  readonly value: string;
  readonly set: (name: string, value: string) => void;
}) {
  const { parameter, value, set } = props;
  const { name, place, isRequired, isList } = parameter;
  return (
    <label>
      <span>
        <code>{name}</code> {place}
        {isRequired ? ", required" : ""}
        {isList ? ", separated by commas" : ""}
      </span>
      <input
        type="text"
        autocomplete="off"
        spellcheck={false}
        value={value}
        onInput={({ currentTarget }) => set(name, currentTarget.value)}
      />
    </label>
  );
}

function Shown({ outcome, title }: { readonly outcome: Outcome; readonly title: string }) {
  if ("problem" in outcome) return <p class="problem">{outcome.problem}</p>;
  const { status, words, requestId, body } = outcome;
  const more = body.length - MOST_SHOWN;
  const name = `reply to ${title}`;
  return (
    <>
      <p>
        <b class={status < 300 ? "status ok" : "status bad"}>
          {status} {words}
        </b>{" "}
        request <code>{requestId}</code>
      </p>
      {status >= 300 && <Hint status={status} code={codeOf(body)} />}
      <figure>
        <figcaption>
          Reply of the server
          <span class="tools">
            <CopyButton name={name} shown={() => document.querySelector(`[data-reply="${CSS.escape(title)}"] code`)} />
          </span>
        </figcaption>
        {/* biome-ignore lint/a11y/noNoninteractiveTabindex: it scrolls */}
        <pre tabIndex={0} data-reply={title}>
          <code>{body.slice(0, MOST_SHOWN)}</code>
        </pre>
      </figure>
      {more > 0 && <p>{more.toLocaleString("en")} more characters are not shown.</p>}
    </>
  );
}

function Hint({ status, code }: { readonly status: number; readonly code: string }) {
  const isListed = document.getElementById(`error-${code}`) !== null;
  return (
    <p class="problem">
      {status === 401 &&
        (token.value === "" ? "→ Give a token above. " : "→ The server does not know this token: correct it. ")}
      {(status === 403 || status === 404) && (
        <>
          → Look whether the <a href="#roles">roles</a> of the token permit this.{" "}
        </>
      )}
      {isListed && (
        <a href={`#error-${code}`}>
          What <code>{code}</code> means
        </a>
      )}
    </p>
  );
}

function codeOf(body: string): string {
  const value = parseJsonOrNull(body);
  return isObject(value) && typeof value.code === "string" ? value.code : "";
}

function firstValues(parameters: readonly TriedParameter[]): { readonly [name: string]: string } {
  const known = parameters.map(({ name, place, example }) => {
    if (name === KEY) return [name, newActionKey()] as const;
    return [name, place === "path" ? example : ""] as const;
  });
  return Object.fromEntries(known);
}

function sendLabel({ isWrite }: TriedCall, body: string | null): string {
  if (!isWrite) return "Send";
  const given: Json = parseJsonOrNull(body ?? "");
  return isObject(given) && given.dryRun === true ? "Send: a dry run, which writes nothing" : "Send: this writes";
}

async function outcomeOf(
  call: TriedCall,
  values: { readonly [name: string]: string },
  body: string | null,
): Promise<Outcome> {
  const request = requestOf(call, values, body, token.value);
  if (typeof request === "string") return { problem: request };
  try {
    const response = await fetch(request.url, request);
    const text = await response.text();
    const value = parseJsonOrNull(text);
    return {
      ...{ status: response.status, words: response.statusText },
      requestId: valueText(response.headers.get("x-request-id") ?? ""),
      body: value === null ? valueText(text) : valueText(JSON.stringify(value, null, 2)),
    };
  } catch {
    return {
      problem:
        "The server did not answer. → Look whether it runs; a write may have been done: send it again with the same key.",
    };
  }
}
