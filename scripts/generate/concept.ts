// The picture of the README: what goes where in one pass. Words and boxes alone, readable on light and dark pages.

type Box = {
  readonly x: number;
  readonly y: number;
  readonly width: number;
  readonly title: string;
  readonly lines: readonly string[];
};

const HEIGHT = 112;

const repository: Box = {
  x: 10,
  y: 10,
  width: 200,
  title: "git repository",
  lines: ["workspaces, services,", "clusters, teams, accounts,", "models, prompts as YAML"],
};
const holdfast: Box = {
  x: 300,
  y: 10,
  width: 200,
  title: "Holdfast",
  lines: ["validate, plan, apply", "ledger: what was written", "watch: again and again"],
};
const platform: Box = {
  x: 590,
  y: 10,
  width: 200,
  title: "control plane",
  lines: ["live resources,", "changed by people too:", "that is drift"],
};

/** The picture as SVG. */
export function conceptText(): string {
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 800 184" role="img" font-family="system-ui, sans-serif" font-size="13.5">`,
    `<title>Holdfast reads manifests from a git repository, compares them with the live resources of a control plane, and writes the differences</title>`,
    `<style>text{fill:#1f2328}.box{fill:#fff;stroke:#57606a}.line{stroke:#57606a;fill:none}.head{fill:#57606a}@media(prefers-color-scheme:dark){text{fill:#e6edf3}.box{fill:#161b22;stroke:#8b949e}.line{stroke:#8b949e}.head{fill:#8b949e}}</style>`,
    ...[repository, holdfast, platform].flatMap(box),
    ...arrow(210, 300, 50, "desired"),
    ...arrow(500, 590, 36, "writes"),
    ...arrow(590, 500, 96, "live"),
    `<path class="line" d="M400 122v34H110v-34"/>`,
    head(110, 122, "up"),
    `<text x="255" y="176" text-anchor="middle">plan and drift report, for review</text>`,
    "</svg>",
    "",
  ].join("\n");
}

function box({ x, y, width, title, lines }: Box): readonly string[] {
  return [
    `<rect class="box" x="${x}" y="${y}" width="${width}" height="${HEIGHT}" rx="8"/>`,
    `<text x="${x + width / 2}" y="${y + 28}" text-anchor="middle" font-weight="600">${title}</text>`,
    ...lines.map(
      (line, at) => `<text x="${x + width / 2}" y="${y + 54 + at * 20}" text-anchor="middle">${line}</text>`,
    ),
  ];
}

function arrow(from: number, to: number, y: number, label: string): readonly string[] {
  return [
    `<path class="line" d="M${from} ${y}H${to}"/>`,
    head(to, y, from < to ? "right" : "left"),
    `<text x="${(from + to) / 2}" y="${y - 8}" text-anchor="middle">${label}</text>`,
  ];
}

function head(x: number, y: number, towards: "right" | "left" | "up"): string {
  const points = { right: "-9 -5 0 0 -9 5", left: "9 -5 0 0 9 5", up: "-5 9 0 0 5 9" }[towards];
  return `<polyline class="head" transform="translate(${x} ${y})" points="${points}"/>`;
}
