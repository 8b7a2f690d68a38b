import { effect, signal, useSignal } from "@preact/signals";
import { render } from "preact";
import { copyText } from "../copy-text.ts";

const LANGUAGE = "language";

const given = new URLSearchParams(location.search).get(LANGUAGE) ?? "";
const isKnown = document.querySelector(`pre[data-language="${CSS.escape(given)}"]`) !== null;

/** The language of all examples. It is in the address, so that a link keeps it and nothing is stored. */
const language = signal(isKnown ? given : "curl");

effect(() => {
  document.documentElement.dataset.language = language.value;
});

/** What was done last, for readers of a screen. */
const announced = signal("");

/** Says what was done last to readers of a screen. */
export function Announcement() {
  return (
    <p class="unseen" role="status">
      {announced.value}
    </p>
  );
}

/** Adds what can be done with the code of a pane to its head. */
export function addPaneTools(pane: HTMLElement): void {
  const head = pane.querySelector("figcaption");
  if (head === null) return;
  const title = head.textContent ?? "";
  const of = pane.closest("section")?.querySelector("h2, h3")?.textContent ?? "";
  const languages = [...pane.querySelectorAll<HTMLElement>("pre[data-language]")].map(
    ({ dataset }) => dataset.language ?? "",
  );
  const tools = document.createElement("span");
  tools.className = "tools";
  head.append(tools);
  render(<PaneTools pane={pane} name={`${title}, ${of}`} languages={languages} />, tools);
}

function PaneTools(props: {
  readonly pane: HTMLElement;
  readonly name: string;
  readonly languages: readonly string[];
}) {
  const { pane, name, languages } = props;
  return (
    <>
      {languages.length > 0 && <Languages name={name} languages={languages} />}
      <CopyButton name={name} shown={() => shownCode(pane)} />
    </>
  );
}

function shownCode(pane: HTMLElement): Element | null {
  return [...pane.querySelectorAll("pre")].find((code) => code.checkVisibility())?.firstElementChild ?? null;
}

/** A button that copies what is shown. */
export function CopyButton({ name, shown }: { readonly name: string; readonly shown: () => Element | null }) {
  const copied = useSignal(false);
  const copy = async (): Promise<void> => {
    const code = shown();
    copied.value = await copyText(code?.textContent ?? "", code);
    announced.value = copied.value ? `Copied: ${name}` : `Selected: ${name}`;
  };
  return (
    <button
      type="button"
      class="copy"
      aria-label={`Copy: ${name}`}
      onClick={() => void copy().catch(() => undefined)}
      onBlur={() => {
        copied.value = false;
      }}
    >
      {copied.value ? "Copied" : "Copy"}
    </button>
  );
}

function Languages({ name, languages }: { readonly name: string; readonly languages: readonly string[] }) {
  return (
    <fieldset class="languages">
      <legend class="unseen">Language: {name}</legend>
      {languages.map((one) => (
        <label key={one}>
          <input
            type="radio"
            name={`language ${name}`}
            value={one}
            checked={language.value === one}
            onChange={({ currentTarget }) => choose(one, currentTarget)}
          />
          <span>{one}</span>
        </label>
      ))}
    </fieldset>
  );
}

function choose(chosen: string, at: Element): void {
  const before = at.getBoundingClientRect().top;
  language.value = chosen;
  const address = new URL(location.href);
  address.searchParams.set(LANGUAGE, chosen);
  history.replaceState(null, "", address);
  // All examples change their height; what was chosen stays where it is.
  scrollBy(0, at.getBoundingClientRect().top - before);
}
