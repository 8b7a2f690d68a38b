type Unit = "short" | "s" | "bytes" | "ops" | "percentunit" | "dateTimeFromNow";

type Panel = {
  readonly title: string;
  readonly type?: "timeseries" | "stat" | "table";
  readonly unit?: Unit;
  readonly queries: readonly (readonly [expr: string, legend: string])[];
};

const quantile = (name: string, by: string) =>
  `histogram_quantile(0.99, sum by (le, ${by}) (rate(${name}_bucket{job=~"$job"}[$__rate_interval])))`;
const perSecond = (series: string, by: string) => `sum by (${by}) (rate(${series}[$__rate_interval]))`;

/** The rows of the dashboard: what is wrong first, then why. */
const rows: readonly (readonly [title: string, panels: readonly Panel[]])[] = [
  [
    "Targets",
    [
      {
        title: "Status",
        type: "table",
        queries: [['holdfast_target_info{job=~"$job"}', ""]],
      },
      {
        title: "Time since the last success",
        unit: "s",
        queries: [['time() - (holdfast_last_success_timestamp_seconds{job=~"$job"} > 0)', "{{target}}"]],
      },
      {
        title: "Passes by result",
        unit: "ops",
        queries: [[perSecond('holdfast_passes_total{job=~"$job"}', "target, result"), "{{target}} {{result}}"]],
      },
      {
        title: "Duration of passes (p99)",
        unit: "s",
        queries: [[quantile("holdfast_pass_duration_seconds", "target"), "{{target}}"]],
      },
      {
        title: "Commit to applied (p99)",
        unit: "s",
        queries: [[quantile("holdfast_commit_apply_duration_seconds", "target"), "{{target}}"]],
      },
      {
        title: "Resources",
        queries: [
          ['holdfast_declared_resources{job=~"$job"}', "{{target}} declared"],
          ['holdfast_unresolved_resources{job=~"$job"}', "{{target}} unresolved"],
          ['holdfast_invalid_manifests{job=~"$job"}', "{{target}} invalid"],
          ['holdfast_drifted_resources{job=~"$job"}', "{{target}} drifted"],
          ['holdfast_held{job=~"$job"}', "{{target}} held"],
        ],
      },
      {
        title: "Writes",
        unit: "ops",
        queries: [[perSecond('holdfast_writes_total{job=~"$job"}', "target, result"), "{{target}} {{result}}"]],
      },
      {
        title: "Fetches and deliveries that failed",
        unit: "ops",
        queries: [
          [perSecond('holdfast_git_fetches_total{job=~"$job",result="failed"}', "source"), "fetch {{source}}"],
          [
            perSecond('holdfast_notifications_total{job=~"$job",result!="delivered"}', "receiver"),
            "notify {{receiver}}",
          ],
          [perSecond('holdfast_commit_statuses_total{job=~"$job",result="failed"}', "target"), "status {{target}}"],
          [perSecond('holdfast_webhooks_total{job=~"$job",result="refused"}', "source"), "webhook {{source}}"],
        ],
      },
    ],
  ],
  [
    "Control plane",
    [
      {
        title: "Requests by status",
        unit: "ops",
        queries: [[perSecond('holdfast_http_requests_total{job=~"$job"}', "job, status"), "{{job}} {{status}}"]],
      },
      {
        title: "Duration of requests (p99)",
        unit: "s",
        queries: [[quantile("holdfast_http_request_duration_seconds", "operation"), "{{operation}}"]],
      },
      {
        title: "Storage",
        type: "stat",
        queries: [['holdfast_storage_up{job=~"$job"}', "{{access}}"]],
      },
      {
        title: "Duration of database writes (p99)",
        unit: "s",
        queries: [[quantile("holdfast_database_write_duration_seconds", "instance"), "{{instance}}"]],
      },
      {
        title: "Connections to the database",
        queries: [
          ['holdfast_database_connections{job=~"$job"}', "{{pool}} {{state}}"],
          ['holdfast_database_connection_waiters{job=~"$job"}', "{{pool}} waiting"],
        ],
      },
      {
        title: "Free disk space",
        unit: "percentunit",
        queries: [
          ['holdfast_disk_available_bytes{job=~"$job"} / holdfast_disk_size_bytes{job=~"$job"}', "{{instance}}"],
        ],
      },
      {
        title: "Leases and rollouts",
        queries: [
          ['holdfast_leases{job=~"$job"}', "leases"],
          ['holdfast_rollouts_in_progress{job=~"$job"}', "rollouts"],
        ],
      },
      {
        title: "Expiry",
        type: "stat",
        unit: "dateTimeFromNow",
        queries: [
          ['holdfast_certificate_expiry_timestamp_seconds{job=~"$job"} * 1000', "certificate"],
          ['(holdfast_token_expiry_timestamp_seconds{job=~"$job"} > 0) * 1000', "tokens"],
        ],
      },
    ],
  ],
  [
    "Processes",
    [
      {
        title: "Memory",
        unit: "bytes",
        queries: [['process_resident_memory_bytes{job=~"$job"}', "{{instance}}"]],
      },
      {
        title: "CPU",
        queries: [['rate(process_cpu_seconds_total{job=~"$job"}[$__rate_interval])', "{{instance}}"]],
      },
      {
        title: "Event loop lag (p99)",
        unit: "s",
        queries: [['nodejs_eventloop_lag_p99_seconds{job=~"$job"}', "{{instance}}"]],
      },
      {
        title: "Open file descriptors",
        queries: [['process_open_fds{job=~"$job"}', "{{instance}}"]],
      },
    ],
  ],
];

