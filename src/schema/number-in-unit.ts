const QUANTITY = /^(-?(?:\d{1,15}(?:\.\d{0,15})?|\.\d{1,15})) ?([A-Za-z%]{0,12})$/;

type Factors = { readonly [suffix: string]: number };

const BYTES: Factors = {
  "": 1,
  b: 1,
  k: 1e3,
  kb: 1e3,
  ki: 1024,
  kib: 1024,
  m: 1e6,
  mb: 1e6,
  mi: 1024 ** 2,
  mib: 1024 ** 2,
  g: 1e9,
  gb: 1e9,
  gi: 1024 ** 3,
  gib: 1024 ** 3,
  t: 1e12,
  tb: 1e12,
  ti: 1024 ** 4,
  tib: 1024 ** 4,
  p: 1e15,
  pb: 1e15,
  pi: 1024 ** 5,
  pib: 1024 ** 5,
  e: 1e18,
  eb: 1e18,
  ei: 1024 ** 6,
  eib: 1024 ** 6,
};
const CORES: Factors = { n: 1e-9, u: 1e-6, m: 1e-3, c: 1, core: 1, cores: 1, cpu: 1, cpus: 1, vcpu: 1, vcpus: 1 };
const SECONDS: Factors = {
  ms: 1e-3,
  s: 1,
  sec: 1,
  seconds: 1,
  m: 60,
  min: 60,
  minutes: 60,
  h: 3600,
  hours: 3600,
  d: 86_400,
};
const DAYS: Factors = { s: 1 / 86_400, m: 1 / 1440, h: 1 / 24, d: 1, days: 1, w: 7 };

/** What one of a suffix is in a unit. */
const UNITS: { readonly [unit: string]: { readonly factors: Factors; readonly size: number } } = {
  MB: { factors: BYTES, size: 1e6 },
  GB: { factors: BYTES, size: 1e9 },
  cores: { factors: CORES, size: 1 },
  seconds: { factors: SECONDS, size: 1 },
  milliseconds: { factors: SECONDS, size: 1e-3 },
  minutes: { factors: SECONDS, size: 60 },
  days: { factors: DAYS, size: 1 },
};

/** The number to write for a text such as `500m` or `2Gi` in a unit; null if its suffix means nothing there. */
export function numberOf(text: string, unit: string | undefined, mayBeFraction: boolean): string | null {
  const [, digits = "", suffix = ""] = QUANTITY.exec(text) ?? [];
  if (digits === "" || suffix === "") return null;
  const known = unit === undefined ? undefined : UNITS[unit];
  if (known === undefined) return String(Number(digits));
  const factor = known.factors[suffix.toLowerCase()];
  if (factor === undefined) return null;
  const number = (Number(digits) * factor) / known.size;
  const isWhole = !mayBeFraction || known.factors === BYTES;
  return String(isWhole ? Math.max(1, Math.round(number)) : Number(number.toPrecision(6)));
}
