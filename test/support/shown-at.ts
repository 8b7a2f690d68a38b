import type { Page } from "playwright-core";

const NOTE = `(() => {
  globalThis.shownAt = {};
  const look = () => {
    const at = performance.timeOrigin + performance.now();
    for (const text of document.querySelector("main").textContent.match(/told-\\d+/g) ?? []) globalThis.shownAt[text] ??= at;
  };
  new MutationObserver(look).observe(document.body, { childList: true, characterData: true, subtree: true });
})()`;

/** Lets a page note from now on when it first shows each text of the form `told-1`. */
export async function noteShown(page: Page): Promise<void> {
  await page.evaluate(NOTE);
}

/** When a page has first shown a text, by the clock of this machine; waits until it does. */
export async function shownAt(page: Page, text: string): Promise<number> {
  await page.getByText(text, { exact: true }).first().waitFor();
  return Number(await page.evaluate(`globalThis.shownAt[${JSON.stringify(text)}]`));
}

/** The time of this machine, as a page tells it. */
export function pageTime(): number {
  return performance.timeOrigin + performance.now();
}
