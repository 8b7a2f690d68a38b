import { useComputed, useSignal } from "@preact/signals";
import { useLayoutEffect, useRef } from "preact/hooks";
import { once } from "../../model/once.ts";

/** What can be found: a section, an error code, or a field within a section. */
type Entry = {
  readonly title: string;
  readonly detail: string;
  readonly href: string;
  readonly element: HTMLElement;
  /** In small letters: what it is called, and what else is said of it. */
  readonly names: readonly string[];
  readonly text: string;
  /** How far it goes behind others that match as well, and where only the text matches. */
  readonly behind: number;
  readonly textRank: number;
};

const MOST = 30;

/** Finds sections, fields and error codes by what they are called, then by what they say. */
export function Search() {
  const query = useSignal("");
  const isOpen = useSignal(false);
  const input = useRef<HTMLInputElement>(null);
  const found = useComputed(() => find(query.value));
  useLayoutEffect(() => {
    const focus = (event: KeyboardEvent): void => {
      if (event.key !== "/" || event.ctrlKey || event.metaKey || event.altKey || isTyping(event.target)) return;
      event.preventDefault();
      input.current?.focus();
    };
    document.addEventListener("keydown", focus);
    return () => document.removeEventListener("keydown", focus);
  }, []);
  const follow = (entry: Entry): void => {
    isOpen.value = false;
    show(entry);
  };
  return (
    <search
      class="search"
      onKeyDown={(event) => {
        if (event.key === "Escape") {
          query.value = "";
          input.current?.focus();
        }
        if (event.key === "ArrowDown" || event.key === "ArrowUp") move(event);
      }}
      onFocusOut={({ currentTarget, relatedTarget }) => {
        if (!(relatedTarget instanceof Node && currentTarget.contains(relatedTarget))) isOpen.value = false;
      }}
    >
      <input
        ref={input}
        type="search"
        aria-label="Search the reference"
        aria-keyshortcuts="/"
        placeholder="Search"
        autocomplete="off"
        spellcheck={false}
        value={query}
        onFocus={() => {
          isOpen.value = true;
        }}
        onInput={({ currentTarget }) => {
          query.value = currentTarget.value;
          isOpen.value = true;
        }}
        onKeyDown={({ key }) => {
          const [first] = found.value;
          if (key === "Enter" && first !== undefined) follow(first);
        }}
      />
      {isOpen.value && query.value.trim() !== "" && <Results found={found.value} follow={follow} />}
    </search>
  );
}

function Results({ found, follow }: { readonly found: readonly Entry[]; readonly follow: (entry: Entry) => void }) {
  const more = found.length - MOST;
  return (
    // biome-ignore lint/a11y/noStaticElementInteractions: a press here does not take the focus away, which would close the list
    <div class="results" onMouseDown={(event) => event.preventDefault()}>
      <p role="status">{found.length === 0 ? "Nothing matches." : counted(found.length)}</p>
      <ul>
        {found.slice(0, MOST).map((entry) => (
          <li key={`${entry.href} ${entry.title}`}>
            <a
              href={entry.href}
              onClick={(event) => {
                if (event.ctrlKey || event.metaKey || event.shiftKey) return;
                event.preventDefault();
                follow(entry);
              }}
            >
              <b>{entry.title}</b> <span>{entry.detail}</span>
            </a>
          </li>
        ))}
      </ul>
      {more > 0 && <p>{more.toLocaleString("en")} more: add a word</p>}
    </div>
  );
}

function counted(number: number): string {
  return number === 1 ? "1 result" : `${number.toLocaleString("en")} results`;
}

function isTyping(target: EventTarget | null): boolean {
  return target instanceof Element && target.matches("input:not([type='radio']), textarea, select");
}

/** From the field to its results and back, one at a time. */
function move(event: KeyboardEvent & { readonly currentTarget: HTMLElement }): void {
  const stops = [...event.currentTarget.querySelectorAll<HTMLElement>("input, .results a")];
  const at = stops.findIndex((stop) => stop.matches(":focus"));
  const next = stops[at + (event.key === "ArrowDown" ? 1 : -1)];
  if (next === undefined) return;
  event.preventDefault();
  next.focus();
}

function show({ href, element }: Entry): void {
  location.hash = href;
  for (let fold = element.closest("details"); fold !== null; fold = fold.parentElement?.closest("details") ?? null)
    fold.open = true;
  const isWhole = element.matches("section");
  element.scrollIntoView({ block: isWhole ? "start" : "center" });
  element.tabIndex = -1;
  element.focus({ preventScroll: true });
}

function find(query: string): readonly Entry[] {
  const words = query.toLowerCase().split(/\s+/).filter(Boolean);
  if (words.length === 0) return [];
  const ranked = entries()
    .map((entry) => ({ entry, rank: words.reduce((sum, word) => sum + rankOf(entry, word), entry.behind) }))
    .filter(({ rank }) => rank < Number.POSITIVE_INFINITY);
  return ranked.toSorted((one, other) => one.rank - other.rank).map(({ entry }) => entry);
}

function rankOf({ names, text, textRank }: Entry, word: string): number {
  if (names.includes(word)) return 0;
  if (names.some((name) => name.startsWith(word))) return 1;
  if (names.some((name) => name.includes(word))) return 2;
  return text.includes(word) ? textRank : Number.POSITIVE_INFINITY;
}

// Made of the page itself at the first letter, so that it costs no byte and no time before.
const entries = once((): readonly Entry[] => [
  ...[...document.querySelectorAll<HTMLElement>("main section[id]")].flatMap(sectionEntries),
  ...[...document.querySelectorAll<HTMLElement>("tr[id]")].map(errorEntry),
]);

function sectionEntries(section: HTMLElement): readonly Entry[] {
  const title = textOf(section, "h2, h3");
  const route = textOf(section, ".route");
  const isFamily = section.matches(".family");
  const href = `#${section.id}`;
  const names = [title, section.id, ...route.split(" ")].map((name) => name.toLowerCase());
  const about = textOf(section, isFamily ? ".lead" : ":scope");
  const whole: Entry = {
    ...{ title, href, names, element: section, behind: 0, textRank: 4, text: about.toLowerCase() },
    detail: route === "" ? textOf(section, ".lead") : route,
  };
  if (isFamily) return [whole];
  const fields = Map.groupBy(section.querySelectorAll<HTMLElement>(".fields .name"), ({ textContent }) => textContent);
  const found = [...fields].flatMap(([name, [element]]): readonly Entry[] =>
    element === undefined
      ? []
      : [
          {
            ...{ title: name, detail: `field of ${title}`, href, element, names: [name.toLowerCase()], behind: 0.5 },
            ...{ text: names.join(" "), textRank: 1 },
          },
        ],
  );
  return [whole, ...found];
}

function errorEntry(row: HTMLElement): Entry {
  const title = textOf(row, "th");
  const detail = `error ${textOf(row, ".status")}`;
  const names = [title.toLowerCase(), textOf(row, ".status")];
  return {
    title,
    detail,
    href: `#${row.id}`,
    element: row,
    names,
    text: `error ${row.textContent}`.toLowerCase(),
    behind: 0,
    textRank: 4,
  };
}

function textOf(within: HTMLElement, selector: string): string {
  const found = selector === ":scope" ? within : within.querySelector(selector);
  return (found?.textContent ?? "").trim();
}
