import type { FastifyInstance } from "fastify";
import type { Clock } from "../../clock/clock.ts";
import type { Random } from "../../clock/random.ts";
import type { PageAccess } from "../http/page-access.ts";
import { createActionAccess } from "./action-access.ts";
import { addActions } from "./add-actions.ts";
import { addApi } from "./add-api.ts";
import { addPage, pageBuild } from "./add-page.ts";
import { addPlans } from "./add-plans.ts";
import { carriesOutActions } from "./carry-out-action.ts";
import type { DashboardSource } from "./dashboard-source.ts";
import { createEventStreams, type EventStreams } from "./event-stream.ts";
import { createDashboardReader, type DaemonKnowledge } from "./read-dashboard.ts";
import { tellStatusChanges } from "./status-changes.ts";
import { createTargetActivity, type TargetActivity } from "./target-activity.ts";

/** What a dashboard needs beside what it shows. */
export type DashboardParts = Omit<DaemonKnowledge, "activity"> & {
  readonly access: PageAccess;
  readonly clock: Clock;
  readonly random: Random;
};

/** A dashboard that is served; disposal ends its look at what other processes do. */
export type Dashboard = Disposable & {
  /** What the passes of this process tell it. */
  readonly activity: TargetActivity;
  readonly publish: EventStreams["publish"];
};

/** Adds a dashboard to a server: the page, the interface and the events. */
export function addDashboard(app: FastifyInstance, source: DashboardSource, parts: DashboardParts): Dashboard {
  const { access, clock, random, ...known } = parts;
  const { hosts, isShared } = source;
  const streams = createEventStreams({ clock, epoch: random.id(), build: pageBuild() });
  const { publish, isFollowed } = streams;
  const activity = createTargetActivity(clock, { publish, onChange: (target) => changes.look(target) });
  const reader = createDashboardReader(source, { activity, ...known }, clock.now);
  const changes = tellStatusChanges({ reader, publish, onOthers: activity.outdated, isFollowed, isShared, clock });
  addPage(app, { access, hosts });
  addApi(app, { access, hosts, reader, streams });
  addPlans(app, {
    ...{ access, hosts, now: clock.now, plans: () => source.plans?.() ?? null },
    onSent: () => publish({ event: "snapshot-needed" }),
  });
  addActions(app, {
    readers: { access, hosts },
    access: createActionAccess(access, source),
    carryOut: carriesOutActions({ reader, isShared, onChange: activity.changed, clock }),
  });
  return { activity, publish, [Symbol.dispose]: () => changes[Symbol.dispose]() };
}
