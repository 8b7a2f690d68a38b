// src/dashboard: the page of a daemon, which runs in a browser. See docs/dashboard.md.

import { signal } from "@preact/signals";

/** What the address names: a screen with its filters. */
export type PageAddress = {
  readonly screen: "fleet" | "target" | "resource" | "history" | "reviews" | "review" | "unknown";
  /** The target of the screen; empty for the others. */
  readonly target: string;
  /** The resource of the screen; empty for the others. */
  readonly identity: string;
  /** The id of the plan that is reviewed; empty for the other screens. */
  readonly plan: string;
  readonly filters: URLSearchParams;
};

/** Where the page is. */
export const address = signal(read());

function read(): PageAddress {
  const filters = new URLSearchParams(location.search);
  const none = { target: "", identity: "", plan: "", filters };
  if (location.pathname === "/") return { ...none, screen: "fleet" };
  if (location.pathname === "/reviews") return { ...none, screen: "reviews" };
  const [, plan] = /^\/reviews\/([^/]+)$/.exec(location.pathname) ?? [];
  if (plan !== undefined) return { ...none, screen: "review", plan: decoded(plan) };
  const [, name = "", below = ""] = /^\/targets\/([^/]+)(\/.*)?$/.exec(location.pathname) ?? [];
  if (name === "") return { ...none, screen: "unknown" };
  const target = decoded(name);
  if (below === "") return { ...none, screen: "target", target };
  if (below === "/history") return { ...none, screen: "history", target };
  const [, identity = ""] = /^\/resources\/(.+)$/.exec(below) ?? [];
  if (identity !== "") return { ...none, screen: "resource", target, identity: decoded(identity) };
  return { ...none, screen: "unknown" };
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

// Half a character, as JSON may have it, has no form in an address.
function encoded(text: string): string {
  return encodeURIComponent(text.toWellFormed());
}

/** The path of a target's screen. */
export function pathOf(target: string): string {
  return `/targets/${encoded(target)}`;
}

/** The path of the history of a target. */
export function pathOfHistory(target: string): string {
  return `${pathOf(target)}/history`;
}

/** The path of a resource's screen. */
export function pathOfResource(target: string, identity: string): string {
  return `${pathOf(target)}/resources/${encoded(identity)}`;
}

/** The address of the graph around a resource. */
export function pathOfGraph(target: string, identity: string): string {
  return `${pathOf(target)}?${new URLSearchParams({ view: "graph", around: identity })}`;
}

/** The address of this screen with other filters; an empty value leaves a filter out. */
export function withFilters(changes: { readonly [name: string]: string }): string {
  const filters = new URLSearchParams(address.value.filters);
  for (const [name, value] of Object.entries(changes)) {
    if (value === "") filters.delete(name);
    else filters.set(name, value);
  }
  const query = filters.toString();
  return location.pathname + (query === "" ? "" : `?${query}`);
}

/** Goes to an address of the page; `isSame` where only a filter changes while it is typed. */
export function go(to: string, { isSame = false }: { readonly isSame?: boolean } = {}): void {
  if (isSame) history.replaceState(null, "", to);
  else history.pushState(null, "", to);
  address.value = read();
}

/** Follows the links of the page without loading it again. */
export function startRouter(): void {
  addEventListener("popstate", () => {
    address.value = read();
  });
  document.addEventListener("click", (event) => {
    const isPlain = event.button === 0 && !event.metaKey && !event.ctrlKey && !event.shiftKey && !event.altKey;
    const link = event.target instanceof Element ? event.target.closest("a") : null;
    if (!isPlain || event.defaultPrevented || link === null || link.origin !== location.origin) return;
    if (link.target !== "" || !/^\/(?:$|targets\/|reviews(?:$|\/))/.test(link.pathname)) return;
    if (link.hash !== "" && link.pathname === location.pathname) return;
    event.preventDefault();
    const isOther = link.pathname !== location.pathname;
    go(link.pathname + link.search);
    if (isOther) scrollTo(0, 0);
  });
}
