import { effect } from "@preact/signals";
import { render } from "preact";
import { useEffect, useRef } from "preact/hooks";
import { Person } from "./actions.tsx";
import { address, startRouter } from "./address.ts";
import { startClock } from "./browser-clock.ts";
import { connection, fleet, followDaemon, readEverything, refusal, shownTarget } from "./daemon.ts";
import { FleetScreen } from "./fleet-screen.tsx";
import { HistoryScreen } from "./history-screen.tsx";
import { visible } from "./parts.tsx";
import { ResourceScreen } from "./resource-screen.tsx";
import { ReviewList, ReviewScreen } from "./review-screen.tsx";
import { TargetScreen } from "./target-screen.tsx";

function App() {
  const { screen, target, identity, plan } = address.value;
  useTitle();
  const isFirst = useRef(true);
  useEffect(() => {
    // Another screen is announced by its heading; of the first one, the browser tells.
    if (!isFirst.current) document.querySelector("h1")?.focus();
    isFirst.current = false;
  }, [screen, target, identity, plan]);
  return (
    <>
      <a class="skip" href="#content">
        Skip to the content
      </a>
      <header class="bar">
        <a class="brand" href="/">
          <svg viewBox="0 0 24 24" width="22" height="22" aria-hidden="true">
            <path
              d="M12 2v20M5 7c0 4 14 3 14 7s-14 3-14 7"
              fill="none"
              stroke="currentColor"
              stroke-width="2.4"
              stroke-linecap="round"
            />
          </svg>
          Holdfast <span class="thin">dashboard</span>
        </a>
        <nav class="screens" aria-label="Screens">
          <a href="/" aria-current={screen === "fleet" ? "page" : undefined}>
            Targets
          </a>
          <a href="/reviews" aria-current={screen === "reviews" ? "page" : undefined}>
            Reviews
          </a>
        </nav>
        <Person />
        <Connection />
      </header>
      <main id="content" tabIndex={-1}>
        {refusal.value !== null && fleet.value === null && <p class="soft">{visible(refusal.value)}</p>}
        {screen === "fleet" && <FleetScreen />}
        {screen === "target" && <TargetScreen name={target} key={target} />}
        {screen === "history" && <HistoryScreen target={target} key={target} />}
        {screen === "resource" && <ResourceScreen target={target} identity={identity} key={`${target} ${identity}`} />}
        {screen === "reviews" && <ReviewList />}
        {screen === "review" && <ReviewScreen id={plan} key={plan} />}
        {screen === "unknown" && (
          <>
            <h1 tabIndex={-1}>There is no such page</h1>
            <p>
              <a href="/">All targets</a>
            </p>
          </>
        )}
      </main>
    </>
  );
}

const texts = { connecting: "connecting", live: "live", lost: "connection lost, trying again" } as const;

function Connection() {
  const is = connection.value;
  return (
    <span class={`connection ${is}`} role="status">
      {texts[is]}
    </span>
  );
}

/** The title tells of trouble where only it is seen. */
function useTitle(): void {
  const { screen, target, identity } = address.value;
  const bad =
    fleet.value?.targets.filter(
      ({ sync, condition }) => condition !== "Retired" && (sync !== "Synced" || condition === "Stalled"),
    ).length ?? 0;
  const shown = screen.startsWith("review") ? ["Reviews"] : [identity, target].filter((name) => name !== "");
  const name = [...shown.map(visible), "Holdfast"].join(" – ");
  document.title = bad === 0 ? name : `(${bad}) ${name}`;
}

const root = document.getElementById("app");
if (root !== null) {
  render(<App />, root);
  startRouter();
  startClock();
  followDaemon();
  let shown = address.peek();
  // Everything is read when the stream is open, and when another screen is shown.
  effect(() => {
    const { screen, target } = address.value;
    if (screen === shown.screen && target === shown.target) return;
    if (target !== shown.target) shownTarget.value = null;
    shown = address.value;
    if (connection.peek() !== "connecting") void readEverything();
  });
}
