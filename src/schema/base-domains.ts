/** Whether a host lies under a base domain: `*.x` covers names below x, `x` covers x and names below; case does not count. */
export function isUnderBaseDomains(host: string, domains: readonly string[]): boolean {
  const name = host.toLowerCase();
  return domains.some((domain) => {
    const base = domain.toLowerCase();
    return base.startsWith("*.")
      ? name.endsWith(base.slice(1)) && name !== base.slice(1)
      : name === base || name.endsWith(`.${base}`);
  });
}
