import axe from "axe-core";
import type { Page } from "playwright-core";
import { beforeAll, expect, test } from "vitest";
import { launchBrowser } from "../../support/browser.ts";
import { shownScreens } from "./shown-screens.ts";

let page: Page;
// One page for all: this browser is a single process, which ends with a page.
beforeAll(async () => {
  const browser = await launchBrowser({ hasMachineFonts: false });
  page = await browser.newPage({ deviceScaleFactor: 2 });
  page.setDefaultTimeout(60_000);
  return () => browser.close();
});

/** What a window of 1,280 pixels has at 200 %, and a large screen. */
const SIZES = [
  { width: 640, height: 450 },
  { width: 3840, height: 2160 },
] as const;

// What is cut on purpose ends with dots, scrolls, or is for screen readers alone.
const FAULTS = `(() => {
  const isMeant = (one) => one.closest(".unseen, .skip, .rows, .graph, thead, progress, svg, option, dialog") !== null;
  const boxes = [];
  const faults = [];
  const say = (what, one) => faults.push(what + ": " + one.localName + "." + one.className + " " + one.textContent.slice(0, 60));
  for (const one of document.body.querySelectorAll("*")) {
    const { left, right, width, height } = one.getBoundingClientRect();
    if (isMeant(one) || width === 0 || height === 0 || !one.checkVisibility()) continue;
    if (left < -1 || right > document.documentElement.clientWidth + 1) say("beside the page", one);
    const { overflowX } = getComputedStyle(one);
    if (["hidden", "clip"].includes(overflowX) && one.scrollWidth > one.clientWidth + 1) say("cut off", one);
    for (const node of one.childNodes) {
      if (node.nodeType !== Node.TEXT_NODE || node.data.trim() === "") continue;
      const range = document.createRange();
      range.selectNodeContents(node);
      for (const box of range.getClientRects()) boxes.push({ one, box });
    }
  }
  // Boxes of lines overlap by what letters have above and below them.
  for (const [nth, a] of boxes.entries())
    for (const b of boxes.slice(nth + 1)) {
      const across = Math.min(a.box.right, b.box.right) - Math.max(a.box.left, b.box.left);
      const down = Math.min(a.box.bottom, b.box.bottom) - Math.max(a.box.top, b.box.top);
      if (across > 2 && down > Math.min(a.box.height, b.box.height) / 2) say("under other text", a.one);
    }
  if (document.documentElement.scrollWidth > document.documentElement.clientWidth) faults.push("the page scrolls sideways");
  return faults;
})()`;

const FOCUS = `(() => {
  const one = document.activeElement;
  if (one === null || one === document.body) return null;
  const { left, top, width, height } = one.getBoundingClientRect();
  const { outlineStyle, outlineWidth } = getComputedStyle(one);
  const at = document.elementFromPoint(Math.max(1, left + Math.min(width, innerWidth) / 2), Math.max(1, top + Math.min(height, 20) / 2));
  const isSeen = at !== null && (one.contains(at) || at.contains(one));
  // A resource of the graph has a thicker edge.
  const edge = one.matches(".node") ? one.querySelector(".back") : null;
  const isMarked =
    edge === null
      ? outlineStyle !== "none" && Number.parseFloat(outlineWidth) >= 2
      : Number.parseFloat(getComputedStyle(edge).strokeWidth) >= 3;
  return { isGood: isSeen && isMarked, what: one.localName + "." + one.getAttribute("class") + " " + one.textContent.slice(0, 60) };
})()`;

type Focus = { readonly isGood: boolean; readonly what: string } | null;

/** What has the keyboard and does not show it, of the first things that it reaches. */
async function unseenFocus(): Promise<readonly string[]> {
  const unseen: string[] = [];
  for (let nth = 0; nth < 30; nth += 1) {
    await page.keyboard.press("Tab");
    const focus = (await page.evaluate(FOCUS)) as Focus;
    if (focus === null) break;
    if (!focus.isGood) unseen.push(focus.what);
  }
  return unseen;
}

test("at 200 % and on a large screen nothing is cut off or covered, the keyboard is seen, and axe finds nothing", async () => {
  for (const { width, height } of SIZES) {
    await page.setViewportSize({ width, height });
    for (const { name, address, shows } of await shownScreens()) {
      for (const colorScheme of ["light", "dark"] as const) {
        await page.emulateMedia({ colorScheme });
        if (colorScheme === "light") {
          await page.goto(address);
          for (const text of ["live", ...shows]) await page.getByText(text).filter({ visible: true }).first().waitFor();
          expect([name, width, await page.evaluate(FAULTS)]).toEqual([name, width, []]);
          expect([name, width, await unseenFocus()]).toEqual([name, width, []]);
          await page.evaluate(
            "for (const fold of document.querySelectorAll('main details')) fold.open = true; scrollTo(0, 0)",
          );
          expect([name, width, await page.evaluate(FAULTS)]).toEqual([name, width, []]);
          await page.evaluate(axe.source);
        }
        const { violations } = (await page.evaluate("axe.run()")) as axe.AxeResults;
        const found = violations.map(({ id, nodes }) => [id, nodes.map(({ html }) => html)]);
        expect([name, width, colorScheme, found]).toEqual([name, width, colorScheme, []]);
      }
    }
  }
});
