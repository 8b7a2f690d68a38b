/** Where a server listens. */
type ListenAddress = { readonly host: string; readonly port: number };

/** The address that `--listen` names, whose form was checked. */
export function listenAddress(text: string): ListenAddress {
  const colon = text.lastIndexOf(":");
  return { host: text.slice(0, colon).replace(/^\[|\]$/g, ""), port: Number(text.slice(colon + 1)) };
}