// biome-ignore lint/suspicious/noTemplateCurlyInString: a variable of the dashboard
const datasource = { type: "prometheus", uid: "${datasource}" };
const COLUMNS = 24;
const [WIDTH, HEIGHT] = [6, 8];

/** The Grafana dashboard of both programs. */
export const dashboard = {
  uid: "holdfast",
  title: "Holdfast",
  tags: ["holdfast"],
  schemaVersion: 39,
  editable: true,
  refresh: "1m",
  time: { from: "now-6h", to: "now" },
  templating: {
    list: [
      { name: "datasource", type: "datasource", query: "prometheus", label: "Data source" },
      {
        name: "job",
        type: "query",
        datasource,
        query: { query: "label_values(holdfast_http_requests_total, job)", refId: "job" },
        refresh: 2,
        includeAll: true,
        multi: true,
        current: { text: "All", value: "$__all" },
      },
    ],
  },
  panels: placed(),
};

function placed() {
  let y = 0;
  const all = rows.flatMap(([title, panels]) => {
    const row = { type: "row", title, collapsed: false, panels: [], gridPos: { x: 0, y, w: COLUMNS, h: 1 } };
    const below = panels.map((panel, nth) => {
      const line = Math.floor((nth * WIDTH) / COLUMNS);
      const gridPos = { x: (nth * WIDTH) % COLUMNS, y: y + 1 + line * HEIGHT, w: WIDTH, h: HEIGHT };
      return { ...panelOf(panel), gridPos };
    });
    y += 1 + Math.ceil((panels.length * WIDTH) / COLUMNS) * HEIGHT;
    return [row, ...below];
  });
  return all.map((panel, nth) => ({ id: nth + 1, ...panel }));
}

function panelOf({ title, type = "timeseries", unit = "short", queries }: Panel) {
  const isTable = type === "table";
  const targets = queries.map(([expr, legendFormat], nth) => ({
    refId: String.fromCharCode(65 + nth),
    datasource,
    expr,
    ...(isTable ? { format: "table", instant: true } : { legendFormat }),
  }));
  return { type, title, datasource, targets, fieldConfig: { defaults: { unit }, overrides: [] }, options: {} };
}
